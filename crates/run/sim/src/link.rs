//! A cable: two pipes, one for each direction.
//!
//! A pipe is a queue of finite size, a wire that takes the time its rate gives, and a delay. Because the wire serves
//! its queue in order at a constant rate, one number - when the wire will be free - tells how much waits, when the next
//! frame leaves, and whether it fits. So a frame costs one event, its arrival, and none for leaving the queue.

use core::time::Duration;
use std::collections::VecDeque;

use rackloom_node::Frame;

use crate::ids::End;
use crate::impair::{Arrival, Fate, Impair};
use crate::queue::Waiting;
use crate::stats::{DropReason, LinkStats};

/// What a cable is like, both ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cable {
    /// Bits per second, more than 0.
    pub rate_bps: u64,
    /// Time from the first bit sent to the first bit received: the cable and both transceivers.
    pub latency: Duration,
    /// Most bytes of a frame after its 14-byte Ethernet header; longer frames are dropped.
    pub mtu: u32,
    /// Size of a node's transmit queue on this cable, in bytes on the wire. (A switch has its own, see
    /// [`SwitchConfig`](crate::SwitchConfig).) An empty queue takes any frame.
    pub queue_bytes: u32,
    /// What a full transmit queue does to its node.
    pub when_full: WhenFull,
}

/// What happens when a node has more to send than its transmit queue holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenFull {
    /// The frame is dropped and counted.
    Drop,
    /// The node is not polled until half of the queue is sent: as a driver does that waits for its socket, and as
    /// hardware does.
    Hold,
}

impl Cable {
    /// 10 Gb/s, standard frames, 100 ns (a few metres and two transceivers), a NIC that makes its node wait beyond 256
    /// KiB.
    pub const TEN_GIGABIT: Self = Self {
        rate_bps: 10_000_000_000,
        latency: Duration::from_nanos(100),
        mtu: 1500,
        queue_bytes: 256 * 1024,
        when_full: WhenFull::Hold,
    };

    /// The same cable for another rate.
    pub const fn with_rate(self, rate_bps: u64) -> Self {
        Self { rate_bps, ..self }
    }

    /// The same cable for another MTU.
    pub const fn with_mtu(self, mtu: u32) -> Self {
        Self { mtu, ..self }
    }

    /// Bytes that a frame of `len` bytes takes on the wire: at least 60, and 24 more.
    pub const fn wire_bytes(len: usize) -> u64 {
        let len = if len < FRAME_MIN { FRAME_MIN } else { len };
        (len + FRAME_OVERHEAD) as u64
    }
}

impl Default for Cable {
    fn default() -> Self {
        Self::TEN_GIGABIT
    }
}

/// One direction of a cable.
#[derive(Debug)]
pub(crate) struct Pipe {
    pub(crate) from: End,
    pub(crate) to: End,
    pub(crate) up: bool,
    /// Whether the capture wants what is put into this pipe.
    pub(crate) tap_sent: bool,
    /// Whether the capture wants what comes out of it.
    pub(crate) tap_received: bool,
    rate_bps: u64,
    latency_ps: u64,
    frame_max: usize,
    queue_ps: u64,
    tail_drop: bool,
    /// When the wire has sent all that waits, in picoseconds: a byte at 10 Gb/s takes 800 of them, and rounding each
    /// frame to nanoseconds would be wrong by a tenth of a percent.
    free_at: u64,
    backlog_max_ps: u64,
    /// The latest clog, in picoseconds: waiting through it takes no room in the queue.
    stall: (u64, u64),
    /// Windows in which nothing arrives, `[from, until)` in nanoseconds, as the caller ordered them.
    pub(crate) cuts: Vec<(u64, u64)>,
    /// Frames that come out alone and in order.
    pub(crate) line: VecDeque<Waiting>,
    pub(crate) impair: Option<Box<Impair>>,
    pub(crate) stats: LinkStats,
    /// The last length and its time on the wire: bulk traffic is of one length, and a division is dear.
    wire_memo: (usize, u64),
}

impl Pipe {
    /// `queue_bytes` and `tail_drop` are the sender's.
    pub(crate) fn new(cable: &Cable, from: End, to: End, queue_bytes: u32, tail_drop: bool) -> Self {
        assert!(cable.rate_bps > 0, "a cable needs a rate");
        let queue_ps = u128::from(queue_bytes) * BYTE_PS_BPS as u128 / u128::from(cable.rate_bps);
        Self {
            from,
            to,
            up: true,
            tap_sent: false,
            tap_received: false,
            rate_bps: cable.rate_bps,
            latency_ps: u64::try_from(cable.latency.as_nanos()).unwrap_or(u64::MAX).saturating_mul(1000),
            frame_max: cable.mtu as usize + ETHERNET_HEADER,
            queue_ps: u64::try_from(queue_ps).unwrap_or(u64::MAX),
            tail_drop,
            free_at: 0,
            backlog_max_ps: 0,
            stall: (0, 0),
            cuts: Vec::new(),
            line: VecDeque::new(),
            impair: None,
            stats: LinkStats::default(),
            wire_memo: (usize::MAX, 0),
        }
    }

