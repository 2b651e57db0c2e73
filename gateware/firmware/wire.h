// Made from protocol/control.toml by `cargo run -p protogen`. Change that file, not this one.
//
// The firmware sees a frame as words of 32 bits: word k is bytes 4 k to 4 k + 3 as a big-endian number. A field of at
// most 32 bits is NAME_WORD, its word, NAME_SHIFT and NAME_MASK, the mask of the field when moved down to bit 0. One of
// 64 bits is NAME_WORD, its high half, with the low half in the next word. An Ethernet address is NAME_WORD and
// NAME_SHIFT, the shift of its first two bytes. Other bytes, which start at a word, are NAME_WORD and NAME_WORDS. Words
// of the header count from the frame, words of a payload from the payload: the payload is word PAYLOAD_WORD of the
// frame.
#ifndef RL_WIRE_H
#define RL_WIRE_H

#include <stdint.h>

#ifndef FIELD
// A field of at most 32 bits of `words`, and a value in its place in the word.
#define FIELD(words, name) ((words)[name##_WORD] >> name##_SHIFT & name##_MASK)
#define PLACED(name, value) ((uint32_t)(value) << name##_SHIFT)
// An Ethernet address of `words`: its first two bytes, and the other four.
#define MAC_FIELD_HI(words, name) ((words)[name##_WORD] >> name##_SHIFT & 0xFFFFu)
#define MAC_FIELD_LO(words, name) \
  (name##_SHIFT ? (words)[name##_WORD] << 16 | (words)[name##_WORD + 1] >> 16 : (words)[name##_WORD + 1])
#endif

#define VERSION 1u
// Bytes from the start of the frame to the payload: 14 of Ethernet and 18 of the common header.
#define HEADER_END 32u
// Shortest frame without its check sequence, IEEE 802.3.
#define FRAME_MIN 60u
// In an announcement: claims need a tag under a key of the card.
#define ASKS_KEY 1u
// In an announcement: images need a signature that counts on the card.
#define ASKS_SIGNATURE 2u
// In an announcement: claims need encryption.
#define ASKS_ENCRYPTION 4u
// Most payload bytes in a standard frame: 23 beats of 64 bytes (1472 + 18 = 1490 of an MTU of 1500).
#define BULK_STANDARD 1472u
// Most payload bytes in a jumbo frame: 140 beats of 64 bytes (MTU 9000).
#define BULK_JUMBO 8960u
// Bulk payloads are multiples of this, one 512-bit DDR beat; only the last of a transfer may be shorter.
#define BEAT 64u
// A card accepts kernel-input writes with sequence numbers up to this far beyond its first missing one: 256 jumbo
// frames are 2.2 MiB, the bandwidth-delay product of 10 Gb/s and 1.8 ms.
#define WRITE_WINDOW 256u
// Bits in the selective-acknowledgement bitmap of an Ack.
#define SACK_BITS 256u
// Launches a card holds that are not finished; one more is refused with `busy`.
#define LAUNCH_QUEUE 16u
// Finished launches whose outcome a card keeps until acknowledged; the oldest unacknowledged one blocks new launches.
#define RESULTS_KEPT 32u
// Most arguments of one launch, 64-bit words.
#define LAUNCH_ARGS 32u
// Most ranges in one missing-range report: 16 + 182 x 8 = 1472 bytes.
#define MISSING_RANGES 182u
// Most report frames one card sends for one poll.
#define MISSING_FRAMES 16u
// Largest image, 256 MiB: the staging area at the top of a card's DDR.
#define IMAGE_BYTES_MAX 268435456u
// Most chunks of an image: a card keeps a bit for each. Of 1472 bytes, as standard frames have them, they hold 92 MiB.
#define IMAGE_CHUNKS_MAX 65536u
// The first MiB of a card's DDR belongs to the role (stack, constants): host reads and writes there are refused.
#define ROLE_PRIVATE 1048576u
// Longest lease a claim may ask for, milliseconds.
#define LEASE_MS_MAX 60000u
// Longest time over which a card spreads an answer, microseconds, whatever it is asked: within it a thousand cards
// answer at a millisecond each, and nobody can put a card's answers off for longer.
#define WINDOW_US_MAX 1000000u

// Every card listens here: solicitations.
#define CARDS_HI 0x0352u
#define CARDS_LO 0x4C000001u
// Every host listens here: announcements.
#define HOSTS_HI 0x0352u
#define HOSTS_LO 0x4C000002u
// Base of the group addresses; the low 16 bits are the group id, so that group 0x1234 is 03:52:4c:01:12:34.
#define GROUP_HI 0x0352u
#define GROUP_LO 0x4C010000u

// Flags, in the frame's word KIND_WORD.
// This frame, or one like it, was sent before. For statistics only.
#define FLAG_RESEND 0x00000100u
// The sender asks for an acknowledgement of what arrived so far, at once.
#define FLAG_ACK_NOW 0x00000200u
// An AuthTrailer of 28 bytes follows the payload, and no padding. A card without keys drops such a frame and counts it;
// docs/src/internals/authentication.md says which frames a card with a key takes without.
#define FLAG_AUTH 0x00000400u

// EtherTypes.
// Cards announce themselves: at link-up, when solicited, when their state changes, and at slow intervals.
#define ETHER_TYPE_DISCOVERY 0x80EFu
// Claims, leases and state. Not in SAF's Table I, which knows one host only.
#define ETHER_TYPE_SESSION 0x80ECu
// Image data for reconfiguration, host to card. Begin is unicast and carries the claim's epoch; the others go to the
// load's group with the group id as epoch, and are taken only from the claim's owner.
#define ETHER_TYPE_IMAGE 0x80AAu
// What a card says about a load; epoch is the group id, seq the number of the frame it answers (begin, poll or commit).
#define ETHER_TYPE_IMAGE_CONFIRM 0x80ABu
// Data for kernel arguments, to be saved in DDR; and reads of memory.
#define ETHER_TYPE_INPUT 0x80DDu
// Acknowledgements of writes, data of reads, and refusals of either.
#define ETHER_TYPE_INPUT_CONFIRM 0x80DBu
// Kernel execution commands.
#define ETHER_TYPE_EXEC 0x80CCu
// What a launch gave: its status, and its output region pushed from DDR, chunk by chunk, as far as the host's credit
// allows.
#define ETHER_TYPE_RESULT 0x80CBu

// What a frame is: its word KIND_WORD without version and flags.
#define KIND_WORD 3u
#define KIND_MASK 0xFFFF00FFu
#define VERSION_PLACED (VERSION << 12)
// Who the card is and what it holds. To HOSTS; to the solicitor alone when solicited. seq counts announcements since
// boot (a solicited one echoes the solicitation's seq), epoch is the present claim's.
#define KIND_DISCOVERY_ANNOUNCE 0x80EF0001u
// Cards answer after a random part of the given window. To CARDS or to one card.
#define KIND_DISCOVERY_SOLICIT 0x80EF0002u
// The card is about to leave the network in good order. To HOSTS.
#define KIND_DISCOVERY_GOODBYE 0x80EF0003u
// Ask for the card. seq: request number. epoch: the newest epoch this host has held on this card, or 0; the card grants
// another.
#define KIND_SESSION_CLAIM 0x80EC0001u
// The claim is granted; epoch is the new one. A repeated claim of the same nonce is granted the same epoch again.
#define KIND_SESSION_GRANT 0x80EC0002u
// The request with this seq is refused.
#define KIND_SESSION_REFUSE 0x80EC0003u
// Give the card back. Running launches are cancelled.
#define KIND_SESSION_RELEASE 0x80EC0004u
// Answer to release, also when the epoch is gone already; but a release that asks for zeroed memory and comes too late
// is refused with `stale-epoch`.
#define KIND_SESSION_RELEASED 0x80EC0005u
// Renews the lease; asks for the state.
#define KIND_SESSION_PING 0x80EC0006u
// Answer to ping, seq echoed. epoch is the card's present one: a host that sees another than its own has lost the
// claim.
#define KIND_SESSION_PONG 0x80EC0007u
// Ask for the counters, from number addr on. Needs no claim.
#define KIND_SESSION_COUNTERS_GET 0x80EC0008u
// 64-bit counters from number addr on, in the order of the counter table.
#define KIND_SESSION_COUNTERS 0x80EC0009u
// Ask for the active image's manifest, from byte addr on. Needs no claim.
#define KIND_SESSION_MANIFEST_GET 0x80EC000Au
// Manifest bytes from addr on; a part shorter than 1472 bytes is the last.
#define KIND_SESSION_MANIFEST 0x80EC000Bu
// Open or close window number addr of the card's memory to nodes of the bridge. seq: request number. A card without a
// bridge refuses it with `unsupported`.
#define KIND_SESSION_WINDOW_SET 0x80EC000Cu
// The window is as asked; seq and addr are the request's.
#define KIND_SESSION_WINDOW_DONE 0x80EC000Du
// What the role sends on its stream addr goes to this stream of another node, by the bridge. seq: request number. A
// card without a bridge refuses it with `unsupported`.
#define KIND_SESSION_ROUTE_SET 0x80EC000Eu
// The route is as asked; seq and addr are the request's.
#define KIND_SESSION_ROUTE_DONE 0x80EC000Fu
// Join group `group` and stage an image of this length and digest. seq: load number, distinct for each load of a claim.
// Idempotent.
#define KIND_IMAGE_BEGIN 0x80AA0001u
// Image bytes at offset addr, a multiple of the load's chunk; all chunks but the last are full.
#define KIND_IMAGE_DATA 0x80AA0002u
// Each member answers after a random part of the window: missing ranges, staged, active or failed. seq: poll number.
#define KIND_IMAGE_POLL 0x80AA0003u
// Activate the staged image. Answered by committed, or active when that is done; a member that is not staged answers
// with its missing ranges. Idempotent.
#define KIND_IMAGE_COMMIT 0x80AA0004u
// Forget the staged image and leave the group.
#define KIND_IMAGE_ABORT 0x80AA0005u
// Begin is accepted.
#define KIND_IMAGE_CONFIRM_READY 0x80AB0001u
// Ranges of chunks not yet received. To the group, so that at a load's first poll others leave out what they would
// repeat; from the second on, a card reports all that it lacks.
#define KIND_IMAGE_CONFIRM_MISSING 0x80AB0002u
// All bytes are there, the digest is right and the card can activate the image.
#define KIND_IMAGE_CONFIRM_STAGED 0x80AB0003u
// The image is active.
#define KIND_IMAGE_CONFIRM_ACTIVE 0x80AB0004u
// The commit has arrived and the configuration port is writing. Also the answer to a poll or commit meanwhile.
#define KIND_IMAGE_CONFIRM_COMMITTED 0x80AB0006u
// The image is in the card's configuration flash, read back and recorded. Its role is not there before the card has
// restarted, as a card without role and claim; the same load then makes it active at once.
#define KIND_IMAGE_CONFIRM_WRITTEN 0x80AB0007u
// The load failed on this card, which goes on serving its old role.
#define KIND_IMAGE_CONFIRM_FAILED 0x80AB0005u
// Bytes for address addr. seq counts the writes of a claim from 1. Written on arrival, in any order, once.
#define KIND_INPUT_WRITE 0x80DD0001u
// Ask for bytes at addr, at most a frame's bulk payload. seq: request number; reads repeat harmlessly.
#define KIND_INPUT_READ 0x80DD0002u
// seq: first write not yet received; the bitmap tells what is there beyond it.
#define KIND_INPUT_CONFIRM_WRITE_ACK 0x80DB0001u
// Bytes from addr; seq echoes the request.
#define KIND_INPUT_CONFIRM_READ_DATA 0x80DB0002u
// The write or read with this seq is refused. A refused write counts as received.
#define KIND_INPUT_CONFIRM_NAK 0x80DB0003u
// Execute kernel number addr once. seq counts the launches of a claim from 1; the card takes them in that order, each
// once however often the frame comes. `args` 64-bit words follow the struct.
#define KIND_EXEC_LAUNCH 0x80CC0001u
// Start held launches: those that were launched with go = seq, by the claim whose group id is epoch. To the claim's
// group, so that all cards start at once.
#define KIND_EXEC_GO 0x80CC0002u
// End launch seq with the status `cancelled`, if it is not done.
#define KIND_EXEC_CANCEL 0x80CC0003u
// Ask what became of launch seq: accepted, done, or a refusal with `unknown-launch`.
#define KIND_EXEC_QUERY 0x80CC0004u
// Of launch seq's output, these chunks have arrived, and so many may be sent.
#define KIND_EXEC_RESULT_ACK 0x80CC0005u
// Launch seq is queued, held or running.
#define KIND_RESULT_ACCEPTED 0x80CB0001u
// Launch seq has ended. Resent until acknowledged.
#define KIND_RESULT_DONE 0x80CB0002u
// Bytes of launch seq's output region, at offset addr. Resent until acknowledged.
#define KIND_RESULT_DATA 0x80CB0003u
// Launch seq is not taken now: `busy`, send it again; `stale-epoch` or `unknown-launch`, give up. Any other fault of a
// launch uses its number up and comes as Done with that status.
#define KIND_RESULT_REFUSED 0x80CB0004u

// What a card requires of the sender before it acts on a frame.
enum claim_rule {
  // Nothing: anyone may send it.
  CLAIM_RULE_NONE,
  // The sender owns the claim, and the frame's epoch is the claim's.
  CLAIM_RULE_EPOCH,
  // The sender owns the claim, and the frame's epoch is the claim's group id.
  CLAIM_RULE_GROUP,
  // The sender owns the claim, and the frame's epoch is the group id of the card's load.
  CLAIM_RULE_LOAD,
  // The frame's epoch is the group id of the card's load; anyone may send it.
  CLAIM_RULE_MEMBER,
};

// The kinds that a card takes: a `switch` over this that lacks one of them does not compile.
enum taken {
  TAKEN_DISCOVERY_SOLICIT = (int)KIND_DISCOVERY_SOLICIT,
  TAKEN_SESSION_CLAIM = (int)KIND_SESSION_CLAIM,
  TAKEN_SESSION_RELEASE = (int)KIND_SESSION_RELEASE,
  TAKEN_SESSION_PING = (int)KIND_SESSION_PING,
  TAKEN_SESSION_COUNTERS_GET = (int)KIND_SESSION_COUNTERS_GET,
  TAKEN_SESSION_MANIFEST_GET = (int)KIND_SESSION_MANIFEST_GET,
  TAKEN_SESSION_WINDOW_SET = (int)KIND_SESSION_WINDOW_SET,
  TAKEN_SESSION_ROUTE_SET = (int)KIND_SESSION_ROUTE_SET,
  TAKEN_IMAGE_BEGIN = (int)KIND_IMAGE_BEGIN,
  TAKEN_IMAGE_DATA = (int)KIND_IMAGE_DATA,
  TAKEN_IMAGE_POLL = (int)KIND_IMAGE_POLL,
  TAKEN_IMAGE_COMMIT = (int)KIND_IMAGE_COMMIT,
  TAKEN_IMAGE_ABORT = (int)KIND_IMAGE_ABORT,
  TAKEN_IMAGE_CONFIRM_MISSING = (int)KIND_IMAGE_CONFIRM_MISSING,
  TAKEN_INPUT_WRITE = (int)KIND_INPUT_WRITE,
  TAKEN_INPUT_READ = (int)KIND_INPUT_READ,
  TAKEN_EXEC_LAUNCH = (int)KIND_EXEC_LAUNCH,
  TAKEN_EXEC_GO = (int)KIND_EXEC_GO,
  TAKEN_EXEC_CANCEL = (int)KIND_EXEC_CANCEL,
  TAKEN_EXEC_QUERY = (int)KIND_EXEC_QUERY,
  TAKEN_EXEC_RESULT_ACK = (int)KIND_EXEC_RESULT_ACK,
};

// Of each of them: its claim rule, and the words of its payload if they are always as many.
#define CLAIM_OF_DISCOVERY_SOLICIT CLAIM_RULE_NONE
#define WORDS_OF_DISCOVERY_SOLICIT 2u
#define CLAIM_OF_SESSION_CLAIM CLAIM_RULE_NONE
#define WORDS_OF_SESSION_CLAIM 4u
#define CLAIM_OF_SESSION_RELEASE CLAIM_RULE_NONE
#define WORDS_OF_SESSION_RELEASE 2u
#define CLAIM_OF_SESSION_PING CLAIM_RULE_NONE
#define WORDS_OF_SESSION_PING 0u
#define CLAIM_OF_SESSION_COUNTERS_GET CLAIM_RULE_NONE
#define WORDS_OF_SESSION_COUNTERS_GET 0u
#define CLAIM_OF_SESSION_MANIFEST_GET CLAIM_RULE_NONE
#define WORDS_OF_SESSION_MANIFEST_GET 0u
#define CLAIM_OF_SESSION_WINDOW_SET CLAIM_RULE_EPOCH
#define WORDS_OF_SESSION_WINDOW_SET 6u
#define CLAIM_OF_SESSION_ROUTE_SET CLAIM_RULE_EPOCH
#define WORDS_OF_SESSION_ROUTE_SET 2u
#define CLAIM_OF_IMAGE_BEGIN CLAIM_RULE_EPOCH
#define WORDS_OF_IMAGE_BEGIN 12u
#define CLAIM_OF_IMAGE_DATA CLAIM_RULE_LOAD
#define CLAIM_OF_IMAGE_POLL CLAIM_RULE_LOAD
#define WORDS_OF_IMAGE_POLL 2u
#define CLAIM_OF_IMAGE_COMMIT CLAIM_RULE_LOAD
#define WORDS_OF_IMAGE_COMMIT 0u
#define CLAIM_OF_IMAGE_ABORT CLAIM_RULE_LOAD
#define WORDS_OF_IMAGE_ABORT 0u
#define CLAIM_OF_IMAGE_CONFIRM_MISSING CLAIM_RULE_MEMBER
#define CLAIM_OF_INPUT_WRITE CLAIM_RULE_EPOCH
#define CLAIM_OF_INPUT_READ CLAIM_RULE_EPOCH
#define WORDS_OF_INPUT_READ 2u
#define CLAIM_OF_EXEC_LAUNCH CLAIM_RULE_EPOCH
#define CLAIM_OF_EXEC_GO CLAIM_RULE_GROUP
#define WORDS_OF_EXEC_GO 0u
#define CLAIM_OF_EXEC_CANCEL CLAIM_RULE_EPOCH
#define WORDS_OF_EXEC_CANCEL 0u
#define CLAIM_OF_EXEC_QUERY CLAIM_RULE_EPOCH
#define WORDS_OF_EXEC_QUERY 0u
#define CLAIM_OF_EXEC_RESULT_ACK CLAIM_RULE_EPOCH
#define WORDS_OF_EXEC_RESULT_ACK 12u

// What runs a card.
// The Rust card model.
#define CARD_KIND_MODEL 1u
// The gateware in a simulator.
#define CARD_KIND_RTL 2u
// Hardware.
#define CARD_KIND_BOARD 3u

// What a card is doing.
// No role.
#define CARD_STATE_EMPTY 0u
// A role is active and idle.
#define CARD_STATE_ACTIVE 1u
// A kernel runs.
#define CARD_STATE_RUNNING 2u
// An image is being staged; the old role still serves.
#define CARD_STATE_LOADING 3u
// The configuration port is writing; no role serves.
#define CARD_STATE_CONFIGURING 4u
// An image is in the configuration flash and awaits a restart; no role serves.
#define CARD_STATE_WRITTEN 5u
// Its memory cannot be used: the training of it has failed, or it does not answer. Nothing but its state can be had.
#define CARD_STATE_FAULTY 6u

// What a card awaits to run the image in its configuration flash.
// It restarts by itself, at once.
#define RESTART_ITSELF 1u
// Nothing on the board lets it restart: a JTAG cable has to give the command REFRESH.
#define RESTART_REFRESH 2u

// Why a card announces itself.
// Its link came up.
#define ANNOUNCE_REASON_LINK_UP 1u
// It was asked.
#define ANNOUNCE_REASON_SOLICITED 2u
// Its interval passed.
#define ANNOUNCE_REASON_PERIODIC 3u
// Its image or claim changed.
#define ANNOUNCE_REASON_CHANGED 4u
// Its firmware had failed and has started again: claim, role and launches are gone.
#define ANNOUNCE_REASON_RESTARTED 5u
// Its memory had answered with an error, or not at all, and it has started again: claim, role and launches are gone,
// and what lies in memory may be wrong.
#define ANNOUNCE_REASON_MEMORY_FAILED 6u
// Its role has broken a rule of its ports, was cut off and has started again: claim and memory stay.
#define ANNOUNCE_REASON_ROLE_FAILED 7u

// Whether memory is zeroed.
// DDR keeps its contents.
#define SCRUB_KEEP 0u
// DDR is zeroed.
#define SCRUB_ZERO 1u

// Why something was refused or failed. The name in lower case with dashes is what tools print.
// No error.
#define ERROR_CODE_OK 0u
// Another host holds the card.
#define ERROR_CODE_CLAIMED 1u
// The epoch is not the present claim's.
#define ERROR_CODE_STALE_EPOCH 2u
// A field is out of its range.
#define ERROR_CODE_BAD_REQUEST 3u
// The range is not inside the memory a host may address.
#define ERROR_CODE_BAD_ADDRESS 4u
// A queue is full, or the card is configuring: try again.
#define ERROR_CODE_BUSY 5u
// No image is active.
#define ERROR_CODE_NO_ROLE 6u
// The active image has no kernel of this number.
#define ERROR_CODE_UNKNOWN_KERNEL 7u
// The number of arguments is not the kernel's.
#define ERROR_CODE_BAD_ARGUMENTS 8u
// The card knows nothing of this launch.
#define ERROR_CODE_UNKNOWN_LAUNCH 9u
// The card's memory cannot be used.
#define ERROR_CODE_MEMORY_FAULT 10u
// The card has no part that could do it.
#define ERROR_CODE_UNSUPPORTED 11u
// The card takes claims under a key only.
#define ERROR_CODE_KEY_NEEDED 12u
// The claim's tag is not of this boot of the card; detail has its boot number, and the refusal a tag.
#define ERROR_CODE_STALE_BOOT 13u
// The key that the claim has a tag by was revoked on this card.
#define ERROR_CODE_KEY_REVOKED 14u
// The image is larger than the staging area.
#define ERROR_CODE_IMAGE_TOO_LARGE 16u
// The staged bytes do not have the digest announced.
#define ERROR_CODE_IMAGE_DIGEST 17u
// The file is no image, is truncated, or its manifest is malformed.
#define ERROR_CODE_IMAGE_FORMAT 18u
// The image needs another format or shell version.
#define ERROR_CODE_IMAGE_VERSION 19u
// The image has no part for this kind of card.
#define ERROR_CODE_IMAGE_TARGET 20u
// The part for this card is not acceptable: invalid module, missing kernel, wrong import.
#define ERROR_CODE_IMAGE_PART 21u
// The role needs more memory than the card has.
#define ERROR_CODE_IMAGE_MEMORY 22u
// The image is not signed as the card demands: by whom it knows, and no older than what has run.
#define ERROR_CODE_IMAGE_SIGNATURE 23u
// The kernel trapped: out of bounds, division by zero, unreachable.
#define ERROR_CODE_KERNEL_TRAP 32u
// The kernel ran longer than its bound.
#define ERROR_CODE_KERNEL_FUEL 33u
// The launch was cancelled, or its role replaced, before it ended.
#define ERROR_CODE_CANCELLED 34u
// A node whose memory the kernel used has refused, or is gone.
#define ERROR_CODE_KERNEL_REMOTE 35u

// The common header, bytes 14 to 31 of each frame.
#define HEADER_DST_WORD 0u
#define HEADER_DST_SHIFT 16u
#define HEADER_SRC_WORD 1u
#define HEADER_SRC_SHIFT 0u
#define PAYLOAD_WORD 8u
// Protocol version in the high four bits, flags in the low four.
#define HEADER_VERSION_FLAGS_WORD 3u
#define HEADER_VERSION_FLAGS_SHIFT 8u
#define HEADER_VERSION_FLAGS_MASK 0xFFu
// Sub-kind, per EtherType.
#define HEADER_KIND_WORD 3u
#define HEADER_KIND_SHIFT 0u
#define HEADER_KIND_MASK 0xFFu
// Payload bytes that follow, without Ethernet padding.
#define HEADER_LENGTH_WORD 4u
#define HEADER_LENGTH_SHIFT 16u
#define HEADER_LENGTH_MASK 0xFFFFu
// The claim's epoch (unicast) or the group id (multicast); 0: none.
#define HEADER_EPOCH_WORD 4u
#define HEADER_EPOCH_SHIFT 0u
#define HEADER_EPOCH_MASK 0xFFFFu
// Sequence or request number; its space depends on the kind.
#define HEADER_SEQ_WORD 5u
#define HEADER_SEQ_SHIFT 0u
#define HEADER_SEQ_MASK 0xFFFFFFFFu
// Memory address, image offset or kernel number; its meaning depends on the kind.
#define HEADER_ADDR_WORD 6u

// What authenticates a frame: 28 bytes behind the payload when flag AUTH is set; `length` does not count it.
#define AUTH_TRAILER_WORDS 7u
// Of claims, releases and their answers: the generation of the rack's keys that the tag is by. Zero of all else.
#define AUTH_TRAILER_KEY_WORD 0u
#define AUTH_TRAILER_KEY_SHIFT 0u
#define AUTH_TRAILER_KEY_MASK 0xFFFFFFFFu
// Grows with each frame under this key, so that a repeated frame is recognised.
#define AUTH_TRAILER_COUNTER_WORD 1u
// Authentication tag.
#define AUTH_TRAILER_TAG_WORD 3u
#define AUTH_TRAILER_TAG_WORDS 4u

// Payload of an announcement. The first 16 bytes are SAF's Fig. 4.
#define ANNOUNCE_WORDS 26u
// Address of port 0, the one Rackloom uses.
#define ANNOUNCE_MAC0_WORD 0u
#define ANNOUNCE_MAC0_SHIFT 16u
// Address of port 1, or zeros.
#define ANNOUNCE_MAC1_WORD 1u
#define ANNOUNCE_MAC1_SHIFT 0u
// Vendor id.
#define ANNOUNCE_VENDOR_WORD 3u
#define ANNOUNCE_VENDOR_SHIFT 16u
#define ANNOUNCE_VENDOR_MASK 0xFFFFu
// Product id.
#define ANNOUNCE_PRODUCT_WORD 3u
#define ANNOUNCE_PRODUCT_SHIFT 0u
#define ANNOUNCE_PRODUCT_MASK 0xFFFFu
// Slot or switch setting of the card: its number in the rack.
#define ANNOUNCE_UNIT_WORD 4u
#define ANNOUNCE_UNIT_SHIFT 16u
#define ANNOUNCE_UNIT_MASK 0xFFFFu
// What runs the card.
#define ANNOUNCE_CARD_KIND_WORD 4u
#define ANNOUNCE_CARD_KIND_SHIFT 8u
#define ANNOUNCE_CARD_KIND_MASK 0xFFu
// What the card is doing.
#define ANNOUNCE_STATE_WORD 4u
#define ANNOUNCE_STATE_SHIFT 0u
#define ANNOUNCE_STATE_MASK 0xFFu
// Why it announces itself.
#define ANNOUNCE_REASON_WORD 5u
#define ANNOUNCE_REASON_SHIFT 24u
#define ANNOUNCE_REASON_MASK 0xFFu
// Network ports.
#define ANNOUNCE_PORTS_WORD 5u
#define ANNOUNCE_PORTS_SHIFT 16u
#define ANNOUNCE_PORTS_MASK 0xFFu
// Most payload bytes the card takes and sends in a frame, a multiple of 64.
#define ANNOUNCE_BULK_WORD 5u
#define ANNOUNCE_BULK_SHIFT 0u
#define ANNOUNCE_BULK_MASK 0xFFFFu
// Random number drawn at each boot: a change tells that the card has restarted.
#define ANNOUNCE_BOOT_WORD 6u
#define ANNOUNCE_BOOT_SHIFT 0u
#define ANNOUNCE_BOOT_MASK 0xFFFFFFFFu
// Clock of the role, kHz.
#define ANNOUNCE_CLOCK_KHZ_WORD 7u
#define ANNOUNCE_CLOCK_KHZ_SHIFT 0u
#define ANNOUNCE_CLOCK_KHZ_MASK 0xFFFFFFFFu
// DDR bytes the host may address: 0 to memory - 1.
#define ANNOUNCE_MEMORY_WORD 8u
// Rate of port 0, bits a second.
#define ANNOUNCE_PORT_RATE_WORD 10u
// Rate at which image data can be staged, bytes a second; 0: as fast as it comes.
#define ANNOUNCE_STAGE_RATE_WORD 12u
// Rate of the configuration port, bytes a second; 0: instantly.
#define ANNOUNCE_CONFIG_RATE_WORD 14u
// The claim's owner, or zeros.
#define ANNOUNCE_OWNER_WORD 16u
#define ANNOUNCE_OWNER_SHIFT 16u
// What the card asks for, the sum of ASKS_KEY, ASKS_SIGNATURE and ASKS_ENCRYPTION.
#define ANNOUNCE_ASKS_WORD 17u
#define ANNOUNCE_ASKS_SHIFT 8u
#define ANNOUNCE_ASKS_MASK 0xFFu
// Kernels that the active image offers.
#define ANNOUNCE_KERNELS_WORD 17u
#define ANNOUNCE_KERNELS_SHIFT 0u
#define ANNOUNCE_KERNELS_MASK 0xFFu
// BLAKE3 digest of the active image, or zeros.
#define ANNOUNCE_DIGEST_WORD 18u
#define ANNOUNCE_DIGEST_WORDS 8u

// Payload of a solicitation.
#define SOLICIT_WORDS 2u
// Answers spread over so many microseconds, at random; WINDOW_US_MAX at most, whatever is asked.
#define SOLICIT_WINDOW_US_WORD 0u
#define SOLICIT_WINDOW_US_SHIFT 0u
#define SOLICIT_WINDOW_US_MASK 0xFFFFFFFFu

// Payload of a claim.
#define CLAIM_WORDS 4u
// Random number of this claim attempt. Another nonce from the same owner takes the claim over: the host has restarted.
#define CLAIM_NONCE_WORD 0u
// The claim ends when the owner was silent so long, 100 to 60000.
#define CLAIM_LEASE_MS_WORD 2u
#define CLAIM_LEASE_MS_SHIFT 0u
#define CLAIM_LEASE_MS_MASK 0xFFFFFFFFu
// Group id for Go frames, 0: none.
#define CLAIM_GROUP_WORD 3u
#define CLAIM_GROUP_SHIFT 16u
#define CLAIM_GROUP_MASK 0xFFFFu
// Whether DDR is zeroed first.
#define CLAIM_SCRUB_WORD 3u
#define CLAIM_SCRUB_SHIFT 8u
#define CLAIM_SCRUB_MASK 0xFFu
// Most payload bytes of a frame that reach the host, in beats of 64; 0: 1472 bytes. The card keeps to it and to its own
// bulk payload.
#define CLAIM_BEATS_WORD 3u
#define CLAIM_BEATS_SHIFT 0u
#define CLAIM_BEATS_MASK 0xFFu

// Payload of a grant.
#define GRANT_WORDS 4u
// The claim's.
#define GRANT_NONCE_WORD 0u
// The lease granted.
#define GRANT_LEASE_MS_WORD 2u
#define GRANT_LEASE_MS_SHIFT 0u
#define GRANT_LEASE_MS_MASK 0xFFFFFFFFu
// The card's boot number.
#define GRANT_BOOT_WORD 3u
#define GRANT_BOOT_SHIFT 0u
#define GRANT_BOOT_MASK 0xFFFFFFFFu

// Follows a grant's payload in a frame with a tag; an Announce follows it, which the tag makes the card's own word.
#define PROOF_WORDS 2u
// Random number of the card for this claim: with the claim's it makes the session's key.
#define PROOF_CARD_NONCE_WORD 0u

// Payload of a release.
#define RELEASE_WORDS 2u
// Whether DDR is zeroed before anyone else can claim the card.
#define RELEASE_SCRUB_WORD 0u
#define RELEASE_SCRUB_SHIFT 24u
#define RELEASE_SCRUB_MASK 0xFFu

// Why something was refused.
#define REFUSAL_WORDS 4u
// The reason.
#define REFUSAL_CODE_WORD 0u
#define REFUSAL_CODE_SHIFT 16u
#define REFUSAL_CODE_MASK 0xFFFFu
// With `claimed`: the owner of the claim; else zeros.
#define REFUSAL_HOLDER_WORD 0u
#define REFUSAL_HOLDER_SHIFT 0u
// A number that goes with the code: the bound that was passed, the lease left in ms.
#define REFUSAL_DETAIL_WORD 2u

// Payload of a window's setting.
#define WINDOW_WORDS 6u
// First DDR address of the window.
#define WINDOW_BASE_WORD 0u
// Its bytes; 0: the window is closed.
#define WINDOW_LENGTH_WORD 2u
// The node that may use it; zeros: any.
#define WINDOW_PEER_WORD 4u
#define WINDOW_PEER_SHIFT 16u
// What it may do: bit 0 reads, bit 1 writes, bit 2 atomic requests, bit 3 streams.
#define WINDOW_RIGHTS_WORD 5u
#define WINDOW_RIGHTS_SHIFT 8u
#define WINDOW_RIGHTS_MASK 0xFFu

// Payload of a route's setting.
#define ROUTE_WORDS 2u
// The receiver; zeros: the stream has no route.
#define ROUTE_PEER_WORD 0u
#define ROUTE_PEER_SHIFT 16u
// The stream's number there.
#define ROUTE_STREAM_WORD 1u
#define ROUTE_STREAM_SHIFT 0u
#define ROUTE_STREAM_MASK 0xFFFFu

// Payload of a pong.
#define PONG_WORDS 4u
// The card's boot number.
#define PONG_BOOT_WORD 0u
#define PONG_BOOT_SHIFT 0u
#define PONG_BOOT_MASK 0xFFFFFFFFu
// What the card is doing.
#define PONG_STATE_WORD 1u
#define PONG_STATE_SHIFT 24u
#define PONG_STATE_MASK 0xFFu
// Launches accepted and not finished.
#define PONG_QUEUED_WORD 1u
#define PONG_QUEUED_SHIFT 16u
#define PONG_QUEUED_MASK 0xFFu
// Nanoseconds since boot.
#define PONG_UPTIME_NS_WORD 2u

// Payload of a load's begin.
#define IMAGE_BEGIN_WORDS 12u
// Image bytes, 1 to 256 MiB.
#define IMAGE_BEGIN_LENGTH_WORD 0u
// Bytes in each data frame but the last, a multiple of 64.
#define IMAGE_BEGIN_CHUNK_WORD 2u
#define IMAGE_BEGIN_CHUNK_SHIFT 16u
#define IMAGE_BEGIN_CHUNK_MASK 0xFFFFu
// Group id of this load, not 0.
#define IMAGE_BEGIN_GROUP_WORD 2u
#define IMAGE_BEGIN_GROUP_SHIFT 0u
#define IMAGE_BEGIN_GROUP_MASK 0xFFFFu
// Cards in this load, for the jitter.
#define IMAGE_BEGIN_MEMBERS_WORD 3u
#define IMAGE_BEGIN_MEMBERS_SHIFT 0u
#define IMAGE_BEGIN_MEMBERS_MASK 0xFFFFFFFFu
// BLAKE3 digest of the whole image.
#define IMAGE_BEGIN_DIGEST_WORD 4u
#define IMAGE_BEGIN_DIGEST_WORDS 8u

// Follows a begin's payload in a session that is encrypted, and there always.
#define BEGIN_KEY_WORDS 4u
// Of the load: what the payloads of its data are encrypted under.
#define BEGIN_KEY_KEY_WORD 0u
#define BEGIN_KEY_KEY_WORDS 4u

// Payload of a poll.
#define POLL_WORDS 2u
// Answers spread over so many microseconds, at random; WINDOW_US_MAX at most.
#define POLL_WINDOW_US_WORD 0u
#define POLL_WINDOW_US_SHIFT 0u
#define POLL_WINDOW_US_MASK 0xFFFFFFFFu

// Head of a missing-range report; `ranges` chunk ranges follow.
#define MISSING_WORDS 4u
// Chunks the card lacks in all, also those it does not list.
#define MISSING_MISSING_WORD 0u
#define MISSING_MISSING_SHIFT 0u
#define MISSING_MISSING_MASK 0xFFFFFFFFu
// Ranges that follow, at most 182.
#define MISSING_RANGES_WORD 1u
#define MISSING_RANGES_SHIFT 16u
#define MISSING_RANGES_MASK 0xFFFFu
// Further report frames of this poll that follow.
#define MISSING_MORE_WORD 1u
#define MISSING_MORE_SHIFT 0u
#define MISSING_MORE_MASK 0xFFFFu

// One range of a missing-range report. An empty one, or one that passes 2^32, makes the report malformed.
#define CHUNK_RANGE_WORDS 2u
// First chunk that is missing.
#define CHUNK_RANGE_FIRST_WORD 0u
#define CHUNK_RANGE_FIRST_SHIFT 0u
#define CHUNK_RANGE_FIRST_MASK 0xFFFFFFFFu
// How many are missing from there on.
#define CHUNK_RANGE_CHUNKS_WORD 1u
#define CHUNK_RANGE_CHUNKS_SHIFT 0u
#define CHUNK_RANGE_CHUNKS_MASK 0xFFFFFFFFu

// Payload of an activation's confirmation.
#define ACTIVE_WORDS 10u
// BLAKE3 digest of the image that is now active.
#define ACTIVE_DIGEST_WORD 0u
#define ACTIVE_DIGEST_WORDS 8u
// Time the configuration port took, nanoseconds.
#define ACTIVE_CONFIGURE_NS_WORD 8u

// Payload of a confirmation that an image is in the configuration flash.
#define WRITTEN_WORDS 12u
// BLAKE3 digest of the image.
#define WRITTEN_DIGEST_WORD 0u
#define WRITTEN_DIGEST_WORDS 8u
// Time the configuration port took, nanoseconds.
#define WRITTEN_WRITE_NS_WORD 8u
// What the card awaits.
#define WRITTEN_RESTART_WORD 10u
#define WRITTEN_RESTART_SHIFT 24u
#define WRITTEN_RESTART_MASK 0xFFu

// Why a load failed; up to 64 bytes of UTF-8 text may follow.
#define FAILURE_WORDS 2u
// The reason.
#define FAILURE_CODE_WORD 0u
#define FAILURE_CODE_SHIFT 16u
#define FAILURE_CODE_MASK 0xFFFFu

// Payload of a memory read.
#define READ_WORDS 2u
// Bytes, 1 to the card's bulk payload.
#define READ_LENGTH_WORD 0u
#define READ_LENGTH_SHIFT 0u
#define READ_LENGTH_MASK 0xFFFFFFFFu

// Selective acknowledgement: bit i (byte i / 8, bit i % 8, least significant first) stands for number first + 1 + i,
// where first is the frame's seq, itself missing.
#define ACK_WORDS 8u
// What is there beyond the first missing one.
#define ACK_BITMAP_WORD 0u
#define ACK_BITMAP_WORDS 8u

// Head of a launch; `args` 64-bit words follow.
#define LAUNCH_WORDS 8u
// Most role clock cycles the kernel may take; 0: the card's own bound.
#define LAUNCH_FUEL_WORD 0u
// DDR address of the output region.
#define LAUNCH_OUT_ADDR_WORD 2u
// Bytes of the output region to push when the kernel is done; 0: none.
#define LAUNCH_OUT_LENGTH_WORD 4u
// 0: start at once; else hold until a Go with this seq.
#define LAUNCH_GO_WORD 6u
#define LAUNCH_GO_SHIFT 0u
#define LAUNCH_GO_MASK 0xFFFFFFFFu
// Chunks of output the card may send unasked.
#define LAUNCH_CREDIT_WORD 7u
#define LAUNCH_CREDIT_SHIFT 16u
#define LAUNCH_CREDIT_MASK 0xFFFFu
// Argument words that follow.
#define LAUNCH_ARGS_WORD 7u
#define LAUNCH_ARGS_SHIFT 0u
#define LAUNCH_ARGS_MASK 0xFFFFu

// Payload of a launch's end.
#define DONE_WORDS 10u
// 0: success.
#define DONE_STATUS_WORD 0u
#define DONE_STATUS_SHIFT 16u
#define DONE_STATUS_MASK 0xFFFFu
// Bytes in each data frame but the last.
#define DONE_CHUNK_WORD 0u
#define DONE_CHUNK_SHIFT 0u
#define DONE_CHUNK_MASK 0xFFFFu
// Data frames of the output.
#define DONE_CHUNKS_WORD 1u
#define DONE_CHUNKS_SHIFT 0u
#define DONE_CHUNKS_MASK 0xFFFFFFFFu
// What the kernel returned.
#define DONE_VALUE_WORD 2u
// Role clock cycles it took.
#define DONE_CYCLES_WORD 4u
// Card time when it started, nanoseconds since boot.
#define DONE_STARTED_NS_WORD 6u
// Card time when it ended.
#define DONE_FINISHED_NS_WORD 8u

// Acknowledges output chunks and grants credit.
#define RESULT_ACK_WORDS 12u
// First chunk not yet received; equal to `chunks` with done = 1, the launch is forgotten.
#define RESULT_ACK_NEXT_WORD 0u
#define RESULT_ACK_NEXT_SHIFT 0u
#define RESULT_ACK_NEXT_MASK 0xFFFFFFFFu
// Chunks below this number may be sent.
#define RESULT_ACK_LIMIT_WORD 1u
#define RESULT_ACK_LIMIT_SHIFT 0u
#define RESULT_ACK_LIMIT_MASK 0xFFFFFFFFu
// 1: the Done frame has arrived.
#define RESULT_ACK_DONE_WORD 2u
#define RESULT_ACK_DONE_SHIFT 24u
#define RESULT_ACK_DONE_MASK 0xFFu
// As in Ack: bit i stands for chunk next + 1 + i.
#define RESULT_ACK_BITMAP_WORD 4u
#define RESULT_ACK_BITMAP_WORDS 8u

// A card's counters: their numbers.
// Frames received.
#define COUNTER_RX_FRAMES 0u
// Bytes received, without check sequence.
#define COUNTER_RX_BYTES 1u
// Frames sent.
#define COUNTER_TX_FRAMES 2u
// Bytes sent, without check sequence.
#define COUNTER_TX_BYTES 3u
// Dropped: not for this card, not a Rackloom EtherType, or come in on a port that no service takes.
#define COUNTER_DROP_FOREIGN 4u
// Dropped: shorter than its header or its length says.
#define COUNTER_DROP_TRUNCATED 5u
// Dropped: another protocol version.
#define COUNTER_DROP_VERSION 6u
// Dropped: unknown kind, or one that only cards send.
#define COUNTER_DROP_KIND 7u
// Dropped: authenticated, and the card has no key.
#define COUNTER_DROP_AUTH 8u
// Dropped: wrong epoch or group, or not from the owner.
#define COUNTER_DROP_EPOCH 9u
// Dropped: a payload that is not what its kind requires.
#define COUNTER_DROP_MALFORMED 10u
// Dropped: a write, chunk or launch that was there already.
#define COUNTER_DROP_DUPLICATE 11u
// Dropped: a sequence number beyond the window or out of order.
#define COUNTER_DROP_WINDOW 12u
// Announcements sent.
#define COUNTER_ANNOUNCES 13u
// Claims granted.
#define COUNTER_CLAIMS 14u
// Claims that ended because the owner was silent.
#define COUNTER_LEASES_EXPIRED 15u
// Image chunks staged.
#define COUNTER_IMAGE_CHUNKS 16u
// Missing-range reports sent.
#define COUNTER_IMAGE_REPORTS 17u
// Chunks left out of a report because another card had reported them.
#define COUNTER_IMAGE_SUPPRESSED 18u
// Images activated.
#define COUNTER_IMAGES_ACTIVATED 19u
// Loads that failed on this card.
#define COUNTER_IMAGES_FAILED 20u
// Memory writes performed.
#define COUNTER_WRITES 21u
// Bytes written.
#define COUNTER_WRITE_BYTES 22u
// Memory reads answered.
#define COUNTER_READS 23u
// Bytes read.
#define COUNTER_READ_BYTES 24u
// Launches accepted.
#define COUNTER_LAUNCHES 25u
// Kernels that ended with success.
#define COUNTER_KERNELS_DONE 26u
// Kernels that ended with an error.
#define COUNTER_KERNELS_FAILED 27u
// Role clock cycles spent in kernels.
#define COUNTER_KERNEL_CYCLES 28u
// Output chunks sent the first time.
#define COUNTER_RESULT_CHUNKS 29u
// Done frames and output chunks sent again.
#define COUNTER_RESULT_RESENDS 30u
// Requests refused.
#define COUNTER_REFUSALS 31u
// Dropped: a read, an image chunk, an answer, a solicitation or a stream's message for which a queue had no room.
#define COUNTER_DROP_QUEUE 32u
// 64-bit words received, a frame's last one counted whole: with rx_bytes and the clock this tells how busy the receive
// path was.
#define COUNTER_RX_WORDS 33u
// 64-bit words sent, a frame's last one counted whole.
#define COUNTER_TX_WORDS 34u
// Dropped: the frame's check sequence was wrong. Where a network card or a switch sees to that, it stays 0.
#define COUNTER_DROP_CHECK 35u
// Frames of the bridge received and taken.
#define COUNTER_BRIDGE_RX 36u
// Frames of the bridge sent.
#define COUNTER_BRIDGE_TX 37u
// Dropped: a frame of the bridge that is not of its subnet, has the source of another node, or has passed a router.
#define COUNTER_BRIDGE_DROP_FOREIGN 38u
// Dropped: a frame of the bridge with another version, an unknown kind, or lengths that do not fit.
#define COUNTER_BRIDGE_DROP_MALFORMED 39u
// Dropped: a frame of the bridge from an earlier life of its sender, or for an earlier one of this card.
#define COUNTER_BRIDGE_DROP_EPOCH 40u
// Dropped: a frame of the bridge that had come before.
#define COUNTER_BRIDGE_DROP_DUPLICATE 41u
// Requests of nodes that no window allows.
#define COUNTER_BRIDGE_DENIED 42u
// Frames of the bridge sent again.
#define COUNTER_BRIDGE_RESENT 43u
// Frames that came in on one port and left on another.
#define COUNTER_PASSED_FRAMES 44u
// Dropped by a card with a key: a frame without a tag that is taken under a tag only.
#define COUNTER_AUTH_UNTAGGED 45u
// Dropped by a card with a key: a tag from an address that no host with a key has, or that holds no claim.
#define COUNTER_AUTH_UNKNOWN 46u
// Dropped by a card with a key: the tag is wrong. Forged, changed, or of a claim that a restart has ended.
#define COUNTER_AUTH_WRONG 47u
// Dropped by a card with a key: the frame's counter was used before, or is too old to tell.
#define COUNTER_AUTH_REPLAY 48u
#define COUNTERS 49u
// How many every card counts. The others are of parts that a card may lack, which then reports 0.
#define COUNTERS_COMMON 36u

#endif
