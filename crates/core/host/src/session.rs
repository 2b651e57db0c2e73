//! One claimed card: its memory traffic and its launches, under one epoch.

use rackloom_node::{Duration, Frame, Instant};
use rackloom_transport::Rtt;

use crate::ends::Ends;
use crate::event::OpId;
use crate::launcher::Launcher;
use crate::path::Path;
use crate::reader::Reader;
use crate::writer::Writer;

/// A claimed card.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) ends: Ends,
    pub(crate) lease: Duration,
    pub(crate) rtt: Rtt,
    pub(crate) writer: Writer,
    pub(crate) reader: Reader,
    pub(crate) launcher: Launcher,
    pub(crate) path: Path,
    /// When something was last sent under this claim: what renews the lease.
    pub(crate) sent_at: Instant,
}

impl Session {
    /// The next frame of bulk work, or `None`. `share`: chunks that may be in flight towards the host from this card.
    pub(crate) fn next_frame(&mut self, now: Instant, share: u32) -> Option<Frame> {
        let frame = self.pick(now, share);
        if frame.is_some() {
            self.sent_at = now;
        }
        frame
    }

    fn pick(&mut self, now: Instant, share: u32) -> Option<Frame> {
        // Launches first: a card that computes while the next inputs travel is the point of the exercise.
        if let Some(op) = self.launcher.head()
            && !self.writer.is_before(op)
            && let Some(frame) = self.launcher.offer(now, &self.ends, share)
        {
            return Some(frame);
        }
        if let Some(frame) = self.launcher.resend(now, &self.ends) {
            return Some(frame);
        }
        if let Some((op, addr, len)) = self.reader.head()
            && !self.writer.overlaps_before(op, addr, len)
        {
            self.reader.admit();
        }
        if let Some((op, addr, len)) = self.writer.head()
            && !self.reader.overlaps_before(op, addr, len)
            && !self.writer.overlaps_active(op, addr, len)
        {
            self.writer.admit();
        }
        let timeout = self.rtt.timeout();
        if let Some(frame) = self.reader.next_frame(now, &self.ends, share, timeout) {
            return Some(frame);
        }
        self.writer.next_frame(now, &self.ends, timeout)
    }

    /// The next time something may have to be sent again.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        [self.writer.deadline(), self.reader.deadline(), self.launcher.deadline()].into_iter().flatten().min()
    }

    /// Marks what has waited too long for an answer.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        let timeout = self.rtt.timeout();
        let late = self.writer.handle_timeout(now, timeout)
            | self.reader.handle_timeout(now, timeout)
            | self.launcher.handle_timeout(now);
        if late {
            self.rtt.back_off();
        }
    }

    /// Whether the way to the card or back must be taken for one that drops long frames. `now`: by the clock of the
    /// host's patience.
    pub(crate) fn is_blocked(&mut self, now: Instant) -> bool {
        if self.writer.has_proven {
            self.path.prove_up();
        }
        let down = self.reader.has_long() || self.launcher.has_long();
        self.path.is_blocked(now, self.writer.has_long(), down)
    }

    /// The card refuses a write or a read; the address tells which, since both count from 1. The operation that failed.
    pub(crate) fn handle_nak(&mut self, seq: u32, addr: u64) -> Option<OpId> {
        if self.reader.asked_for(seq, addr) { self.reader.handle_nak(seq) } else { self.writer.handle_nak(seq, addr) }
    }

    /// True while the card owes data: reads or results.
    pub(crate) fn is_receiving(&self) -> bool {
        self.reader.is_busy() || self.launcher.is_receiving()
    }

    /// Gives up every operation, in order.
    pub(crate) fn end(&mut self) -> Vec<OpId> {
        let mut ops = self.writer.end();
        ops.extend(self.reader.end());
        ops.extend(self.launcher.end());
        ops.sort_unstable();
        ops
    }

    /// Gives up one operation; false if it is unknown.
    pub(crate) fn forget(&mut self, op: OpId) -> bool {
        self.writer.forget(op) || self.reader.forget(op) || self.launcher.forget(op)
    }
}
