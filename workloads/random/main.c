/* Random OpenCL programs that a seed decides. What such a program prints is the same for every correct implementation:
 * run natively and through another library, two transcripts that differ are a bug of one of them. What the standard
 * says itself, and what a model of the buffers knows, is checked at once; such lines begin with WRONG. */
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "deviations.h"
#include "device.h"
#include "probes.h"
#include "status.h"
#include "transcript.h"
#include "world.h"

/* The steps, and how often each comes. */
static const struct {
  void (*take)(struct world *);
  unsigned weight;
} STEPS[] = {
    {step_queue, 3},      {step_buffer, 10},     {step_sub_buffer, 5},       {step_release_buffer, 4},
    {step_buffer_info, 3}, {step_write, 12},     {step_read, 12},            {step_copy, 8},
    {step_fill, 6},       {step_migrate, 2},     {step_write_rect, 5},       {step_read_rect, 5},
    {step_copy_rect, 5},  {step_map, 6},         {step_unmap, 6},            {step_launch, 25},
    {step_program, 1},    {step_user_event, 4},  {step_set_user_event, 4},   {step_wait, 3},
    {step_marker, 3},     {step_barrier, 3},     {step_look_at_waiting, 3},  {step_finish, 3},
    {step_chain, 2},         {step_release_event, 3}, {step_settle, 2},     {step_failure, 1},       {step_facts, 2},
};
enum { STEP_KINDS = sizeof STEPS / sizeof *STEPS };

enum { THREADS_MAX = 64 };

struct options {
  uint64_t seed, steps, device;
  uint64_t threads;
  uint64_t patience; /* Seconds that a step may take. */
  bool probes, all_of_standard, list;
  const char *probe; /* The only one; NULL for all. */
};

static void help(void) {
  puts("A random OpenCL program, and a transcript of what it saw.\n\n"
       "Usage: random [OPTIONS]\n\n"
       "  --seed N      which program [default: 1]\n"
       "  --steps M     its length [default: 500]\n"
       "  --threads T   so many programs at once, of the seeds from N on [default: 1]\n"
       "  --device I    number of the OpenCL device, from 0 [default: 0]\n"
       "  --patience S  seconds that a step may take [default: 60]\n"
       "  --probes      instead: each call with wrong arguments once\n"
       "  --probe P     instead: this one of them\n"
       "  --standard    also those of which PoCL answers otherwise than the standard says\n"
       "  --list        list the calls with wrong arguments, what they return, and where PoCL differs\n"
       "  --help        this\n\n"
       "Exit codes: 0 all right; 1 a line is WRONG; 2 usage; 3 a call did not return.");
}

