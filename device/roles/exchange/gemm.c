/* C = A B on rows of each: A is i x k, B is k x j, C is i x j. A card needs all rows of B: it fetches the columns `from` to
 * from + width - 1 of the others' into `room`, k rows of `width` elements. The launch that has the last of them computes
 * these columns of its rows of C.
 *
 * Each element is summed up in the order of k, as the role `gemm` does: the same bits. Cost model: that role's, 64
 * multiply-accumulate units.
 */
#include "exchange.h"

enum { MACS = 64, ROWS = 4, COLS = 8 };

/* Adds to ROWS x COLS elements of C the products of `nk` elements of rows of A and columns of B. */
static inline void block_full(const f32 *a, u32 lda, const f32 *b, u32 ldb, f32 *c, u32 ldc, u32 nk) {
  f32x4 sum[ROWS][COLS / 4];
#pragma clang loop unroll(full)
  for (u32 i = 0; i < ROWS; i++) {
    sum[i][0] = *(const f32x4 *)(c + i * ldc);
    sum[i][1] = *(const f32x4 *)(c + i * ldc + 4);
  }
  for (u32 k = 0; k < nk; k++) {
    f32x4 b0 = *(const f32x4 *)(b + k * ldb), b1 = *(const f32x4 *)(b + k * ldb + 4);
#pragma clang loop unroll(full)
    for (u32 i = 0; i < ROWS; i++) {
      f32 one = a[i * lda + k];
      f32x4 factor = {one, one, one, one};
      sum[i][0] += factor * b0;
      sum[i][1] += factor * b1;
    }
  }
#pragma clang loop unroll(full)
  for (u32 i = 0; i < ROWS; i++) {
    *(f32x4 *)(c + i * ldc) = sum[i][0];
    *(f32x4 *)(c + i * ldc + 4) = sum[i][1];
  }
}

static void block_part(const f32 *a, u32 lda, const f32 *b, u32 ldb, f32 *c, u32 ldc, u32 nk, u32 rows, u32 cols) {
  for (u32 i = 0; i < rows; i++)
    for (u32 j = 0; j < cols; j++) {
      f32 sum = c[i * ldc + j];
      for (u32 k = 0; k < nk; k++) sum += a[i * lda + k] * b[k * ldb + j];
      c[i * ldc + j] = sum;
    }
}

/* Adds to `ni` x `nj` elements of C. */
static void multiply(const f32 *a, u32 lda, const f32 *b, u32 ldb, f32 *c, u32 ldc, u32 ni, u32 nj, u32 nk) {
  for (u32 i = 0; i < ni; i += ROWS) {
    u32 rows = (u32)rl_min(ni - i, ROWS);
    for (u32 j = 0; j < nj; j += COLS) {
      u32 cols = (u32)rl_min(nj - j, COLS);
      if (rows == ROWS && cols == COLS) {
        block_full(a + i * lda, lda, b + j, ldb, c + i * ldc + j, ldc, nk);
      } else {
        block_part(a + i * lda, lda, b + j, ldb, c + i * ldc + j, ldc, nk, rows, cols);
      }
    }
    rl_charge(rl_div_up((u64)rows * nj * nk, MACS));
  }
}

RL_KERNEL(gemm)(u64 a_addr, u64 b_addr, u64 c_addr, u64 room, u64 i_extent, u64 j_extent, u64 k_extent, u64 cards, u64 self,
                u64 first, u64 count, u64 from, u64 width) {
  struct group g = group_of(cards, self, first, count);
  if (i_extent > 1u << 31 || j_extent > 1u << 31 || k_extent > 1u << 31) __builtin_trap();
  if (from > j_extent || width > j_extent - from) __builtin_trap();
  u64 ni = edge(i_extent, self + 1, cards) - edge(i_extent, self, cards);
  u64 own_rows = edge(k_extent, self + 1, cards) - edge(k_extent, self, cards);
  const f32 *a = rl_array(a_addr, ni, k_extent, sizeof(f32));
  const f32 *b = rl_array(b_addr, own_rows, j_extent, sizeof(f32));
  f32 *c = rl_array(c_addr, ni, j_extent, sizeof(f32));
  const f32 *others = rl_array(room, k_extent, width, sizeof(f32));
  u64 bytes = width * sizeof(f32), stride = j_extent * sizeof(f32), fault;
  struct fetches f = {0};
  for (u64 d = 0; d < g.count; d++) {
    u64 peer = peer_at(g, g.first + d);
    u64 start = edge(k_extent, peer, cards), rows = edge(k_extent, peer + 1, cards) - start;
    fault = fetch(&f, peer, d, b_addr + from * sizeof(f32), stride, rows, bytes, room + start * bytes);
    if (fault) return fault;
  }
  if ((fault = settle(&f, f.begun))) return fault;
  if (g.first + g.count < cards) return 0;
  for (u64 i = 0; i < ni; i++) memset(c + i * j_extent + from, 0, bytes);
  for (u64 card = 0; card < cards; card++) {
    u64 start = edge(k_extent, card, cards), rows = edge(k_extent, card + 1, cards) - start;
    const f32 *at = card == self ? b + from : others + start * width;
    u32 ldb = (u32)(card == self ? j_extent : width);
    multiply(a + start, (u32)k_extent, at, ldb, c + from, (u32)j_extent, (u32)ni, (u32)width, (u32)rows);
  }
  rl_charge(1);
  return 0;
}
