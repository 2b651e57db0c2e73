// How the firmware reaches the shell's blocks: whole words at the addresses of csr.h.
//
// On another machine, where the tests build the same code, a word is its address, and reading and writing it are
// functions of the simulated board.
#ifndef RL_HW_H
#define RL_HW_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __riscv
#include "csr.h"
#define READ(word) (word)
#define WRITE(word, value) ((word) = (value))
#else
#define RL_WORD(address) (address)
#include "csr.h"
uint32_t board_read(uint32_t address);
void board_write(uint32_t address, uint32_t value);
#define READ(word) board_read(word)
#define WRITE(word, value) board_write(word, value)
#endif

// A register that acts when anything is written.
#define ACT(word) WRITE(word, 1)

#endif
