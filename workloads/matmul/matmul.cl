/* c = a * b of n x n floats, in blocks of 16 x 16, divided as Spector's best design for one FPGA: a work-group makes a
 * block of c, one work-item each element, from a row of blocks of a and a column of blocks of b, which pass through
 * local memory one pair at a time. n is a multiple of 16.
 *
 * Spector asks its compiler for 8 work-items side by side and one compute unit. The standard's word for the first is
 * the hint below; the second is what one launch on one device is.
 */
#define BLOCK 16

__kernel __attribute__((reqd_work_group_size(BLOCK, BLOCK, 1))) __attribute__((vec_type_hint(float8)))
void matmul(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, int n) {
  __local float a_block[BLOCK][BLOCK], b_block[BLOCK][BLOCK];
  const int x = (int)get_local_id(0), y = (int)get_local_id(1);
  const int column = (int)get_global_id(0), row = (int)get_global_id(1);

  float sum = 0;
  for (int block = 0; block < n; block += BLOCK) {
    a_block[y][x] = a[(size_t)row * n + block + x];
    b_block[y][x] = b[(size_t)(block + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int k = 0; k < BLOCK; k++) sum += a_block[y][k] * b_block[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[(size_t)row * n + column] = sum;
}
