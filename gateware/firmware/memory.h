// Kernel inputs and read-back: what the fast paths of the host's window into DDR leave to the firmware.
#ifndef RL_MEMORY_H
#define RL_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

// Bytes of DDR that a host may address.
uint64_t memory_bytes(void);

// Most payload bytes of a frame.
uint32_t memory_bulk(void);

// Bytes of a staging slot: two of them, used by turns, lie behind these, and behind them the values of the digest.
uint32_t memory_staging(void);

// First beat of these values.
static inline uint32_t memory_values(void) {
  return (uint32_t)(memory_bytes() / BEAT) + 2 * (memory_staging() / BEAT);
}

// Whether a host may touch these bytes.
bool memory_is_hosts(uint64_t addr, uint64_t length);

// A write or read that the fast paths did not take.
void memory_write(void);
void memory_read(void);

// Sends the acknowledgement of writes that is due.
void memory_acknowledge(void);

// The window of writes is empty, and no read waits.
void memory_forget(void);

// The owner's reads are answered from now on, as those of the present claim. No other read waits.
void memory_serve(void);

// Begins to zero what hosts may touch; EVENTS_SCRUB_DONE tells the end. The role's own memory stays: the role goes on
// serving the next claim.
void memory_scrub(void);

// Reads bytes of DDR into a slot of the transmit buffer, to where a payload starts, and waits for them. All writes that
// came before have been written then.
void memory_fetch(uint32_t slot, uint64_t addr, uint32_t length);

// A word of these bytes.
uint32_t memory_word(uint32_t slot, uint32_t word);

// Sends the owner a frame with bytes of DDR as its payload. There must be room for a fetch.
void memory_send(uint32_t kind, uint32_t seq, uint64_t head_addr, uint64_t addr, uint32_t length);

#endif
