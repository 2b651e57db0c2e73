//! Blocking writes that return before their board has the bytes.
//!
//! Behind a bus or a network a write of a few bytes takes microseconds, and the way there and back as many again. What
//! a program knows when a blocking write returns is that its memory is its own again, that all before it in the queue
//! has ended, and that it did not fail. So a call returns as soon as the bytes are copied, if the rest holds by then:
//!
//! - the queue is in order, and whatever came before the write has ended, except others that returned early;
//! - it waits for no events;
//! - an earlier write has reached the buffer, so its memory exists. Then it fails if its board is lost, and not else.
//!
//! A board executes what a program sends in its order, whichever queue it is for, so all commands find the bytes there.
//! Who asks the write's event how far it is waits for the end. Who loses the board hears so in the next call that waits
//! for the queue.

use std::sync::Arc;

use rackloom_opencl_wire::INLINE_MAX;

use crate::command::{Command, Kind, Memory};
use crate::session::board::Board;

/// Most bytes of such a write: with more, the way there and back hardly counts.
const BYTES_MAX: usize = 1 << 20;

/// A write whose call might return early.
pub struct EarlyWrite {
    to: Memory,
    board: Arc<Board>,
}

impl EarlyWrite {
    /// The write that a command is, if its bytes are copied when it is sent.
    pub fn of(command: &Command) -> Option<Self> {
        let Kind::Write { to, host, .. } = &command.kind else { return None };
        let is_small = host.len() <= INLINE_MAX || host.len() <= BYTES_MAX && command.board.in_place(host).is_none();
        let is_one = is_small && command.waits.is_empty();
        is_one.then(|| Self { to: to.clone(), board: Arc::clone(&command.board) })
    }

    /// Whether it fails only if its board is lost: that has memory for the buffer.
    pub fn cannot_fail(&self) -> bool {
        self.to.has_memory(&self.board)
    }

    /// It has ended well.
    pub fn has_ended(&self) {
        self.to.was_written(&self.board);
    }
}
