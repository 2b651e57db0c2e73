//! Reads of one card's memory: cut into requests of a frame each, asked again when unanswered.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use rackloom_node::{Duration, Frame, Instant};
use rackloom_wire::{FLAG_RESEND, IntoBytes, Kind, Read, U32};

use crate::event::OpId;
use crate::rtt::Rtt;
use crate::session::{Ends, overlap};

/// The asking side of a claim's reads.
#[derive(Debug)]
pub(crate) struct Reader {
    bulk: usize,
    /// Not wholly asked for; only the first may have been begun.
    queue: VecDeque<Queued>,
    /// Begun and not wholly answered.
    active: BTreeMap<OpId, Active>,
    /// Asked and not answered, by request number.
    flight: BTreeMap<u32, Asked>,
    next_seq: u32,
    timer: Option<Instant>,
}

#[derive(Debug)]
struct Queued {
    op: OpId,
    addr: u64,
    len: usize,
    asked: usize,
    admitted: bool,
}

#[derive(Debug)]
struct Active {
    addr: u64,
    bytes: Vec<u8>,
    left: usize,
}

#[derive(Debug)]
struct Asked {
    op: OpId,
    addr: u64,
    len: usize,
    at: Instant,
    sends: u8,
    again: bool,
}

impl Reader {
    pub(crate) const fn new(bulk: usize) -> Self {
        Self {
            bulk,
            queue: VecDeque::new(),
            active: BTreeMap::new(),
            flight: BTreeMap::new(),
            next_seq: 1,
            timer: None,
        }
    }

    pub(crate) fn push(&mut self, op: OpId, addr: u64, len: usize) {
        assert!(len > 0);
        self.queue.push_back(Queued { op, addr, len, asked: 0, admitted: false });
    }

    pub(crate) fn head(&self) -> Option<(OpId, u64, u64)> {
        self.queue.front().filter(|q| !q.admitted).map(|q| (q.op, q.addr, q.len as u64))
    }

    pub(crate) fn admit(&mut self) {
        let q = self.queue.front_mut().expect("a head");
        q.admitted = true;
        self.active.insert(q.op, Active { addr: q.addr, bytes: vec![0; q.len], left: q.len });
    }

    /// True while a read older than `op` that shares a byte with the range is under way.
    pub(crate) fn overlaps_before(&self, op: OpId, addr: u64, len: u64) -> bool {
        self.active.range(..op).any(|(_, a)| overlap(a.addr, a.bytes.len() as u64, addr, len))
            || self.queue.iter().take_while(|q| q.op < op).any(|q| overlap(q.addr, q.len as u64, addr, len))
    }

    pub(crate) fn is_busy(&self) -> bool {
        !self.active.is_empty()
    }

    pub(crate) fn next_frame(&mut self, now: Instant, ends: &Ends, share: u32, timeout: Duration) -> Option<Frame> {
        let (seq, asked) = match self.flight.iter().find(|(_, a)| a.again).map(|(seq, _)| *seq) {
            Some(seq) => {
                let a = self.flight.get_mut(&seq).expect("just found");
                (a.again, a.at, a.sends) = (false, now, a.sends.saturating_add(1));
                (seq, a)
            }
            None => {
                if self.flight.len() >= share as usize {
                    return None;
                }
                let q = self.queue.front_mut().filter(|q| q.admitted)?;
                let len = self.bulk.min(q.len - q.asked);
                let asked = Asked { op: q.op, addr: q.addr + q.asked as u64, len, at: now, sends: 1, again: false };
                q.asked += len;
                if q.asked == q.len {
                    self.queue.pop_front();
                }
                let seq = self.next_seq;
                self.next_seq = self.next_seq.wrapping_add(1);
                (seq, self.flight.entry(seq).or_insert(asked))
            }
        };
        self.timer.get_or_insert(now + timeout);
        let body = Read { length: U32::new(asked.len as u32), reserved: U32::ZERO };
        let flags = if asked.sends > 1 { FLAG_RESEND } else { 0 };
        Some(ends.frame(Kind::InputRead, flags, seq, asked.addr, &[body.as_bytes()]))
    }

