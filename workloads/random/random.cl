/* The kernels of the random programs. Integers only: their results are the same on every device. TWIST is an option of
 * the build, so that a program built with other options is seen to be another one. */
#ifndef TWIST
#define TWIST 1u
#endif

uint stir(uint hash, uint value) { return (hash ^ value) * 0x01000193u + (hash >> 15); }

__kernel void add(__global uint *a, uint k) { a[get_global_id(0)] += k + TWIST; }

__kernel void axpy(__global const uint *x, __global uint *y, uint2 k) {
  size_t i = get_global_id(0);
  y[i] += x[i] * k.x + k.y * TWIST;
}

/* Each group of 16 turns its elements around, through local memory. */
__kernel __attribute__((reqd_work_group_size(16, 1, 1))) void reverse(__global uint *a, __local uint *tile) {
  size_t i = get_local_id(0);
  tile[i] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = tile[15 - i] ^ TWIST;
}

/* What a work-item sees of the range it is of. */
__kernel void grid(__global uint *a) {
  uint hash = TWIST;
  size_t at = 0;
  for (uint d = 3; d-- > 0;) {
    at = at * get_global_size(d) + get_global_id(d) - get_global_offset(d);
    hash = stir(hash, (uint)get_global_id(d));
    hash = stir(hash, (uint)get_global_size(d));
    hash = stir(hash, (uint)get_global_offset(d));
  }
  a[at] = stir(hash, get_work_dim());
}

/* What a work-item sees of its group. */
__kernel __attribute__((reqd_work_group_size(4, 2, 1))) void groups(__global uint *a) {
  uint hash = TWIST;
  for (uint d = 0; d < 2; d++) {
    hash = stir(hash, (uint)get_local_id(d));
    hash = stir(hash, (uint)get_group_id(d));
    hash = stir(hash, (uint)get_num_groups(d));
    hash = stir(hash, (uint)get_local_size(d));
  }
  a[get_global_id(1) * get_global_size(0) + get_global_id(0)] = hash;
}

__kernel void sum(__global const uint *x, volatile __global uint *total) {
  atomic_add(total, x[get_global_id(0)] * TWIST);
}

__kernel void lookup(__global uint *a, __constant uint *table, uint entries) {
  size_t i = get_global_id(0);
  a[i] ^= table[(a[i] + TWIST) % entries];
}

/* `b` may be no buffer at all. */
__kernel void either(__global uint *a, __global const uint *b) {
  size_t i = get_global_id(0);
  a[i] = b ? b[i] ^ TWIST : ~a[i];
}

__kernel void bytes(__global uchar *a, uchar4 k, ulong l) {
  size_t i = get_global_id(0);
  a[i] = (uchar)(a[i] * k.x + k.y - k.w + (uchar)(l >> (8 * (i % 8))) + TWIST);
}
