//! Operations that were sent and have not ended.

use std::any::Any;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use opencl_sys::cl_int;
use rackloom_ipc::{Bulk, BulkRef};
use rackloom_opencl_wire::EventId;
use rackloom_sync::lock;

use crate::host_memory::HostRegion;
use crate::mapping::Mapping;

/// When an operation began and ended, in nanoseconds of this process' `CLOCK_MONOTONIC`.
pub type Times = Option<(u64, u64)>;

/// What learns how a command's operations at the manager get on.
pub trait Progress: Send + Sync {
    /// The reply to an operation has come; [`Self::completed`] follows when its data have arrived.
    fn answered(&self);

    /// An answered operation has ended, with `CL_SUCCESS` or an error.
    fn completed(&self, status: cl_int, times: Times);

    /// An operation has been answered and has ended.
    fn ended(&self, status: cl_int, times: Times) {
        self.answered();
        self.completed(status, times);
    }
}

/// An operation of a command, or a sequence of them with one reply.
pub struct Pending {
    pub progress: Arc<dyn Progress>,
    /// What it uses. That is let go before the program can learn of the end, for the program may rely on its being
    /// gone: a program whose kernels are released and have ended is built again.
    pub _uses: Arc<dyn Any + Send + Sync>,
    pub finish: Finish,
    /// Operations that it stands for: more than one of a sequence.
    pub operations: u32,
    /// Bytes of bulk that it counts for in [`InFlight::bytes`].
    pub moving: u64,
}

/// What is to be done when an operation has ended.
pub enum Finish {
    /// Nothing.
    Nothing,
    /// Free the bulk memory that it used.
    Free { _bulk: Bulk },
    /// Leave alone where the bytes came from or went to: the program's own view.
    Leave { _bulk: Arc<Bulk> },
    /// Copy the message's tail to the program.
    Inline(HostRegion),
    /// Copy what came as bulk to the program.
    Copy { to: HostRegion, bulk: Bulk, from: BulkRef },
    /// The same out of a registered arena, as a piece of a transfer of so many bytes.
    CopyOut { to: HostRegion, bulk: Bulk, from: BulkRef, transfer: usize },
    /// Wait until what came as bulk is all where the program looks.
    Settle { mapping: Arc<Mapping>, from: BulkRef },
}

/// All operations of a session that were sent and have not ended, by event.
#[derive(Default)]
pub struct InFlight {
    operations: Mutex<HashMap<EventId, Pending, BuildHasherDefault<CountHasher>>>,
    /// Operations among them, and those about to be sent.
    count: AtomicU32,
    /// Bytes of bulk on their way in pieces.
    bytes: AtomicU64,
}

impl InFlight {
    /// Adds one, for which [`Self::take_room`] was called.
    pub fn insert(&self, event: EventId, pending: Pending) {
        lock(&self.operations).insert(event, pending);
    }

    /// Takes one out.
    pub fn take(&self, event: EventId) -> Option<Pending> {
        lock(&self.operations).remove(&event)
    }

    /// Takes all out, in the order in which they were sent.
    pub fn take_all(&self) -> Vec<Pending> {
        let mut all: Vec<_> = std::mem::take(&mut *lock(&self.operations)).into_iter().collect();
        all.sort_by_key(|(event, _)| *event);
        all.into_iter().map(|(_, pending)| pending).collect()
    }

    /// Operations that have not ended.
    pub fn count(&self) -> u32 {
        self.count.load(Ordering::Acquire)
    }

    /// Counts so many operations, if there are no more than `max` then.
    pub fn take_room(&self, operations: u32, max: u32) -> Option<()> {
        let more = |n: u32| n.checked_add(operations).filter(|all| *all <= max);
        self.count.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok().map(|_| ())
    }

    /// So many operations have ended.
    pub fn give_room(&self, operations: u32) {
        self.count.fetch_sub(operations, Ordering::AcqRel);
    }

    /// Bytes of bulk on their way in pieces.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Acquire)
    }

    /// Counts bytes of a piece.
    pub fn add_bytes(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::AcqRel);
    }

    /// A piece has arrived, or was lost.
    pub fn remove_bytes(&self, bytes: u64) {
        self.bytes.fetch_sub(bytes, Ordering::AcqRel);
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
