/* C = A B: A is i x k, B is k x j, C is i x j.
 *
 * Each element of C is the sum over k = 0, 1, 2, ... of products rounded to single precision, added one by one from 0: a
 * plain loop on a host computes the same bits.
 *
 * Cost model: 64 multiply-accumulate units, blocks of A and B kept on the chip, so that arithmetic and not DDR is the limit:
 *
 *     cycles = ceil(i * j * k / 64)
 */
#include "rackloom.h"

enum { MACS = 64, ROWS = 4, COLS = 8 };

/* ROWS x COLS elements of C stay in registers over all of k. */
static inline void block_full(const f32 *a, const f32 *b, f32 *c, u32 nj, u32 nk) {
  f32x4 sum[ROWS][COLS / 4] = {0};
  for (u32 k = 0; k < nk; k++) {
    f32x4 b0 = *(const f32x4 *)(b + k * nj), b1 = *(const f32x4 *)(b + k * nj + 4);
#pragma clang loop unroll(full)
    for (u32 i = 0; i < ROWS; i++) {
      f32 one = a[i * nk + k];
      f32x4 factor = {one, one, one, one};
      sum[i][0] += factor * b0;
      sum[i][1] += factor * b1;
    }
  }
#pragma clang loop unroll(full)
  for (u32 i = 0; i < ROWS; i++) {
    *(f32x4 *)(c + i * nj) = sum[i][0];
    *(f32x4 *)(c + i * nj + 4) = sum[i][1];
  }
}

static void block_part(const f32 *a, const f32 *b, f32 *c, u32 nj, u32 nk, u32 rows, u32 cols) {
  for (u32 i = 0; i < rows; i++)
    for (u32 j = 0; j < cols; j++) {
      f32 sum = 0;
      for (u32 k = 0; k < nk; k++) sum += a[i * nk + k] * b[k * nj + j];
      c[i * nj + j] = sum;
    }
}

RL_KERNEL(gemm)(u64 a_addr, u64 b_addr, u64 c_addr, u64 i_extent, u64 j_extent, u64 k_extent) {
  const f32 *a = rl_array(a_addr, i_extent, k_extent, sizeof(f32));
  const f32 *b = rl_array(b_addr, k_extent, j_extent, sizeof(f32));
  f32 *c = rl_array(c_addr, i_extent, j_extent, sizeof(f32));
  u32 ni = (u32)i_extent, nj = (u32)j_extent, nk = (u32)k_extent;
  u64 charged = 0;
  for (u32 i = 0; i < ni; i += ROWS) {
    u32 rows = (u32)rl_min(ni - i, ROWS);
    for (u32 j = 0; j < nj; j += COLS) {
      u32 cols = (u32)rl_min(nj - j, COLS);
      if (rows == ROWS && cols == COLS) {
        block_full(a + i * nk, b + j, c + i * nj + j, nj, nk);
      } else {
        block_part(a + i * nk, b + j, c + i * nj + j, nj, nk, rows, cols);
      }
    }
    u64 cycles = rl_div_up((u64)(i + rows) * nj * nk, MACS);
    rl_charge(cycles - charged);
    charged = cycles;
  }
  return 0;
}
