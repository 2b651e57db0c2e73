//! Operations that were sent and have not ended.
#![allow(unsafe_code)]

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use opencl_sys::{CL_DEVICE_NOT_AVAILABLE, CL_SUCCESS, cl_int};
use rackloom_ipc::{Bulk, BulkRef};
use rackloom_opencl_wire::{EventId, Times};

use crate::command::Command;
use crate::error::{Error, Result};
use crate::handle::lock;
use crate::host_memory::HostRegion;
use crate::mapping::Mapping;
use crate::session::Session;
use crate::stats;

/// One operation of a command.
pub struct Pending {
    pub command: Arc<Command>,
    pub finish: Finish,
    /// Bulk under way for it.
    pub moving: u64,
}

/// What is to be done when it has ended.
pub enum Finish {
    /// Nothing.
    Nothing,
    /// The bulk memory that it used is free again.
    Free { _bulk: Bulk },
    /// What came in the message goes to the program.
    Inline(HostRegion),
    /// What came as bulk goes to the program.
    Copy { to: HostRegion, bulk: Bulk, from: BulkRef },
    /// What came as bulk is where the program looks, once it is all there.
    Settle { mapping: Arc<Mapping>, from: BulkRef },
}

/// An operation that has ended at the manager, and whose bulk has still to be taken.
pub struct Completion {
    pending: Pending,
    times: Option<(u64, u64)>,
}

impl Pending {
    /// The manager says that it has ended. What has to wait for bulk, which a handler of messages must not, is given
    /// back.
    pub fn done(self, session: &Session, status: cl_int, times: Option<Times>, tail: &[u8]) -> Option<Completion> {
        let board = &self.command.board;
        board.moving.fetch_sub(self.moving, Ordering::AcqRel);
        let times = times.map(|t| (session.to_local(t.started), session.to_local(t.ended)));
        let needs_bulk = matches!(self.finish, Finish::Copy { .. } | Finish::Settle { .. });
        if needs_bulk && status == CL_SUCCESS && session.is_tcp {
            board.give_room();
            self.command.event.answered();
            return Some(Completion { pending: self, times });
        }
        let status =
            if status == CL_SUCCESS { self.finish.take(tail).err().map_or(CL_SUCCESS, |e| e.0) } else { status };
        // Who finds the board idle may count on what came from it.
        board.give_room();
        self.command.event.answered();
        self.command.event.part_done(status, times);
        None
    }

    /// The connection is lost.
    pub fn lost(self, why: Error) {
        self.command.board.give_room();
        self.command.board.moving.fetch_sub(self.moving, Ordering::AcqRel);
        self.command.event.answered();
        self.command.event.part_done(why.0, None);
    }
}

impl Finish {
    fn take(&self, tail: &[u8]) -> Result<()> {
        match self {
            Self::Nothing | Self::Free { .. } => {}
            Self::Inline(host) => {
                // A manager that sends less than was asked for is no manager of ours.
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
    /// Waits for the bulk, and ends the part.
    pub fn finish(self) {
        let status = self.pending.finish.take(&[]).err().map_or(CL_SUCCESS, |e| e.0);
        self.pending.command.event.part_done(status, self.times);
    }
}

/// All of a session, by event.
#[derive(Default)]
pub struct InFlight(Mutex<HashMap<EventId, Pending, BuildHasherDefault<CountHasher>>>);

impl InFlight {
    /// Adds one.
    pub fn insert(&self, event: EventId, pending: Pending) {
        lock(&self.0).insert(event, pending);
    }

    /// Takes one out.
    pub fn take(&self, event: EventId) -> Option<Pending> {
        lock(&self.0).remove(&event)
    }

    /// Takes all out, in the order in which they were sent.
    pub fn take_all(&self) -> Vec<Pending> {
        let mut all: Vec<_> = std::mem::take(&mut *lock(&self.0)).into_iter().collect();
        all.sort_by_key(|(event, _)| *event);
        all.into_iter().map(|(_, pending)| pending).collect()
    }
}

/// Numbers that count up spread themselves, but for the high bits.
#[derive(Default)]
pub struct CountHasher(u64);

impl Hasher for CountHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_u64(u64::from(*b)));
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0 ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}
