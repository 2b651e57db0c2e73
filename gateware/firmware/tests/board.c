// The firmware's registers and memories in a test: memories are arrays here, registers are functions of the test.
//
// All addresses but those of registers are plain memory, as long as the test does not say otherwise: the ring, the
// transmit buffer, bitmaps, launch slots and counters. The test fills and reads them.
#include <stdint.h>
#include <stdlib.h>

#define RL_WORD(address) (address)
#include "../csr.h"

#define REGION_WORDS 0x4000u

uint32_t board_memory[8][REGION_WORDS];

typedef uint32_t (*reader)(uint32_t);
typedef void (*writer)(uint32_t, uint32_t);

static reader on_read;
static writer on_write;

void board_attach(reader read, writer write) {
  on_read = read;
  on_write = write;
}

static uint32_t *word(uint32_t address) {
  uint32_t region = address >> 28;
  uint32_t at = (address & 0x0FFFFFFF) / 4;
  // The ring is there twice, for frames that wrap.
  if (address >= RING_BASE && address < RING_BASE + RING_BYTES) at %= RING_BYTES / 8;
  // A stray access is a fault of the firmware.
  if (address % 4 != 0 || region == 0 || region >= 8 || at >= REGION_WORDS) abort();
  return &board_memory[region][at];
}

uint32_t board_read(uint32_t address) {
  return address >> 28 == CSR_BASE >> 28 ? on_read(address) : *word(address);
}

void board_write(uint32_t address, uint32_t value) {
  if (address >> 28 == CSR_BASE >> 28) {
    on_write(address, value);
  } else {
    *word(address) = value;
  }
}