static struct options read_options(int argc, char **argv) {
  static const struct option OPTIONS[] = {
      {"seed", required_argument, NULL, 's'},     {"steps", required_argument, NULL, 'n'},
      {"threads", required_argument, NULL, 'm'},  {"device", required_argument, NULL, 'd'},
      {"patience", required_argument, NULL, 't'}, {"probes", no_argument, NULL, 'p'},
      {"probe", required_argument, NULL, 'o'},    {"standard", no_argument, NULL, 'a'},
      {"list", no_argument, NULL, 'l'},           {"help", no_argument, NULL, 'h'},
      {0}};
  struct options options = {.seed = 1, .steps = 500, .threads = 1, .patience = 60};
  int letter;
  bool good = true;
  while ((letter = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1) {
    switch (letter) {
      case 's': good &= args_number(optarg, 0, UINT64_MAX, &options.seed); break;
      case 'n': good &= args_number(optarg, 1, UINT32_MAX, &options.steps); break;
      case 'd': good &= args_number(optarg, 0, UINT32_MAX, &options.device); break;
      case 'm': good &= args_number(optarg, 1, THREADS_MAX, &options.threads); break;
      case 't': good &= args_number(optarg, 1, 86400, &options.patience); break;
      case 'p': options.probes = true; break;
      case 'o': options.probe = optarg; options.probes = true; break;
      case 'a': options.all_of_standard = true; break;
      case 'l': options.list = true; break;
      case 'h': help(); exit(0);
      default: good = false;
    }
  }
  if (!good || optind < argc) {
    fputs("error: wrong options\nhelp: random --help lists them\n", stderr);
    exit(2);
  }
  return options;
}

static void take_steps(struct world *world, const struct probes *probes, const struct options *options) {
  unsigned weights = 0;
  for (unsigned i = 0; i < STEP_KINDS; i++) weights += STEPS[i].weight;
  queue_open(world, CL_QUEUE_PROFILING_ENABLE);
  for (world->step = 1; world->step <= options->steps; world->step++) {
    expect_progress((unsigned)options->patience);
    unsigned kind = 0;
    for (unsigned at = draw_below(&world->draw, weights); at >= STEPS[kind].weight; kind++) at -= STEPS[kind].weight;
    STEPS[kind].take(world);
    /* A call with wrong arguments changes nothing of all that is under way. */
    if (draw_chance(&world->draw, 30)) probes_any(probes, &world->draw);
    if (world->event_count >= SETTLE_AT) settle(world);
  }
  expect_progress((unsigned)options->patience);
  unmap_all(world);
  settle(world);
  kernels_release(world);
  buffers_release(world);
  queues_release(world);
}

/* One random program, with a context of its own. */
static void perform(const struct options *options, uint64_t seed) {
  struct device device = device_open((unsigned)options->device);
  struct probes *probes = probes_open(&device, options->all_of_standard);
  struct world *world = allocate(sizeof *world);
  memset(world, 0, sizeof *world);
  world->draw.state = seed;
  world->device = device.id;
  world->context = device.context;
  note("seed %llu steps %llu", (unsigned long long)seed, (unsigned long long)options->steps);
  take_steps(world, probes, options);
  free(world);
  probes_close(probes);
  device_close(&device);
  note("%u wrong", wrong_count());
}

static unsigned perform_probes(const struct options *options) {
  struct device device = device_open((unsigned)options->device);
  struct probes *probes = probes_open(&device, options->all_of_standard);
  probes_all(probes, options->probe);
  probes_close(probes);
  device_close(&device);
  note("%u wrong", wrong_count());
  return wrong_count();
}

/* A program in a thread, and its transcript. */
struct actor {
  const struct options *options;
  uint64_t seed;
  pthread_t thread;
  char *text;
  size_t bytes;
  unsigned wrong;
};

static void *act(void *data) {
  struct actor *actor = data;
  FILE *file = open_memstream(&actor->text, &actor->bytes);
  if (!file) die("no memory for a transcript");
  transcript_to(file);
  perform(actor->options, actor->seed);
  actor->wrong = wrong_count();
  fclose(file);
  return NULL;
}

/* Programs with the seeds from the given one on, all at once. Their transcripts are those that they have alone. */
static unsigned perform_together(const struct options *options) {
  struct actor actor[THREADS_MAX];
  /* PoCL tells a thread that there is no device while another finds it for the first time. */
  struct device found = device_open((unsigned)options->device);
  device_close(&found);
  unsigned wrong_lines = 0;
  for (unsigned i = 0; i < options->threads; i++) {
    actor[i] = (struct actor){.options = options, .seed = options->seed + i};
    if (pthread_create(&actor[i].thread, NULL, act, &actor[i])) die("no thread");
  }
  for (unsigned i = 0; i < options->threads; i++) {
    pthread_join(actor[i].thread, NULL);
    fwrite(actor[i].text, 1, actor[i].bytes, stdout);
    free(actor[i].text);
    wrong_lines += actor[i].wrong;
  }
  return wrong_lines;
}

int main(int argc, char **argv) {
  const struct options options = read_options(argc, argv);
  if (options.list) {
    probes_list();
    deviations_list();
    return 0;
  }
  if (options.all_of_standard) deviations_none();
  expect_progress((unsigned)options.patience);
  if (options.probes) return perform_probes(&options) > 0;
  if (options.threads > 1) return perform_together(&options) > 0;
  perform(&options, options.seed);
  return wrong_count() > 0;
}
