//! Results: what launches gave, pushed until the host has acknowledged it.
//!
//! The output region is read from DDR when the wire takes a chunk: the host must not write to it, nor launch a kernel
//! that does, before it has acknowledged the result.

use std::collections::VecDeque;

use rackloom_node::{Duration, Frame, Instant};
use rackloom_role as role;
use rackloom_wire::{
    Counter, Done, ErrorCode, FLAG_RESEND, Head, IntoBytes, Kind, MacAddr, RESULTS_KEPT, ResultAck, SACK_BITS, Sack,
    U16, U32, U64,
};

use crate::config::RESEND_AFTER_MAX;
use crate::launches::Ended;
use crate::shell::Shell;

/// The result block. It is made anew for each claim.
#[derive(Debug)]
pub(crate) struct Results {
    list: VecDeque<Outcome>,
    /// The one whose chunk is next, so that a long output does not hold up a short one.
    turn: usize,
}

/// A finished launch and how far its output has got.
#[derive(Debug)]
struct Outcome {
    epoch: u16,
    seq: u32,
    out_addr: u64,
    out_length: u64,
    done: Done,
    done_due: bool,
    done_sent: bool,
    done_acked: bool,
    chunks: u32,
    /// What the host has.
    acked: Sack,
    /// Chunks below this may be sent.
    limit: u32,
    /// Chunks below this have been sent.
    sent: u32,
    /// Chunks to be sent again, as far as the host lacks them.
    resend: core::ops::Range<u32>,
    /// Chunks below this have been sent again since the timer last fired, because later ones had arrived.
    mended: u32,
    timer: Instant,
    patience: Duration,
}

impl Results {
    pub(crate) const fn new() -> Self {
        Self { list: VecDeque::new(), turn: 0 }
    }

    /// Results not yet acknowledged.
    pub(crate) fn kept(&self) -> usize {
        self.list.len()
    }

    /// A launch has ended; `boot` is when the card started.
    pub(crate) fn push(&mut self, now: Instant, shell: &Shell, boot: Instant, ended: &Ended) {
        let bulk = shell.config.bulk;
        let length = if ended.status == ErrorCode::Ok { ended.launch.out_length } else { 0 };
        let chunks = u32::try_from(length.div_ceil(bulk.into())).expect("4 GiB in chunks of 64 bytes are 2^26");
        let ns = |at: Instant| U64::new(u64::try_from((at - boot).as_nanos()).unwrap_or(u64::MAX));
        let done = Done {
            status: U16::new(ended.status.into()),
            chunk: U16::new(bulk),
            chunks: U32::new(chunks),
            value: U64::new(ended.value),
            cycles: U64::new(ended.cycles),
            started_ns: ns(ended.started),
            finished_ns: ns(ended.finished),
        };
        self.list.push_back(Outcome {
            epoch: ended.launch.epoch,
            seq: ended.launch.seq,
            out_addr: ended.launch.out_addr,
            out_length: length,
            done,
            done_due: true,
            done_sent: false,
            done_acked: false,
            chunks,
            acked: Sack::new(0),
            limit: u32::from(ended.launch.credit).min(chunks),
            sent: 0,
            resend: 0..0,
            mended: 0,
            timer: now + shell.config.resend_after,
            patience: shell.config.resend_after,
        });
    }

    /// Says again how this launch ended; false if it is not known.
    pub(crate) fn repeat(&mut self, seq: u32) -> bool {
        match self.list.iter_mut().find(|o| o.seq == seq) {
            Some(outcome) => {
                outcome.done_due = true;
                true
            }
            None => false,
        }
    }

    /// What the host has, and how much more it takes.
    pub(crate) fn acknowledge(&mut self, now: Instant, shell: &mut Shell, seq: u32, body: &ResultAck) {
        let Some(at) = self.list.iter().position(|o| o.seq == seq) else {
            return shell.counters.inc(Counter::DropDuplicate);
        };
        let outcome = &mut self.list[at];
        if body.next.get() > outcome.chunks || body.done > 1 {
            return shell.counters.inc(Counter::DropMalformed);
        }
        outcome.acknowledge(now, shell.config.resend_after, body);
        if outcome.done_acked && outcome.acked.next() == outcome.chunks {
            self.list.remove(at);
            if self.turn > at {
                self.turn -= 1;
            }
        }
    }

