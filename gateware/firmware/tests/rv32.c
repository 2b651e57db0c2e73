// The firmware as the processor has it: interprets RV32I, as rl_cpu executes it, with RAM of its own and the board's
// registers and memories for the rest.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../wire.h"
#define RL_WORD(address) (address)
#include "../csr.h"

#define RAM_MAX 0x20000u
// Instructions of a turn of a firmware that does not sleep.
#define TURN_MAX 20000u

uint32_t board_read(uint32_t address);
void board_write(uint32_t address, uint32_t value);

static uint32_t ram[RAM_MAX / 4];
static uint32_t ram_bytes;
static uint32_t x[32];
static uint32_t pc;

uint64_t rv32_instructions;
// Cycles that rl_cpu takes for these, where no register makes it wait longer than it must.
uint64_t rv32_cycles;
// The most bytes that the stack has had.
uint32_t rv32_stack;

// Has RAM of so many bytes, with this image from 0 on.
void rv32_load(const uint8_t *image, uint32_t bytes, uint32_t room) {
  ram_bytes = room;
  memset(ram, 0, sizeof ram);
  for (uint32_t i = 0; i < bytes; i++) ram[i / 4] |= (uint32_t)image[i] << 8 * (i % 4);
}

static uint32_t *ram_word(uint32_t address) {
  if (address >= ram_bytes) abort();
  return &ram[address / 4];
}

static uint32_t load(uint32_t address, uint32_t kind) {
  uint32_t size = 1u << (kind & 3);
  if (address % size != 0 || (address >> 28 != 0 && size != 4)) abort();
  uint32_t word = address >> 28 ? board_read(address) : *ram_word(address) >> 8 * (address % 4);
  switch (kind) {
    case 0: return (uint32_t)(int32_t)(int8_t)word;
    case 1: return (uint32_t)(int32_t)(int16_t)word;
    case 2: return word;
    case 4: return word & 0xFF;
    case 5: return word & 0xFFFF;
    default: abort();
  }
}

static void store(uint32_t address, uint32_t kind, uint32_t value) {
  uint32_t size = 1u << kind;
  if (kind > 2 || address % size != 0 || (address >> 28 != 0 && size != 4)) abort();
  if (address >> 28) {
    board_write(address, value);
    return;
  }
  uint32_t shift = 8 * (address % 4);
  uint32_t mask = (kind == 2 ? ~0u : (1u << 8 * size) - 1) << shift;
  uint32_t *word = ram_word(address);
  *word = (*word & ~mask) | (value << shift & mask);
}

static uint32_t alu(uint32_t kind, uint32_t other, uint32_t a, uint32_t b) {
  switch (kind) {
    case 0: return other ? a - b : a + b;
    case 1: return a << (b & 31);
    case 2: return (int32_t)a < (int32_t)b;
    case 3: return a < b;
    case 4: return a ^ b;
    case 5: return other ? (uint32_t)((int32_t)a >> (b & 31)) : a >> (b & 31);
    case 6: return a | b;
    default: return a & b;
  }
}

static int taken(uint32_t kind, uint32_t a, uint32_t b) {
  switch (kind >> 1) {
    case 0: return (a == b) != (kind & 1);
    case 2: return ((int32_t)a < (int32_t)b) != (int)(kind & 1);
    case 3: return (a < b) != (int)(kind & 1);
    default: abort();
  }
}

// Cycles of an instruction, as the head of rl_cpu.sv has them.
static uint32_t cycles_of(uint32_t op, int jumps) {
  // The register that the last instruction has loaded, or 0.
  static uint32_t loaded;
  uint32_t by = op >> 20 & 31, kind = op >> 12 & 7, opcode = op & 127;
  int shifts = (opcode == 0x13 || opcode == 0x33) && (kind & 3) == 1;
  if (opcode == 0x33) by = x[by] & 31;
  uint32_t cycles = 2 + (jumps != 0) + (shifts ? by / 4 + by % 4 : 0);
  if (loaded != 0 && ((op >> 15 & 31) == loaded || (op >> 20 & 31) == loaded)) cycles++;
  loaded = opcode == 0x03 ? op >> 7 & 31 : 0;
  return cycles + (opcode == 0x03);
}

// One instruction; true when it was a write to SLEEP.
static int step(void) {
  uint32_t op = *ram_word(pc);
  uint32_t rd = op >> 7 & 31, kind = op >> 12 & 7, a = x[op >> 15 & 31], b = x[op >> 20 & 31];
  uint32_t i = (uint32_t)((int32_t)op >> 20);
  uint32_t s = (uint32_t)((int32_t)op >> 25 << 5) | rd;
  uint32_t next = pc + 4, value = 0;
  int slept = 0, writes = 1;
  switch (op & 127) {
    case 0x37: value = op & 0xFFFFF000; break;
    case 0x17: value = pc + (op & 0xFFFFF000); break;
    case 0x6F:
      value = next;
      next = pc + ((uint32_t)((int32_t)op >> 31 << 20) | (op & 0xFF000) | (op >> 9 & 0x800) | (op >> 20 & 0x7FE));
      break;
    case 0x67:
      value = next;
      next = (a + i) & ~1u;
      break;
    case 0x63:
      writes = 0;
      if (taken(kind, a, b)) {
        next = pc + ((uint32_t)((int32_t)op >> 31 << 12) | (op << 4 & 0x800) | (op >> 20 & 0x7E0) | (op >> 7 & 0x1E));
      }
      break;
    case 0x03: value = load(a + i, kind); break;
    case 0x23:
      writes = 0;
      slept = a + s == CSR_SLEEP;
      store(a + s, kind, b);
      break;
    case 0x13: value = alu(kind, kind == 5 && op >> 30, a, i); break;
    case 0x33:
      // Neither multiplication nor anything else that RV32I does not have.
      if ((op >> 25 & ~0x20u) != 0) abort();
      value = alu(kind, op >> 30, a, b);
      break;
    default: abort();
  }
  rv32_cycles += cycles_of(op, next != pc + 4);
  if (writes && rd != 0) x[rd] = value;
  if (x[2] && ram_bytes - x[2] > rv32_stack) rv32_stack = ram_bytes - x[2];
  pc = next;
  rv32_instructions++;
  return slept;
}

void firmware_turn(void) {
  for (uint32_t n = 0; n < TURN_MAX; n++) {
    if (step()) return;
  }
}

void firmware_start(void) {
  memset(x, 0, sizeof x);
  rv32_stack = 0;
  pc = 0;
  firmware_turn();
}