    /// Takes a frame from the sender at `at_ns`, which never goes back. Faults push what arrives of it to `arrivals`.
    pub(crate) fn send(&mut self, at_ns: u64, frame: &Frame, arrivals: &mut Vec<Arrival>) -> Fate {
        if !self.up {
            self.stats.refused += 1;
            return self.drop_frame(DropReason::Down);
        }
        if frame.len() > self.frame_max {
            return self.drop_frame(DropReason::Oversize);
        }
        let now = at_ns * PS_PER_NS;
        let wire_ps = self.wire_ps(frame.len());
        let backlog = self.backlog_ps(now) + wire_ps;
        if self.tail_drop && backlog > self.queue_ps && self.free_at > now {
            return self.drop_frame(DropReason::QueueFull);
        }
        self.backlog_max_ps = self.backlog_max_ps.max(backlog);
        let mut start = self.free_at.max(now);
        if let Some(impair) = &mut self.impair
            && let Some((from, until)) = impair.clog(start / PS_PER_NS)
        {
            self.stall = (from * PS_PER_NS, until * PS_PER_NS);
            start = start.max(self.stall.1);
        }
        self.free_at = start + wire_ps;
        // Up to the next nanosecond: a frame is not there before its last bit is.
        let arrival = (self.free_at + self.latency_ps).div_ceil(PS_PER_NS);
        self.stats.sent += 1;
        self.stats.sent_bytes += frame.len() as u64;
        self.stats.wire_bytes += Cable::wire_bytes(frame.len());
        if !self.cuts.is_empty() && self.is_cut(at_ns, arrival) {
            return self.drop_frame(DropReason::Outage);
        }
        let before = arrivals.len();
        let fate = match &mut self.impair {
            Some(impair) => impair.apply(arrival, frame, &mut self.stats, arrivals),
            None => Fate::Arrives(arrival),
        };
        match fate {
            Fate::Arrives(_) => self.stats.in_flight += 1,
            Fate::Impaired => self.stats.in_flight += (arrivals.len() - before) as u64,
            Fate::Dropped(reason) => self.stats.drops.count(reason),
        }
        fate
    }

    /// If a node that waits should not be polled at `at_ns` because this queue is full: when half of it will be sent.
    pub(crate) fn full_until(&self, at_ns: u64) -> Option<u64> {
        if self.tail_drop || !self.up {
            return None;
        }
        let now = at_ns * PS_PER_NS;
        let full = self.free_at > now && self.backlog_ps(now) >= self.queue_ps;
        full.then(|| ((self.free_at - self.queue_ps / 2) / PS_PER_NS).max(at_ns + 1))
    }

    /// Forgets what waits and what is on the wire: the cable was pulled.
    pub(crate) fn clear(&mut self) {
        self.free_at = 0;
        self.stall = (0, 0);
    }

    /// A frame that was in flight is lost after all.
    pub(crate) fn lose(&mut self, reason: DropReason) {
        self.stats.in_flight -= 1;
        self.stats.drops.count(reason);
    }

    /// The counters as of now.
    pub(crate) fn stats(&self) -> LinkStats {
        let bytes = u128::from(self.backlog_max_ps) * u128::from(self.rate_bps) / BYTE_PS_BPS as u128;
        LinkStats { queue_bytes_max: bytes as u64, ..self.stats }
    }

    fn drop_frame(&mut self, reason: DropReason) -> Fate {
        self.stats.drops.count(reason);
        Fate::Dropped(reason)
    }

    fn wire_ps(&mut self, len: usize) -> u64 {
        if self.wire_memo.0 != len {
            self.wire_memo = (len, Cable::wire_bytes(len) * BYTE_PS_BPS / self.rate_bps);
        }
        self.wire_memo.1
    }

    /// Time the wire needs for all that waits, without the time it stands still.
    fn backlog_ps(&self, now: u64) -> u64 {
        let waits = self.free_at.saturating_sub(now);
        let stalled = self.free_at.min(self.stall.1).saturating_sub(now.max(self.stall.0));
        waits - stalled.min(waits)
    }

