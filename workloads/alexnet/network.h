/* AlexNet: its layers, random weights, and a forward pass in plain C to check others with. */
#ifndef ALEXNET_NETWORK_H
#define ALEXNET_NETWORK_H

#include <stdbool.h>
#include <stddef.h>

#include "draw.h"

enum { LAYERS = 8, LANES = 8 };

/* A layer: filters laid upon all planes of its input; then, if they are there, pooling and normalisation. A full layer
 * is a filter as large as its input. */
struct layer {
  int planes, size; /* Of the input: each plane is size x size. */
  int filter, stride, padding, groups;
  int out_planes, conv_size;
  bool relu;
  int pool_filter, pool_stride; /* 0: none. */
  int out_size;                 /* After pooling. */
  bool lrn;
  bool full;
  int depth;        /* Weights of a filter. */
  float *weights;   /* depth x out_planes. */
  float *bias;      /* out_planes. */
};

struct network {
  struct layer layer[LAYERS];
};

/* The network with 1/scale of AlexNet's planes; scale is 1, 2, 4 or 8. The input is 3 planes of 227 x 227 and the
 * output 1000 numbers. The weights are drawn so that activations keep their size from layer to layer. */
struct network network_make(struct draw *draw, int scale);

void network_free(struct network *network);

/* Elements of a layer's input and output. */
size_t layer_inputs(const struct layer *layer);
size_t layer_outputs(const struct layer *layer);

/* Columns of the layer's window matrix with their padding: places of the filter. 1 for a full layer. */
size_t layer_columns(const struct layer *layer);

/* The output for this input; free it with free(). */
float *network_forward(const struct network *network, const float *input);

#endif
