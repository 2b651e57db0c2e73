//! Writes to one card: numbered, windowed, acknowledged selectively, sent again when lost.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use rackloom_node::{Duration, Frame, Instant};
use rackloom_wire::{FLAG_ACK_NOW, FLAG_RESEND, Kind, Sack, WRITE_WINDOW};

use crate::event::OpId;
use crate::rtt::Rtt;
use crate::session::{Ends, overlap, piece};

/// The sending side of a claim's write window.
#[derive(Debug)]
pub(crate) struct Writer {
    bulk: usize,
    /// Not wholly sent; only the first may have been begun.
    queue: VecDeque<Queued>,
    /// Begun and not wholly acknowledged.
    active: BTreeMap<OpId, Active>,
    /// Sent and not yet below the card's first missing one; `flight[i]` has number `base + i`.
    flight: VecDeque<Chunk>,
    base: u32,
    /// Chunks that may be in flight: halved on loss, grown by one a round trip (RFC 5681's avoidance), so that hosts
    /// that share a card's link share it fairly.
    window: u32,
    acked_in_window: u32,
    timer: Option<Instant>,
}

#[derive(Debug)]
struct Queued {
    op: OpId,
    addr: u64,
    data: Bytes,
    sent: usize,
    admitted: bool,
}

#[derive(Debug)]
struct Active {
    addr: u64,
    len: u64,
    /// Chunks sent and not acknowledged.
    left: u32,
    /// All chunks are sent.
    whole: bool,
    /// Nobody waits for it any more; its chunks still have to arrive, or the card's window would stand still.
    forgotten: bool,
}

#[derive(Debug)]
struct Chunk {
    op: OpId,
    addr: u64,
    data: Bytes,
    at: Instant,
    sends: u8,
    acked: bool,
    again: bool,
}

impl Writer {
    pub(crate) const fn new(bulk: usize) -> Self {
        Self {
            bulk,
            queue: VecDeque::new(),
            active: BTreeMap::new(),
            flight: VecDeque::new(),
            base: 1,
            window: WRITE_WINDOW,
            acked_in_window: 0,
            timer: None,
        }
    }

    pub(crate) fn push(&mut self, op: OpId, addr: u64, data: Bytes) {
        assert!(!data.is_empty());
        self.queue.push_back(Queued { op, addr, data, sent: 0, admitted: false });
    }

    /// The operation that waits to be begun.
    pub(crate) fn head(&self) -> Option<(OpId, u64, u64)> {
        self.queue.front().filter(|q| !q.admitted).map(|q| (q.op, q.addr, q.data.len() as u64))
    }

    /// Begins it.
    pub(crate) fn admit(&mut self) {
        let q = self.queue.front_mut().expect("a head");
        q.admitted = true;
        let (addr, len) = (q.addr, q.data.len() as u64);
        self.active.insert(q.op, Active { addr, len, left: 0, whole: false, forgotten: false });
    }

    /// True while a write older than `op` is under way.
    pub(crate) fn is_before(&self, op: OpId) -> bool {
        self.active.keys().next().is_some_and(|o| *o < op) || self.queue.front().is_some_and(|q| q.op < op)
    }

    /// True while a write older than `op` that shares a byte with the range is under way.
    pub(crate) fn overlaps_before(&self, op: OpId, addr: u64, len: u64) -> bool {
        self.overlaps_active(op, addr, len)
            || self.queue.iter().take_while(|q| q.op < op).any(|q| overlap(q.addr, q.data.len() as u64, addr, len))
    }

    /// The same for writes that are begun. Two such in flight at once could land in either order.
    pub(crate) fn overlaps_active(&self, op: OpId, addr: u64, len: u64) -> bool {
        self.active.range(..op).any(|(_, a)| overlap(a.addr, a.len, addr, len))
    }

