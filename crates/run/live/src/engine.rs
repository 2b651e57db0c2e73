//! A node on its wires: the law of [`Node`], kept in one place for [`Driver`](crate::Driver) and [`Pool`](crate::Pool).
//!
//! A turn is a bounded piece of work. In it frames, commands and deadlines go into the node, one at a time, and after
//! each the node is polled until it has nothing more; but while one of its wires is full it is not polled, for nobody
//! knows beforehand on which port it will send. Frames still go in then: two nodes that fill each other's wires would
//! otherwise wait for one another. A port whose peer takes nothing holds up the others only as long as a switch lets it
//! ([`SwitchConfig::stall`](crate::SwitchConfig::stall)).

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::mpsc::{Receiver, sync_channel};

use rackloom_node::{Frame, Instant, Node, Output, Port};

use crate::clock::Clock;
use crate::mailbox::Command;
use crate::wire::{BATCH, Refused, Wire};
use crate::wires::Wires;

/// Where a node's events go.
pub(crate) type Sink<E> = Box<dyn FnMut(E) + Send>;

/// What a driver counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Turns taken.
    pub turns: u64,
    /// Frames given to the node.
    pub rx_frames: u64,
    /// Frames the wires took from the node.
    pub tx_frames: u64,
    /// Frames the node sent on a port that has no cable: dropped.
    pub tx_unplugged: u64,
    /// Times a wire was full.
    pub tx_full: u64,
    /// Events the node gave.
    pub events: u64,
    /// What port 0's wire dropped because nothing behind it takes frames of that length.
    pub refused: Refused,
}

/// What to do after a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    /// There is more to do: another turn, once others had theirs.
    Again,
    /// Sleep until a wire has something, or the deadline.
    Until(Option<Instant>),
    /// A wire is full: sleep until it has room or frames.
    Full,
}

/// A node, what it wants sent, and what it has yet to see.
pub(crate) struct Engine<N: Node> {
    node: N,
    clock: Clock,
    sink: Sink<N::Event>,
    commands: Receiver<Command<N>>,
    rx: VecDeque<(Port, Frame)>,
    inbox: Vec<Frame>,
    /// What is to be sent, by port.
    tx: Vec<Vec<Frame>>,
    /// Ports whose last send was cut short.
    full: usize,
    /// The time as it was read last; `None` when it has to be read again. Reading it costs as much as a poll that gives
    /// nothing, and between an input and the first poll no time has passed that a node could tell.
    now: Option<Instant>,
    /// The node was polled until it had nothing, and was left alone since.
    drained: bool,
    counters: Counters,
}

impl<N: Node> Engine<N> {
    pub(crate) fn new(node: N, clock: Clock, sink: Sink<N::Event>, commands: Receiver<Command<N>>) -> Self {
        Self {
            node,
            clock,
            sink,
            commands,
            rx: VecDeque::new(),
            inbox: Vec::with_capacity(BATCH),
            tx: Vec::new(),
            full: 0,
            now: None,
            drained: false, // A new node may have something to say: a card announces itself.
            counters: Counters::default(),
        }
    }

    pub(crate) const fn counters(&self) -> Counters {
        self.counters
    }

    pub(crate) fn into_node(self) -> N {
        self.node
    }

    /// Lets go of commands: whoever waits for one learns that the node has stopped.
    pub(crate) fn close(&mut self) {
        self.commands = sync_channel(0).1;
    }

    /// Waits for frames, if there are none yet; true if there are some then.
    pub(crate) fn wait<W: Wire>(
        &mut self,
        wires: &mut Wires<W>,
        deadline: Option<std::time::Instant>,
    ) -> io::Result<bool> {
        if self.rx.is_empty() {
            let rx = &mut self.rx;
            wires.recv(deadline, &mut self.inbox, |port, frame| rx.push_back((port, frame)))?;
        }
        Ok(!self.rx.is_empty())
    }

