#include "role.h"

#include "arith.h"
#include "clock.h"
#include "counters.h"
#include "discovery.h"
#include "frame.h"
#include "launch.h"
#include "load.h"
#include "memory.h"
#include "signed.h"

// Time in which the role's transfers must have ended once it is cut off, microseconds: several times what the guard
// waits for each.
#define DRAIN_US 10000u
// Longest time that a configuration may take, microseconds: the largest image at 4 MB/s.
#define CONFIGURE_US 64000000u
// How often to look whether the configuration port has let go of what was stopped, microseconds.
#define PORT_LOOK_US 100u

static enum { NONE, ACTIVE, CONFIGURING } state;
// Images are staged in two slots by turns: that of the active one keeps it, for the host may ask for its manifest.
static struct image images[2];
static struct image *role;  // The role's, or that of the last one.
static uint8_t args[IMAGE_KERNELS_MAX];
static uint32_t began;
static bool written;  // The role's image is in the flash.
static bool waits;  // The port's controller is still busy with what was stopped: it would not see a start.

bool role_active(void) {
  return state == ACTIVE;
}

bool role_configuring(void) {
  return state == CONFIGURING;
}

bool role_written(void) {
  return written && state == NONE;
}

uint32_t role_kernels(void) {
  return role_active() ? role->kernels : 0;
}

uint32_t role_clock_khz(void) {
  return role_active() ? role->clock_khz : READ(CSR_CLOCK_KHZ);
}

uint32_t role_digest(uint32_t word) {
  return role_active() ? role->digest[word] : 0;
}

uint32_t role_args(uint32_t kernel) {
  return args[kernel];
}

struct image *role_next_image(void) {
  if (role == &images[0]) {
    images[1].base = memory_bytes() + memory_staging();
    return &images[1];
  }
  images[0].base = memory_bytes();
  return &images[0];
}

bool role_local(void) {
  return READ(CSR_CFG_STATUS) & CFG_STATUS_LOCAL;
}

// Cuts the role off, and holds it in reset when what it began has ended.
static void stop(void) {
  WRITE(CSR_ROLE_CTRL, ROLE_CTRL_ISOLATE | ROLE_CTRL_RESET);
  uint32_t since = READ(CSR_TIME_LO);
  // The guard ends what the role left under way. Were memory not to answer, waiting would not help.
  while (!(READ(CSR_ROLE_CTRL) & ROLE_CTRL_DRAINED) && READ(CSR_TIME_LO) - since < DRAIN_US) {
  }
}

// What a role does while no kernel runs ends with the claim under which it began.
void role_renew(void) {
  if (!role_active()) return;
  stop();
  WRITE(CSR_ROLE_CTRL, 0);
}

void role_start(void) {
  role = &images[0];
  stop();
}

// Starts the configuration port, or waits for it.
static void start_port(void) {
  waits = READ(CSR_CFG_STATUS) & CFG_STATUS_BUSY;
  if (waits) return;
  const struct image *image = role;
  uint32_t source = (uint32_t)((image->base + image->part) / BEAT);
  uint32_t last_word = image->part_length / 4 - 1;  // Its lowest bits: in its beat.
  WRITE(CSR_CFG_SOURCE, source);
  WRITE(CSR_CFG_LAST, last_word << CFG_LAST_WORDS_SHIFT | ((source + last_word / (BEAT / 4)) & CFG_LAST_BEAT_MASK));
  WRITE(CSR_CLEAR, EVENTS_CONFIG_DONE);
  WRITE(CSR_CFG_GO, CFG_GO_START);
}


static void activate(void) {
  image_args(role, args);
  state = ACTIVE;
  for (uint32_t i = 0; i < IMAGE_KERNELS_MAX; i++) {
    uint32_t takes = i < role_kernels() ? (LAUNCH_WORDS / 2 + args[i]) << LCH_ARGS_WORDS_SHIFT | args[i] : 0;
    WRITE(CSR_LCH_ARGS, i << LCH_ARGS_KERNEL_SHIFT | takes);
  }
  WRITE(CSR_ROLE_CTRL, 0);
  launch_allow();
}

// What the card awaits once the port has written the flash; 0 if the port configures the region.
static uint32_t restart(void) {
  return READ(CSR_IMAGE_BOOT) >> IMAGE_BOOT_RESTART_SHIFT & IMAGE_BOOT_RESTART_MASK;
}

// True when the device has booted the image whose digest was named last.
static bool runs(void) {
  return READ(CSR_IMAGE_BOOT) & IMAGE_BOOT_RUNS;
}

static void finish(bool done) {
  // The role's region may hold anything: it stays cut off.
  state = NONE;
  written = done && restart() != 0 && !runs();
  if (done && !signed_ran(role)) done = written = false;
  if (!done) {
    count(COUNTER_IMAGES_FAILED);
  } else if (!written) {
    activate();
    count(COUNTER_IMAGES_ACTIVATED);
  }
  load_configured(done, written ? restart() : 0, arith_times(now - began, 1000));
  discovery_change();
}

// Names the image to the board.
static void name(void) {
  for (uint32_t i = 0; i < IMAGE_DIGEST_WORDS; i++) WRITE(CSR_CFG_NAME(i), role->digest[i]);
}

// True when the image is in the flash already.
static bool same_as(const struct image *image) {
  for (uint32_t i = 0; i < IMAGE_DIGEST_WORDS; i++) {
    if (role->digest[i] != image->digest[i]) return false;
  }
  return true;
}

void role_configure(void) {
  launch_cancel_all();
  const struct image *before = role;
  role = role_next_image();
  state = CONFIGURING;
  began = now;
  stop();
  name();
  // A flash is not written again for what is in it.
  bool is_there = restart() != 0 && (runs() || (written && same_as(before)));
  written = false;
  if (is_there) return finish(true);
  start_port();
}

void role_turn(uint32_t events) {
  if (!role_configuring()) return;
  // While it waits, what is done is what was stopped.
  if (!waits && (events & EVENTS_CONFIG_DONE)) return finish(!(READ(CSR_CFG_STATUS) & CFG_STATUS_FAILED));
  if (clock_due(began + CONFIGURE_US)) {
    WRITE(CSR_CFG_GO, CFG_GO_STOP);
    return finish(false);
  }
  if (waits) start_port();
  if (waits) clock_due(now + PORT_LOOK_US);
}

void role_tell_manifest(void) {
  const struct image *image = role;
  uint32_t length = role_active() ? image->manifest_length : 0;
  uint32_t from = asked.addr < length ? (uint32_t)asked.addr : length;
  uint32_t bytes = length - from;
  if (bytes > BULK_STANDARD) bytes = BULK_STANDARD;
  frame_answer(KIND_SESSION_MANIFEST, asked.epoch);
  frame_address(asked.addr);
  if (bytes != 0) memory_fetch(frame_slot(), image->base + image->manifest + from, bytes);
  frame_send_bytes(bytes);
}
