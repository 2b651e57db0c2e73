//! A card on the bench, whatever runs it.

use std::sync::Arc;

use rackloom_card::{Card, CardEvent, Config, Pace};
use rackloom_node::{Frame, Instant, Node};
use rackloom_rack::{Kind, Maker};
use rackloom_role::Memory;
use rackloom_verilated::RtlCard;
use rackloom_wire::{Counter, ErrorCode};

/// A card of any kind. What the suite sees of it is frames, DDR, time, and what its role
/// reports.
pub trait Specimen: Node<Event = CardEvent> + Sized {
    /// What runs it.
    const KIND: Kind;
    /// Its network ports.
    const PORTS: u8;
    /// Tag of the image part that it takes.
    const TARGET: &'static str;

    /// Whether it checks the tag of an image's head beside the digest of the whole.
    const CHECKS_HEAD: bool;
    /// Clock of the role `probe` on it, kHz.
    const PROBE_KHZ: u32;

    /// How a kernel ends that answers nothing any more: a model sees a program that passes its bound, gateware a role
    /// that is not there.
    const STUCK: ErrorCode;

    /// Why cards of this kind do not what a case asks for, if they do not. The case is skipped then, and says so.
    fn lacks(_group: &str, _case: &str) -> Option<&'static str> {
        None
    }

    /// A card that is about to be switched on. Kind and pace of the configuration are its own choice.
    fn plug(config: Config) -> Self;

    /// Says goodbye and is gone.
    fn unplug(&mut self, now: Instant);

    /// A frame arrives whose check sequence is wrong. False if a card of this kind never sees such a frame.
    fn handle_garbled(&mut self, now: Instant, frame: Frame) -> bool;

    /// Frames so far that came in on ports that no service has, or that it does not have.
    fn frames_elsewhere(&self) -> u64;

    /// Its memory; that of the hosts comes first.
    fn ddr(&self) -> &dyn Memory;

    /// Asserts what must be true between two calls.
    fn check(&self);
}

impl Specimen for Card {
    const KIND: Kind = Kind::Model;
    const PORTS: u8 = 1;
    const TARGET: &'static str = rackloom_image::TARGET_MODEL;
    const CHECKS_HEAD: bool = true;
    const PROBE_KHZ: u32 = 250_000;
    const STUCK: ErrorCode = ErrorCode::KernelFuel;

    fn plug(config: Config) -> Self {
        let config = Config { kind: Self::KIND.announced(), pace: Pace::Virtual, ..config };
        Self::new(config, Arc::clone(Maker::shared().sandbox())).expect("a sound configuration")
    }

    fn unplug(&mut self, now: Instant) {
        Self::unplug(self, now);
    }

    fn handle_garbled(&mut self, _: Instant, _: Frame) -> bool {
        false
    }

    fn frames_elsewhere(&self) -> u64 {
        self.counters().get(Counter::DropForeign)
    }

    fn ddr(&self) -> &dyn Memory {
        Self::ddr(self)
    }

    fn check(&self) {
        self.check_invariants();
    }
}

impl Specimen for RtlCard {
    const KIND: Kind = Kind::Rtl;
    const PORTS: u8 = 1;
    const TARGET: &'static str = rackloom_image::TARGET_RTL;
    const CHECKS_HEAD: bool = false;
    const PROBE_KHZ: u32 = 156_250;
    const STUCK: ErrorCode = ErrorCode::KernelTrap;

    fn plug(config: Config) -> Self {
        // Live, the bench's clock stands still while the gateware computes, as it does for the model.
        let card = Config { kind: Self::KIND.announced(), pace: Pace::Live, ..config };
        let surroundings = rackloom_verilated::Config::new(card.mac, card.pace);
        Self::new(rackloom_verilated::Config { card, ..surroundings }).expect("a sound configuration")
    }

    fn unplug(&mut self, now: Instant) {
        Self::unplug(self, now);
    }

    fn handle_garbled(&mut self, now: Instant, frame: Frame) -> bool {
        self.handle_bad_frame(now, frame);
        true
    }

    fn frames_elsewhere(&self) -> u64 {
        Self::frames_elsewhere(self)
    }

    fn ddr(&self) -> &dyn Memory {
        Self::ddr(self)
    }

    fn check(&self) {
        let excused = self.planted() != 0 || self.accesses_failed() != 0;
        assert!(self.restarts() == 0 || excused, "the firmware has failed");
        assert_eq!((self.frames_lost(), self.accesses_refused()), (0, 0));
    }
}