    pub(crate) fn next_frame(&mut self, now: Instant, ends: &Ends, timeout: Duration) -> Option<Frame> {
        self.timer.get_or_insert(now + timeout);
        if let Some(i) = self.flight.iter().position(|c| c.again) {
            let last = !self.flight.iter().skip(i + 1).any(|c| c.again);
            let c = &mut self.flight[i];
            (c.again, c.at, c.sends) = (false, now, c.sends.saturating_add(1));
            let flags = FLAG_RESEND | if last { FLAG_ACK_NOW } else { 0 };
            return Some(ends.frame(Kind::InputWrite, flags, self.base.wrapping_add(i as u32), c.addr, &[&c.data]));
        }
        let open = self.flight.len() < self.window as usize;
        let Some(q) = self.queue.front_mut().filter(|q| q.admitted && open) else {
            if self.flight.is_empty() {
                self.timer = None;
            }
            return None;
        };
        let data = piece(&q.data, q.sent, self.bulk);
        let chunk = Chunk {
            op: q.op,
            addr: q.addr + q.sent as u64,
            data: data.clone(),
            at: now,
            sends: 1,
            acked: false,
            again: false,
        };
        q.sent += data.len();
        let whole = q.sent == q.data.len();
        let active = self.active.get_mut(&q.op).expect("admitted");
        active.left += 1;
        active.whole = whole;
        let (addr, seq) = (chunk.addr, self.base.wrapping_add(self.flight.len() as u32));
        if whole {
            self.queue.pop_front();
        }
        self.flight.push_back(chunk);
        // Where we stop sending, the card must not wait for more before it acknowledges.
        let pause = self.queue.is_empty() || self.flight.len() >= self.window as usize || whole;
        Some(ends.frame(Kind::InputWrite, if pause { FLAG_ACK_NOW } else { 0 }, seq, addr, &[&data]))
    }

    /// The card says what has arrived. Operations that are wholly written go to `done`.
    pub(crate) fn handle_ack(&mut self, now: Instant, sack: &Sack, rtt: &mut Rtt, done: &mut Vec<OpId>) {
        let ahead = sack.next().wrapping_sub(self.base);
        if ahead > self.flight.len() as u32 {
            return; // Beyond what was sent, or an old acknowledgement that was overtaken.
        }
        let base = self.base;
        let mut highest = 0;
        let mut news = 0u32;
        for (i, c) in self.flight.iter_mut().enumerate() {
            if c.acked || !sack.has(base.wrapping_add(i as u32)) {
                continue;
            }
            c.acked = true;
            c.again = false;
            news += 1;
            highest = i;
            if c.sends == 1 {
                rtt.sample(now - c.at);
            }
            let active = self.active.get_mut(&c.op).expect("a chunk in flight belongs to an active write");
            active.left -= 1;
            if active.left == 0 && active.whole {
                if !active.forgotten {
                    done.push(c.op);
                }
                self.active.remove(&c.op);
            }
        }
        if news == 0 {
            return;
        }
        rtt.progress();
        // What is overtaken by three later ones is lost, unless it was sent so lately that it may still be on its way.
        let patience = rtt.smoothed();
        let mut lost = false;
        for c in self.flight.iter_mut().take(highest.saturating_sub(2)) {
            if !c.acked && !c.again && now - c.at >= patience {
                c.again = true;
                lost = true;
            }
        }
        self.adapt(news, lost);
        while self.flight.front().is_some_and(|c| c.acked) {
            self.flight.pop_front();
            self.base = self.base.wrapping_add(1);
        }
        self.timer = (!self.flight.is_empty()).then(|| now + rtt.timeout());
    }

    fn adapt(&mut self, news: u32, lost: bool) {
        if lost {
            self.window = (self.window / 2).max(4);
            self.acked_in_window = 0;
            return;
        }
        self.acked_in_window += news;
        if self.acked_in_window >= self.window {
            self.acked_in_window = 0;
            self.window = (self.window + 8).min(WRITE_WINDOW);
        }
    }

    /// The card refuses the write with this number: the operation that failed, if it still counted. The number counts
    /// as received and is acknowledged in its turn.
    pub(crate) fn handle_nak(&mut self, seq: u32, addr: u64) -> Option<OpId> {
        let chunk = self.flight.get(seq.wrapping_sub(self.base) as usize).filter(|c| c.addr == addr)?;
        let op = chunk.op;
        self.forget(op).then_some(op)
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.timer.filter(|_| !self.flight.is_empty())
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant, timeout: Duration) -> bool {
        if self.flight.is_empty() || self.timer.is_none_or(|t| t > now) {
            return false;
        }
        for c in self.flight.iter_mut().filter(|c| !c.acked && now - c.at >= timeout) {
            c.again = true;
        }
        self.window = (self.window / 2).max(4);
        self.timer = Some(now + timeout * 2);
        true
    }

    pub(crate) fn end(&mut self) -> Vec<OpId> {
        let waiting = self.queue.drain(..).filter(|q| !q.admitted).map(|q| q.op);
        let mut ops: Vec<_> = waiting.collect();
        ops.extend(std::mem::take(&mut self.active).into_iter().filter(|(_, a)| !a.forgotten).map(|(op, _)| op));
        self.flight.clear();
        self.timer = None;
        ops
    }

