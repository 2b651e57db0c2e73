// Made from protocol/registers.toml by `cargo run -p protogen`. Change that file, not this one.
//
// CSR_NAME is a register, read or assigned as a variable. A field of one bit is a mask: NAME_FIELD. One of several is
// NAME_FIELD_SHIFT and NAME_FIELD_MASK, the mask of the field when moved down to bit 0. A region is NAME_BASE and
// NAME_BYTES; REGION_WORD(slot, word) is a word of a slot, REGION_SLOT_WORD the number of one.
#ifndef RL_CSR_H
#define RL_CSR_H

#include <stdint.h>

// The word at an address. A test of the firmware on another machine defines it first.
#ifndef RL_WORD
#define RL_WORD(address) (*(volatile uint32_t *)(address))
#endif

// Code, data and stack, also in bytes and halves. A card with keys has 0x10000 bytes. Instructions come from here
// alone. All other regions are read and written in whole words.
#define RAM_BASE 0x00000000u
#define RAM_BYTES 0x8000u
#define RAM_WORD(word) RL_WORD(RAM_BASE + 4u * (word))

// The control ring, twice: a frame that wraps reads on linearly. A frame's word k is its bytes 4 k to 4 k + 3 as a
// big-endian number.
#define RING_BASE 0x10000000u
#define RING_BYTES 0x4000u
#define RING_WORD(word) RL_WORD(RING_BASE + 4u * (word))

// The transmit buffer. Slots 0 and 1 hold frames of the firmware, slot 2 the template of announcements. Slot 3 holds
// two templates of what is fetched from DDR, 16 words each, and cannot be read: the owner's reads have the first, the
// firmware's fetches the second. Words 0 and 1 are for the memory, words 2 to 9 the frame's head. The owner's is 0
// where a read tells length, number and address. The order of bytes is the ring's.
#define TX_BASE 0x20000000u
#define TX_BYTES 0x2000u
#define TX_SLOTS 4u
#define TX_SLOT_BYTES 2048u
#define TX_WORD(slot, word) RL_WORD(TX_BASE + (slot) * TX_SLOT_BYTES + 4u * (word))

// The registers below.
#define CSR_BASE 0x30000000u
#define CSR_BYTES 0x400u

// Chunks of the load that are there: bit n % 32 of word n / 32.
#define HAVE_BASE 0x40000000u
#define HAVE_BYTES 0x2000u
#define HAVE_WORD(word) RL_WORD(HAVE_BASE + 4u * (word))

// Chunks that a report of any member has named lately: as HAVE. Memory of the firmware's own.
#define REPORTED_BASE 0x50000000u
#define REPORTED_BYTES 0x2000u
#define REPORTED_WORD(word) RL_WORD(REPORTED_BASE + 4u * (word))

// Accepted launches, from acceptance until they are done with: their frames as they came, in the order of the ring's
// bytes.
#define LAUNCH_BASE 0x60000000u
#define LAUNCH_BYTES 0x4000u
#define LAUNCH_SLOTS 32u
#define LAUNCH_SLOT_BYTES 512u
#define LAUNCH_WORD(slot, word) RL_WORD(LAUNCH_BASE + (slot) * LAUNCH_SLOT_BYTES + 4u * (word))
// Number of the launch.
#define LAUNCH_SLOT_SEQ 5u
// Kernel.
#define LAUNCH_SLOT_KERNEL 7u
// Most cycles it may take, high word first.
#define LAUNCH_SLOT_FUEL 8u
// Address of the output region, high word first.
#define LAUNCH_SLOT_OUT_ADDR 10u
// Bytes of the output region, high word first.
#define LAUNCH_SLOT_OUT_LENGTH 12u
// The Go it waits for, or 0.
#define LAUNCH_SLOT_GO 14u
// Output chunks it may send unasked in the high half, number of arguments in the low half.
#define LAUNCH_SLOT_CREDIT_ARGS 15u
// Arguments, two words each, high word first.
#define LAUNCH_SLOT_ARG 16u

// Counters that the blocks keep, numbered as on the wire.
#define COUNTER_BASE 0x70000000u
#define COUNTER_BYTES 0x800u
#define COUNTER_SLOTS 256u
#define COUNTER_SLOT_BYTES 8u
#define COUNTER_WORD(slot, word) RL_WORD(COUNTER_BASE + (slot) * COUNTER_SLOT_BYTES + 4u * (word))
// Low half.
#define COUNTER_SLOT_LO 0u
// High half.
#define COUNTER_SLOT_HI 1u

