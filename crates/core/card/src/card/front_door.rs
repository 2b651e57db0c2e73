//! The card's front door: which service takes a frame, by the port it came in on and the family it belongs to.
//!
//! Control frames are taken at port 0 only. Every other port belongs to the one service that the configuration names,
//! and a frame that no service takes is dropped and counted: a cable between two cards carries no claims.

use bytes::Bytes;
use rackloom_node::{Frame, Instant, Output, Port};
use rackloom_role::{RoleOutput, StreamError};
use rackloom_wire::{Counter, Family, MacAddr};

use super::{Card, Power};
use crate::ports::PortService;
use crate::{CardEvent, Config};

impl Card {
    /// A frame has come in: the port's service takes it.
    pub(super) fn take(&mut self, now: Instant, port: Port, frame: Frame) {
        // The owner is heard before its lease ends: what it has sent in time may have waited for the card.
        if EthernetHead::of(&frame).is_none_or(|head| !self.session.is_owner(head.src)) {
            self.expire(now);
        }
        self.shell.counters.frame([Counter::RxFrames, Counter::RxBytes, Counter::RxWords], frame.len());
        match self.shell.config.service(port) {
            PortService::Control => self.handle_control(now, &frame),
            PortService::Stream(stream) => self.handle_stream(now, port, stream, frame),
            PortService::Closed => self.shell.counters.inc(Counter::DropForeign),
        }
    }

    /// A frame for the role has come in on a port of a stream.
    fn handle_stream(&mut self, now: Instant, port: Port, stream: u8, frame: Frame) {
        let mac = self.shell.config.port(port).expect("a stream has a port").mac;
        let Some(head) = EthernetHead::of(&frame) else { return self.shell.counters.inc(Counter::DropTruncated) };
        if !head.reaches(mac) || head.is_ours() {
            return self.shell.counters.inc(Counter::DropForeign);
        }
        let taken = match &mut self.role {
            Some(active) => active.role.handle_message(now, stream, frame),
            None => Err(StreamError::Unknown),
        };
        match taken {
            Ok(()) => {}
            Err(StreamError::Unknown) => self.shell.counters.inc(Counter::DropForeign),
            Err(StreamError::Full | StreamError::TooLong) => self.shell.counters.inc(Counter::DropQueue),
        }
    }

    /// Hosts are told, once for each launch at most: a role may go on and on.
    const fn role_breaks_a_rule(&mut self) {
        if let (Some(active), Power::On { discovery, .. }) = (&mut self.role, &mut self.power)
            && !active.failed
        {
            active.failed = true;
            discovery.role_failed();
        }
    }

    /// The next thing that the role wants done.
    pub(super) fn next_of_role(&mut self, now: Instant) -> Option<Output<CardEvent>> {
        let (stream, message) = match self.role.as_mut()?.role.poll(now)? {
            RoleOutput::Event(word) => return Some(Output::Event(CardEvent::RoleEvent { word })),
            RoleOutput::Message { stream, message } => (stream, message),
        };
        let Some(port) = outlet(&self.shell.config, stream, &message) else {
            self.role_breaks_a_rule();
            return Some(Output::Event(CardEvent::MessageRefused { stream }));
        };
        self.shell.counters.frame([Counter::TxFrames, Counter::TxBytes, Counter::TxWords], message.len());
        Some(Output::Transmit(port, message))
    }
}

/// The port on which a role's message may leave, if it may. A role speaks under its port's own address and never as a
/// host or a card: a hostile kernel forges no claims.
fn outlet(config: &Config, stream: u8, message: &Bytes) -> Option<Port> {
    let (port, mac) = config.port_of_stream(stream)?;
    let head = EthernetHead::of(message)?;
    let longest = HEADER + MTU_MAX;
    (head.src == mac && !head.is_ours() && message.len() <= longest).then_some(port)
}

/// The first 14 bytes of a frame.
struct EthernetHead {
    dst: MacAddr,
    src: MacAddr,
    ethertype: u16,
}

impl EthernetHead {
    fn of(frame: &[u8]) -> Option<Self> {
        let head: &[u8; HEADER] = frame.first_chunk()?;
        let mac = |at: usize| MacAddr(head[at..at + 6].try_into().expect("six bytes"));
        Some(Self { dst: mac(0), src: mac(6), ethertype: u16::from_be_bytes([head[12], head[13]]) })
    }

    /// Whether a port with this address listens. Its own frames come back over a loop in the network.
    fn reaches(&self, mac: MacAddr) -> bool {
        (self.dst == mac || self.dst.is_multicast()) && self.src != mac && !self.src.is_multicast()
    }

    /// Whether it belongs to a family of ours, none of which is a role's.
    fn is_ours(&self) -> bool {
        Family::from_ethertype(self.ethertype).is_some()
    }
}

/// Bytes of Ethernet's header.
const HEADER: usize = 14;
/// Most bytes after it, in a jumbo frame.
const MTU_MAX: usize = 9000;
