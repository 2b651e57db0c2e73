//! Launches on one card: offered one at a time and in order, so that each is executed exactly once; results collected.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use rackloom_node::{Duration, Frame, Instant};
use rackloom_transport::{Arrival, Backoff, Credit, Rtt, Sack};
use rackloom_wire::{
    BULK_STANDARD, Done, ErrorCode, FLAG_RESEND, IntoBytes, Kind, LAUNCH_QUEUE, RESULTS_KEPT, ResultAck, SACK_BITS,
    U16, U32, U64,
};

use crate::ends::Ends;
use crate::event::{LaunchReport, OpId};

/// One execution of a kernel, as its caller wants it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Launch {
    /// Number of the kernel in the image's manifest.
    pub kernel: u16,
    /// Its arguments, a 64-bit word each, at most 32.
    pub args: Vec<u64>,
    /// Most role clock cycles it may take; 0: the card's own bound.
    pub fuel: u64,
    /// DDR address and bytes of the region that the card sends when the kernel is done; 0 bytes: none.
    pub output: (u64, u64),
    /// 0: start at once; else hold until [`crate::Host::go`] is called with this number.
    pub hold: u32,
}

/// What came of a launch: its operation, and a report or the status and the cycles.
pub(crate) type Ended = (OpId, Result<LaunchReport, (ErrorCode, u64)>);

/// The launching side of a claim.
#[derive(Debug)]
pub(crate) struct Launcher {
    /// The card's bulk payload: the size of output chunks.
    bulk: usize,
    queue: VecDeque<(OpId, Launch)>,
    /// Sent, and the card has not said what it thinks of it. One at a time: a launch that overtook another would be
    /// dropped.
    offered: Option<Offered>,
    /// Accepted and not over, by launch number.
    running: BTreeMap<u32, Running>,
    /// Launch numbers lately over, with their chunks: the card's last word on them may have to be acknowledged again.
    over: VecDeque<(u32, u32)>,
    next_seq: u32,
}

#[derive(Debug)]
struct Offered {
    op: Option<OpId>,
    launch: Launch,
    share: u32,
    timer: Backoff,
    again: bool,
}

#[derive(Debug)]
struct Running {
    op: Option<OpId>,
    hold: u32,
    output: Vec<u8>,
    chunks: u32,
    there: Sack,
    unacked: u32,
    /// Chunks that the card may send.
    credit: Credit,
    done: Option<(ErrorCode, LaunchReport)>,
    timer: Backoff,
    query: bool,
}

/// First and longest time between questions about a launch that says nothing.
const QUERY_FIRST: Duration = Duration::from_millis(50);
const QUERY_MOST: Duration = Duration::from_millis(1000);
/// Waits for a launch's first answer start here and double to `QUERY_MOST`.
const OFFER_FIRST: Duration = Duration::from_millis(2);

impl Launcher {
    pub(crate) const fn new(bulk: usize) -> Self {
        Self {
            bulk,
            queue: VecDeque::new(),
            offered: None,
            running: BTreeMap::new(),
            over: VecDeque::new(),
            next_seq: 1,
        }
    }

    pub(crate) fn push(&mut self, op: OpId, launch: Launch) {
        self.queue.push_back((op, launch));
    }

    /// The launch that waits to be offered.
    pub(crate) fn head(&self) -> Option<OpId> {
        let room = self.offered.is_none() && self.running.len() < LAUNCH_QUEUE as usize;
        self.queue.front().filter(|_| room).map(|(op, _)| *op)
    }

    /// Offers it to the card.
    pub(crate) fn offer(&mut self, now: Instant, ends: &Ends, share: u32) -> Option<Frame> {
        let (op, launch) = self.queue.pop_front()?;
        let timer = Backoff::sent(now, OFFER_FIRST, QUERY_MOST);
        let offered = Offered { op: Some(op), launch, share, timer, again: false };
        let frame = offered.frame(ends, self.next_seq, 0);
        self.offered = Some(offered);
        Some(frame)
    }

