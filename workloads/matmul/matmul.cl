/* c = a * b of n x n floats, in blocks of 16 x 16, divided as Spector's best design for one FPGA: a work-group makes a
 * block of c from a row of blocks of a and a column of blocks of b, which pass through local memory one pair at a
 * time. n is a multiple of 16.
 *
 * Spector asks its compiler to run 8 neighbouring work-items in lockstep; here these 8 are one work-item with a vector
 * of 8 lanes, which any compiler understands.
 */
#define BLOCK 16
#define LANES 8

__kernel __attribute__((reqd_work_group_size(BLOCK / LANES, BLOCK, 1)))
void matmul(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, int n) {
  __local float a_block[BLOCK][BLOCK];
  __local float8 b_block[BLOCK][BLOCK / LANES];
  const int x = (int)get_local_id(0), y = (int)get_local_id(1);
  const size_t column = get_global_id(0) * LANES, row = get_global_id(1);

  float8 sum = 0;
  for (int block = 0; block < n; block += BLOCK) {
    vstore8(vload8(0, a + row * n + block + x * LANES), x, a_block[y]);
    b_block[y][x] = vload8(0, b + (size_t)(block + y) * n + column);
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int k = 0; k < BLOCK; k++) sum += a_block[y][k] * b_block[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  vstore8(sum, 0, c + row * n + column);
}
