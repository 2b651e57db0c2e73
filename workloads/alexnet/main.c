/* AlexNet on an OpenCL device, after PipeCNN: five convolutional and three full layers, five kernels on four queues
 * with events between them, and the host waiting at the end of each layer. An inference is 29 launches and about 300
 * calls, which is what makes it a test of small calls. The result is compared with a forward pass in plain C. */
#include <CL/cl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "device.h"
#include "draw.h"
#include "network.h"
#include "run.h"
#include "status.h"

static const char SOURCE[] =
#include "alexnet.cl.inc"
    ;

/* Of the largest output. Sums of up to 9216 products differ by their order, in each of eight layers. */
static const float TOLERANCE = 1e-4f;

enum kernel_name { MEM_READ, CONV, POOL, MEM_WRITE, LRN, KERNELS };
enum { GROUP = 64 }; /* Items of a work-group, all in one row: one size, so a device compiles each kernel once. */
static const char *const NAMES[KERNELS] = {"mem_read", "conv", "pool", "mem_write", "lrn"};

/* Normalisation shares its queue with what it comes after. */
enum queue_name { READ_QUEUE, CONV_QUEUE, POOL_QUEUE, WRITE_QUEUE, QUEUES };

struct accelerator {
  struct device device;
  cl_program program;
  cl_kernel kernel[KERNELS];
  cl_command_queue queue[QUEUES];
  cl_mem weights[LAYERS], bias[LAYERS];
  cl_mem data[2];        /* A layer's input, and its output. */
  cl_mem window;         /* What memory read leaves. */
  cl_mem conv, pool;     /* What these leave. */
};

static bool read_scale(const char *text, void *to) {
  uint64_t *scale = to;
  return args_number(text, 1, 8, scale) && (*scale & (*scale - 1)) == 0;
}

static size_t max(size_t a, size_t b) { return a > b ? a : b; }

static cl_mem upload(const struct accelerator *accelerator, const float *from, size_t count) {
  cl_mem buffer = device_buffer(&accelerator->device, CL_MEM_READ_ONLY, count * sizeof *from);
  check(clEnqueueWriteBuffer(accelerator->queue[READ_QUEUE], buffer, CL_TRUE, 0, count * sizeof *from, from, 0, NULL,
                             NULL),
        "clEnqueueWriteBuffer");
  return buffer;
}

static struct accelerator accelerator_open(unsigned device, const struct network *network) {
  struct accelerator accelerator = {.device = device_open(device)};
  accelerator.program = device_build(&accelerator.device, SOURCE, "");
  for (int i = 0; i < KERNELS; i++) accelerator.kernel[i] = device_kernel(accelerator.program, NAMES[i]);
  for (int i = 0; i < QUEUES; i++) accelerator.queue[i] = device_queue(&accelerator.device, 0);

  size_t data = 0, window = 0, conv = 0, pool = 0;
  for (int i = 0; i < LAYERS; i++) {
    const struct layer *layer = &network->layer[i];
    const size_t planes = (size_t)layer->out_planes, columns = layer_columns(layer);
    accelerator.weights[i] = upload(&accelerator, layer->weights, (size_t)layer->depth * planes);
    accelerator.bias[i] = upload(&accelerator, layer->bias, planes);
    data = max(data, max(layer_inputs(layer), layer_outputs(layer)));
    window = max(window, (size_t)layer->depth * (size_t)layer->groups * columns);
    conv = max(conv, planes * columns);
    if (layer->pool_filter) pool = max(pool, layer_outputs(layer));
  }
  for (int i = 0; i < 2; i++) {
    accelerator.data[i] = device_buffer(&accelerator.device, CL_MEM_READ_WRITE, data * sizeof(float));
  }
  accelerator.window = device_buffer(&accelerator.device, CL_MEM_READ_WRITE, window * sizeof(float));
  accelerator.conv = device_buffer(&accelerator.device, CL_MEM_READ_WRITE, conv * sizeof(float));
  accelerator.pool = device_buffer(&accelerator.device, CL_MEM_READ_WRITE, pool * sizeof(float));
  return accelerator;
}

