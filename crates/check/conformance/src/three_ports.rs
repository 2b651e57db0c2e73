//! A card with three ports: the suite's proof that ports beside port 0 change nothing of what port 0 does.

use rackloom_card::{Config, PortConfig, PortService};
use rackloom_node::{Frame, Instant, Node, Output, Port};
use rackloom_rack::Kind;
use rackloom_role::Memory;
use rackloom_wire::{ErrorCode, MacAddr};

use crate::Specimen;

/// A card with two ports beside port 0, for two streams of its role.
#[derive(Debug)]
pub struct ThreePorts<C>(C);

/// Addresses of the ports beside port 0.
pub const OTHERS: [MacAddr; 2] = [MacAddr([6, 0, 0, 0, 0, 1]), MacAddr([10, 0, 0, 0, 0, 1])];

impl<C: Specimen> Specimen for ThreePorts<C> {
    const KIND: Kind = C::KIND;
    const PORTS: u8 = 3;
    const TARGET: &'static str = C::TARGET;
    const CHECKS_HEAD: bool = C::CHECKS_HEAD;
    const PROBE_KHZ: u32 = C::PROBE_KHZ;
    const STUCK: ErrorCode = C::STUCK;

    fn plug(config: Config) -> Self {
        let ports = OTHERS.iter().zip(0..).map(|(&mac, stream)| PortConfig::new(mac, PortService::Stream(stream)));
        Self(C::plug(Config { ports: ports.collect(), ..config }))
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

impl<C: Specimen> Node for ThreePorts<C> {
    type Event = C::Event;

    fn handle_frame(&mut self, now: Instant, port: Port, frame: Frame) {
        self.0.handle_frame(now, port, frame);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.0.handle_timeout(now);
    }

    fn poll(&mut self, now: Instant) -> Option<Output<C::Event>> {
        self.0.poll(now)
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.0.next_deadline()
    }
}
