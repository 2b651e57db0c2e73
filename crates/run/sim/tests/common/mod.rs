//! A node for tests: sends what the test asks for, and reports what it receives.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]

use std::collections::VecDeque;
use std::time::Duration;

use rackloom_node::{Frame, Instant, Node, Output, Port};
use rackloom_sim::{Cable, LinkId, Net, NodeId, SwitchConfig, SwitchId};

/// What a [`Probe`] tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    Frame(Port, Frame),
    Timeout,
    Starvation,
}

/// A node with an address and a list of things to send.
#[derive(Debug, Default)]
pub struct Probe {
    pub mac: u8,
    pub out: VecDeque<Output<Seen>>,
    pub deadline: Option<Instant>,
    /// Sends each frame back to its sender.
    pub echo: bool,
    /// Notices only when polled that its deadline has passed, and tells nobody.
    pub lazy: bool,
}

impl Probe {
    pub fn new(mac: u8) -> Self {
        Self { mac, ..Self::default() }
    }

    pub fn send(&mut self, frame: Frame) {
        self.out.push_back(Output::Transmit(0, frame));
    }
}

impl Node for Probe {
    type Event = Seen;

    fn handle_frame(&mut self, _now: Instant, port: Port, frame: Frame) {
        if self.echo && frame.len() >= 12 {
            let mut back = frame.to_vec();
            back.copy_within(6..12, 0);
            back[6..12].copy_from_slice(&address(self.mac));
            self.out.push_back(Output::Transmit(port, back.into()));
        }
        self.out.push_back(Output::Event(Seen::Frame(port, frame)));
    }

    fn handle_timeout(&mut self, now: Instant) {
        if !self.lazy && self.deadline.is_some_and(|d| d <= now) {
            self.deadline = None;
            self.out.push_back(Output::Event(Seen::Timeout));
        }
    }

    fn handle_starvation(&mut self) {
        self.out.push_back(Output::Event(Seen::Starvation));
    }

    fn poll(&mut self, now: Instant) -> Option<Output<Seen>> {
        if self.lazy && self.deadline.is_some_and(|d| d <= now) {
            self.deadline = None;
        }
        self.out.pop_front()
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.deadline
    }
}

pub const ALL: u8 = 0xFF;

pub fn address(mac: u8) -> [u8; 6] {
    if mac == ALL { [0xFF; 6] } else { [2, 0, 0, 0, 0, mac] }
}

/// A frame of `len` bytes, 18 or more, that carries a number at byte 14.
pub fn frame(to: u8, from: u8, len: usize, number: u32) -> Frame {
    let mut bytes = vec![0; len];
    bytes[..6].copy_from_slice(&address(to));
    bytes[6..12].copy_from_slice(&address(from));
    bytes[14..18].copy_from_slice(&number.to_be_bytes());
    bytes.into()
}

/// The number in a frame.
pub fn number(frame: &Frame) -> u32 {
    u32::from_be_bytes(frame[14..18].try_into().unwrap())
}

pub fn ns(ns: u64) -> Instant {
    Instant::from_nanos(ns)
}

pub fn us(us: u64) -> Instant {
    Instant::from_nanos(us * 1000)
}

/// A switch with `count` probes, addresses 1 and up.
pub fn star(seed: u64, count: u8, cable: Cable) -> (Net<Probe>, SwitchId, Vec<(NodeId, LinkId)>) {
    let mut net = Net::new(seed);
    let switch = net.switch(SwitchConfig::with_ports(u16::from(count)));
    let probes = (1..=count)
        .map(|mac| {
            let id = net.add(Probe::new(mac));
            (id, net.plug(id, switch, cable))
        })
        .collect();
    (net, switch, probes)
}

/// Two probes on one cable, addresses 1 and 2.
pub fn pair(seed: u64, cable: Cable) -> (Net<Probe>, NodeId, NodeId, LinkId) {
    let mut net = Net::new(seed);
    let a = net.add(Probe::new(1));
    let b = net.add(Probe::new(2));
    let link = net.connect(a, b, cable);
    (net, a, b, link)
}

/// Sends frame by frame, one every `every`, and returns the frames received with their times.
pub fn trickle(
    net: &mut Net<Probe>,
    from: NodeId,
    frames: impl Iterator<Item = Frame>,
    every: Duration,
) -> Vec<(Instant, Frame)> {
    let mut received = Vec::new();
    for frame in frames {
        net.with(from, |probe, _| probe.send(frame));
        let next = net.now() + every;
        received.extend(frames_until(net, next).into_iter().map(|(at, _, frame)| (at, frame)));
    }
    let end = net.now() + Duration::from_secs(1);
    received.extend(frames_until(net, end).into_iter().map(|(at, _, frame)| (at, frame)));
    received
}

/// Runs to `limit` and returns what was received.
pub fn frames_until(net: &mut Net<Probe>, limit: Instant) -> Vec<(Instant, NodeId, Frame)> {
    let mut all = Vec::new();
    while let Some((at, id, seen)) = net.run_until(limit) {
        if let Seen::Frame(_, frame) = seen {
            all.push((at, id, frame));
        }
    }
    net.check_invariants();
    all
}