    /// One turn. On an error port 0's wire is gone; the node is whole.
    pub(crate) fn turn<W: Wire>(&mut self, wires: &mut Wires<W>) -> io::Result<Rest> {
        self.counters.turns += 1;
        self.now = None;
        self.tx.resize_with(wires.count(), Vec::new);
        self.flush(wires)?;
        let mut outputs = OUTPUTS_MAX;
        let mut inputs = INPUTS_MAX;
        let mut deadline_seen = false;
        let rest = loop {
            if !self.pump(wires, &mut outputs)? {
                break Rest::Again;
            }
            if inputs > 0 && (self.command() || self.frame()) {
                inputs -= 1;
                continue;
            }
            // The deadline is served although a wire is full: a host that sends an image for seconds would not ask its
            // cards meanwhile whether they live, and then find that none has said so.
            let due = self.node.next_deadline();
            let now = self.time();
            let is_due = due.is_some_and(|at| at <= now);
            if is_due && !deadline_seen {
                deadline_seen = true;
                self.drained = false;
                if wires.are_starved() {
                    self.node.handle_starvation();
                }
                self.node.handle_timeout(now);
                continue;
            }
            // Who wants another slice of time waits until others had theirs.
            break match self.full {
                _ if inputs == 0 => Rest::Again,
                0 if is_due => Rest::Again,
                0 => Rest::Until(due),
                _ => Rest::Full,
            };
        };
        if self.full == 0 {
            self.flush(wires)?;
        }
        Ok(if self.full > 0 && matches!(rest, Rest::Until(_)) { Rest::Full } else { rest })
    }

    /// Polls the node until it has nothing or a wire is full; false if it was cut short because it gave too much.
    fn pump<W: Wire>(&mut self, wires: &mut Wires<W>, outputs: &mut usize) -> io::Result<bool> {
        while !self.drained && self.full == 0 {
            if *outputs == 0 {
                return Ok(false);
            }
            let now = self.time();
            let Some(output) = self.node.poll(now) else {
                self.drained = true;
                break;
            };
            *outputs -= 1;
            self.now = None;
            match output {
                Output::Event(event) => {
                    self.counters.events += 1;
                    (self.sink)(event);
                }
                Output::Transmit(port, frame) => {
                    let port = usize::from(port);
                    let Some(tx) = self.tx.get_mut(port) else {
                        self.counters.tx_unplugged += 1;
                        continue;
                    };
                    tx.push(frame);
                    if tx.len() >= TX_BATCH {
                        self.full += usize::from(!self.flush_port(wires, port)?);
                    }
                }
            }
        }
        Ok(true)
    }

    /// Has `f` done with the node, after the commands that wait. A turn has to follow.
    pub(crate) fn apply(&mut self, f: impl FnOnce(&mut N, Instant)) {
        while self.command() {}
        self.drained = false;
        let now = self.read_time();
        f(&mut self.node, now);
    }

    fn command(&mut self) -> bool {
        let Ok(command) = self.commands.try_recv() else { return false };
        self.drained = false;
        let now = self.read_time();
        command(&mut self.node, now);
        true
    }

    fn frame(&mut self) -> bool {
        let Some((port, frame)) = self.rx.pop_front() else { return false };
        self.counters.rx_frames += 1;
        self.drained = false;
        let now = self.read_time();
        self.node.handle_frame(now, port, frame);
        true
    }

    fn time(&mut self) -> Instant {
        self.now.unwrap_or_else(|| self.read_time())
    }

    fn read_time(&mut self) -> Instant {
        let now = self.clock.now();
        self.now = Some(now);
        now
    }

    fn flush<W: Wire>(&mut self, wires: &mut Wires<W>) -> io::Result<()> {
        self.full = 0;
        for port in 0..self.tx.len() {
            self.full += usize::from(!self.flush_port(wires, port)?);
        }
        Ok(())
    }

