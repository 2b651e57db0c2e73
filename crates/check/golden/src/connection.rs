//! One end of a connection that delivers in order, as a bench drives it: every payload is a number of the bench's.
//!
//! Only what gateware does: acknowledgements carry no bitmap, so an end that is not selective meets another one, or one
//! that holds payloads and goes without.

use std::collections::VecDeque;

use rackloom_node::{Duration, Instant};
use rackloom_transport as transport;
use rackloom_transport::{Ack, AckPolicy, ConnectionConfig, Data, Delivery, Sack};

use crate::Fault;

/// Longest wait of an end: 18 minutes.
const WAIT_NS_MAX: u64 = 1 << 40;

/// How an end is set. Times are in nanoseconds, below 2^40.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Config {
    /// The time before something unanswered is sent again; more than 0.
    pub rto_ns: u64,
    /// Arrivals are acknowledged after this time at the latest.
    pub ack_delay_ns: u64,
    /// The first number of each life.
    pub first: u32,
    /// Most numbers in flight, 1 to 256.
    pub window: u32,
    /// Payloads that the owner can hold, 1 or more and less than 2^31.
    pub credit: u32,
    /// Arrivals are acknowledged after so many at the latest; 1 or more.
    pub ack_every: u32,
    /// Payloads that are held before one is there that is missing: 0 to 256.
    pub hold: u32,
    /// Payloads that wait to be sent, at most.
    pub queue_max: u32,
    /// The life; not 0.
    pub epoch: u32,
    /// 1: few payloads ask for their acknowledgement (`rackloom_transport::ConnectionConfig::asks_seldom`); 0: the last
    /// one that is queued does.
    pub asks_seldom: u32,
}

/// What goes from one end to the other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Segment {
    /// The payload, if there is one.
    pub payload: u64,
    /// Epoch of the sender.
    pub src: u32,
    /// Newest epoch that it knows of the receiver; 0: unknown.
    pub dst: u32,
    /// Number of the payload.
    pub seq: u32,
    /// The first number missing. This and the next count if `dst` is not 0.
    pub ack: u32,
    /// The first number that may not be sent.
    pub limit: u32,
    /// 1 if there is a payload.
    pub has_payload: u8,
    /// 1 if the acknowledgement is a negative one, which has no payload beside it.
    pub is_nack: u8,
    /// 1 if it wants an acknowledgement at once.
    pub asks: u8,
}

/// What a segment led to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Event {
    /// Of a payload that was delivered or lost.
    pub payload: u64,
    /// An [`EventKind`].
    pub kind: u8,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum EventKind {
    /// A payload is the owner's.
    Delivered = 0,
    /// Numbers have begun anew.
    Restarted = 1,
    /// A payload was in flight then, and may have arrived or not.
    Lost = 2,
}

/// An end, and what it has to say to the bench.
#[derive(Debug)]
pub struct Connection {
    end: transport::Connection<u64>,
    now: Instant,
    events: VecDeque<Event>,
}

impl Connection {
    /// An end of which nobody has heard.
    pub(crate) fn new(now_ns: u64, config: &Config) -> Result<Self, Fault> {
        let is_in_range = (1..WAIT_NS_MAX).contains(&config.rto_ns)
            && config.ack_delay_ns < WAIT_NS_MAX
            && (1..=Sack::BITS).contains(&config.window)
            && (1..1 << 31).contains(&config.credit)
            && config.ack_every > 0
            && config.hold <= Sack::BITS
            && config.asks_seldom <= 1
            && config.epoch != 0;
        if !is_in_range {
            return Err(Fault::Argument);
        }
        let rto = Duration::from_nanos(config.rto_ns);
        let now = Instant::from_nanos(now_ns);
        let of_end = ConnectionConfig {
            first: config.first,
            window: config.window,
            credit: config.credit,
            opening: config.credit,
            queue_max: config.queue_max as usize,
            delivery: Delivery::InOrder { hold: config.hold },
            selective: false,
            ack: AckPolicy { every: config.ack_every, delay: Duration::from_nanos(config.ack_delay_ns) },
            asks_seldom: config.asks_seldom == 1,
            rto_min: rto,
            rto_max: rto,
        };
        Ok(Self { end: transport::Connection::new(now, of_end, config.epoch), now, events: VecDeque::new() })
    }

    /// Moves on to this time, which is none that has passed.
    fn at(&mut self, now_ns: u64) -> Result<Instant, Fault> {
        let now = Instant::from_nanos(now_ns);
        if now < self.now {
            return Err(Fault::Argument);
        }
        self.now = now;
        Ok(now)
    }

    /// Queues a payload.
    pub(crate) fn push(&mut self, payload: u64) -> Result<(), Fault> {
        self.end.push(payload).map_err(|_| Fault::Refused)
    }

    /// The owner has room again for so many payloads.
    pub(crate) fn consume(&mut self, now_ns: u64, count: u32) -> Result<(), Fault> {
        let now = self.at(now_ns)?;
        self.end.consume(now, count);
        Ok(())
    }

    /// A segment has come. Refused if it is the peer's error.
    pub(crate) fn handle(&mut self, now_ns: u64, segment: &Segment) -> Result<(), Fault> {
        let now = self.at(now_ns)?;
        let flag = |value: u8| if value > 1 { Err(Fault::Argument) } else { Ok(value == 1) };
        let (has_payload, is_nack) = (flag(segment.has_payload)?, flag(segment.is_nack)?);
        if has_payload && is_nack {
            return Err(Fault::Argument);
        }
        let ack = Ack { sack: Sack::new(segment.ack), limit: segment.limit, is_nack };
        let of_end = transport::Segment {
            src: segment.src,
            dst: segment.dst,
            asks: flag(segment.asks)?,
            selective: false,
            ack: (segment.dst != 0).then_some(ack),
            data: has_payload.then_some(Data { seq: segment.seq, payload: segment.payload }),
        };
        let received = self.end.handle(now, of_end).map_err(|_| Fault::Refused)?;
        let event = |kind: EventKind, payload| Event { payload, kind: kind as u8 };
        if received.restarted {
            self.events.push_back(event(EventKind::Restarted, 0));
        }
        self.events.extend(received.lost.into_iter().map(|payload| event(EventKind::Lost, payload)));
        self.events.extend(received.payloads.map(|payload| event(EventKind::Delivered, payload)));
        Ok(())
    }

    /// Time has passed.
    pub(crate) fn handle_timeout(&mut self, now_ns: u64) -> Result<(), Fault> {
        let now = self.at(now_ns)?;
        self.end.handle_timeout(now);
        Ok(())
    }

    /// The next segment to send now.
    pub(crate) fn poll(&mut self, now_ns: u64) -> Result<Option<Segment>, Fault> {
        let now = self.at(now_ns)?;
        let segment = self.end.poll(now);
        self.end.check_invariants();
        Ok(segment.map(|s| Segment {
            payload: s.data.as_ref().map_or(0, |d| d.payload),
            src: s.src,
            dst: s.dst,
            seq: s.data.as_ref().map_or(0, |d| d.seq),
            ack: s.ack.map_or(0, |a| a.sack.next()),
            limit: s.ack.map_or(0, |a| a.limit),
            has_payload: s.data.is_some().into(),
            is_nack: s.ack.is_some_and(|a| a.is_nack).into(),
            asks: s.asks.into(),
        }))
    }

    /// The next of what segments have led to, oldest first.
    pub(crate) fn event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// When it has something to do unless something happens before.
    pub(crate) fn deadline(&self) -> Option<u64> {
        self.end.deadline().map(Instant::as_nanos)
    }
}