// ---- Processor: Time, events and sleep.
// read: Microseconds since reset, low half. Latches the high half.
#define CSR_TIME_LO RL_WORD(0x30000000u)
// read: High half as latched, 16 bits.
#define CSR_TIME_HI RL_WORD(0x30000004u)
// write: The event ALARM is there from the microsecond on in which TIME_LO - ALARM, as a signed number, is not
// negative. While the processor sleeps and waits for that event, this is the card's next deadline.
#define CSR_ALARM RL_WORD(0x30000008u)
// read: What there is to do. An event marked latched stays until CLEAR; the others last as long as their cause.
#define CSR_EVENTS RL_WORD(0x3000000Cu)
// A control frame is unread.
#define EVENTS_CONTROL 0x00000001u
// Writes have to be acknowledged.
#define EVENTS_ACK_DUE 0x00000002u
// A launch has ended that is not done with.
#define EVENTS_LAUNCH_ENDED 0x00000004u
// The time ALARM has come.
#define EVENTS_ALARM 0x00000008u
// STG_BLOCK is valid.
#define EVENTS_BLOCK_WHOLE 0x00000010u
// Latched: the digest engine has done its last job.
#define EVENTS_DIGEST_IDLE 0x00000020u
// Latched: memory is zeroed.
#define EVENTS_SCRUB_DONE 0x00000040u
// Latched: a fetch to the processor is in its slot.
#define EVENTS_FETCH_DONE 0x00000080u
// Latched: the configuration port is done, or has failed.
#define EVENTS_CONFIG_DONE 0x00000100u
// Latched: the role has broken a rule, see ROLE_FAULT.
#define EVENTS_ROLE_FAULT 0x00000200u
// A slot of the firmware's is free.
#define EVENTS_TX_FREE 0x00000400u
// KEY_STORE has NEWS.
#define EVENTS_KEYS 0x00000800u
// write acts: The processor stops until one of these EVENTS is there.
#define CSR_SLEEP RL_WORD(0x30000010u)
// write acts: Clears these latched EVENTS.
#define CSR_CLEAR RL_WORD(0x30000014u)
// write acts: The firmware does its work: to be written in each turn. When neither that nor a sleep that waits for
// ALARM or SCRUB_DONE comes for long, the processor counts as failed.
#define CSR_ALIVE RL_WORD(0x30000018u)

// ---- Card: What the card is: constants of the board and of the simulation that it runs in.
// read: Address of the card, bytes 0 and 1, in the low half.
#define CSR_MAC_HI RL_WORD(0x30000020u)
// read: Address of the card, bytes 2 to 5.
#define CSR_MAC_LO RL_WORD(0x30000024u)
// read: What an announcement says of the card.
#define CSR_CARD RL_WORD(0x30000028u)
// Its number in the rack.
#define CARD_UNIT_SHIFT 16u
#define CARD_UNIT_MASK 0xFFFFu
// What runs it.
#define CARD_KIND_SHIFT 8u
#define CARD_KIND_MASK 0xFFu
// Network ports.
#define CARD_PORTS_SHIFT 0u
#define CARD_PORTS_MASK 0xFFu
// read: Who made it.
#define CSR_PRODUCT RL_WORD(0x3000002Cu)
// Vendor id.
#define PRODUCT_VENDOR_SHIFT 16u
#define PRODUCT_VENDOR_MASK 0xFFFFu
// Product id.
#define PRODUCT_ID_SHIFT 0u
#define PRODUCT_ID_MASK 0xFFFFu
// read: Random number drawn at each boot.
#define CSR_BOOT RL_WORD(0x30000030u)
// read: Seed of the jitter.
#define CSR_SEED RL_WORD(0x30000034u)
// read: DDR that a host may address, in units of 64 KiB.
#define CSR_MEMORY RL_WORD(0x30000038u)
// read: Clock of the role while there is none, kHz.
#define CSR_CLOCK_KHZ RL_WORD(0x3000003Cu)
// read: Rate of port 0, Mb/s: see LINK.
#define CSR_PORT_RATE RL_WORD(0x30000040u)
// read: Rate at which image data can be staged, kB/s; 0: as fast as it comes.
#define CSR_STAGE_RATE RL_WORD(0x30000044u)
// read: Rate of the configuration port, kB/s; 0: instantly.
#define CSR_CONFIG_RATE RL_WORD(0x30000048u)
// read: Bytes of one staging slot, the longest image.
#define CSR_STAGING_MAX RL_WORD(0x3000004Cu)
// read: Two bounds.
#define CSR_LIMITS RL_WORD(0x30000050u)
// Writes after which an acknowledgement is due.
#define LIMITS_ACK_EVERY_SHIFT 16u
#define LIMITS_ACK_EVERY_MASK 0xFFFFu
// Most payload bytes of a frame.
#define LIMITS_BULK_SHIFT 0u
#define LIMITS_BULK_MASK 0xFFFFu
// read: Microseconds after the first unacknowledged write at which an acknowledgement is due.
#define CSR_ACK_DELAY RL_WORD(0x30000054u)
// read: Microseconds after which an unacknowledged result is sent again.
#define CSR_RESEND RL_WORD(0x30000058u)
// read: Milliseconds between periodic announcements.
#define CSR_ANNOUNCE_INTERVAL RL_WORD(0x3000005Cu)
// read: Address of port 1, bytes 0 and 1, in the low half. 0 if the card has one port.
#define CSR_MAC1_HI RL_WORD(0x30000060u)
// read: Address of port 1, bytes 2 to 5.
#define CSR_MAC1_LO RL_WORD(0x30000064u)
// read: How often the card has been restarted since power came, and why the last time.
#define CSR_RESTARTS RL_WORD(0x30000068u)
// Its memory cannot be used: the training of it has failed, or it owes answers of the life before.
#define RESTARTS_UNTRAINED 0x00000200u
// Its memory had answered with an error, or not at all; else its firmware had failed.
#define RESTARTS_MEMORY 0x00000100u
// Restarts; after 255 comes 1.
#define RESTARTS_COUNT_SHIFT 0u
#define RESTARTS_COUNT_MASK 0xFFu
// read: How an image that was configured comes to run.
#define CSR_IMAGE_BOOT RL_WORD(0x3000006Cu)
// The image named last, see CFG_NAME, is the one that the device has booted.
#define IMAGE_BOOT_RUNS 0x00000004u
// 0: it runs when the configuration port is done. Else the port writes the configuration flash, and this is what the
// card then awaits: Restart of the protocol.
#define IMAGE_BOOT_RESTART_SHIFT 0u
#define IMAGE_BOOT_RESTART_MASK 0x3u
// read: The link of port 0. PORT_RATE is its rate, or while there is none, that of the last one.
#define CSR_LINK RL_WORD(0x30000070u)
// How often it has come up, modulo 2^8.
#define LINK_UPS_SHIFT 8u
#define LINK_UPS_MASK 0xFFu
// Its PHY does not answer, or is another one: UP is a guess.
#define LINK_UNKNOWN 0x00000008u
// There is a link of half duplex, which cannot be used.
#define LINK_HALF 0x00000004u
// All this may change: there is a PHY that is asked.
#define LINK_WATCHED 0x00000002u
// There is a link.
#define LINK_UP 0x00000001u

