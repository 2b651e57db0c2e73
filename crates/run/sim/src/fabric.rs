//! Cables and switches: all that happens to a frame between two nodes.

use rackloom_node::{Frame, Instant};

use crate::capture::Capture;
use crate::hash::{self, EventHash};
use crate::ids::{End, PipeId, SwitchId};
use crate::impair::Arrival;
use crate::impair::Fate;
use crate::link::Pipe;
use crate::queue::{Flights, Pipes, Queue, Waiting, What};
use crate::stats::DropReason;
use crate::switch::{Route, Switch};

/// Kinds of events, as the hash tells them apart.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Trace {
    Delivered = 1,
    Dropped = 2,
    Timeout = 3,
    Event = 4,
    Change = 5,
}

/// The network without its nodes.
#[derive(Debug)]
pub(crate) struct Fabric {
    pub(crate) now: Instant,
    pub(crate) queue: Queue,
    pub(crate) flights: Flights,
    pub(crate) pipes: Vec<Pipe>,
    pub(crate) switches: Vec<Switch>,
    pub(crate) hash: Option<EventHash>,
    pub(crate) capture: Option<Capture>,
    /// Whether the capture wants what all nodes send.
    pub(crate) tap_nodes: bool,
    arrivals: Vec<Arrival>,
}

impl Fabric {
    pub(crate) fn new() -> Self {
        Self {
            now: Instant::ZERO,
            queue: Queue::default(),
            flights: Flights::default(),
            pipes: Vec::new(),
            switches: Vec::new(),
            hash: Some(EventHash::new()),
            capture: None,
            tap_nodes: false,
            arrivals: Vec::new(),
        }
    }

    /// Takes a frame from a node.
    pub(crate) fn transmit(&mut self, pipe: PipeId, frame: Frame) {
        if let Some(capture) = &mut self.capture
            && (self.tap_nodes || self.pipes[pipe.index()].tap_sent)
        {
            capture.record(self.now, &frame);
        }
        self.send(pipe, self.now.as_nanos(), frame);
    }

    /// Counts a frame as it comes out of a pipe; returns where it goes.
    pub(crate) fn receive(&mut self, pipe: PipeId, frame: &Frame, digest: u64) -> End {
        self.trace(Trace::Delivered, pipe.0, digest);
        let p = &mut self.pipes[pipe.index()];
        p.stats.in_flight -= 1;
        p.stats.delivered += 1;
        p.stats.delivered_bytes += frame.len() as u64;
        if p.tap_received
            && let Some(capture) = &mut self.capture
        {
            capture.record(self.now, frame);
        }
        p.to
    }

    /// What the event hash takes of a frame; nothing when it is off.
    pub(crate) fn digest(&self, frame: &Frame) -> u64 {
        if self.hash.is_some() { hash::digest(frame) } else { 0 }
    }

    /// A switch has received a whole frame.
    pub(crate) fn forward(&mut self, id: SwitchId, ingress: u16, frame: Frame) {
        let now_ns = self.now.as_nanos();
        let switch = &mut self.switches[id.0 as usize];
        let route = switch.route(now_ns, ingress, &frame);
        // Handed to the output queue ahead of its time: the queue has no other source, and its delay is always the
        // same.
        let at = now_ns + switch.latency_ns;
        match route {
            Route::Nowhere => {}
            Route::To(port) => {
                if let Some(pipe) = switch.ports[usize::from(port)] {
                    self.send(pipe, at, frame);
                }
            }
            Route::Flood => self.flood(id, ingress, at, frame),
        }
    }

    /// Sends a frame out of all ports that are up, except the one it came from.
    fn flood(&mut self, id: SwitchId, ingress: u16, at: u64, frame: Frame) {
        // Ports in the same state deliver at the same time: those share one event.
        let mut together = self.flights.list();
        let mut together_at = 0;
        for port in 0..self.switches[id.0 as usize].ports.len() {
            let Some(pipe) = self.switches[id.0 as usize].ports[port] else { continue };
            let p = &mut self.pipes[pipe.index()];
            if port == usize::from(ingress) || !p.up {
                continue;
            }
            match p.send(at, &frame, &mut self.arrivals) {
                Fate::Arrives(arrival) => {
                    if arrival != together_at && !together.is_empty() {
                        self.fly(together_at, frame.clone(), Pipes::Many(together));
                        together = self.flights.list();
                    }
                    together_at = arrival;
                    together.push(pipe);
                }
                Fate::Impaired => self.fly_arrivals(pipe),
                Fate::Dropped(reason) => self.trace(Trace::Dropped, pipe.0, reason as u64),
            }
        }
        if together.is_empty() {
            self.flights.give_back(together);
        } else {
            self.fly(together_at, frame, Pipes::Many(together));
        }
    }

    fn send(&mut self, pipe: PipeId, at: u64, frame: Frame) {
        match self.pipes[pipe.index()].send(at, &frame, &mut self.arrivals) {
            Fate::Arrives(at) => {
                let seq = self.queue.number();
                let line = &mut self.pipes[pipe.index()].line;
                if line.is_empty() {
                    self.queue.push_numbered(at, seq, What::Head(pipe));
                }
                line.push_back(Waiting { at, seq, frame });
            }
            Fate::Impaired => self.fly_arrivals(pipe),
            Fate::Dropped(reason) => self.trace(Trace::Dropped, pipe.0, reason as u64),
        }
    }

    /// Takes the first frame out of a pipe's line if it is the one that entered with number `seq`, and lines up the
    /// next. Another one: that frame was lost on its way.
    pub(crate) fn head(&mut self, pipe: PipeId, seq: u64) -> Option<Frame> {
        let line = &mut self.pipes[pipe.index()].line;
        let first = line.pop_front_if(|first| first.seq == seq)?;
        if let Some(next) = line.front() {
            self.queue.push_numbered(next.at, next.seq, What::Head(pipe));
        }
        Some(first.frame)
    }

    fn fly_arrivals(&mut self, pipe: PipeId) {
        while let Some((arrival, frame)) = self.arrivals.pop() {
            self.fly(arrival, frame, Pipes::One(pipe));
        }
    }

    fn fly(&mut self, at: u64, frame: Frame, to: Pipes) {
        let number = self.flights.add(at, frame, to);
        self.queue.push(at, What::Arrival(number));
    }

    /// All frames on their way through a pipe that would arrive from `from` to before `until` are lost.
    pub(crate) fn lose(&mut self, pipe: PipeId, from: u64, until: u64, reason: DropReason) {
        let line = &mut self.pipes[pipe.index()].line;
        let (before, first) = (line.len(), line.front().map(|w| w.seq));
        line.retain(|waiting| !(from..until).contains(&waiting.at));
        let in_line = (before - line.len()) as u64;
        if let Some(next) = line.front().filter(|next| Some(next.seq) != first) {
            self.queue.push_numbered(next.at, next.seq, What::Head(pipe));
        }
        for _ in 0..in_line + self.flights.lose(pipe, from, until) {
            self.pipes[pipe.index()].lose(reason);
            self.trace(Trace::Dropped, pipe.0, reason as u64);
        }
    }

    /// Adds something that happened now to the event hash.
    pub(crate) fn trace(&mut self, kind: Trace, place: u32, detail: u64) {
        if let Some(hash) = &mut self.hash {
            hash.mix(self.now.as_nanos());
            hash.mix((kind as u64) << 32 | u64::from(place));
            hash.mix(detail);
        }
    }
}
