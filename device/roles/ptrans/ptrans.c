/* C = B + A^T, the matrix transpose of the HPC Challenge: B and C are i x j, A is j x i.
 *
 * Cost model: the role streams; DDR moves one 64-byte beat a cycle, and each element is read twice and written once:
 *
 *     cycles = ceil(i * j * 12 / 64)
 */
#include "rackloom.h"

/* A tile has one cache line of floats a side, so that every line of A, B and C is touched once while it is near. */
enum { TILE = 16 };

static inline void quad(const f32 *a, const f32 *b, f32 *c, u32 ni, u32 nj) {
  f32x4 r0 = *(const f32x4 *)a, r1 = *(const f32x4 *)(a + ni);
  f32x4 r2 = *(const f32x4 *)(a + 2 * ni), r3 = *(const f32x4 *)(a + 3 * ni);
  f32x4 lo01 = __builtin_shufflevector(r0, r1, 0, 4, 1, 5), hi01 = __builtin_shufflevector(r0, r1, 2, 6, 3, 7);
  f32x4 lo23 = __builtin_shufflevector(r2, r3, 0, 4, 1, 5), hi23 = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);
  *(f32x4 *)c = *(const f32x4 *)b + __builtin_shufflevector(lo01, lo23, 0, 1, 4, 5);
  *(f32x4 *)(c + nj) = *(const f32x4 *)(b + nj) + __builtin_shufflevector(lo01, lo23, 2, 3, 6, 7);
  *(f32x4 *)(c + 2 * nj) = *(const f32x4 *)(b + 2 * nj) + __builtin_shufflevector(hi01, hi23, 0, 1, 4, 5);
  *(f32x4 *)(c + 3 * nj) = *(const f32x4 *)(b + 3 * nj) + __builtin_shufflevector(hi01, hi23, 2, 3, 6, 7);
}

static void tile_full(const f32 *a, const f32 *b, f32 *c, u32 ni, u32 nj) {
  for (u32 i = 0; i < TILE; i += 4)
    for (u32 j = 0; j < TILE; j += 4) quad(a + j * ni + i, b + i * nj + j, c + i * nj + j, ni, nj);
}

static void tile_part(const f32 *a, const f32 *b, f32 *c, u32 ni, u32 nj, u32 rows, u32 cols) {
  for (u32 i = 0; i < rows; i++)
    for (u32 j = 0; j < cols; j++) c[i * nj + j] = b[i * nj + j] + a[j * ni + i];
}

RL_KERNEL(ptrans)(u64 a_addr, u64 b_addr, u64 c_addr, u64 i_extent, u64 j_extent) {
  const f32 *a = rl_array(a_addr, j_extent, i_extent, sizeof(f32));
  const f32 *b = rl_array(b_addr, i_extent, j_extent, sizeof(f32));
  f32 *c = rl_array(c_addr, i_extent, j_extent, sizeof(f32));
  u32 ni = (u32)i_extent, nj = (u32)j_extent;
  u64 charged = 0;
  for (u32 i = 0; i < ni; i += TILE) {
    u32 rows = (u32)rl_min(ni - i, TILE);
    for (u32 j = 0; j < nj; j += TILE) {
      u32 cols = (u32)rl_min(nj - j, TILE);
      const f32 *at = a + j * ni + i;
      u32 here = i * nj + j;
      if (rows == TILE && cols == TILE) {
        tile_full(at, b + here, c + here, ni, nj);
      } else {
        tile_part(at, b + here, c + here, ni, nj, rows, cols);
      }
    }
    u64 cycles = rl_div_up((u64)(i + rows) * nj * 3 * sizeof(f32), RL_BEAT);
    rl_charge(cycles - charged);
    charged = cycles;
  }
  return 0;
}
