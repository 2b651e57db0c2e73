//! What the model knows of the gateware: cycles of 64-bit words, for a memory that answers in 30 cycles and cables of
//! 10. Each figure is stated in the gateware, or is that of a program that is alone on its cards. Those are rows of the
//! study too, so the model must give them back.

use crate::timing::{Fetch, Frames, Local, Timing};

/// A cycle: 125 MHz.
pub(crate) const CYCLE_PS: u64 = 8000;
const WORD_BPS: u64 = 64 * 1_000_000_000_000 / CYCLE_PS;
/// Of the bench: from an address or a last beat until memory answers.
const MEMORY: u64 = 30;
/// Of the bench: a word on a cable.
const CABLE: u64 = 10;
/// Bytes of a burst of memory.
const BURST_BYTES: u64 = 128;
/// Bytes that `rl_collective_copy` moves at once.
const PIECE_BYTES: u64 = 1024;

const fn cycles(count: u64) -> u64 {
    count * CYCLE_PS
}

/// Cards of gateware of 64 bits.
pub(crate) const GATEWARE: Timing = Timing {
    link_bps: WORD_BPS,
    // A program of waits alone takes two cycles and one for each.
    go_ps: cycles(2),
    command_ps: cycles(1),
    // A context has room for 16 commands and reads four, of four words each (`rl_collective_fetch`):
    // `17-commands 1 0`.
    fetch: Some(Fetch { room: 16, at_once: 4, read_ps: cycles(5 + MEMORY), command_ps: cycles(4) }),
    // `message 2 64`: 135 cycles, of which three times 8 are its words and 8 its head. The first part is what the
    // card's bench prints (docs/src/internals/link-gateware.md).
    setup_ps: cycles(13 + MEMORY),
    migration_ps: cycles(17 + CABLE + MEMORY),
    // `message 2 0`: 49 cycles.
    signal_setup_ps: cycles(13),
    signal_ps: cycles(23 + CABLE),
    // `message 2 64`: the sender's program ends 39 cycles after the receiver's.
    word_ps: cycles(39),
    signals_are_answered: true,
    eager_bytes: 16 << 10,
    // `message 2 24576`, which is asked for.
    reads_ahead: false,
    // A word is read in each cycle, and the last burst is written behind that: `copy 1 ...`.
    copies: Local { bps: WORD_BPS, first_ps: cycles(3 + 2 * MEMORY), burst_bytes: BURST_BYTES, burst_bps: WORD_BPS },
    // Two words are read for each: `reduction 1 ...`.
    reductions: Local {
        bps: WORD_BPS / 2,
        first_ps: cycles(5 + 2 * MEMORY),
        burst_bytes: BURST_BYTES,
        burst_bps: WORD_BPS,
    },
    frames: Some(Frames {
        payload_bytes: 1408,
        head_bytes: 64,
        ack_bytes: 64,
        // `AskEvery` of `rl_transport_state`, and a frame that is alone in flight. Numbers go on from message to
        // message, so which frames of a message these are differs.
        ack_every: 8,
        noticed_ps: cycles(8 + CABLE),
        // Its eight words and two cycles around them: `message 2 0`, whose sender's program ends 49 cycles later.
        behind_ack_ps: cycles(10),
        // `early-message 2 ...`.
        early_read_ps: cycles(2 + MEMORY),
        early_write_ps: cycles(2),
        early_last_ps: cycles(5 + MEMORY),
        early_piece_bytes: PIECE_BYTES,
    }),
};
