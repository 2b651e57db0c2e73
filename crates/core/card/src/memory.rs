//! Kernel inputs and read-back: the host's window into DDR.
//!
//! Writes are taken in any order, each once, and acknowledged with a bitmap. Reads wait in a FIFO until the wire takes
//! their data, and see memory as it is then.

use std::collections::VecDeque;

use rackloom_node::{Frame, Instant};
use rackloom_role as role;
use rackloom_wire::{
    Ack, Arrival, Counter, ErrorCode, FLAG_ACK_NOW, Head, IntoBytes, Kind, MacAddr, ROLE_PRIVATE, Read, Sack,
};

use crate::shell::{Shell, earlier};
use crate::{CardEvent, Pace};

/// The memory block. It is made anew for each claim.
#[derive(Debug)]
pub(crate) struct Memory {
    window: Sack,
    /// Writes since the last acknowledgement.
    unacked: u32,
    ack_at: Option<Instant>,
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
        Self { window: Sack::new(1), unacked: 0, ack_at: None, reads: VecDeque::new() }
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
        let in_order = asked.seq == self.window.next();
        #[cfg(feature = "planted-bugs")]
        let closes_gap = in_order && !self.window.is_contiguous();
        match self.window.insert(asked.seq) {
            Arrival::Duplicate => shell.counters.inc(Counter::DropDuplicate),
            Arrival::Beyond => {
                shell.counters.inc(Counter::DropWindow);
                // It tells a sender that has lost count where the window is.
                self.ack_at = Some(now);
                return;
            }
            Arrival::New => self.store(shell, ddr, asked, bytes),
        }
        #[cfg(feature = "planted-bugs")]
        if closes_gap && shell.config.planted == Some(crate::PlantedBug::LoseWrite) {
            // As if the bitmap had not been shifted: the number after the next is taken for one that is there.
            self.window.insert(self.window.next().wrapping_add(1));
        }
        self.unacked += 1;
        let at_once = !in_order || self.unacked >= shell.config.ack_every || asked.flags & FLAG_ACK_NOW != 0;
        let due = if at_once { now } else { now + shell.config.ack_delay };
        self.ack_at = earlier(self.ack_at, Some(due));
    }

    fn store(&self, shell: &mut Shell, ddr: &dyn role::Memory, asked: &Head, bytes: &[u8]) {
        let length = bytes.len() as u64;
        if length > shell.config.bulk.into() {
            return shell.refuse(asked, Kind::InputConfirmNak, ErrorCode::BadRequest, shell.config.bulk.into());
        }
        if !is_hosts(ddr, asked.addr, length) {
            return shell.refuse(asked, Kind::InputConfirmNak, ErrorCode::BadAddress, ddr.len());
        }
        ddr.write(asked.addr, bytes).expect("the range was checked");
        shell.counters.inc(Counter::Writes);
        shell.counters.add(Counter::WriteBytes, length);
        let length = u32::try_from(length).expect("a frame's payload");
        shell.event(CardEvent::Written { epoch: asked.epoch, seq: asked.seq, addr: asked.addr, length });
    }

    /// A read of the owner, in its epoch.
    pub(crate) fn read(&mut self, now: Instant, shell: &mut Shell, ddr: &dyn role::Memory, asked: &Head, body: &Read) {
        let length = body.length.get();
        let bulk = shell.config.bulk;
        if length == 0 || length > bulk.into() {
            return shell.refuse(asked, Kind::InputConfirmNak, ErrorCode::BadRequest, bulk.into());
        }
        if !is_hosts(ddr, asked.addr, length.into()) {
            return shell.refuse(asked, Kind::InputConfirmNak, ErrorCode::BadAddress, ddr.len());
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
        if self.ack_at.is_some_and(|at| at <= now) {
            self.ack_at = None;
            self.unacked = 0;
            let body = Ack { bitmap: self.window.bitmap() };
            let head = shell.head(owner, Kind::InputConfirmWriteAck, epoch, self.window.next());
            return Some(head.frame(&[body.as_bytes()]));
        }
        let PendingRead { asked, length, .. } = *self.reads.front().filter(|r| r.ready <= now)?;
        self.reads.pop_front();
        shell.counters.inc(Counter::Reads);
        shell.counters.add(Counter::ReadBytes, length.into());
        let head =
            Head { addr: asked.addr, ..shell.head(asked.src, Kind::InputConfirmReadData, asked.epoch, asked.seq) };
        Some(ddr.view(asked.addr, length.into(), |bytes| head.frame(&[bytes])).expect("the range was checked"))
    }

    /// When [`transmit`](Self::transmit) will have something that it has not now.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        earlier(self.ack_at, self.reads.front().map(|r| r.ready))
    }

    pub(crate) fn bytes(&self) -> usize {
        self.reads.len() * size_of::<PendingRead>()
    }

    pub(crate) fn check_invariants(&self) {
        assert!(self.reads.len() <= READS_MAX);
        assert!(self.unacked == 0 || self.ack_at.is_some());
    }
}

/// Whether a host may touch these bytes.
pub(crate) fn is_hosts(ddr: &dyn role::Memory, addr: u64, length: u64) -> bool {
    addr >= ROLE_PRIVATE && addr.checked_add(length).is_some_and(|end| end <= ddr.len())
}

/// Reads that wait for the wire: four windows' worth.
pub(crate) const READS_MAX: usize = 1024;