// ---- Frames: Control frames in, frames of the firmware and announcements out.
// read: The first unread control frame.
#define CSR_CTL_HEAD RL_WORD(0x30000080u)
// There is one.
#define CTL_HEAD_VALID 0x80000000u
// Why it is here.
#define CTL_HEAD_REASON_SHIFT 16u
#define CTL_HEAD_REASON_MASK 0xFFu
// It is a control frame.
#define DIVERT_KIND 0u
// Not the owner's, or not of the present epoch.
#define DIVERT_EPOCH 1u
// The payload is not what its kind requires.
#define DIVERT_MALFORMED 2u
// Read or write of 0 or too many bytes.
#define DIVERT_LENGTH 3u
// Not inside the memory a host may address.
#define DIVERT_ADDRESS 4u
// A launch that is not the next.
#define DIVERT_TURN 5u
// No role, no such kernel, wrong number of arguments.
#define DIVERT_KERNEL 6u
// Launch queue or result table full, or configuring.
#define DIVERT_BUSY 7u
// Nothing is wrong: a launch that was accepted, to be answered.
#define DIVERT_ACCEPTED 8u
// Its first byte in the ring.
#define CTL_HEAD_OFFSET_SHIFT 0u
#define CTL_HEAD_OFFSET_MASK 0x1FFFu
// write acts: Done with that frame.
#define CSR_CTL_POP RL_WORD(0x30000084u)
// read: What is still to be sent.
#define CSR_TX_BUSY RL_WORD(0x30000090u)
// An answer to a solicitation, made of the template: slot 2.
#define TX_BUSY_ANSWER 0x00000004u
// Bit s: slot s.
#define TX_BUSY_SLOTS_SHIFT 0u
#define TX_BUSY_SLOTS_MASK 0x3u
// write acts: Send the frame of a slot.
#define CSR_TX_SEND RL_WORD(0x30000094u)
// Slot.
#define TX_SEND_SLOT 0x00010000u
// Bytes from the destination address on, padded to 60 or more.
#define TX_SEND_BYTES_SHIFT 0u
#define TX_SEND_BYTES_MASK 0x7FFu