static void accelerator_close(struct accelerator *accelerator) {
  for (int i = 0; i < LAYERS; i++) {
    check(clReleaseMemObject(accelerator->weights[i]), "clReleaseMemObject");
    check(clReleaseMemObject(accelerator->bias[i]), "clReleaseMemObject");
  }
  cl_mem buffers[] = {accelerator->data[0], accelerator->data[1], accelerator->window, accelerator->conv,
                      accelerator->pool};
  for (unsigned i = 0; i < sizeof buffers / sizeof *buffers; i++) {
    check(clReleaseMemObject(buffers[i]), "clReleaseMemObject");
  }
  for (int i = 0; i < KERNELS; i++) check(clReleaseKernel(accelerator->kernel[i]), "clReleaseKernel");
  for (int i = 0; i < QUEUES; i++) check(clReleaseCommandQueue(accelerator->queue[i]), "clReleaseCommandQueue");
  check(clReleaseProgram(accelerator->program), "clReleaseProgram");
  device_close(&accelerator->device);
}

/* Sets arguments 0 and on of a kernel: first buffers, then numbers. */
static void set(cl_kernel kernel, int buffer_count, const cl_mem *buffers, int number_count, const cl_int *numbers) {
  cl_uint at = 0;
  for (int i = 0; i < buffer_count; i++) {
    check(clSetKernelArg(kernel, at++, sizeof *buffers, &buffers[i]), "clSetKernelArg");
  }
  for (int i = 0; i < number_count; i++) {
    check(clSetKernelArg(kernel, at++, sizeof *numbers, &numbers[i]), "clSetKernelArg");
  }
}

/* Launches a kernel on at least x * y * z items, after `before`, which may be NULL, and flushes its queue, for another
 * waits for it. The event is the caller's. */
static cl_event launch(const struct accelerator *accelerator, enum queue_name queue, enum kernel_name kernel, size_t x,
                       size_t y, size_t z, cl_event before) {
  const size_t global[3] = {(x + GROUP - 1) / GROUP * GROUP, y, z}, local[3] = {GROUP, 1, 1};
  cl_event event;
  check(clEnqueueNDRangeKernel(accelerator->queue[queue], accelerator->kernel[kernel], 3, NULL, global, local,
                               before ? 1 : 0, before ? &before : NULL, &event),
        NAMES[kernel]);
  check(clFlush(accelerator->queue[queue]), "clFlush");
  return event;
}

/* One layer, from data[0] to data[1]; these two then change places, so that the result is the next layer's input. */
static void run_layer(struct accelerator *accelerator, const struct layer *layer, cl_mem weights, cl_mem bias) {
  const size_t columns = layer_columns(layer), planes = (size_t)layer->out_planes, out = (size_t)layer->out_size;
  cl_event event[KERNELS];
  int events = 0;

  set(accelerator->kernel[MEM_READ], 2, (cl_mem[]){accelerator->data[0], accelerator->window}, 6,
      (cl_int[]){(cl_int)columns, layer->size, layer->filter, layer->stride, layer->padding, layer->conv_size});
  event[events++] = launch(accelerator, READ_QUEUE, MEM_READ, columns, (size_t)(layer->depth * layer->groups), 1, NULL);

  if (layer->full) {
    set(accelerator->kernel[CONV], 4, (cl_mem[]){accelerator->window, weights, bias, accelerator->conv}, 5,
        (cl_int[]){layer->out_planes, layer->depth, 1, false, layer->relu});
    event[events++] = launch(accelerator, CONV_QUEUE, CONV, planes / LANES, 1, 1, event[0]);
  } else {
    set(accelerator->kernel[CONV], 4, (cl_mem[]){weights, accelerator->window, bias, accelerator->conv}, 5,
        (cl_int[]){(cl_int)columns, layer->depth, layer->groups, true, layer->relu});
    event[events++] = launch(accelerator, CONV_QUEUE, CONV, columns / LANES, planes, 1, event[0]);
  }

  cl_mem result = accelerator->conv;
  cl_int plane = (cl_int)columns;
  if (layer->pool_filter) {
    set(accelerator->kernel[POOL], 2, (cl_mem[]){accelerator->conv, accelerator->pool}, 5,
        (cl_int[]){layer->out_size, layer->conv_size, plane, layer->pool_filter, layer->pool_stride});
    event[events] = launch(accelerator, POOL_QUEUE, POOL, out, out, planes, event[events - 1]);
    events++;
    result = accelerator->pool;
    plane = (cl_int)(out * out);
  }

  set(accelerator->kernel[MEM_WRITE], 2, (cl_mem[]){result, accelerator->data[1]}, 2,
      (cl_int[]){(cl_int)(out * out), plane});
  event[events] = launch(accelerator, WRITE_QUEUE, MEM_WRITE, out * out, planes, 1, event[events - 1]);
  events++;
  if (layer->lrn) {
    /* Back to where the layer's input was. */
    set(accelerator->kernel[LRN], 2, (cl_mem[]){accelerator->data[1], accelerator->data[0]}, 1, &plane);
    event[events++] = launch(accelerator, WRITE_QUEUE, LRN, out * out, planes, 1, NULL);
  } else {
    cl_mem input = accelerator->data[0];
    accelerator->data[0] = accelerator->data[1];
    accelerator->data[1] = input;
  }
  check(clWaitForEvents(1, &event[events - 1]), "clWaitForEvents");
  for (int i = 0; i < events; i++) check(clReleaseEvent(event[i]), "clReleaseEvent");
}

