//! Reads of one card's memory, cut into requests of a frame each.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use rackloom_node::{Duration, Frame, Instant};
use rackloom_transport::{Requests, Rtt};
use rackloom_wire::{BULK_STANDARD, FLAG_RESEND, IntoBytes, Kind, Read, U32};

use crate::ends::Ends;
use crate::event::OpId;
use crate::range::overlap;

/// The asking side of a claim's reads.
#[derive(Debug)]
pub(crate) struct Reader {
    bulk: usize,
    /// Not wholly asked for; only the first may have been begun.
    queue: VecDeque<Queued>,
    /// Begun and not wholly answered.
    active: BTreeMap<OpId, Active>,
    requests: Requests<Asked>,
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
}

impl Asked {
    fn frame(&self, ends: &Ends, flags: u8, seq: u32) -> Frame {
        let body = Read { length: U32::new(self.len as u32), reserved: U32::ZERO };
        ends.frame(Kind::InputRead, flags, seq, self.addr, &[body.as_bytes()])
    }
}

impl Reader {
    pub(crate) const fn new(bulk: usize) -> Self {
        Self { bulk, queue: VecDeque::new(), active: BTreeMap::new(), requests: Requests::new(1) }
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

    /// True while answers longer than standard frames are awaited.
    pub(crate) fn has_long(&self) -> bool {
        let long = usize::from(BULK_STANDARD);
        self.bulk > long && self.active.values().any(|a| a.left > long)
    }

    pub(crate) fn is_busy(&self) -> bool {
        !self.active.is_empty()
    }

    pub(crate) fn next_frame(&mut self, now: Instant, ends: &Ends, share: u32, timeout: Duration) -> Option<Frame> {
        if let Some(r) = self.requests.poll_resend(now, timeout) {
            return Some(r.question.frame(ends, FLAG_RESEND, r.seq));
        }
        if self.requests.len() >= share as usize {
            return None;
        }
        let q = self.queue.front_mut().filter(|q| q.admitted)?;
        let asked = Asked { op: q.op, addr: q.addr + q.asked as u64, len: self.bulk.min(q.len - q.asked) };
        q.asked += asked.len;
        if q.asked == q.len {
            self.queue.pop_front();
        }
        let r = self.requests.ask(now, timeout, asked);
        Some(r.question.frame(ends, 0, r.seq))
    }

    /// Bytes have come. The operation they complete, with its bytes.
    pub(crate) fn handle_data(&mut self, now: Instant, seq: u32, data: &[u8], rtt: &mut Rtt) -> Option<(OpId, Bytes)> {
        // Else it was answered before, given up, or is not what was asked for.
        self.requests.question(seq).filter(|a| a.len == data.len())?;
        let asked = self.requests.answer(now, seq, rtt)?;
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
        self.requests.question(seq).is_some_and(|a| a.addr == addr)
    }

    /// The card refuses a request: the operation that failed.
    pub(crate) fn handle_nak(&mut self, seq: u32) -> Option<OpId> {
        let op = self.requests.question(seq)?.op;
        self.forget(op).then_some(op)
    }

    pub(crate) const fn deadline(&self) -> Option<Instant> {
        self.requests.deadline()
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant, timeout: Duration) -> bool {
        self.requests.handle_timeout(now, timeout)
    }

    pub(crate) fn end(&mut self) -> Vec<OpId> {
        let mut ops: Vec<_> = self.queue.drain(..).filter(|q| !q.admitted).map(|q| q.op).collect();
        ops.extend(std::mem::take(&mut self.active).into_keys());
        self.requests = Requests::new(1);
        ops
    }

    pub(crate) fn forget(&mut self, op: OpId) -> bool {
        let queued = self.queue.iter().position(|q| q.op == op).and_then(|i| self.queue.remove(i)).is_some();
        self.requests.retain(|a| a.op != op);
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
        assert_eq!(r.requests.len(), 4);
    }
}