// ---- Session: What the fast paths have to know of the claim and the load.
// write: State.
#define CSR_SESSION RL_WORD(0x30000100u)
// FILTER has been told everything: frames come in. Until then they wait.
#define SESSION_LISTENING 0x00000001u
// The card is a member of a load.
#define SESSION_LOADING 0x00000002u
// The load takes image data.
#define SESSION_RECEIVING 0x00000004u
// A role is active.
#define SESSION_ROLE 0x00000008u
// The configuration port is writing.
#define SESSION_CONFIGURING 0x00000010u
// No delayed answer waits: answer a solicitation without window at once.
#define SESSION_SOLICIT_FAST 0x00000020u
// A host holds the card.
#define SESSION_CLAIMED 0x00000040u
// write acts: Which addresses have a half byte of this value at these places. A frame's destination and source are
// those that all its half bytes are of. Frames that only an address being changed concerns must not be under way.
#define CSR_FILTER RL_WORD(0x30000104u)
// Bit n: half byte n of an address, the upper half of its first byte first.
#define FILTER_PLACES_SHIFT 16u
#define FILTER_PLACES_MASK 0xFFFu
// Value of the half byte.
#define FILTER_VALUE_SHIFT 8u
#define FILTER_VALUE_MASK 0xFu
// The card's own address,
#define FILTER_CARD 0x00000001u
// the owner's,
#define FILTER_OWNER 0x00000002u
// that of all cards,
#define FILTER_CARDS 0x00000004u
// that of all stations,
#define FILTER_ALL 0x00000008u
// that of the load's group; bytes 0 to 3, half bytes 0 to 7, are those of any group,
#define FILTER_LOAD 0x00000010u
// that of the claim's group.
#define FILTER_CLAIM 0x00000020u
// write: Epoch of the claim, 16 bits.
#define CSR_EPOCH RL_WORD(0x3000010Cu)
// write: Group id of the load, 16 bits.
#define CSR_LOAD_GROUP RL_WORD(0x30000110u)
// read: TIME_LO at which a fast path last heard the owner.
#define CSR_HEARD RL_WORD(0x30000114u)

// ---- Writes: The window of writes (`rl_mem_write`).
// write acts, read: Read: first write that is missing. Written: a new claim, the window is empty and starts with 1.
#define CSR_WIN_NEXT RL_WORD(0x30000140u)
// write acts: An acknowledgement is being sent: nothing is unacknowledged.
#define CSR_WIN_ACKED RL_WORD(0x30000148u)
// write acts, read: Written: this number counts as received; bits 11 to 0 tell it, for it is, or counts as, one within
// 2^11 of WIN_NEXT. Read: what came of it.
#define CSR_WIN_INSERT RL_WORD(0x3000014Cu)
// Not known yet.
#define WIN_INSERT_BUSY 0x80000000u
// Result.
#define WIN_INSERT_RESULT_SHIFT 0u
#define WIN_INSERT_RESULT_MASK 0x3u
// It was not there.
#define INSERT_NEW 0u
// It was there.
#define INSERT_DUPLICATE 1u
// It is beyond the window.
#define INSERT_BEYOND 2u
// write acts: As WIN_INSERT, and its frame asks for an acknowledgement at once.
#define CSR_WIN_INSERT_NOW RL_WORD(0x30000150u)
// read: How far writes have come, in frames modulo 2^8. After an error of the memory WRITTEN stands still.
#define CSR_WIN_WRITTEN RL_WORD(0x30000154u)
// In memory.
#define WIN_WRITTEN_WRITTEN_SHIFT 8u
#define WIN_WRITTEN_WRITTEN_MASK 0xFFu
// On their way there, or there.
#define WIN_WRITTEN_STORED_SHIFT 0u
#define WIN_WRITTEN_STORED_MASK 0xFFu
// read: What is there: bit n % 256 for write n.
#define CSR_WIN_BITS(i) RL_WORD(0x30000160u + 4u * (i))

// ---- Staging: The load's chunks (`rl_image_write`).
// write: First beat of the staging slot.
#define CSR_STG_BASE RL_WORD(0x30000180u)
// write: Number of the last chunk, 16 bits.
#define CSR_STG_LAST RL_WORD(0x30000184u)
// write: How long chunks are.
#define CSR_STG_CHUNK RL_WORD(0x30000188u)
// Bytes of the last one, 1 or more.
#define STG_CHUNK_LAST_LENGTH_SHIFT 16u
#define STG_CHUNK_LAST_LENGTH_MASK 0x3FFFu
// Bytes of the others, a multiple of 64.
#define STG_CHUNK_LENGTH_SHIFT 0u
#define STG_CHUNK_LENGTH_MASK 0x3FFFu
// write: How much is to be emptied: the number of the last chunk / 4, or that of the last block if it is more.
#define CSR_STG_EMPTY RL_WORD(0x3000018Cu)
// write acts, read: Empties HAVE and the counts of blocks.
#define CSR_STG_START RL_WORD(0x30000190u)
// Still at it.
#define STG_START_BUSY 0x00000001u
// read: Chunks that were staged since reset, modulo 2^17.
#define CSR_STG_STAGED RL_WORD(0x30000194u)
// read: A block of 64 KiB that is whole and in DDR.
#define CSR_STG_BLOCK RL_WORD(0x30000198u)
// There is one.
#define STG_BLOCK_VALID 0x80000000u
// Its number in the image.
#define STG_BLOCK_NUMBER_SHIFT 0u
#define STG_BLOCK_NUMBER_MASK 0xFFFu
// write acts: Done with that block.
#define CSR_STG_BLOCK_POP RL_WORD(0x3000019Cu)