    /// An offer or a question whose time has come again.
    pub(crate) fn resend(&mut self, now: Instant, ends: &Ends) -> Option<Frame> {
        if let Some(o) = self.offered.as_mut().filter(|o| o.again) {
            o.again = false;
            o.timer.resent(now);
            return Some(o.frame(ends, self.next_seq, FLAG_RESEND));
        }
        let (seq, r) = self.running.iter_mut().find(|(_, r)| r.query)?;
        r.query = false;
        r.timer.resent(now);
        let kind = if r.op.is_some() { Kind::ExecQuery } else { Kind::ExecCancel };
        Some(ends.frame(kind, 0, *seq, 0, &[]))
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        let offered = self.offered.as_ref().map(|o| o.timer.deadline());
        self.running.values().map(|r| r.timer.deadline()).chain(offered).min()
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) -> bool {
        let mut late = false;
        if let Some(o) = self.offered.as_mut().filter(|o| o.timer.is_due(now)) {
            (o.again, late) = (true, true);
            o.timer.postpone(now);
        }
        for r in self.running.values_mut().filter(|r| r.timer.is_due(now)) {
            r.query = true;
            r.timer.postpone(now);
        }
        late
    }

    /// True while output chunks longer than standard frames are awaited, of which none has come.
    pub(crate) fn has_long(&self) -> bool {
        self.bulk > usize::from(BULK_STANDARD)
            && self.running.values().any(|r| r.chunks > 1 && r.done.is_some() && r.there.next() == 0)
    }

    /// True while output chunks are awaited.
    pub(crate) fn is_receiving(&self) -> bool {
        self.running.values().any(|r| r.chunks > 0 && (r.done.is_some() || r.there.next() > 0))
    }

    /// True while a launch held for `go` may not have started.
    pub(crate) fn is_held(&self, go: u32) -> bool {
        self.running.values().any(|r| r.hold == go && r.done.is_none())
            || self.offered.as_ref().is_some_and(|o| o.launch.hold == go)
            || self.queue.iter().any(|(_, l)| l.hold == go)
    }

    /// The card has taken launch `seq`.
    pub(crate) fn handle_accepted(&mut self, now: Instant, seq: u32) {
        if seq == self.next_seq
            && let Some(o) = self.offered.take()
        {
            let chunks = u32::try_from(o.launch.output.1.div_ceil(self.bulk as u64)).expect("bounded when pushed");
            let running = Running {
                op: o.op,
                hold: o.launch.hold,
                output: vec![0; o.launch.output.1 as usize],
                chunks,
                there: Sack::new(0),
                unacked: 0,
                credit: Credit::new(o.share.min(chunks)),
                done: None,
                timer: Backoff::sent(now, QUERY_FIRST, QUERY_MOST),
                // Called off before the card had it: it has it now.
                query: o.op.is_none(),
            };
            self.running.insert(seq, running);
            self.next_seq = self.next_seq.wrapping_add(1);
        } else if let Some(r) = self.running.get_mut(&seq) {
            r.timer.postpone(now);
        }
    }

    /// The card does not take launch `seq` now. With `Busy` it is offered again; else its operation has failed.
    pub(crate) fn handle_refused(&mut self, now: Instant, seq: u32, code: ErrorCode) -> Option<OpId> {
        if code == ErrorCode::Busy {
            if let Some(o) = self.offered.as_mut().filter(|_| seq == self.next_seq) {
                o.timer.postpone(now);
            }
            return None;
        }
        // Nothing that was asked about the launch on offer can have been answered; this is an old word on another.
        let r = self.running.remove(&seq)?;
        self.over.push_back((seq, r.chunks));
        r.op
    }

    /// Launch `seq` has ended. An acknowledgement to send, and the operation it completes.
    pub(crate) fn handle_done(
        &mut self,
        now: Instant,
        ends: &Ends,
        seq: u32,
        d: &Done,
        share: u32,
        rtt: &mut Rtt,
    ) -> (Option<Frame>, Option<Ended>) {
        self.handle_accepted(now, seq); // Its acceptance may have been lost.
        rtt.progress();
        let Some(r) = self.running.get_mut(&seq) else {
            return (self.farewell(ends, seq), None);
        };
        if r.done.is_none() {
            let mut status = ErrorCode::from_wire(d.status.get()).unwrap_or(ErrorCode::BadRequest);
            if status == ErrorCode::Ok
                && d.chunks.get() > 0
                && (d.chunks.get(), d.chunk.get()) != (r.chunks, self.bulk as u16)
            {
                status = ErrorCode::BadRequest; // The card's output is not what was asked for.
            }
            if d.chunks.get() == 0 {
                r.chunks = 0;
            }
            let report = LaunchReport {
                value: d.value.get(),
                cycles: d.cycles.get(),
                started_ns: d.started_ns.get(),
                finished_ns: d.finished_ns.get(),
                output: Bytes::new(),
            };
            r.done = Some((status, report));
        }
        self.advance(ends, seq, share, true)
    }

