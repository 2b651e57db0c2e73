/* A convolutional network, divided into kernels as PipeCNN divides it: memory read, convolution, pooling, memory write,
 * and local response normalisation. On an FPGA the first four run at once and pass data through channels; here each
 * leaves it in a buffer.
 *
 * Activations are dense planes: plane, row, column. A window matrix has a row for each weight of a filter and a column
 * for each place that the filter is laid upon; its rows are padded to a multiple of LANES. A range of items may be
 * longer than what there is to do, to be whole groups. */
#define LANES 8

/* Lays the data out as a window matrix: items are columns and rows of it. */
__kernel void mem_read(__global const float *restrict data, __global float *restrict window, int columns, int size,
                       int filter, int stride, int padding, int out_size) {
  const int column = (int)get_global_id(0), row = (int)get_global_id(1);
  if (column >= columns) return;
  const int plane = row / (filter * filter), y = row / filter % filter, x = row % filter;
  const int at_y = column / out_size * stride + y - padding, at_x = column % out_size * stride + x - padding;
  const bool inside = column < out_size * out_size && at_y >= 0 && at_y < size && at_x >= 0 && at_x < size;
  window[(size_t)row * columns + column] = inside ? data[((size_t)plane * size + at_y) * size + at_x] : 0;
}

/* out[m][n] = bias + the sum over k of a[k][m] * b[k][n], and no less than 0 if `relu`. Items are groups of LANES of n,
 * and m. For a convolution a holds the weights and b the windows, and m counts planes; these may be in `groups` that
 * see only their own part of the windows. For a full layer a holds the data, one m, and b the weights. */
__kernel void conv(__global const float *restrict a, __global const float *restrict b,
                   __global const float *restrict bias, __global float *restrict out, int ns, int depth, int groups,
                   int bias_by_m, int relu) {
  const size_t n = get_global_id(0) * LANES, m = get_global_id(1), ms = get_global_size(1);
  if (n >= ns) return;
  b += m / (ms / groups) * depth * ns;
  float8 sum = bias_by_m ? (float8)bias[m] : vload8(0, bias + n);
  for (int k = 0; k < depth; k++) sum += a[k * ms + m] * vload8(0, b + k * ns + n);
  vstore8(relu ? fmax(sum, 0.0f) : sum, 0, out + m * ns + n);
}

/* The largest of each filter x filter elements. Items are columns, rows and planes of the result. */
__kernel void pool(__global const float *restrict in, __global float *restrict out, int out_size, int size,
                   int plane, int filter, int stride) {
  const size_t x = get_global_id(0), y = get_global_id(1), p = get_global_id(2);
  if (x >= out_size) return;
  float most = -INFINITY;
  for (int j = 0; j < filter; j++) {
    for (int i = 0; i < filter; i++) most = fmax(most, in[p * plane + (y * stride + j) * size + x * stride + i]);
  }
  out[(p * out_size + y) * out_size + x] = most;
}

/* Takes the padding out of planes. Items are elements and planes of the result. */
__kernel void mem_write(__global const float *restrict in, __global float *restrict data, int count, int plane) {
  const size_t x = get_global_id(0), p = get_global_id(1);
  if (x < count) data[p * count + x] = in[p * plane + x];
}

/* Divides each element by what the five planes around it have there. Items are elements and planes. */
__kernel void lrn(__global const float *restrict in, __global float *restrict out, int plane) {
  const int x = (int)get_global_id(0), p = (int)get_global_id(1), planes = (int)get_global_size(1);
  if (x >= plane) return;
  float squares = 0;
  for (int q = max(p - 2, 0); q <= min(p + 2, planes - 1); q++) squares += in[q * plane + x] * in[q * plane + x];
  out[p * plane + x] = in[p * plane + x] * pow(1.0f + 1e-4f / 5 * squares, -0.75f);
}