// ---- Digest: The digest engine (`rl_digest`).
// write: First beat to read.
#define CSR_DIG_SOURCE RL_WORD(0x300001A0u)
// write: First beat to write.
#define CSR_DIG_TARGET RL_WORD(0x300001A4u)
// write: Bytes to read, 1 or more, 29 bits.
#define CSR_DIG_LENGTH RL_WORD(0x300001A8u)
// write: Number of the first chunk of 1024 bytes.
#define CSR_DIG_CHUNK RL_WORD(0x300001ACu)
// write acts, read: Queue this job.
#define CSR_DIG_GO RL_WORD(0x300001B0u)
// The bytes are chaining values, not the image.
#define DIG_GO_PARENTS 0x00000001u
// The only value put out is the root of the tree.
#define DIG_GO_ROOT 0x00000002u
// There is room for a job.
#define DIG_GO_ROOM 0x00000001u
// All jobs are done and their values written.
#define DIG_GO_IDLE 0x00000002u

// ---- Configuration: The configuration port and the role's region (`rl_config_port`, `rl_guard`).
// write: First beat of the configuration data.
#define CSR_CFG_SOURCE RL_WORD(0x30000200u)
// write: Where the configuration data ends.
#define CSR_CFG_LAST RL_WORD(0x30000204u)
// Words of 32 bits in the last beat, less 1.
#define CFG_LAST_WORDS_SHIFT 28u
#define CFG_LAST_WORDS_MASK 0xFu
// The last beat's number, modulo 2^22.
#define CFG_LAST_BEAT_SHIFT 0u
#define CFG_LAST_BEAT_MASK 0x3FFFFFu
// write acts: Writes to the configuration port.
#define CSR_CFG_GO RL_WORD(0x30000208u)
// Start.
#define CFG_GO_START 0x00000001u
// Stop.
#define CFG_GO_STOP 0x00000002u
// read: State of the configuration port.
#define CSR_CFG_STATUS RL_WORD(0x3000020Cu)
// Why it has failed: the port's own number.
#define CFG_STATUS_CODE_SHIFT 8u
#define CFG_STATUS_CODE_MASK 0xFFu
// The board's own programming port has it.
#define CFG_STATUS_LOCAL 0x00000008u
// It has failed.
#define CFG_STATUS_FAILED 0x00000004u
// It is done.
#define CFG_STATUS_DONE 0x00000002u
// It is writing.
#define CFG_STATUS_BUSY 0x00000001u
// write acts, read: The role's region.
#define CSR_ROLE_CTRL RL_WORD(0x30000210u)
// Nothing of the role's is outstanding.
#define ROLE_CTRL_DRAINED 0x00000100u
// Hold the role in reset.
#define ROLE_CTRL_RESET 0x00000002u
// Cut the role off from the shell.
#define ROLE_CTRL_ISOLATE 0x00000001u
// read: Rules that the role has broken.
#define CSR_ROLE_FAULT RL_WORD(0x30000214u)
// It did not answer on AXI4-Lite.
#define ROLE_FAULT_CONTROL_TIMEOUT 0x00000001u
// It addressed memory outside its own.
#define ROLE_FAULT_ADDRESS 0x00000002u
// It broke AXI4.
#define ROLE_FAULT_PROTOCOL 0x00000004u
// It did not take a response.
#define ROLE_FAULT_RESPONSE_TIMEOUT 0x00000008u
// write acts: Names the image whose part comes next, by its digest: before START, all words in their order.
#define CSR_CFG_NAME(i) RL_WORD(0x30000220u + 4u * (i))

