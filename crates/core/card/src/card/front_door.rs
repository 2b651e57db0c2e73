//! The card's front door: which service takes a frame, by the port it came in on and the family it belongs to.
//!
//! Control frames and the bridge's are taken at port 0 only; what comes in there for the host behind the card goes to
//! the host's port.
//! Every other port belongs to the one service that the configuration names, or passes frames to another port, or both;
//! a frame that nobody takes is dropped and counted: a cable between two cards carries no claims.

use rackloom_node::{Frame, Instant, Port};
use rackloom_role::StreamError;
use rackloom_wire::Counter;

use super::Card;
use crate::ethernet::EthernetHead;
use crate::ports::{PortConfig, PortService};

impl Card {
    /// A frame has come in: the port's service takes it.
    pub(super) fn take(&mut self, now: Instant, port: Port, frame: Frame) {
        // The owner is heard before its lease ends: what it has sent in time may have waited for the card.
        if EthernetHead::of(&frame).is_none_or(|head| !self.session.is_owner(head.src)) {
            self.expire(now);
        }
        self.shell.counters.frame([Counter::RxFrames, Counter::RxBytes, Counter::RxWords], frame.len());
        match (port, self.shell.config.port(port).copied()) {
            (0, _) if self.take_for_host(now, &frame) || self.take_for_bridge(now, &frame) => {}
            (0, _) => self.handle_control(now, &frame),
            (_, Some(config)) if config.service == PortService::Link => self.take_from_link(now, port, &frame),
            (_, Some(_)) if self.is_hosts(port) => self.take_from_host(now, frame),
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
}
