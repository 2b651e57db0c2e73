//! A node of the bridge without a card: the production endpoint, and the memory behind its windows.

use std::collections::VecDeque;

use bytes::Bytes;
use rackloom_bridge::{Endpoint, EndpointConfig, EndpointEvent, Failure, Target, TargetFailed, Ticket};
use rackloom_node::{Frame, Instant, Node, Output, Port};
use rackloom_wire::{Family, MacAddr};

/// What a peer tells its study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PeerEvent {
    /// A request is over.
    Done(Ticket, Result<Bytes, Failure>),
    /// A message has come: from whom, on which stream.
    Message(MacAddr, u16, Bytes),
    /// Messages may be lost, which no study bears.
    Lost(MacAddr),
    /// A frame of another family has come: what a host behind a card gets.
    Frame(Frame),
}

/// A node: what it is asked goes to its memory, what it asks is the study's business.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) endpoint: Endpoint,
    pub(crate) memory: Vec<u8>,
    /// Frames of other families that it sends.
    pub(crate) frames: VecDeque<Frame>,
    heard: VecDeque<Frame>,
}

impl Peer {
    pub(crate) fn new(config: EndpointConfig, memory: usize) -> Self {
        Self {
            endpoint: Endpoint::new(config),
            memory: vec![0; memory],
            frames: VecDeque::new(),
            heard: VecDeque::new(),
        }
    }
}

impl Node for Peer {
    type Event = PeerEvent;

    fn handle_frame(&mut self, now: Instant, _: Port, frame: Frame) {
        if Family::of(&frame) == Some(Family::Bridge) {
            self.endpoint.handle_frame(now, &frame, &mut Ram(&mut self.memory));
        } else if Family::of(&frame).is_none() {
            self.heard.push_back(frame);
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.endpoint.handle_timeout(now);
    }

    fn poll(&mut self, now: Instant) -> Option<Output<PeerEvent>> {
        // Events come first: the study may begin the next request before a lone acknowledgement goes.
        if let Some(event) = self.endpoint.next_event() {
            return Some(Output::Event(match event {
                EndpointEvent::Done { ticket, result } => PeerEvent::Done(ticket, result),
                EndpointEvent::StreamsLost { peer } => PeerEvent::Lost(peer),
            }));
        }
        if let Some((from, stream, bytes)) = self.endpoint.take_message(now) {
            return Some(Output::Event(PeerEvent::Message(from, stream, bytes)));
        }
        if let Some(frame) = self.heard.pop_front() {
            return Some(Output::Event(PeerEvent::Frame(frame)));
        }
        let frame = self.frames.pop_front().or_else(|| self.endpoint.poll(now))?;
        Some(Output::Transmit(0, frame))
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.endpoint.deadline()
    }
}

/// Memory from address 0 on. Windows cover what is there only.
struct Ram<'a>(&'a mut [u8]);

impl Ram<'_> {
    fn part(&mut self, addr: u64, length: usize) -> Result<&mut [u8], TargetFailed> {
        let at = usize::try_from(addr).map_err(|_| TargetFailed)?;
        self.0.get_mut(at..at.saturating_add(length)).ok_or(TargetFailed)
    }
}

impl Target for Ram<'_> {
    fn read(&mut self, addr: u64, into: &mut [u8]) -> Result<(), TargetFailed> {
        into.copy_from_slice(self.part(addr, into.len())?);
        Ok(())
    }

    fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), TargetFailed> {
        self.part(addr, bytes.len())?.copy_from_slice(bytes);
        Ok(())
    }
}
