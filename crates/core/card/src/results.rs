//! Results: what launches returned, sent until the host has acknowledged it.
//!
//! The output region is read from DDR when the wire takes a chunk: the host must not write to it, nor launch a kernel
//! that does, before it has acknowledged the result.

use std::collections::VecDeque;

use rackloom_node::{Frame, Instant};
use rackloom_role as role;
use rackloom_transport::{Expiry, PeerError, RunSender, Sack};
use rackloom_wire::{
    Counter, Done, ErrorCode, FLAG_RESEND, Head, IntoBytes, Kind, MacAddr, RESULTS_KEPT, ResultAck, U16, U32, U64,
};

use crate::config::RESEND_AFTER_MAX;
use crate::launches::Ended;
use crate::session::Claim;
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
    /// The output, a number for each chunk of it. Its timer serves `done` as well.
    output: RunSender,
}

impl Results {
    pub(crate) const fn new() -> Self {
        Self { list: VecDeque::new(), turn: 0 }
    }

    /// Results not yet acknowledged.
    pub(crate) fn kept(&self) -> usize {
        self.list.len()
    }

    /// A launch has ended; `boot` is when the card started, and `claim` says what reaches its owner in a frame.
    pub(crate) fn push(&mut self, now: Instant, shell: &Shell, boot: Instant, claim: Option<&Claim>, ended: &Ended) {
        let bulk = claim.map_or(shell.config.bulk, |claim| claim.bulk.min(shell.config.bulk));
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
            output: RunSender::new(
                now,
                chunks,
                ended.launch.credit.into(),
                shell.config.resend_after,
                RESEND_AFTER_MAX,
            ),
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
        if body.done > 1 || outcome.acknowledge(now, body).is_err() {
            return shell.counters.inc(Counter::DropMalformed);
        }
        if outcome.done_acked && outcome.output.is_done() {
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
            if let Some((chunk, again)) = self.list[at].output.poll(now) {
                self.turn = (at + 1) % self.list.len();
                return self.list[at].chunk(shell, ddr, owner, chunk, again);
            }
        }
        None
    }

    /// Schedules again what has not been acknowledged in time.
    pub(crate) fn timeout(&mut self, now: Instant) {
        for outcome in &mut self.list {
            outcome.handle_timeout(now);
        }
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.list.iter().map(|o| o.output.deadline()).min()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.list.len() * size_of::<Outcome>()
    }

    pub(crate) fn check_invariants(&self) {
        assert!(self.list.len() <= RESULTS_KEPT as usize);
        assert!(self.turn <= self.list.len());
        for o in &self.list {
            o.output.check_invariants();
        }
    }
}

impl Outcome {
    fn acknowledge(&mut self, now: Instant, body: &ResultAck) -> Result<(), PeerError> {
        let has_done = body.done == 1;
        self.output.handle_ack(now, Sack::from_bitmap(body.next.get(), &body.bitmap), body.limit.get())?;
        if has_done && !self.done_acked {
            self.done_acked = true;
            self.output.handle_progress(now);
        }
        Ok(())
    }

    /// Nothing was heard for too long: all that is not acknowledged goes out again. If nothing is, because the host
    /// gives no credit, `Done` asks for news.
    fn handle_timeout(&mut self, now: Instant) {
        match self.output.handle_timeout(now) {
            Expiry::Early => {}
            Expiry::Resend => self.done_due |= !self.done_acked,
            Expiry::Blocked => self.done_due = true,
        }
    }

    fn send_done(&mut self, now: Instant, shell: &mut Shell, owner: MacAddr) -> Frame {
        let flags = if self.done_sent { FLAG_RESEND } else { 0 };
        if self.done_sent {
            shell.counters.inc(Counter::ResultResends);
        }
        self.done_due = false;
        self.done_sent = true;
        self.output.handle_sent(now);
        Head { flags, ..shell.head(owner, Kind::ResultDone, self.epoch, self.seq) }.frame(&[self.done.as_bytes()])
    }

    fn chunk(&self, shell: &mut Shell, ddr: &dyn role::Memory, owner: MacAddr, n: u32, again: bool) -> Option<Frame> {
        shell.counters.inc(if again { Counter::ResultResends } else { Counter::ResultChunks });
        let bulk = u64::from(self.done.chunk.get());
        let offset = u64::from(n) * bulk;
        let length = bulk.min(self.out_length - offset);
        let flags = if again { FLAG_RESEND } else { 0 };
        let head = Head { flags, addr: offset, ..shell.head(owner, Kind::ResultData, self.epoch, self.seq) };
        shell.access(ddr.view(self.out_addr + offset, length, |bytes| head.frame(&[bytes])))
    }
}