    fn is_cut(&mut self, now_ns: u64, arrival: u64) -> bool {
        self.cuts.retain(|(_, until)| *until > now_ns);
        self.cuts.iter().any(|(from, until)| (*from..*until).contains(&arrival))
    }
}

/// Shortest frame on the wire without its check sequence, IEEE 802.3; shorter ones are padded there.
const FRAME_MIN: usize = 60;

/// Preamble and start delimiter (8), check sequence (4) and gap (12) of each frame.
const FRAME_OVERHEAD: usize = 24;

/// Destination, source and EtherType: what the MTU does not count.
const ETHERNET_HEADER: usize = 14;

const PS_PER_NS: u64 = 1000;

/// Picoseconds that a byte takes at 1 bit/s. A frame of 2 MiB still fits 64 bits.
const BYTE_PS_BPS: u64 = 8_000_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::NodeId;

    fn pipe(cable: &Cable) -> Pipe {
        let end = |n| End::Node(NodeId(n), 0);
        Pipe::new(cable, end(0), end(1), cable.queue_bytes, cable.when_full == WhenFull::Drop)
    }

    fn frame(len: usize) -> Frame {
        Frame::from(vec![0; len])
    }

    #[test]
    fn frames_follow_one_another_at_the_rate_without_rounding_errors() {
        let mut pipe = pipe(&Cable { queue_bytes: u32::MAX, ..Cable::TEN_GIGABIT });
        let mut last = 0;
        for _ in 0..10 {
            // 1514 + 24 bytes at 0.8 ns: 1230.4 ns each.
            let Fate::Arrives(at) = pipe.send(50, &frame(1514), &mut Vec::new()) else { panic!() };
            last = at;
        }
        assert_eq!(last, 50 + 12_304 + 100);
    }

    #[test]
    fn short_frames_are_padded_on_the_wire() {
        let mut pipe = pipe(&Cable::TEN_GIGABIT.with_rate(1_000_000_000));
        // 84 bytes at 8 ns.
        assert_eq!(pipe.send(0, &frame(14), &mut Vec::new()), Fate::Arrives(672 + 100));
        assert_eq!(pipe.stats().wire_bytes, 84);
        assert_eq!(pipe.stats().sent_bytes, 14);
    }

    #[test]
    fn the_queue_drops_at_its_tail_and_drains_at_the_rate() {
        let mut pipe = pipe(&Cable { queue_bytes: 10 * 1538, when_full: WhenFull::Drop, ..Cable::TEN_GIGABIT });
        let mut send = |at| pipe.send(at, &frame(1514), &mut Vec::new());
        for _ in 0..10 {
            assert!(matches!(send(0), Fate::Arrives(_)));
        }
        assert_eq!(send(0), Fate::Dropped(DropReason::QueueFull));
        // One frame takes 1230.4 ns to leave.
        assert_eq!(send(1230), Fate::Dropped(DropReason::QueueFull));
        assert!(matches!(send(1231), Fate::Arrives(_)));
        assert_eq!(send(1231), Fate::Dropped(DropReason::QueueFull));
        assert_eq!(pipe.stats().queue_bytes_max, 10 * 1538);
        assert_eq!(pipe.stats().drops[DropReason::QueueFull], 3);
    }

    #[test]
    fn an_empty_queue_takes_a_frame_larger_than_itself() {
        let mut pipe = pipe(&Cable { queue_bytes: 100, when_full: WhenFull::Drop, ..Cable::TEN_GIGABIT });
        assert!(matches!(pipe.send(0, &frame(1514), &mut Vec::new()), Fate::Arrives(_)));
        assert_eq!(pipe.send(0, &frame(60), &mut Vec::new()), Fate::Dropped(DropReason::QueueFull));
    }

    #[test]
    fn the_mtu_counts_what_follows_the_header() {
        let mut pipe = pipe(&Cable::TEN_GIGABIT);
        assert!(matches!(pipe.send(0, &frame(1514), &mut Vec::new()), Fate::Arrives(_)));
        assert_eq!(pipe.send(0, &frame(1515), &mut Vec::new()), Fate::Dropped(DropReason::Oversize));
        assert_eq!(pipe.stats().sent, 1);
    }

    #[test]
    fn a_held_node_may_go_on_when_half_of_the_queue_is_sent() {
        let mut pipe = pipe(&Cable { queue_bytes: 10 * 1538, ..Cable::TEN_GIGABIT });
        for _ in 0..9 {
            pipe.send(0, &frame(1514), &mut Vec::new());
            assert_eq!(pipe.full_until(0), None);
        }
        pipe.send(0, &frame(1514), &mut Vec::new());
        assert_eq!(pipe.full_until(0), Some(6152));
        assert_eq!(pipe.full_until(6152), None);
    }
}
