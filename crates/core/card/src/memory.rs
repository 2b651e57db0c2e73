//! Kernel inputs and read-back: the host's window into DDR.
//!
//! Writes are taken in any order, each once, and acknowledged with a bitmap. Reads wait in a FIFO until the wire takes
//! their data, and see memory as it is then.

use std::collections::VecDeque;

use rackloom_node::{Frame, Instant};
use rackloom_role as role;
use rackloom_transport::{AckPolicy, Arrival, Receiver};
use rackloom_wire::{
    Ack, Counter, ErrorCode, FLAG_ACK_NOW, Head, IntoBytes, Kind, MacAddr, ROLE_PRIVATE, Read, WRITE_WINDOW,
};

use crate::shell::{Shell, earlier};
use crate::{CardEvent, Pace};

/// The memory block. It is made anew for each claim.
#[derive(Debug)]
pub(crate) struct Memory {
    writes: Receiver,
    reads: VecDeque<PendingRead>,
}

#[derive(Debug, Clone, Copy)]
struct PendingRead {
    asked: Head,
    length: u32,
    ready: Instant,
}

impl Memory {
    pub(crate) const fn new() -> Self {
        // Writes are counted from 1.
        Self { writes: Receiver::new(1, WRITE_WINDOW), reads: VecDeque::new() }
    }

    /// A write of the owner, in its epoch.
    pub(crate) fn write(
        &mut self,
        now: Instant,
        shell: &mut Shell,
        ddr: &dyn role::Memory,
        asked: &Head,
        bytes: &[u8],
    ) {
        #[cfg(feature = "planted-bugs")]
        if shell.config.planted == Some(crate::PlantedBug::LoseWrite) {
            self.writes.plant(rackloom_transport::PlantedBug::ShiftSack);
        }
        let policy = if asked.flags & FLAG_ACK_NOW != 0 {
            AckPolicy::AT_ONCE
        } else {
            AckPolicy { every: shell.config.ack_every, delay: shell.config.ack_delay }
        };
        match self.writes.handle(now, asked.seq, policy) {
            Arrival::Duplicate => shell.counters.inc(Counter::DropDuplicate),
            Arrival::Beyond => shell.counters.inc(Counter::DropWindow),
            Arrival::New => store(shell, ddr, asked, bytes),
        }
    }

    /// A read of the owner, in its epoch.
    pub(crate) fn read(&mut self, now: Instant, shell: &mut Shell, ddr: &dyn role::Memory, asked: &Head, body: &Read) {
        let length = body.length.get();
        let bulk = shell.config.bulk;
        if length == 0 {
            return shell.refuse(asked, Kind::InputConfirmNak, ErrorCode::BadRequest, bulk.into());
        }
        if let Err((code, detail)) = check_access(ddr.len(), bulk, asked.addr, length.into()) {
            return shell.refuse(asked, Kind::InputConfirmNak, code, detail);
        }
        if self.reads.len() >= READS_MAX {
            return shell.counters.inc(Counter::DropQueue);
        }
        let latency = shell.config.ddr_latency;
        let ready = if shell.config.pace == Pace::Virtual { now + latency } else { now };
        self.reads.push_back(PendingRead { asked: *asked, length, ready });
    }

    /// The acknowledgement or the data that may be sent now.
    pub(crate) fn transmit(
        &mut self,
        now: Instant,
        shell: &mut Shell,
        ddr: &dyn role::Memory,
        owner: MacAddr,
        epoch: u16,
    ) -> Option<Frame> {
        if let Some(sack) = self.writes.poll_ack(now) {
            let head = shell.head(owner, Kind::InputConfirmWriteAck, epoch, sack.next());
            return Some(head.frame(&[Ack { bitmap: sack.bitmap() }.as_bytes()]));
        }
        let PendingRead { asked, length, .. } = *self.reads.front().filter(|r| r.ready <= now)?;
        self.reads.pop_front();
        let head =
            Head { addr: asked.addr, ..shell.head(asked.src, Kind::InputConfirmReadData, asked.epoch, asked.seq) };
        let frame = shell.access(ddr.view(asked.addr, length.into(), |bytes| head.frame(&[bytes])))?;
        shell.counters.inc(Counter::Reads);
        shell.counters.add(Counter::ReadBytes, length.into());
        Some(frame)
    }

    /// When [`transmit`](Self::transmit) will have something that it has not now.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        earlier(self.writes.deadline(), self.reads.front().map(|r| r.ready))
    }

    pub(crate) fn bytes(&self) -> usize {
        self.reads.len() * size_of::<PendingRead>()
    }

    pub(crate) fn check_invariants(&self) {
        assert!(self.reads.len() <= READS_MAX);
        self.writes.check_invariants();
    }
}

/// Performs a write that has arrived for the first time.
fn store(shell: &mut Shell, ddr: &dyn role::Memory, asked: &Head, bytes: &[u8]) {
    let length = bytes.len() as u64;
    if let Err((code, detail)) = check_access(ddr.len(), shell.config.bulk, asked.addr, length) {
        return shell.refuse(asked, Kind::InputConfirmNak, code, detail);
    }
    if shell.access(ddr.write(asked.addr, bytes)).is_none() {
        return;
    }
    shell.counters.inc(Counter::Writes);
    shell.counters.add(Counter::WriteBytes, length);
    let length = u32::try_from(length).expect("a frame's payload");
    shell.event(CardEvent::Written { epoch: asked.epoch, seq: asked.seq, addr: asked.addr, length });
}

/// Checks a host's write or read of `length` bytes at `addr`, on a card with `memory` bytes of DDR and payloads of up
/// to `bulk` bytes.
///
/// # Errors
/// Code and detail of the refusal: [`ErrorCode::BadRequest`] with `bulk` if it is too long, [`ErrorCode::BadAddress`]
/// with `memory` if not all of the bytes are in memory that hosts may touch.
pub fn check_access(memory: u64, bulk: u16, addr: u64, length: u64) -> Result<(), (ErrorCode, u64)> {
    if length > bulk.into() {
        Err((ErrorCode::BadRequest, bulk.into()))
    } else if !is_hosts(memory, addr, length) {
        Err((ErrorCode::BadAddress, memory))
    } else {
        Ok(())
    }
}

/// Whether a host may touch these bytes of `memory` bytes.
pub(crate) fn is_hosts(memory: u64, addr: u64, length: u64) -> bool {
    addr >= ROLE_PRIVATE && addr.checked_add(length).is_some_and(|end| end <= memory)
}

/// Reads that wait for the wire: four windows' worth.
pub(crate) const READS_MAX: usize = 1024;