    /// The next frame, if there is one to send.
    pub(crate) fn transmit(
        &mut self,
        now: Instant,
        shell: &mut Shell,
        ddr: &dyn role::Memory,
        owner: MacAddr,
    ) -> Option<Frame> {
        if let Some(outcome) = self.list.iter_mut().find(|o| o.done_due) {
            return Some(outcome.send_done(now, shell, owner));
        }
        for i in 0..self.list.len() {
            let at = (self.turn + i) % self.list.len();
            if let Some((chunk, again)) = self.list[at].next_chunk() {
                self.turn = (at + 1) % self.list.len();
                return Some(self.list[at].send_chunk(now, shell, ddr, owner, chunk, again));
            }
        }
        None
    }

    /// Schedules again what has not been acknowledged in time.
    pub(crate) fn timeout(&mut self, now: Instant) {
        for outcome in self.list.iter_mut().filter(|o| o.timer <= now) {
            outcome.expire(now);
        }
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.list.iter().map(|o| o.timer).min()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.list.len() * size_of::<Outcome>()
    }

    pub(crate) fn check_invariants(&self) {
        assert!(self.list.len() <= RESULTS_KEPT as usize);
        assert!(self.turn <= self.list.len());
        for o in &self.list {
            assert!(o.acked.next() <= o.chunks);
            assert!(o.sent <= o.chunks);
            assert!(o.limit <= o.chunks);
            assert!(o.resend.is_empty() || o.resend.end <= o.sent);
        }
    }
}

impl Outcome {
    fn acknowledge(&mut self, now: Instant, resend_after: Duration, body: &ResultAck) {
        let next = body.next.get();
        let progress = next > self.acked.next() || (body.done == 1 && !self.done_acked);
        self.done_acked |= body.done == 1;
        self.limit = self.limit.max(body.limit.get().min(self.chunks));
        if next < self.acked.next() {
            // An acknowledgement that was overtaken; a newer one has told more.
            return;
        }
        self.acked = Sack::from_wire(next, &body.bitmap);
        // A host may say that it has what was never sent; then it need not be sent.
        self.sent = self.sent.max(next);
        if progress {
            self.patience = resend_after;
            self.timer = now + self.patience;
        }
        // Chunks below the highest one that arrived were lost, most likely: each is sent again once, at once.
        let highest = (next..self.sent).rev().find(|&n| self.acked.has(n)).unwrap_or(next);
        let from = next.max(self.mended);
        if highest > from {
            let from = if self.resend.is_empty() { from } else { from.min(self.resend.start) };
            self.resend = from..self.resend.end.max(highest);
            self.mended = highest;
        }
    }

    /// Nothing was heard for too long: all that is not acknowledged goes out again. If nothing is, because the host
    /// gives no credit, `Done` asks for news.
    fn expire(&mut self, now: Instant) {
        self.resend = self.acked.next()..self.sent;
        self.mended = self.sent;
        self.done_due |= !self.done_acked || self.resend.is_empty();
        self.patience = (self.patience * 2).min(RESEND_AFTER_MAX);
        self.timer = now + self.patience;
    }

    /// The chunk to send next, and whether it was sent before.
    fn next_chunk(&mut self) -> Option<(u32, bool)> {
        for n in self.resend.by_ref() {
            if !self.acked.has(n) {
                return Some((n, true));
            }
        }
        // No further than the host's bitmap can tell of.
        let end = self.limit.min(self.acked.next().saturating_add(SACK_BITS));
        while self.sent < end {
            let n = self.sent;
            self.sent += 1;
            if !self.acked.has(n) {
                return Some((n, false));
            }
        }
        None
    }

    fn send_done(&mut self, now: Instant, shell: &mut Shell, owner: MacAddr) -> Frame {
        let flags = if self.done_sent { FLAG_RESEND } else { 0 };
        if self.done_sent {
            shell.counters.inc(Counter::ResultResends);
        }
        self.done_due = false;
        self.done_sent = true;
        self.timer = now + self.patience;
        Head { flags, ..shell.head(owner, Kind::ResultDone, self.epoch, self.seq) }.frame(&[self.done.as_bytes()])
    }

    fn send_chunk(
        &mut self,
        now: Instant,
        shell: &mut Shell,
        ddr: &dyn role::Memory,
        owner: MacAddr,
        n: u32,
        again: bool,
    ) -> Frame {
        shell.counters.inc(if again { Counter::ResultResends } else { Counter::ResultChunks });
        self.timer = now + self.patience;
        let bulk = u64::from(shell.config.bulk);
        let offset = u64::from(n) * bulk;
        let length = bulk.min(self.out_length - offset);
        let flags = if again { FLAG_RESEND } else { 0 };
        let head = Head { flags, addr: offset, ..shell.head(owner, Kind::ResultData, self.epoch, self.seq) };
        ddr.view(self.out_addr + offset, length, |bytes| head.frame(&[bytes])).expect("the region was checked")
    }
}
