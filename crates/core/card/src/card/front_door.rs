//! The card's front door: which service takes a frame, by the port it came in on and the family it belongs to.
//!
//! Control frames are taken at port 0 only. Every other port belongs to the one service that the configuration names,
//! or passes frames to another port, or both; a frame that nobody takes is dropped and counted: a cable between two
//! cards carries no claims.

use bytes::Bytes;
use rackloom_node::{Frame, Instant, Output, Port};
use rackloom_role::{RoleOutput, StreamError};
use rackloom_wire::{Counter, Family, MacAddr};

use super::{Card, Power};
use crate::ports::{PortConfig, PortService};
use crate::{CardEvent, Config};

impl Card {
    /// A frame has come in: the port's service takes it.
    pub(super) fn take(&mut self, now: Instant, port: Port, frame: Frame) {
        // The owner is heard before its lease ends: what it has sent in time may have waited for the card.
        if EthernetHead::of(&frame).is_none_or(|head| !self.session.is_owner(head.src)) {
            self.expire(now);
        }
        self.shell.counters.frame([Counter::RxFrames, Counter::RxBytes, Counter::RxWords], frame.len());
        match (port, self.shell.config.port(port).copied()) {
            (0, _) => self.handle_control(now, &frame),
            (_, Some(config)) if !config.is_closed() => self.handle_other(now, config, frame),
            _ => self.shell.counters.inc(Counter::DropForeign),
        }
    }

    /// A frame has come in on another port: a stream of the role takes it, it passes, or both.
    fn handle_other(&mut self, now: Instant, port: PortConfig, frame: Frame) {
        let Some(head) = EthernetHead::of(&frame) else { return self.shell.counters.inc(Counter::DropTruncated) };
        if head.is_forged(port.mac) {
            return self.shell.counters.inc(Counter::DropForeign);
        }
        let own = head.dst == port.mac;
        let to = port.passes_to.filter(|_| !own);
        let taken = match (port.service, &mut self.role) {
            (PortService::Stream(stream), Some(active)) if !head.is_ours() && (own || head.dst.is_multicast()) => {
                active.role.handle_message(now, stream, frame.clone())
            }
            _ => Err(StreamError::Unknown),
        };
        match (taken, to) {
            (Err(StreamError::Full | StreamError::TooLong), _) => self.shell.counters.inc(Counter::DropQueue),
            (Err(StreamError::Unknown), None) => self.shell.counters.inc(Counter::DropForeign),
            (Ok(()), _) | (Err(StreamError::Unknown), Some(_)) => {}
        }
        if let Some(to) = to {
            self.shell.pass(to, frame);
        }
    }

    /// The next frame that passes from one port to another.
    pub(super) fn next_passing(&mut self) -> Option<Output<CardEvent>> {
        let (port, frame) = self.shell.next_passing()?;
        self.shell.counters.frame([Counter::TxFrames, Counter::TxBytes, Counter::TxWords], frame.len());
        Some(Output::Transmit(port, frame))
    }

    /// It is announced, once for each launch at most: a role may go on and on.
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

/// Addresses and family of a frame.
struct EthernetHead {
    dst: MacAddr,
    src: MacAddr,
    family: Option<Family>,
}

impl EthernetHead {
    fn of(frame: &[u8]) -> Option<Self> {
        let head: &[u8; HEADER] = frame.first_chunk()?;
        let mac = |at: usize| MacAddr(head[at..at + 6].try_into().expect("six bytes"));
        Some(Self { dst: mac(0), src: mac(6), family: Family::of(frame) })
    }

    /// Whether its source cannot be: a group, or the port where it came in, over a loop in the network.
    fn is_forged(&self, mac: MacAddr) -> bool {
        self.src == mac || self.src.is_multicast()
    }

    /// Whether it belongs to a family of ours, none of which is a role's.
    const fn is_ours(&self) -> bool {
        self.family.is_some()
    }
}

/// Bytes of Ethernet's header.
const HEADER: usize = 14;
/// Most bytes after it, in a jumbo frame.
const MTU_MAX: usize = 9000;
