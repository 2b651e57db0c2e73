//! The end of an operation: its data go to the program, and its command learns of it.
#![allow(unsafe_code)]

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use opencl_sys::{CL_DEVICE_NOT_AVAILABLE, CL_SUCCESS, cl_int};
use rackloom_sync::lock;

use crate::error::{Error, Result};
use crate::session::pending::{Finish, InFlight, Pending, Times};
use crate::stats;

/// How bulk data reach this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// They are there when the reply is.
    SharedMemory,
    /// They are streamed, and may come after the reply.
    Tcp,
}

/// An operation that has ended at the manager, and whose bulk has not arrived yet.
pub struct Completion {
    pending: Pending,
    times: Times,
}

impl Pending {
    /// The manager says that it has ended. Gives a completion if its bulk may still be under way, for which a handler
    /// of messages must not wait.
    pub fn done(
        self,
        in_flight: &InFlight,
        transport: Transport,
        status: cl_int,
        times: Times,
        tail: &[u8],
    ) -> Option<Completion> {
        in_flight.remove_bytes(self.moving);
        let needs_bulk = matches!(self.finish, Finish::Copy { .. } | Finish::Settle { .. });
        if needs_bulk && status == CL_SUCCESS && transport == Transport::Tcp {
            in_flight.give_room();
            self.command.answered();
            return Some(Completion { pending: self, times });
        }
        let status =
            if status == CL_SUCCESS { self.finish.take(tail).err().map_or(CL_SUCCESS, |e| e.0) } else { status };
        // A thread that finds the board idle may rely on the data being there.
        in_flight.give_room();
        self.command.ended(status, times);
        None
    }

    /// The connection is lost.
    pub fn lost(self, in_flight: &InFlight, why: Error) {
        in_flight.give_room();
        in_flight.remove_bytes(self.moving);
        self.command.ended(why.0, None);
    }
}

impl Finish {
    fn take(&self, tail: &[u8]) -> Result<()> {
        match self {
            Self::Nothing | Self::Free { .. } => {}
            Self::Inline(host) => {
                // A manager of this version sends as many bytes as it was asked for.
                if tail.len() != host.len() {
                    return Err(Error(CL_DEVICE_NOT_AVAILABLE));
                }
                stats::INLINE_BYTES.add(tail.len());
                host.fill(tail);
            }
            Self::Copy { to, bulk, from } => {
                stats::COPIED_BYTES.add(to.len());
                let mut to = *to;
                if let Some(slice) = to.as_mut_slice() {
                    bulk.get(from, 0, slice)?;
                } else {
                    bulk.settle(from)?;
                    // SAFETY: the bulk memory has as many bytes as were expected there.
                    unsafe { to.scatter(bulk.as_ptr()?) };
                }
            }
            Self::Settle { mapping, from } => mapping.settle(from)?,
        }
        Ok(())
    }
}

impl Completion {
    /// Waits for the bulk, and ends the operation.
    fn finish(self) {
        let status = self.pending.finish.take(&[]).err().map_or(CL_SUCCESS, |e| e.0);
        self.pending.command.completed(status, self.times);
    }
}

/// Completions that no thread has taken on yet.
#[derive(Default)]
pub struct Completions {
    queue: Mutex<VecDeque<Completion>>,
    /// Length of the queue, to be read without its lock.
    count: AtomicU32,
}

impl Completions {
    /// Adds one.
    pub fn push(&self, completion: Completion) {
        lock(&self.queue).push_back(completion);
        self.count.fetch_add(1, Ordering::AcqRel);
    }

    /// Finishes all of them, waiting for their bulk.
    pub fn finish(&self) {
        while self.count.load(Ordering::Acquire) > 0 {
            let Some(completion) = lock(&self.queue).pop_front() else { return };
            self.count.fetch_sub(1, Ordering::AcqRel);
            completion.finish();
        }
    }
}
