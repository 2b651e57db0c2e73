/* C = B + A^T on rows of each: A is j x i, B and C are i x j. Of the rows of A on another card this one needs the columns
 * that are its own rows of C: it fetches them in stripes of rows into `room`, two in turn, so that one is added while the
 * next is on its way.
 *
 * Cost model: that of the role `ptrans`, 12 bytes an element at a beat of 64 a cycle, and 4 more for each element that was
 * fetched, which goes through memory once more.
 */
#include "exchange.h"

static inline void quad(const f32 *a, u32 lda, const f32 *b, f32 *c, u32 nj) {
  f32x4 r0 = *(const f32x4 *)a, r1 = *(const f32x4 *)(a + lda);
  f32x4 r2 = *(const f32x4 *)(a + 2 * lda), r3 = *(const f32x4 *)(a + 3 * lda);
  f32x4 lo01 = __builtin_shufflevector(r0, r1, 0, 4, 1, 5), hi01 = __builtin_shufflevector(r0, r1, 2, 6, 3, 7);
  f32x4 lo23 = __builtin_shufflevector(r2, r3, 0, 4, 1, 5), hi23 = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);
  *(f32x4 *)c = *(const f32x4 *)b + __builtin_shufflevector(lo01, lo23, 0, 1, 4, 5);
  *(f32x4 *)(c + nj) = *(const f32x4 *)(b + nj) + __builtin_shufflevector(lo01, lo23, 2, 3, 6, 7);
  *(f32x4 *)(c + 2 * nj) = *(const f32x4 *)(b + 2 * nj) + __builtin_shufflevector(hi01, hi23, 0, 1, 4, 5);
  *(f32x4 *)(c + 3 * nj) = *(const f32x4 *)(b + 3 * nj) + __builtin_shufflevector(hi01, hi23, 2, 3, 6, 7);
}

/* c[i, j] = b[i, j] + a[j, i] for `rows` rows i of b and c, which are `nj` long, and `cols` columns; rows of a are `lda`
 * long. */
static void add_transposed(const f32 *a, u32 lda, const f32 *b, f32 *c, u32 nj, u32 rows, u32 cols) {
  u32 whole_rows = rows & ~3u, whole_cols = cols & ~3u;
  for (u32 i = 0; i < whole_rows; i += 4)
    for (u32 j = 0; j < whole_cols; j += 4) quad(a + j * lda + i, lda, b + i * nj + j, c + i * nj + j, nj);
  for (u32 i = 0; i < rows; i++)
    for (u32 j = i < whole_rows ? whole_cols : 0; j < cols; j++) c[i * nj + j] = b[i * nj + j] + a[j * lda + i];
}

/* Rows of another card's A that are on their way: `count` of them from row `row` of A on, at `at`. */
struct stripe {
  u64 at, row, count, last;
};

RL_KERNEL(ptrans)(u64 a_addr, u64 b_addr, u64 c_addr, u64 room, u64 room_bytes, u64 i_extent, u64 j_extent, u64 cards,
                  u64 self, u64 first, u64 count) {
  struct group g = group_of(cards, self, first, count);
  if (i_extent > 1u << 31 || j_extent > 1u << 31) __builtin_trap();
  u64 row = edge(i_extent, self, cards), ni = edge(i_extent, self + 1, cards) - row;
  u64 own = edge(j_extent, self, cards), own_rows = edge(j_extent, self + 1, cards) - own;
  const f32 *a = rl_array(a_addr, own_rows, i_extent, sizeof(f32));
  const f32 *b = rl_array(b_addr, ni, j_extent, sizeof(f32));
  f32 *c = rl_array(c_addr, ni, j_extent, sizeof(f32));
  u32 nj = (u32)j_extent;
  if (first == 1) {
    add_transposed(a + row, (u32)i_extent, b + own, c + own, nj, (u32)ni, (u32)own_rows);
    rl_charge(rl_div_up(ni * own_rows * 3 * sizeof(f32), RL_BEAT));
  }
  if (ni == 0) return 0;
  u64 bytes = ni * sizeof(f32), most = room_bytes / 2 / bytes, fault;
  if (most == 0) __builtin_trap();
  rl_array(room, 2 * most, ni, sizeof(f32));
  struct fetches f = {0};
  struct stripe ready = {0}, coming;
  u32 turn = 0;
  for (u64 d = 0; d < g.count; d++) {
    u64 peer = peer_at(g, g.first + d);
    u64 start = edge(j_extent, peer, cards), rows = edge(j_extent, peer + 1, cards) - start;
    for (u64 at = 0; at < rows; at += most, turn ^= 1) {
      coming = (struct stripe){room + turn * most * bytes, start + at, rl_min(most, rows - at), 0};
      u64 from = a_addr + (at * i_extent + row) * sizeof(f32);
      fault = fetch(&f, peer, d, from, i_extent * sizeof(f32), coming.count, bytes, coming.at);
      if (fault || (fault = settle(&f, ready.last))) return fault;
      coming.last = f.begun;
      const f32 *block = (const f32 *)(__UINTPTR_TYPE__)ready.at;
      add_transposed(block, (u32)ni, b + ready.row, c + ready.row, nj, (u32)ni, (u32)ready.count);
      rl_charge(rl_div_up(ready.count * ni * 4 * sizeof(f32), RL_BEAT));
      ready = coming;
    }
  }
  if ((fault = settle(&f, ready.last))) return fault;
  add_transposed((const f32 *)(__UINTPTR_TYPE__)ready.at, (u32)ni, b + ready.row, c + ready.row, nj, (u32)ni, (u32)ready.count);
  rl_charge(rl_div_up(ready.count * ni * 4 * sizeof(f32), RL_BEAT));
  return 0;
}