    /// Sends what waits at one port; false if its wire is full.
    fn flush_port<W: Wire>(&mut self, wires: &mut Wires<W>, port: usize) -> io::Result<bool> {
        let waiting = &mut self.tx[port];
        if waiting.is_empty() {
            return Ok(true);
        }
        let Some(taken) = wires.send(port, waiting)? else {
            self.counters.tx_unplugged += waiting.len() as u64;
            waiting.clear();
            return Ok(true);
        };
        self.counters.tx_frames += taken as u64;
        if port == 0 {
            self.counters.refused = wires.refused();
        }
        waiting.drain(..taken);
        self.counters.tx_full += u64::from(!waiting.is_empty());
        Ok(waiting.is_empty())
    }
}

impl<N: Node> fmt::Debug for Engine<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("full", &self.full).field("counters", &self.counters).finish_non_exhaustive()
    }
}

/// Most outputs taken from a node in one turn: at 1 us each, others wait a quarter of a millisecond.
const OUTPUTS_MAX: usize = 256;

/// Most frames, commands and deadlines put into a node in one turn.
const INPUTS_MAX: usize = BATCH;

/// Frames handed to the wire at once: enough to share a lock or a system call among many, few enough to stay in cache.
const TX_BATCH: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Waker;

    /// Always has a frame to send, and always a deadline that has passed.
    #[derive(Default)]
    struct Chatter {
        timeouts: u32,
        starved: u32,
        frames: u32,
    }

    impl Node for Chatter {
        type Event = ();
        fn handle_frame(&mut self, _: Instant, _: u8, _: Frame) {
            assert_eq!(self.timeouts, 0, "frames that have come go before deadlines");
            self.frames += 1;
        }
        fn handle_timeout(&mut self, _: Instant) {
            self.timeouts += 1;
        }
        fn handle_starvation(&mut self) {
            assert_eq!(self.timeouts, 0);
            self.starved += 1;
        }
        fn poll(&mut self, _: Instant) -> Option<Output<()>> {
            Some(Output::Transmit(0, Frame::from_static(&[0; 64])))
        }
        fn next_deadline(&self) -> Option<Instant> {
            Some(Instant::ZERO)
        }
    }

    /// Takes so many frames of each batch.
    struct Takes(usize);

    impl Wire for Takes {
        fn send(&mut self, frames: &[Frame]) -> io::Result<usize> {
            Ok(self.0.min(frames.len()))
        }
        fn recv(&mut self, _: Option<std::time::Instant>, out: &mut Vec<Frame>) -> io::Result<()> {
            out.resize(out.len() + BATCH, Frame::from_static(&[1; 64]));
            Ok(())
        }
        fn mtu(&self) -> usize {
            1500
        }
        fn waker(&self) -> Waker {
            Waker::noop().clone()
        }
        fn is_starved(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_node_whose_wire_is_always_full_has_its_deadline_served_each_turn() {
        for takes in [0, 1] {
            let mut engine = Engine::new(Chatter::default(), Clock::start(), Box::new(|()| {}), sync_channel(1).1);
            assert_eq!(
                engine.turn(&mut Wires::new([(0, Takes(takes))])).unwrap(),
                Rest::Full,
                "a wire that takes {takes}"
            );
            assert_eq!((engine.node.timeouts, engine.node.starved), (1, 1), "a wire that takes {takes}");
        }
    }

    #[test]
    fn a_flood_of_frames_is_read_before_the_deadline_and_does_not_keep_it_off() {
        let mut engine = Engine::new(Chatter::default(), Clock::start(), Box::new(|()| {}), sync_channel(1).1);
        let mut wire = Wires::new([(0, Takes(0))]);
        assert!(engine.wait(&mut wire, None).unwrap());
        assert_eq!(engine.turn(&mut wire).unwrap(), Rest::Again);
        assert_eq!((engine.node.frames, engine.node.timeouts), (BATCH as u32, 1));
    }
}
