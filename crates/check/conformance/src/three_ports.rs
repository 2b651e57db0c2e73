//! A model card with three ports: the suite's proof that ports beside port 0 change nothing of what port 0 does.

use rackloom_card::{Card, CardEvent, Config, PortConfig, PortService};
use rackloom_node::{Frame, Instant, Node, Output, Port};
use rackloom_rack::Kind;
use rackloom_role::Memory;
use rackloom_wire::{ErrorCode, MacAddr};

use crate::Specimen;

/// A model card with two ports beside port 0, for two streams of its role.
#[derive(Debug)]
pub struct ThreePorts(Card);

/// Addresses of the ports beside port 0.
pub const OTHERS: [MacAddr; 2] = [MacAddr([6, 0, 0, 0, 0, 1]), MacAddr([10, 0, 0, 0, 0, 1])];

impl Specimen for ThreePorts {
    const KIND: Kind = Kind::Model;
    const PORTS: u8 = 3;
    const TARGET: &'static str = Card::TARGET;
    const CHECKS_HEAD: bool = Card::CHECKS_HEAD;
    const PROBE_KHZ: u32 = Card::PROBE_KHZ;
    const STUCK: ErrorCode = Card::STUCK;

    fn plug(config: Config) -> Self {
        let ports =
            OTHERS.iter().zip(0..).map(|(&mac, stream)| PortConfig { mac, service: PortService::Stream(stream) });
        Self(<Card as Specimen>::plug(Config { ports: ports.collect(), ..config }))
    }

    fn unplug(&mut self, now: Instant) {
        self.0.unplug(now);
    }

    fn handle_garbled(&mut self, now: Instant, frame: Frame) -> bool {
        self.0.handle_garbled(now, frame)
    }

    fn frames_elsewhere(&self) -> u64 {
        self.0.frames_elsewhere()
    }

    fn ddr(&self) -> &dyn Memory {
        self.0.ddr()
    }

    fn check(&self) {
        self.0.check();
    }
}

impl Node for ThreePorts {
    type Event = CardEvent;

    fn handle_frame(&mut self, now: Instant, port: Port, frame: Frame) {
        self.0.handle_frame(now, port, frame);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.0.handle_timeout(now);
    }

    fn poll(&mut self, now: Instant) -> Option<Output<CardEvent>> {
        self.0.poll(now)
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.0.next_deadline()
    }
}