// ---- Launches: The launch queue (`rl_launch`).
// write acts, read: Number of the newest launch that was accepted or used up; both read and written.
#define CSR_LCH_LAST RL_WORD(0x30000240u)
// write: Done with launches that have ended. Places of the ring are numbered modulo 32.
#define CSR_LCH_POPPED RL_WORD(0x30000244u)
// No launch is accepted beyond this place.
#define LCH_POPPED_BOUND_SHIFT 8u
#define LCH_POPPED_BOUND_MASK 0x1Fu
// First place of the ring that is not done with.
#define LCH_POPPED_PLACE_SHIFT 0u
#define LCH_POPPED_PLACE_MASK 0x1Fu
// read: The ring of launches: from the place in LCH_POPPED on those that have ended, from HEAD on those that have not,
// from TAIL on free slots.
#define CSR_LCH_QUEUE RL_WORD(0x30000248u)
// Nothing moves.
#define LCH_QUEUE_FROZEN 0x80000000u
// The oldest that has not ended runs.
#define LCH_QUEUE_RUNNING 0x40000000u
// How the kernel that ran last ended: 0 well, else an ErrorCode less KernelTrap - 1.
#define LCH_QUEUE_END_SHIFT 16u
#define LCH_QUEUE_END_MASK 0x7u
// Place of the oldest that has not ended.
#define LCH_QUEUE_HEAD_SHIFT 8u
#define LCH_QUEUE_HEAD_MASK 0x1Fu
// Place of the next that comes.
#define LCH_QUEUE_TAIL_SHIFT 0u
#define LCH_QUEUE_TAIL_MASK 0x1Fu
// write acts: Tells what a launch of a kernel must be.
#define CSR_LCH_ARGS RL_WORD(0x30000250u)
// 64-bit words of its payload, or 0: there is no such kernel.
#define LCH_ARGS_WORDS_SHIFT 16u
#define LCH_ARGS_WORDS_MASK 0x3Fu
// Kernel.
#define LCH_ARGS_KERNEL_SHIFT 8u
#define LCH_ARGS_KERNEL_MASK 0x3Fu
// Its arguments.
#define LCH_ARGS_ARGS_SHIFT 0u
#define LCH_ARGS_ARGS_MASK 0x3Fu
// write: The ring.
#define CSR_LCH_FREEZE RL_WORD(0x30000254u)
// Freeze it: no launch is accepted, starts or ends.
#define LCH_FREEZE_FREEZE 0x00000001u
// write acts: Changes a place of the ring while that is frozen or empty.
#define CSR_LCH_ORDER RL_WORD(0x30000258u)
// Its launch waits for a Go.
#define LCH_ORDER_HELD 0x00010000u
// The place.
#define LCH_ORDER_PLACE_SHIFT 8u
#define LCH_ORDER_PLACE_MASK 0x1Fu
// Slot that is there.
#define LCH_ORDER_SLOT_SHIFT 0u
#define LCH_ORDER_SLOT_MASK 0x1Fu
// write acts: The launch at HEAD, none that runs, has ended; only while the ring is frozen.
#define CSR_LCH_DROP RL_WORD(0x3000025Cu)
// write acts: End the kernel if one runs; only while the ring is frozen.
#define CSR_LCH_STOP RL_WORD(0x30000260u)
// read: What its kernel returned, low half.
#define CSR_LCH_VALUE_LO RL_WORD(0x30000274u)
// read: High half.
#define CSR_LCH_VALUE_HI RL_WORD(0x30000278u)
// read: Cycles of the role's clock that it took, low half.
#define CSR_LCH_CYCLES_LO RL_WORD(0x3000027Cu)
// read: High half.
#define CSR_LCH_CYCLES_HI RL_WORD(0x30000280u)
// read: TIME_LO at which it started.
#define CSR_LCH_STARTED_US RL_WORD(0x30000284u)
// read: TIME_LO at which it ended.
#define CSR_LCH_ENDED_US RL_WORD(0x30000288u)
// read, write: Permission.
#define CSR_LCH_ENABLE RL_WORD(0x30000298u)
// Kernels may start: a role is active and not cut off.
#define LCH_ENABLE_ENABLE 0x00000001u

// ---- Memory: Zeroing of DDR (`rl_ddr_write`) and fetches of the firmware (`rl_mem_read`).
// write: First beat to zero.
#define CSR_MEM_SCRUB_FIRST RL_WORD(0x300002C0u)
// write: Last beat to zero.
#define CSR_MEM_SCRUB_LAST RL_WORD(0x300002C4u)
// write acts: Zero them.
#define CSR_MEM_SCRUB_GO RL_WORD(0x300002C8u)
// write acts, read: Queue the fetch that its template in slot 3 of TX tells of. The template is not changed until there
// is room again.
#define CSR_FET_GO RL_WORD(0x300002F8u)
// There is room for a fetch.
#define FET_GO_ROOM 0x00000001u
// All fetches are done.
#define FET_GO_IDLE 0x00000002u
// write acts: Forget the queued reads of hosts.
#define CSR_FET_FLUSH RL_WORD(0x300002FCu)

// ---- Bridge: The bridge (`rl_bridge_card`). A card without one reads zeros here and ignores writes.
// read: The bridge.
#define CSR_BRG_STATUS RL_WORD(0x30000300u)
// There is one.
#define BRG_STATUS_THERE 0x00000001u
// In the last 256 cycles it has used the memory, or BRG_END was written; or what the role has sent waits.
#define BRG_STATUS_MOVES 0x00000002u
// The last window or route was not set: they name as many other nodes as the bridge can know.
#define BRG_STATUS_FULL 0x00000004u
// BRG_SET or BRG_END is being carried out. Where a node takes another's place that takes 2^18 cycles.
#define BRG_STATUS_SETS 0x00000008u
// Of what BRG_WHAT says: the length is 0,
#define BRG_STATUS_EMPTY 0x00000010u
// its node has an address of zeros,
#define BRG_STATUS_NOBODY 0x00000020u
// there are such streams, from `base` on as many as the length says,
#define BRG_STATUS_STREAMS 0x00000040u
// no route leads there, for it is a group, the card itself, or no stream.
#define BRG_STATUS_ASTRAY 0x00000080u
// write: What BRG_SET sets: the payload of SessionWindowSet, word by word, with addresses of memory as others see it,
// which is as hosts see it; or in the last two words that of SessionRouteSet. To a group, or to the card itself, no
// window opens.
#define CSR_BRG_WHAT(i) RL_WORD(0x30000304u + 4u * (i))
// write acts: Opens a window or closes it, or sets or ends the route of one of the role's streams. A node that no
// window and no route names any more is known on, for what it asks is refused with a word, until its place is needed
// for another; then its connections end.
#define CSR_BRG_SET RL_WORD(0x3000031Cu)
// It is open, or there is a route.
#define BRG_SET_OPEN 0x80000000u
// It is a route.
#define BRG_SET_ROUTE 0x40000000u
// The window's number, or the role's stream.
#define BRG_SET_INDEX_SHIFT 0u
#define BRG_SET_INDEX_MASK 0xFu
// write acts: Closes all windows, ends all connections and knows nobody any more. It is done when MOVES has fallen.
#define CSR_BRG_END RL_WORD(0x30000320u)
// read: Messages that came for a stream that the role does not have or does not take, or were longer than a role's may
// be.
#define CSR_BRG_LOST RL_WORD(0x30000324u)
// read: Counters of the bridge, from bridge_rx on in the order of the wire, two words each, low half first. The high
// half may come a moment after the low one.
#define CSR_BRG_COUNT(i) RL_WORD(0x30000340u + 4u * (i))

