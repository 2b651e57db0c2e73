//! The stream of commands to a manager: one order for all threads of the program.

use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard};

use rackloom_opencl_wire::{self as wire, COMMAND, EventId, Op, encode_command};

use crate::error::Result;
use crate::handle::lock;
use crate::session::board::Board;
use crate::session::pending::Pending;
use crate::session::{Session, Then};
use crate::stats;

/// What is numbered in the order of sending. Nothing waits for messages while it is locked.
#[derive(Default)]
pub struct Stream(Mutex<Sending>);

#[derive(Default)]
struct Sending {
    next_event: EventId,
    next_request: u32,
    bytes: Vec<u8>,
}

/// Keeps all commands from being sent while it lives.
pub struct Stopped<'a>(#[expect(dead_code, reason = "held, not used")] MutexGuard<'a, Sending>);

impl Stream {
    /// Stops it.
    pub fn stop(&self) -> Stopped<'_> {
        Stopped(lock(&self.0))
    }

    /// Events of operations that were sent.
    pub fn sent(&self) -> EventId {
        lock(&self.0).next_event
    }
}

impl Session {
    /// Sends a command that has no answer.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn send(&self, command: &wire::Command<'_>, tail: &[u8]) -> Result<()> {
        self.put(&mut lock(&self.stream.0), command, tail)
    }

    fn put(&self, sending: &mut Sending, command: &wire::Command<'_>, tail: &[u8]) -> Result<()> {
        encode_command(command, tail, &mut sending.bytes);
        stats::MESSAGES.add(1);
        stats::INLINE_BYTES.add(tail.len());
        Ok(self.client()?.send(COMMAND, &sending.bytes)?)
    }

    /// Sends a request; `then` gets the answer, or that the connection is lost, in the thread that reads it.
    ///
    /// # Errors
    /// The connection is lost; `then` is not called.
    pub fn request<'a>(&self, tail: &[u8], make: impl FnOnce(u32) -> wire::Command<'a>, then: Then) -> Result<()> {
        let mut sending = lock(&self.stream.0);
        let request = sending.next_request;
        sending.next_request = request.wrapping_add(1);
        lock(&self.requests).insert(request, then);
        let sent = self.put(&mut sending, &make(request), tail);
        // If the end came meanwhile and all requests were answered so, this one was, too.
        sent.or_else(|why| lock(&self.requests).remove(&request).map_or(Ok(()), |_| Err(why)))
    }
}

impl Board {
    /// Sends an operation as the next of its board; its event's number.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn operate(
        &self,
        waits: Vec<EventId>,
        submit: bool,
        op: Op<'_>,
        tail: &[u8],
        pending: Pending,
    ) -> Result<EventId> {
        self.take_room()?;
        let session = &self.session;
        let mut sending = lock(&session.stream.0);
        let event = sending.next_event;
        sending.next_event += 1;
        pending.command.event.add_part();
        session.in_flight.insert(event, pending);
        stats::OPERATIONS.add(1);
        let command = wire::Command::Enqueue { event, waits, submit, op };
        self.is_open.store(!submit, Ordering::Release);
        if let Err(why) = session.put(&mut sending, &command, tail) {
            drop(sending);
            // Unless the end has taken it already.
            if let Some(pending) = session.in_flight.take(event) {
                pending.lost(why);
            }
            return Err(why);
        }
        Ok(event)
    }

    /// Closes the task, if one is open.
    pub fn submit(&self) {
        if !self.is_open.load(Ordering::Acquire) {
            return;
        }
        let mut sending = lock(&self.session.stream.0);
        if self.is_open.swap(false, Ordering::AcqRel) {
            // If the connection is lost, so is the task.
            let _ = self.session.put(&mut sending, &wire::Command::Submit, &[]);
        }
    }
}