    /// Output has come, at `offset` of launch `seq`'s region. An acknowledgement to send, and the operation it
    /// completes.
    pub(crate) fn handle_data(
        &mut self,
        now: Instant,
        ends: &Ends,
        seq: u32,
        offset: u64,
        data: &[u8],
        share: u32,
    ) -> (Option<Frame>, Option<Ended>) {
        self.handle_accepted(now, seq);
        let bulk = self.bulk;
        let Some(r) = self.running.get_mut(&seq) else {
            return (self.farewell(ends, seq), None);
        };
        let sound = offset.is_multiple_of(bulk as u64)
            && offset < r.output.len() as u64
            && data.len() == bulk.min(r.output.len() - offset as usize);
        if !sound {
            return (None, None);
        }
        let at = offset as usize;
        let chunk = (at / bulk) as u32;
        let arrival = r.there.insert(chunk);
        if arrival == Arrival::New {
            r.output[at..at + data.len()].copy_from_slice(data);
            r.unacked += 1;
            r.timer.postpone(now);
        }
        // Acknowledge in time to keep the card sending, at once when something is odd, and at the credit's end.
        let gap = !r.there.is_contiguous();
        let urgent = arrival != Arrival::New || gap || !r.credit.allows(chunk + 1);
        let urgent = urgent || r.unacked >= (share / 4).clamp(1, 16);
        self.advance(ends, seq, share, urgent)
    }

    /// After news of launch `seq`: completes it, or acknowledges.
    fn advance(&mut self, ends: &Ends, seq: u32, share: u32, urgent: bool) -> (Option<Frame>, Option<Ended>) {
        let r = self.running.get_mut(&seq).expect("the caller has it");
        let failed = r.done.as_ref().is_some_and(|(status, _)| *status != ErrorCode::Ok);
        if r.done.is_some() && (failed || r.there.next() >= r.chunks) {
            let r = self.running.remove(&seq).expect("just seen");
            self.over.push_back((seq, r.chunks));
            if self.over.len() > 2 * RESULTS_KEPT as usize {
                self.over.pop_front();
            }
            let (status, mut report) = r.done.expect("just seen");
            report.output = Bytes::from(r.output);
            let ended = r.op.map(|op| (op, if failed { Err((status, report.cycles)) } else { Ok(report) }));
            return (self.farewell(ends, seq), ended);
        }
        if !urgent {
            return (None, None);
        }
        r.unacked = 0;
        r.credit.raise((r.there.next() + share.min(SACK_BITS)).min(r.chunks));
        (Some(ack(ends, seq, &r.there, r.credit.limit(), r.done.is_some())), None)
    }

    /// The word that lets the card forget launch `seq`, if it is over on this side.
    fn farewell(&self, ends: &Ends, seq: u32) -> Option<Frame> {
        let (_, chunks) = self.over.iter().find(|(s, _)| *s == seq)?;
        Some(ack(ends, seq, &Sack::new(*chunks), *chunks, true))
    }

    pub(crate) fn end(&mut self) -> Vec<OpId> {
        let mut ops: Vec<_> = self.queue.drain(..).map(|(op, _)| op).collect();
        ops.extend(self.offered.take().and_then(|o| o.op));
        ops.extend(std::mem::take(&mut self.running).into_values().filter_map(|r| r.op));
        ops
    }

    /// Nobody waits for the operation any more. The launch is cancelled on the card, but only once the card is known to
    /// have it: a cancellation that overtook its launch would do nothing, and its answer could be taken for the
    /// launch's.
    pub(crate) fn forget(&mut self, op: OpId) -> bool {
        if let Some(i) = self.queue.iter().position(|(o, _)| *o == op) {
            self.queue.remove(i);
            return true;
        }
        if let Some(o) = self.offered.as_mut().filter(|o| o.op == Some(op)) {
            o.op = None;
            return true;
        }
        match self.running.values_mut().find(|r| r.op == Some(op)) {
            Some(r) => {
                r.query = true;
                r.op.take().is_some()
            }
            None => false,
        }
    }
}

