#include "network.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "status.h"

/* AlexNet as PipeCNN has it: pooling comes before normalisation, and the last layer has no ReLU. */
static const struct layer ALEXNET[LAYERS] = {
    {.planes = 3, .size = 227, .filter = 11, .stride = 4, .padding = 0, .groups = 1, .out_planes = 96, .relu = true,
     .pool_filter = 3, .pool_stride = 2, .lrn = true},
    {.planes = 96, .size = 27, .filter = 5, .stride = 1, .padding = 2, .groups = 2, .out_planes = 256, .relu = true,
     .pool_filter = 3, .pool_stride = 2, .lrn = true},
    {.planes = 256, .size = 13, .filter = 3, .stride = 1, .padding = 1, .groups = 1, .out_planes = 384, .relu = true},
    {.planes = 384, .size = 13, .filter = 3, .stride = 1, .padding = 1, .groups = 2, .out_planes = 384, .relu = true},
    {.planes = 384, .size = 13, .filter = 3, .stride = 1, .padding = 1, .groups = 2, .out_planes = 256, .relu = true,
     .pool_filter = 3, .pool_stride = 2},
    {.planes = 256, .size = 6, .filter = 6, .stride = 1, .padding = 0, .groups = 1, .out_planes = 4096, .relu = true,
     .full = true},
    {.planes = 4096, .size = 1, .filter = 1, .stride = 1, .padding = 0, .groups = 1, .out_planes = 4096, .relu = true,
     .full = true},
    {.planes = 4096, .size = 1, .filter = 1, .stride = 1, .padding = 0, .groups = 1, .out_planes = 1000, .full = true},
};

/* From -1 to 1. */
static float draw_float(struct draw *draw) { return (float)((double)draw_bits(draw) / 0x1p63 - 1); }

struct network network_make(struct draw *draw, int scale) {
  struct network network;
  memcpy(network.layer, ALEXNET, sizeof network.layer);
  for (int i = 0; i < LAYERS; i++) {
    struct layer *layer = &network.layer[i];
    if (i > 0) layer->planes /= scale;
    if (i < LAYERS - 1) layer->out_planes /= scale;
    layer->conv_size = (layer->size + 2 * layer->padding - layer->filter) / layer->stride + 1;
    layer->out_size = layer->conv_size;
    if (layer->pool_filter) layer->out_size = (layer->conv_size - layer->pool_filter) / layer->pool_stride + 1;
    assert(i == 0 || layer_inputs(layer) == layer_outputs(layer - 1));
    assert(layer->out_planes % layer->groups == 0 && layer->planes % layer->groups == 0);
    assert(!layer->full || layer->out_planes % LANES == 0);

    layer->depth = layer->planes / layer->groups * layer->filter * layer->filter;
    size_t weights = (size_t)layer->depth * (size_t)layer->out_planes;
    layer->weights = allocate(weights * sizeof(float));
    layer->bias = allocate((size_t)layer->out_planes * sizeof(float));
    /* Of variance 2/depth, for ReLU takes half of it away (He and others, 2015); uniform numbers have a third. */
    float most = sqrtf(6.0f / (float)layer->depth);
    for (size_t w = 0; w < weights; w++) layer->weights[w] = most * draw_float(draw);
    for (int b = 0; b < layer->out_planes; b++) layer->bias[b] = 0.1f * draw_float(draw);
  }
  return network;
}

void network_free(struct network *network) {
  for (int i = 0; i < LAYERS; i++) {
    free(network->layer[i].weights);
    free(network->layer[i].bias);
  }
}

size_t layer_inputs(const struct layer *layer) {
  return (size_t)layer->planes * (size_t)layer->size * (size_t)layer->size;
}

size_t layer_outputs(const struct layer *layer) {
  return (size_t)layer->out_planes * (size_t)layer->out_size * (size_t)layer->out_size;
}

size_t layer_columns(const struct layer *layer) {
  size_t places = (size_t)layer->conv_size * (size_t)layer->conv_size;
  return layer->full ? 1 : (places + LANES - 1) / LANES * LANES;
}