// ---- Links: Programs over links (`rl_collective_csr`). A card without links reads zeros here and ignores writes.
// read: The links, and of the programs that have ended the first.
#define CSR_LNK_STATUS RL_WORD(0x30000328u)
// There is one.
#define LNK_STATUS_THERE 0x00000001u
// A program has ended.
#define LNK_STATUS_ENDED 0x00000002u
// What RESET has ordered is under way.
#define LNK_STATUS_RESETS 0x00000004u
// It was none, and has not begun.
#define LNK_STATUS_REFUSED 0x00000008u
// Its number.
#define LNK_STATUS_NUMBER_SHIFT 4u
#define LNK_STATUS_NUMBER_MASK 0x7u
// Its cause; 0: it went well. Its report is in memory.
#define LNK_STATUS_CAUSE_SHIFT 8u
#define LNK_STATUS_CAUSE_MASK 0xFu
// write acts: One word more of nine that say what LNK_ORDER starts: address of the program, high half first, number of
// commands, microseconds that it may take, group, high half first, sequence, and address of its report, high half
// first.
#define CSR_LNK_WHAT RL_WORD(0x3000032Cu)
// write acts: Orders something.
#define CSR_LNK_ORDER RL_WORD(0x30000330u)
// A program with this NUMBER, which no other has, begins as soon as there is a context.
#define LNK_ORDER_START 0x00000001u
// The program that STATUS shows was taken.
#define LNK_ORDER_POP 0x00000002u
// All programs end without a word, and each link begins a new life.
#define LNK_ORDER_RESET 0x00000004u
// The time of the program with this NUMBER is over.
#define LNK_ORDER_CANCEL 0x00000008u
// The number.
#define LNK_ORDER_NUMBER_SHIFT 4u
#define LNK_ORDER_NUMBER_MASK 0x7u
// A program with this NUMBER, which no other has, will be started or forgotten: it relies on the lives that its
// neighbours have now.
#define LNK_ORDER_EXPECT 0x00000080u

