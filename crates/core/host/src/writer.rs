//! Writes to one card, cut into chunks that a [`Sender`] carries.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use rackloom_node::{Duration, Frame, Instant};
use rackloom_transport::{PeerError, Rtt, Sack, Sender};
use rackloom_wire::{BULK_STANDARD, FLAG_ACK_NOW, FLAG_RESEND, Kind, WRITE_WINDOW};

use crate::ends::Ends;
use crate::event::OpId;
use crate::range::overlap;

/// The writing side of a claim: operations cut into chunks of a frame each.
#[derive(Debug)]
pub(crate) struct Writer {
    bulk: usize,
    /// Not wholly sent; only the first may have been begun.
    queue: VecDeque<Queued>,
    /// Begun and not wholly acknowledged.
    active: BTreeMap<OpId, Active>,
    sender: Sender<Chunk>,
    /// A frame longer than standard ones has been acknowledged.
    pub(crate) has_proven: bool,
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
}

impl Writer {
    pub(crate) const fn new(bulk: usize) -> Self {
        Self {
            bulk,
            queue: VecDeque::new(),
            active: BTreeMap::new(),
            sender: Sender::new(1, WRITE_WINDOW),
            has_proven: false,
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

    /// True while frames longer than standard ones are under way.
    pub(crate) fn has_long(&self) -> bool {
        let long = u64::from(BULK_STANDARD);
        self.bulk as u64 > long && self.active.values().any(|a| a.len > long && a.left > 0)
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

    /// The same for writes that have begun. Two such in flight at once could land in either order.
    pub(crate) fn overlaps_active(&self, op: OpId, addr: u64, len: u64) -> bool {
        self.active.range(..op).any(|(_, a)| overlap(a.addr, a.len, addr, len))
    }

    pub(crate) fn next_frame(&mut self, now: Instant, ends: &Ends, timeout: Duration) -> Option<Frame> {
        if let Some(r) = self.sender.poll_resend(now, timeout) {
            let flags = FLAG_RESEND | if r.is_last { FLAG_ACK_NOW } else { 0 };
            return Some(ends.frame(Kind::InputWrite, flags, r.seq, r.payload.addr, &[&r.payload.data]));
        }
        let has_room = self.sender.has_room();
        let q = self.queue.front_mut().filter(|q| q.admitted && has_room)?;
        let data = q.data.slice(q.sent..q.data.len().min(q.sent + self.bulk));
        let (op, addr) = (q.op, q.addr + q.sent as u64);
        q.sent += data.len();
        let whole = q.sent == q.data.len();
        let active = self.active.get_mut(&op).expect("admitted");
        active.left += 1;
        active.whole = whole;
        if whole {
            self.queue.pop_front();
        }
        let seq = self.sender.send(now, timeout, Chunk { op, addr, data: data.clone() });
        // Where we stop sending, the card must not wait for more before it acknowledges.
        let pause = whole || !self.sender.has_room();
        Some(ends.frame(Kind::InputWrite, if pause { FLAG_ACK_NOW } else { 0 }, seq, addr, &[&data]))
    }

    /// The card says what has arrived. Operations that are wholly written go to `done`.
    pub(crate) fn handle_ack(
        &mut self,
        now: Instant,
        sack: &Sack,
        rtt: &mut Rtt,
        done: &mut Vec<OpId>,
    ) -> Result<(), PeerError> {
        let Self { sender, active, has_proven, .. } = self;
        let chunk_done = |chunk: &Chunk| {
            *has_proven |= chunk.data.len() > usize::from(BULK_STANDARD);
            let a = active.get_mut(&chunk.op).expect("a chunk in flight belongs to an active write");
            a.left -= 1;
            if a.left == 0 && a.whole {
                if !a.forgotten {
                    done.push(chunk.op);
                }
                active.remove(&chunk.op);
            }
        };
        sender.handle_ack(now, sack, rtt, chunk_done).map(drop)
    }

    /// The card refuses the write with this number: the operation that failed, if it still counted. The number counts
    /// as received and is acknowledged in its turn.
    pub(crate) fn handle_nak(&mut self, seq: u32, addr: u64) -> Option<OpId> {
        let op = self.sender.payload(seq).filter(|chunk| chunk.addr == addr)?.op;
        self.forget(op).then_some(op)
    }

    pub(crate) const fn deadline(&self) -> Option<Instant> {
        self.sender.deadline()
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant, timeout: Duration) -> bool {
        self.sender.handle_timeout(now, timeout)
    }

    pub(crate) fn end(&mut self) -> Vec<OpId> {
        let waiting = self.queue.drain(..).filter(|q| !q.admitted).map(|q| q.op);
        let mut ops: Vec<_> = waiting.collect();
        ops.extend(std::mem::take(&mut self.active).into_iter().filter(|(_, a)| !a.forgotten).map(|(op, _)| op));
        self.sender = Sender::new(1, WRITE_WINDOW);
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
        w.handle_ack(at(20), &acked(&[1, 3, 4, 5]), &mut rtt, &mut done).unwrap();
        assert_eq!(drain(&mut w, at(20)), [(2, 0x100000 + 64, 64)]);
        assert!(done.is_empty());
        w.handle_ack(at(40), &acked(&[1, 2, 3, 4, 5, 6]), &mut rtt, &mut done).unwrap();
        assert_eq!(done, [OpId(1)]);
        assert_eq!(w.deadline(), None);
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
        w.handle_ack(at(9), &acked(&all), &mut rtt, &mut done).unwrap();
        assert!(done.is_empty());
        assert!(!w.overlaps_active(OpId(2), 0x100000, 1));
        assert_eq!(drain(&mut w, at(9)), []);
    }

    #[test]
    fn an_acknowledgement_of_what_was_never_sent_is_an_error_and_changes_nothing() {
        let (mut w, mut rtt) = (Writer::new(64), Rtt::new(TIMEOUT, TIMEOUT));
        let mut done = Vec::new();
        assert!(w.handle_ack(at(0), &Sack::new(500), &mut rtt, &mut done).is_err());
        assert_eq!((w.sender.next(), done.len()), (1, 0));
        assert_eq!(w.handle_nak(77, 0x100000), None);
    }
}