/* One plane of a convolution, weight by weight. */
static void convolve(const struct layer *layer, const float *in, int plane, float *out) {
  const int n = layer->conv_size, group_planes = layer->planes / layer->groups;
  const int first = plane / (layer->out_planes / layer->groups) * group_planes;
  for (int i = 0; i < n * n; i++) out[i] = layer->bias[plane];
  for (int k = 0; k < layer->depth; k++) {
    const float weight = layer->weights[(size_t)k * (size_t)layer->out_planes + (size_t)plane];
    const int x = k % layer->filter - layer->padding, y = k / layer->filter % layer->filter - layer->padding;
    const int from_plane = first + k / (layer->filter * layer->filter);
    const float *from = in + (size_t)from_plane * (size_t)(layer->size * layer->size);
    for (int j = 0; j < n; j++) {
      const int at_y = j * layer->stride + y;
      if (at_y < 0 || at_y >= layer->size) continue;
      for (int i = 0; i < n; i++) {
        const int at_x = i * layer->stride + x;
        if (at_x >= 0 && at_x < layer->size) out[j * n + i] += weight * from[at_y * layer->size + at_x];
      }
    }
  }
  for (int i = 0; i < n * n && layer->relu; i++) out[i] = out[i] > 0 ? out[i] : 0;
}

static void full(const struct layer *layer, const float *in, float *out) {
  const size_t outputs = (size_t)layer->out_planes;
  memcpy(out, layer->bias, outputs * sizeof *out);
  for (size_t k = 0; k < (size_t)layer->depth; k++) {
    for (size_t o = 0; o < outputs; o++) out[o] += in[k] * layer->weights[k * outputs + o];
  }
  for (size_t o = 0; o < outputs && layer->relu; o++) out[o] = out[o] > 0 ? out[o] : 0;
}

static void pool(const struct layer *layer, const float *in, float *out) {
  const int n = layer->conv_size;
  for (int y = 0; y < layer->out_size; y++) {
    for (int x = 0; x < layer->out_size; x++) {
      float most = -INFINITY;
      for (int j = 0; j < layer->pool_filter; j++) {
        for (int i = 0; i < layer->pool_filter; i++) {
          most = fmaxf(most, in[(y * layer->pool_stride + j) * n + x * layer->pool_stride + i]);
        }
      }
      out[y * layer->out_size + x] = most;
    }
  }
}

static void normalise(const struct layer *layer, float *data) {
  const size_t plane = (size_t)layer->out_size * (size_t)layer->out_size, count = layer_outputs(layer);
  float *squares = allocate(count * sizeof *squares);
  for (size_t i = 0; i < count; i++) squares[i] = data[i] * data[i];
  for (size_t i = 0; i < count; i++) {
    float sum = 0;
    for (int p = -2; p <= 2; p++) {
      size_t at = i + (size_t)p * plane; /* Wraps around below 0, and is beyond the end then, too. */
      if (at < count) sum += squares[at];
    }
    data[i] *= powf(1 + 1e-4f / 5 * sum, -0.75f);
  }
  free(squares);
}

float *network_forward(const struct network *network, const float *input) {
  float *in = allocate(layer_inputs(network->layer) * sizeof *in);
  memcpy(in, input, layer_inputs(network->layer) * sizeof *in);
  for (const struct layer *layer = network->layer; layer < network->layer + LAYERS; layer++) {
    float *out = allocate(layer_outputs(layer) * sizeof *out);
    if (layer->full) {
      full(layer, in, out);
    } else {
      const size_t plane = (size_t)layer->out_size * (size_t)layer->out_size;
      float *conv = allocate((size_t)layer->conv_size * (size_t)layer->conv_size * sizeof *conv);
      for (int p = 0; p < layer->out_planes; p++) {
        convolve(layer, in, p, conv);
        if (layer->pool_filter) {
          pool(layer, conv, out + (size_t)p * plane);
        } else {
          memcpy(out + (size_t)p * plane, conv, plane * sizeof *out);
        }
      }
      free(conv);
      if (layer->lrn) normalise(layer, out);
    }
    free(in);
    in = out;
  }
  return in;
}