static bool matches(const struct network *network, const float *input, const float *output) {
  float *expected = network_forward(network, input), most = 0;
  const size_t count = layer_outputs(&network->layer[LAYERS - 1]);
  for (size_t i = 0; i < count; i++) most = fmaxf(most, fabsf(expected[i]));
  size_t at = 0;
  /* Written so that a NaN is no match. */
  while (at < count && fabsf(output[at] - expected[at]) <= TOLERANCE * most) at++;
  if (at < count) fprintf(stderr, "alexnet: output %zu is %g and should be %g\n", at, output[at], expected[at]);
  free(expected);
  return at == count && most > 0;
}

int main(int argc, char **argv) {
  uint64_t scale = 4;
  const struct own_option own[] = {
      {"scale", "S          has 1/S of AlexNet's planes: 1, 2, 4 or 8 [default: 4]", read_scale, &scale}, {0}};
  const struct args args = args_read(argc, argv, "AlexNet, with random weights, on an OpenCL device.", own);

  struct draw draw = {args.seed};
  struct network network = network_make(&draw, (int)scale);
  struct accelerator accelerator = accelerator_open(args.device, &network);
  const size_t inputs = layer_inputs(network.layer), outputs = layer_outputs(&network.layer[LAYERS - 1]);
  float *input = allocate(inputs * sizeof *input), *output = allocate(outputs * sizeof *output);
  for (size_t i = 0; i < inputs; i++) input[i] = (float)draw_below(&draw, 256) - 128;

  char shape[32];
  snprintf(shape, sizeof shape, "\"scale\":%d", (int)scale);
  struct run run = run_begin("alexnet", shape, &args);
  while (run_next(&run)) {
    /* Other pixels each time, so that a result of an earlier iteration is a wrong one. */
    for (size_t i = 0; i < inputs; i += 16) input[i] = (float)draw_below(&draw, 256) - 128;
    memset(output, 0xff, outputs * sizeof *output);
    run_start(&run);
    check(clEnqueueWriteBuffer(accelerator.queue[READ_QUEUE], accelerator.data[0], CL_TRUE, 0, inputs * sizeof *input,
                               input, 0, NULL, NULL),
          "clEnqueueWriteBuffer");
    run_lap(&run, "write");
    for (int i = 0; i < LAYERS; i++) {
      run_layer(&accelerator, &network.layer[i], accelerator.weights[i], accelerator.bias[i]);
    }
    run_lap(&run, "layers");
    cl_event done;
    check(clEnqueueReadBuffer(accelerator.queue[WRITE_QUEUE], accelerator.data[0], CL_FALSE, 0,
                              outputs * sizeof *output, output, 0, NULL, &done),
          "clEnqueueReadBuffer");
    check(clWaitForEvents(1, &done), "clWaitForEvents");
    check(clReleaseEvent(done), "clReleaseEvent");
    run_lap(&run, "read");
    run_done(&run, !run_checks(&run) || matches(&network, input, output));
  }

  free(input);
  free(output);
  network_free(&network);
  accelerator_close(&accelerator);
  return run_end(&run);
}