impl Offered {
    fn frame(&self, ends: &Ends, seq: u32, flags: u8) -> Frame {
        let l = &self.launch;
        let head = rackloom_wire::Launch {
            fuel: U64::new(l.fuel),
            out_addr: U64::new(l.output.0),
            out_length: U64::new(l.output.1),
            go: U32::new(l.hold),
            credit: U16::new(self.share.min(SACK_BITS) as u16),
            args: U16::new(l.args.len() as u16),
        };
        let args: Vec<u8> = l.args.iter().flat_map(|a| a.to_be_bytes()).collect();
        ends.frame(Kind::ExecLaunch, flags, seq, u64::from(l.kernel), &[head.as_bytes(), &args])
    }
}

fn ack(ends: &Ends, seq: u32, there: &Sack, limit: u32, done: bool) -> Frame {
    let body = ResultAck {
        next: U32::new(there.next()),
        limit: U32::new(limit),
        done: done.into(),
        reserved: [0; 7],
        bitmap: there.bitmap(),
    };
    ends.frame(Kind::ExecResultAck, 0, seq, 0, &[body.as_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use rackloom_wire::{MacAddr, Packet};

    const ENDS: Ends = Ends { host: MacAddr([2; 6]), card: MacAddr([4; 6]), epoch: 9 };

    fn done(chunks: u32, status: ErrorCode) -> Done {
        let z = U64::ZERO;
        let (status, chunk) = (U16::new(status.into()), U16::new(64));
        Done { status, chunk, chunks: U32::new(chunks), value: U64::new(5), cycles: z, started_ns: z, finished_ns: z }
    }

    fn parse(frame: &Frame) -> (Kind, u32, ResultAck) {
        let p = Packet::parse(frame).unwrap();
        (p.head.kind, p.head.seq, *p.view::<ResultAck>().unwrap().0)
    }

    #[test]
    fn output_before_done_and_before_accepted_still_completes_once() {
        let now = Instant::ZERO;
        let mut rtt = Rtt::new(Duration::from_millis(1), Duration::from_millis(9));
        let mut l = Launcher::new(64);
        l.push(OpId(1), Launch { output: (0x100000, 100), ..Launch::default() });
        assert_eq!(l.head(), Some(OpId(1)));
        l.offer(now, &ENDS, 4).unwrap();
        assert_eq!(l.head(), None);
        assert!(l.handle_data(now, &ENDS, 1, 64, &[2; 36], 4).1.is_none());
        assert!(l.handle_data(now, &ENDS, 1, 64, &[2; 36], 4).1.is_none());
        assert!(l.handle_data(now, &ENDS, 1, 0, &[1; 36], 4).1.is_none(), "wrong length");
        let (frame, ended) = l.handle_done(now, &ENDS, 1, &done(2, ErrorCode::Ok), 4, &mut rtt);
        assert!(ended.is_none());
        let (kind, seq, a) = parse(&frame.unwrap());
        assert_eq!((kind, seq, a.next.get(), a.limit.get(), a.done, a.bitmap[0]), (Kind::ExecResultAck, 1, 0, 2, 1, 1));
        let (frame, ended) = l.handle_data(now, &ENDS, 1, 0, &[1; 64], 4);
        let (op, report) = ended.unwrap();
        assert_eq!((op, report.unwrap().output.len()), (OpId(1), 100));
        assert_eq!(parse(&frame.unwrap()).2.next.get(), 2);
        // The farewell was lost: the card says it again, and so do we.
        let (frame, ended) = l.handle_done(now, &ENDS, 1, &done(2, ErrorCode::Ok), 4, &mut rtt);
        assert!(ended.is_none());
        assert_eq!(parse(&frame.unwrap()).2.done, 1);
        assert_eq!(l.deadline(), None);
    }

    #[test]
    fn busy_is_offered_again_and_failure_reported() {
        let mut rtt = Rtt::new(Duration::from_millis(1), Duration::from_millis(9));
        let mut l = Launcher::new(64);
        l.push(OpId(1), Launch::default());
        l.offer(Instant::ZERO, &ENDS, 1).unwrap();
        assert_eq!(l.handle_refused(Instant::ZERO, 1, ErrorCode::Busy), None);
        let later = l.deadline().unwrap();
        assert!(l.handle_timeout(later));
        let again = l.resend(later, &ENDS).unwrap();
        assert_eq!(Packet::parse(&again).unwrap().head.flags, FLAG_RESEND);
        let (_, ended) = l.handle_done(later, &ENDS, 1, &done(0, ErrorCode::KernelTrap), 1, &mut rtt);
        assert_eq!(ended, Some((OpId(1), Err((ErrorCode::KernelTrap, 0)))));
    }
}
