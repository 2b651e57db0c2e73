//! A card of gateware whose clocks go their own ways: the suite's proof that no block relies on how fast another's
//! clock is, nor on how many cycles a bit takes into it.

use rackloom_card::{CardEvent, Config, Pace};
use rackloom_node::{Frame, Instant, Node, Output, Port};
use rackloom_rack::Kind;
use rackloom_role::Memory;
use rackloom_verilated::{Clocks, DdrTiming, RtlCard, Stress, Width};
use rackloom_wire::ErrorCode;

use crate::Specimen;

/// A card with clocks of [`CLOCKS`], and with bits that cross between them late at random. `RACKLOOM_CLOCKS` is the
/// number of the clocks, 1 if it is not set.
#[derive(Debug)]
pub struct StrainedAt<const WIDE: bool>(RtlCard);

/// With a datapath of 64 bits.
pub type Strained = StrainedAt<false>;
/// With one of 128.
pub type StrainedWide = StrainedAt<true>;

/// Memory, role and port faster and slower than the network.
pub const CLOCKS: [Clocks; 4] = [
    Clocks { ddr: 2100, role: 1370, cfg: 640, jitter: 0 },
    Clocks { ddr: 700, role: 2100, cfg: 1000, jitter: 200 },
    Clocks { ddr: 1000, role: 700, cfg: 1000, jitter: 500 },
    Clocks { ddr: 1370, role: 500, cfg: 2100, jitter: 50 },
];

impl<const WIDE: bool> Specimen for StrainedAt<WIDE> {
    const KIND: Kind = RtlCard::KIND;
    const PORTS: u8 = RtlCard::PORTS;
    const TARGET: &'static str = RtlCard::TARGET;
    const CHECKS_HEAD: bool = RtlCard::CHECKS_HEAD;
    const PROBE_KHZ: u32 = RtlCard::PROBE_KHZ;
    const STUCK: ErrorCode = RtlCard::STUCK;

    fn plug(config: Config) -> Self {
        let card = Config { kind: Self::KIND.announced(), pace: Pace::Live, ..config };
        let stress = Stress { late: true, clocks: chosen(), ..Stress::default() };
        let ddr = DdrTiming { mixes: true, ..DdrTiming::default() };
        let surroundings = rackloom_verilated::Config::new(card.mac, card.pace);
        let width = if WIDE { Width::Bits128 } else { Width::Bits64 };
        let config = rackloom_verilated::Config { card, width, ddr, stress, ..surroundings };
        Self(RtlCard::new(config).expect("a sound configuration"))
    }

    fn unplug(&mut self, now: Instant) {
        self.0.unplug(now);
    }

    fn handle_garbled(&mut self, now: Instant, frame: Frame) -> bool {
        self.0.handle_garbled(now, frame)
    }

    fn frames_elsewhere(&self) -> u64 {
        Specimen::frames_elsewhere(&self.0)
    }

    fn ddr(&self) -> &dyn Memory {
        Specimen::ddr(&self.0)
    }

    fn check(&self) {
        self.0.check();
    }
}

impl<const WIDE: bool> Node for StrainedAt<WIDE> {
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

fn chosen() -> Clocks {
    let number = std::env::var("RACKLOOM_CLOCKS").map_or(1, |text| text.parse().expect("RACKLOOM_CLOCKS is a number"));
    *CLOCKS.get(number).expect("RACKLOOM_CLOCKS is less than the number of CLOCKS")
}
