//! The stream of messages to a manager: one order for all threads of the program.

use std::sync::{Mutex, MutexGuard};

use rackloom_opencl_wire::{self as wire, EventId, encode_command};
use rackloom_sync::lock;

use crate::stats;

/// Numbers messages in the order of sending. No thread waits for messages while it is locked.
#[derive(Default)]
pub struct Stream(Mutex<Sending>);

/// The sending end, while it is locked.
#[derive(Default)]
pub struct Sending {
    next_event: EventId,
    next_request: u32,
    bytes: Vec<u8>,
}

/// While it lives, no message is sent.
pub struct Stopped<'a>(#[expect(dead_code, reason = "held, not used")] MutexGuard<'a, Sending>);

/// When a task is to be closed, which lets the board start on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Submit {
    /// Behind the operation that is sent.
    Now,
    /// Behind a later one, or when the program waits or flushes.
    Later,
}

impl Stream {
    /// Locks the sending end.
    pub fn lock(&self) -> MutexGuard<'_, Sending> {
        lock(&self.0)
    }

    /// Stops all sending.
    pub fn stop(&self) -> Stopped<'_> {
        Stopped(self.lock())
    }

    /// Number of operations sent so far.
    pub fn sent(&self) -> EventId {
        self.lock().next_event
    }
}

impl Sending {
    /// The number of the next operation's event.
    pub fn take_event(&mut self) -> EventId {
        let event = self.next_event;
        self.next_event += 1;
        event
    }

    /// The number of the next request.
    pub fn take_request(&mut self) -> u32 {
        let request = self.next_request;
        self.next_request = request.wrapping_add(1);
        request
    }

    /// A message and its tail as bytes, counted as sent.
    pub fn encode(&mut self, message: &wire::Command<'_>, tail: &[u8]) -> &[u8] {
        encode_command(message, tail, &mut self.bytes);
        stats::MESSAGES.add(1);
        stats::INLINE_BYTES.add(tail.len());
        &self.bytes
    }
}
