//! Frames of the bridge: to its endpoint, from there to memory and to the role's streams, and out again.

use rackloom_bridge::EndpointEvent;
use rackloom_node::{Frame, Instant};
use rackloom_role::{RemoteFault, StreamError};
use rackloom_wire::{self as wire, Counter, Family, Head, Kind, Packet};

use super::{ActiveRole, Card};
use crate::CardEvent;
use crate::bridge::Bridge;

impl Card {
    /// A frame has come in at port 0: the bridge takes it if it is of its family. False: it is not.
    pub(super) fn take_for_bridge(&mut self, now: Instant, frame: &Frame) -> bool {
        let Some(bridge) = self.bridge.as_mut().filter(|_| Family::of(frame) == Some(Family::Bridge)) else {
            return false;
        };
        bridge.handle_frame(now, &mut self.shell, &*self.ddr, frame);
        self.settle(now);
        true
    }

    /// Messages that have come for the role's streams go to them, as far as these have room; what became of those that
    /// it sent is reported.
    pub(super) fn deliver_streams(&mut self, now: Instant) {
        let Self { bridge: Some(bridge), role, shell, launches, .. } = self else { return };
        while let Some(event) = bridge.endpoint.next_event() {
            match event {
                EndpointEvent::StreamsLost { peer } => shell.event(CardEvent::StreamsLost { peer }),
                EndpointEvent::Done { ticket, result } => {
                    let ended = bridge.end_remote(ticket, result);
                    if let (Some((number, result)), Some(active)) = (ended, role.as_mut()) {
                        active.role.handle_remote(number, result);
                        launches.go_on();
                    }
                }
            }
        }
        let mut left = bridge.endpoint.inboxes();
        while left > 0
            && let Some((_, stream, bytes)) = bridge.endpoint.message()
        {
            match hand_over(now, role.as_mut(), stream, bytes) {
                // The sender's credit is withheld until there is room.
                Err(StreamError::Full) => {
                    bridge.endpoint.skip_message();
                    left -= 1;
                }
                result => {
                    if result.is_err() {
                        shell.counters.inc(Counter::DropForeign);
                    }
                    bridge.endpoint.take_message(now);
                    left = bridge.endpoint.inboxes();
                }
            }
        }
    }

    /// Accesses of the role's kernel to the memory of other nodes get under way.
    pub(super) fn begin_remote(&mut self, now: Instant) {
        let Self { bridge, role: Some(active), launches, .. } = self else { return };
        while let Some(access) = active.role.poll_remote() {
            let number = access.number;
            let begun = bridge.as_mut().ok_or(RemoteFault::NoRoute).and_then(|b| b.begin_remote(now, access));
            if let Err(fault) = begun {
                active.role.handle_remote(number, Err(fault));
                launches.go_on();
            }
        }
    }

    /// The owner sets a window.
    pub(super) fn on_window_set(&mut self, now: Instant, packet: &Packet<'_>) {
        let Some(body) = self.exactly::<wire::Window>(packet) else { return };
        let head = &packet.head;
        if !self.is_fresh(now, head, Kind::SessionRefuse) {
            return;
        }
        let memory = self.ddr.len();
        let unsupported = Err((wire::ErrorCode::Unsupported, 0));
        let result = self.bridge.as_mut().map_or(unsupported, |bridge| bridge.set_window(memory, head.addr, body));
        self.answer_bridge(head, Kind::SessionWindowDone, result);
    }

    /// The owner says where what the role sends on a stream goes.
    pub(super) fn on_route_set(&mut self, now: Instant, packet: &Packet<'_>) {
        let Some(body) = self.exactly::<wire::Route>(packet) else { return };
        let head = &packet.head;
        if !self.is_fresh(now, head, Kind::SessionRefuse) {
            return;
        }
        let unsupported = Err((wire::ErrorCode::Unsupported, 0));
        let result = self.bridge.as_mut().map_or(unsupported, |bridge| bridge.set_route(head.addr, body));
        self.answer_bridge(head, Kind::SessionRouteDone, result);
    }

    fn answer_bridge(&mut self, asked: &Head, done: Kind, result: Result<(), (wire::ErrorCode, u64)>) {
        match result {
            Ok(()) => {
                let answer = self.shell.head(asked.src, done, asked.epoch, asked.seq);
                self.shell.send(Head { addr: asked.addr, ..answer }, &[]);
            }
            Err((code, detail)) => self.shell.refuse(asked, Kind::SessionRefuse, code, detail),
        }
    }

    /// The next frame of the bridge.
    pub(super) fn next_from_bridge(&mut self, now: Instant) -> Option<Frame> {
        let bridge = self.bridge.as_mut()?;
        let frame = bridge.endpoint.poll(now)?;
        bridge.count(&mut self.shell.counters);
        Some(frame)
    }
}

fn hand_over(now: Instant, role: Option<&mut ActiveRole>, stream: u16, bytes: &Frame) -> Result<(), StreamError> {
    let stream = u8::try_from(stream).map_err(|_| StreamError::Unknown)?;
    role.ok_or(StreamError::Unknown)?.role.handle_message(now, stream, bytes.clone())
}

impl Bridge {
    /// Its claim is over, or the card starts anew.
    pub(super) fn end_of(bridge: &mut Option<Self>) {
        if let Some(bridge) = bridge {
            bridge.end();
        }
    }
}
