//! What leaves the card, and in which order.
//!
//! Without a host behind the card, control comes first: a role that floods its port holds up no answer, and nothing
//! that passes. With one, card and host share the wire, and neither may keep the other off it: they take turns.

use rackloom_node::{Frame, Instant, Output, Port};
use rackloom_role::RoleOutput;
use rackloom_wire::Counter;

use super::{Card, Power};
use crate::CardEvent;
use crate::ethernet::{EthernetHead, FRAME_MAX};
use crate::nic::{Sender, Side};

/// What a frame that leaves is counted by.
pub(super) const SENT: [Counter; 3] = [Counter::TxFrames, Counter::TxBytes, Counter::TxWords];

impl Card {
    /// The next frame that leaves at any port, or what the role reports.
    pub(super) fn next_output(&mut self, now: Instant) -> Option<Output<CardEvent>> {
        self.begin_remote(now);
        // What others have begun over links does not wait for what passes, nor that for links.
        if self.is_links_turn() {
            return self.next_of_links(now).or_else(|| self.next_at_ports(now));
        }
        self.next_at_ports(now).or_else(|| self.next_of_links(now))
    }

    /// The next frame that leaves at a port that is no link, or what the role reports.
    fn next_at_ports(&mut self, now: Instant) -> Option<Output<CardEvent>> {
        let Some(nic) = &self.nic else {
            return self.next_own(now).or_else(|| self.next_through(now));
        };
        let mut turns = nic.turns;
        if let Some(order) = self.next_pause(now) {
            return Some(order);
        }
        let output = turns.next(|at| {
            let output = match Sender::ALL[at] {
                Sender::Own => self.next_own(now),
                Sender::Host => self.next_passing(Side::Wire),
                Sender::Wire => self.next_passing(Side::Host),
                Sender::Role => self.next_through(now),
            }?;
            let bytes = if let Output::Transmit(_, frame) = &output { frame.len() } else { 0 };
            Some((output, bytes))
        });
        if let Some(nic) = &mut self.nic {
            nic.turns = turns;
        }
        output
    }

    /// What the card itself has to say.
    pub(super) fn next_own(&mut self, now: Instant) -> Option<Output<CardEvent>> {
        let frame = self.shell.next_frame().or_else(|| self.next_data(now)).or_else(|| {
            // What had no frame may have found that the memory has failed: then there is an announcement.
            self.shell.memory_failed.then(|| self.restart(now))?;
            self.shell.next_frame()
        })?;
        let frame = self.seal(frame);
        self.shell.counters.frame(SENT, frame.len());
        Some(Output::Transmit(0, frame))
    }

    /// Frames of the claim's owner and of the bridge take turns.
    fn next_data(&mut self, now: Instant) -> Option<Frame> {
        let is_bridges = self.bridge.as_ref().is_some_and(|bridge| bridge.is_next);
        let frame = if is_bridges { self.next_from_bridge(now) } else { self.next_from_memory(now) };
        if let Some(bridge) = &mut self.bridge {
            bridge.is_next = !is_bridges;
        }
        frame.or_else(|| if is_bridges { self.next_from_memory(now) } else { self.next_from_bridge(now) })
    }

    /// An acknowledgement, or a frame with bytes of DDR.
    fn next_from_memory(&mut self, now: Instant) -> Option<Frame> {
        let claim = self.session.claim()?;
        let (owner, epoch) = (claim.owner, claim.epoch);
        let shell = &mut self.shell;
        self.memory
            .transmit(now, shell, &*self.ddr, owner, epoch)
            .or_else(|| if shell.memory_failed { None } else { self.results.transmit(now, shell, &*self.ddr, owner) })
    }

    /// What passes from one port to another beside port 0; then what the role wants done.
    fn next_through(&mut self, now: Instant) -> Option<Output<CardEvent>> {
        let Some((port, frame)) = self.shell.next_passing() else { return self.next_of_role(now) };
        self.shell.counters.inc(Counter::PassedFrames);
        self.shell.counters.frame(SENT, frame.len());
        Some(Output::Transmit(port, frame))
    }

    /// An order to the host to be silent, or to be so no longer.
    fn next_pause(&mut self, now: Instant) -> Option<Output<CardEvent>> {
        let (port, frame) = self.nic.as_mut()?.pause(now)?;
        Some(Output::Transmit(port, frame))
    }

    /// The next frame between wire and host.
    fn next_passing(&mut self, to: Side) -> Option<Output<CardEvent>> {
        let (port, frame) = self.nic.as_mut()?.pop(to)?;
        self.shell.counters.inc(Counter::PassedFrames);
        self.shell.counters.frame(SENT, frame.len());
        Some(Output::Transmit(port, frame))
    }

    /// The next thing that the role wants done.
    fn next_of_role(&mut self, now: Instant) -> Option<Output<CardEvent>> {
        if self.bridge.as_mut().is_some_and(|bridge| bridge.holds_role(now)) {
            return None;
        }
        let (stream, message) = match self.role.as_mut()?.role.poll(now)? {
            RoleOutput::Event(word) => return Some(Output::Event(CardEvent::RoleEvent { word })),
            RoleOutput::Message { stream, message } => (stream, message),
        };
        if let Some(bridge) = &mut self.bridge
            && let Some(route) = bridge.route(stream)
        {
            if bridge.send(now, route, message).is_err() {
                self.role_breaks_a_rule();
                return Some(Output::Event(CardEvent::MessageRefused { stream }));
            }
            // It leaves in the bridge's turn.
            return self.next_own(now).or_else(|| self.next_of_role(now));
        }
        let Some(port) = self.outlet(stream, &message) else {
            self.role_breaks_a_rule();
            return Some(Output::Event(CardEvent::MessageRefused { stream }));
        };
        self.shell.counters.frame(SENT, message.len());
        Some(Output::Transmit(port, message))
    }

    /// The port on which a role's message leaves, if it may. A role speaks under its port's own address, never as a
    /// host or a card, and gives its neighbour no orders: a hostile kernel forges no claims and silences nobody.
    /// Between wire and host it may do what those two may.
    fn outlet(&mut self, stream: u8, message: &[u8]) -> Option<Port> {
        if let Some(nic) = &mut self.nic
            && let Some(side) = nic.side_of(stream)
        {
            return nic.admits(side, message).then(|| nic.leaves(side, message.len()));
        }
        let (port, mac) = self.shell.config.port_of_stream(stream)?;
        let head = EthernetHead::of(message)?;
        (head.src == mac && !head.is_reserved() && message.len() <= FRAME_MAX).then_some(port)
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
}