    /// Bytes have come. The operation they complete, with its bytes.
    pub(crate) fn handle_data(&mut self, now: Instant, seq: u32, data: &[u8], rtt: &mut Rtt) -> Option<(OpId, Bytes)> {
        if self.flight.get(&seq).is_none_or(|a| a.len != data.len()) {
            return None; // Answered before, given up, or not what was asked for.
        }
        let asked = self.flight.remove(&seq).expect("just seen");
        if asked.sends == 1 {
            rtt.sample(now - asked.at);
        } else {
            rtt.progress();
        }
        self.timer = (!self.flight.is_empty()).then(|| now + rtt.timeout());
        let active = self.active.get_mut(&asked.op)?;
        let at = (asked.addr - active.addr) as usize;
        active.bytes[at..at + asked.len].copy_from_slice(data);
        active.left -= asked.len;
        if active.left > 0 {
            return None;
        }
        let active = self.active.remove(&asked.op).expect("just seen");
        Some((asked.op, Bytes::from(active.bytes)))
    }

    /// True when request `seq` asks for `addr`.
    pub(crate) fn asked_for(&self, seq: u32, addr: u64) -> bool {
        self.flight.get(&seq).is_some_and(|a| a.addr == addr)
    }

    /// The card refuses a request: the operation that failed.
    pub(crate) fn handle_nak(&mut self, seq: u32) -> Option<OpId> {
        let op = self.flight.get(&seq)?.op;
        self.forget(op).then_some(op)
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.timer.filter(|_| !self.flight.is_empty())
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant, timeout: Duration) -> bool {
        if self.flight.is_empty() || self.timer.is_none_or(|t| t > now) {
            return false;
        }
        for a in self.flight.values_mut().filter(|a| now - a.at >= timeout) {
            a.again = true;
        }
        self.timer = Some(now + timeout * 2);
        true
    }

    pub(crate) fn end(&mut self) -> Vec<OpId> {
        let mut ops: Vec<_> = self.queue.drain(..).filter(|q| !q.admitted).map(|q| q.op).collect();
        ops.extend(std::mem::take(&mut self.active).into_keys());
        self.flight.clear();
        self.timer = None;
        ops
    }

    pub(crate) fn forget(&mut self, op: OpId) -> bool {
        let queued = self.queue.iter().position(|q| q.op == op).and_then(|i| self.queue.remove(i)).is_some();
        self.flight.retain(|_, a| a.op != op);
        self.active.remove(&op).is_some() || queued
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rackloom_wire::{MacAddr, Packet};

    const ENDS: Ends = Ends { host: MacAddr([2; 6]), card: MacAddr([4; 6]), epoch: 9 };
    const TIMEOUT: Duration = Duration::from_millis(1);

    #[test]
    fn answers_in_any_order_give_the_bytes_once() {
        let (mut r, mut rtt) = (Reader::new(64), Rtt::new(TIMEOUT, TIMEOUT * 64));
        r.push(OpId(3), 0x200000, 150);
        r.admit();
        let t = Instant::ZERO;
        let mut asked: Vec<_> = std::iter::from_fn(|| r.next_frame(t, &ENDS, 8, TIMEOUT))
            .map(|f| {
                let p = Packet::parse(&f).unwrap();
                (p.head.seq, p.head.addr, p.view::<Read>().unwrap().0.length.get())
            })
            .collect();
        assert_eq!(asked, [(1, 0x200000, 64), (2, 0x200040, 64), (3, 0x200080, 22)]);
        asked.reverse();
        let mut got = None;
        for (seq, addr, len) in asked {
            assert!(got.is_none());
            assert!(r.handle_data(t, seq, &[9; 3], &mut rtt).is_none(), "wrong length");
            got = r.handle_data(t, seq, &vec![addr as u8; len as usize], &mut rtt);
            assert!(r.handle_data(t, seq, &vec![0; len as usize], &mut rtt).is_none(), "twice");
        }
        let (op, bytes) = got.unwrap();
        assert_eq!(op, OpId(3));
        assert_eq!((bytes.len(), bytes[0], bytes[64], bytes[149]), (150, 0, 0x40, 0x80));
        assert!(!r.is_busy());
    }

    #[test]
    fn no_more_in_flight_than_its_share_and_late_ones_again() {
        let mut r = Reader::new(64);
        r.push(OpId(3), 0x200000, 64 * 10);
        r.admit();
        let count = |r: &mut Reader, t| std::iter::from_fn(|| r.next_frame(t, &ENDS, 4, TIMEOUT)).count();
        assert_eq!(count(&mut r, Instant::ZERO), 4);
        let later = Instant::ZERO + TIMEOUT;
        assert!(r.handle_timeout(later, TIMEOUT));
        assert_eq!(count(&mut r, later), 4);
        assert_eq!(r.flight.len(), 4);
    }
}