// ---- Keys: What a card with keys has beside its vault (`rl_auth_card`). A card without keys reads zeros here and
// ---- ignores writes.
// write: Of what KEY_SESSION tells: bits 47 to 32 of the owner's address.
#define CSR_KEY_OWNER_HI RL_WORD(0x30000380u)
// write: Bits 31 to 0.
#define CSR_KEY_OWNER_LO RL_WORD(0x30000384u)
// read: Counters of frames that were dropped for their tags, from auth_untagged on in the order of the wire, two words
// each, low half first. They stand where BRG_COUNT would have them if it went on; what is between reads as 0.
#define CSR_KEY_COUNT(i) RL_WORD(0x30000388u + 4u * (i))
// write acts: Tells receiver and sender of a session. Before its key is replaced or forgotten it must not be valid, and
// it is when the vault has handed the new one over.
#define CSR_KEY_SESSION RL_WORD(0x300003A8u)
// It has a key, and is the newer one of the two.
#define KEY_SESSION_VALID 0x00020000u
// Which of the two.
#define KEY_SESSION_SLOT 0x00010000u
// Its claim's.
#define KEY_SESSION_EPOCH_SHIFT 0u
#define KEY_SESSION_EPOCH_MASK 0xFFFFu
// write: The card's boot number, as tags bind it. It is set before there is a session, and stays.
#define CSR_KEY_BOOT RL_WORD(0x300003ACu)
// write acts: Four bytes more of the message for the vault, bits 7 to 0 first. What is written while no message has
// begun is lost.
#define CSR_KEY_DATA RL_WORD(0x300003B0u)
// write acts: The same, bits 31 to 24 first: the order of RING and TX.
#define CSR_KEY_FRAME RL_WORD(0x300003B4u)
// write acts, read: Orders something of the vault, unless it is BUSY: then what is written is lost.
#define CSR_KEY_ORDER RL_WORD(0x300003B8u)
// 0: a message begins. 1: it ends. 2: forget the key in SLOT. 3: forget the key in the receiver's slot TARGET.
#define KEY_ORDER_OP_SHIFT 8u
#define KEY_ORDER_OP_MASK 0x3u
// The key: 0 the card's, 1 the former one of the card; 2 and 3 are the firmware's.
#define KEY_ORDER_SLOT_SHIFT 10u
#define KEY_ORDER_SLOT_MASK 0x3u
// Where a message ends: so many bytes of the word that was written last are its, 1 to 4; 0 if none was.
#define KEY_ORDER_BYTES_SHIFT 4u
#define KEY_ORDER_BYTES_MASK 0x7u
// Where a message ends, what is made of it: 0 a tag, to be read; 1 a key that tags and 2 one that derives others, in
// slot TARGET; 3 the key in the receiver's slot TARGET.
#define KEY_ORDER_TO_SHIFT 2u
#define KEY_ORDER_TO_MASK 0x3u
// A slot; of the receiver, 0 and 1 sessions, 2 and 3 hosts.
#define KEY_ORDER_TARGET_SHIFT 0u
#define KEY_ORDER_TARGET_MASK 0x3u
// What was ordered last was done: there was a key, and it may be used so.
#define KEY_ORDER_DONE 0x00000002u
// It is not over.
#define KEY_ORDER_BUSY 0x00000001u
// write acts, read: The key store: the card's own keys, and which hosts may claim it.
#define CSR_KEY_STORE RL_WORD(0x300003BCu)
// 1: it hands over the card's keys, if it has NEWS, and nobody writes it until 0 is written.
#define KEY_STORE_TAKE 0x00000001u
// How many hosts it names.
#define KEY_STORE_HOSTS_SHIFT 8u
#define KEY_STORE_HOSTS_MASK 0x7Fu
// What it holds is whole, and was not handed over since it was written or since the reset.
#define KEY_STORE_NEWS 0x00000010u
// There is a key of the generation before.
#define KEY_STORE_FORMER 0x00000008u
// There is one of the newest.
#define KEY_STORE_CARD 0x00000004u
// It has handed over the keys that it held when that was asked last. Before that nothing may be claimed.
#define KEY_STORE_READ 0x00000002u
// This is a card with keys.
#define KEY_STORE_THERE 0x00000001u
// read: The generations of the card's keys, in the order of the slots.
#define CSR_KEY_GENERATION(i) RL_WORD(0x300003C0u + 4u * (i))
// write acts: Tells the receiver whose key of claims it has. Before the key is replaced or forgotten it must not be
// valid.
#define CSR_KEY_HOST RL_WORD(0x300003C8u)
// The key is there: what this host claims or releases under it goes on, whatever others send.
#define KEY_HOST_VALID 0x00020000u
// Which of the two.
#define KEY_HOST_SLOT 0x00010000u
// The host's.
#define KEY_HOST_NUMBER_SHIFT 0u
#define KEY_HOST_NUMBER_MASK 0xFFFFu
// write acts: Which word of the key store's hosts KEY_HOSTS has, four for each: who it is, the generation of its key
// that counts, that of its key that was revoked, and nothing.
#define CSR_KEY_HOSTS_AT RL_WORD(0x300003CCu)
// read: The tag that was made last, in the order of RING and TX; zeros if none was.
#define CSR_KEY_TAG(i) RL_WORD(0x300003D0u + 4u * (i))
// read: The word at KEY_HOSTS_AT: of a host's four the first one has these fields.
#define CSR_KEY_HOSTS RL_WORD(0x300003E0u)
// It has a key that was revoked.
#define KEY_HOSTS_REVOKED 0x00020000u
// It has one that counts.
#define KEY_HOSTS_COUNTS 0x00010000u
// The host's.
#define KEY_HOSTS_NUMBER_SHIFT 0u
#define KEY_HOSTS_NUMBER_MASK 0xFFFFu
// write acts: Which word of the table of signers and versions SIGN_WORD is, 11 bits: rl_sign_store has what they are.
#define CSR_SIGN_AT RL_WORD(0x300003E4u)
// write acts, read: The word at SIGN_AT. Only those of versions change by being written; the board keeps them.
#define CSR_SIGN_WORD RL_WORD(0x300003E8u)
// read: How many signers the table has, and what has become of the words of versions that were written.
#define CSR_SIGN_COUNT RL_WORD(0x300003ECu)
// The board has not kept all of them yet.
#define SIGN_COUNT_KEEPS 0x00000080u
// It will keep none any more: no image counts as one that runs.
#define SIGN_COUNT_FAILS 0x00000040u
// 32 at most; 0: the card asks for no signatures.
#define SIGN_COUNT_SIGNERS_SHIFT 0u
#define SIGN_COUNT_SIGNERS_MASK 0x3Fu

#endif