    pub(crate) fn forget(&mut self, op: OpId) -> bool {
        let queued = self.queue.iter().position(|q| q.op == op).and_then(|i| self.queue.remove(i)).is_some();
        let Some(active) = self.active.get_mut(&op) else { return queued };
        let was = !std::mem::replace(&mut active.forgotten, true);
        active.whole = true;
        if active.left == 0 {
            self.active.remove(&op);
        }
        was
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rackloom_wire::{MacAddr, Packet};

    const ENDS: Ends = Ends { host: MacAddr([2; 6]), card: MacAddr([4; 6]), epoch: 9 };
    const TIMEOUT: Duration = Duration::from_millis(1);

    fn at(us: u64) -> Instant {
        Instant::from_nanos(us * 1000)
    }

    fn drain(w: &mut Writer, now: Instant) -> Vec<(u32, u64, usize)> {
        std::iter::from_fn(|| w.next_frame(now, &ENDS, TIMEOUT))
            .map(|f| {
                let p = Packet::parse(&f).unwrap();
                (p.head.seq, p.head.addr, p.payload.len())
            })
            .collect()
    }

    fn acked(seqs: &[u32]) -> Sack {
        let mut s = Sack::new(1);
        for q in seqs {
            s.insert(*q);
        }
        s
    }

    #[test]
    fn a_lost_chunk_is_sent_again_when_three_overtake_it() {
        let (mut w, mut rtt) = (Writer::new(64), Rtt::new(TIMEOUT, TIMEOUT * 64));
        w.push(OpId(1), 0x100000, Bytes::from(vec![7; 64 * 5 + 3]));
        w.admit();
        let sent = drain(&mut w, at(0));
        assert_eq!(sent.len(), 6);
        assert_eq!(sent[5], (6, 0x100000 + 320, 3));
        let mut done = Vec::new();
        rtt.sample(Duration::from_micros(10));
        w.handle_ack(at(20), &acked(&[1, 3, 4, 5]), &mut rtt, &mut done);
        assert_eq!(drain(&mut w, at(20)), [(2, 0x100000 + 64, 64)]);
        assert!(done.is_empty());
        w.handle_ack(at(40), &acked(&[1, 2, 3, 4, 5, 6]), &mut rtt, &mut done);
        assert_eq!(done, [OpId(1)]);
        assert_eq!(w.deadline(), None);
    }

    #[test]
    fn the_timer_sends_all_that_is_late_and_the_window_shrinks() {
        let mut w = Writer::new(64);
        w.push(OpId(1), 0x100000, Bytes::from(vec![7; 64 * 400]));
        w.admit();
        assert_eq!(drain(&mut w, at(0)).len(), 256);
        assert!(!w.handle_timeout(at(500), TIMEOUT));
        assert!(w.handle_timeout(at(1000), TIMEOUT));
        assert_eq!(w.window, 128);
        assert_eq!(drain(&mut w, at(1000)).len(), 256);
    }

    #[test]
    fn a_forgotten_write_still_fills_the_window_and_is_not_reported() {
        let (mut w, mut rtt) = (Writer::new(64), Rtt::new(TIMEOUT, TIMEOUT));
        w.push(OpId(1), 0x100000, Bytes::from(vec![7; 64 * 300]));
        w.admit();
        drain(&mut w, at(0));
        assert!(w.forget(OpId(1)));
        assert!(!w.forget(OpId(1)));
        assert!(w.overlaps_active(OpId(2), 0x100000, 1));
        let mut done = Vec::new();
        let all: Vec<u32> = (1..=256).collect();
        w.handle_ack(at(9), &acked(&all), &mut rtt, &mut done);
        assert!(done.is_empty());
        assert!(!w.overlaps_active(OpId(2), 0x100000, 1));
        assert_eq!(drain(&mut w, at(9)), []);
    }

    #[test]
    fn acknowledgements_of_what_was_never_sent_are_ignored() {
        let (mut w, mut rtt) = (Writer::new(64), Rtt::new(TIMEOUT, TIMEOUT));
        let mut done = Vec::new();
        w.handle_ack(at(0), &Sack::new(500), &mut rtt, &mut done);
        assert_eq!((w.base, done.len()), (1, 0));
        assert_eq!(w.handle_nak(77, 0x100000), None);
    }
}
