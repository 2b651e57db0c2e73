//! A card on the bench, whatever runs it.

use core::fmt::Debug;
use std::sync::{Arc, OnceLock};

use rackloom_card::{Card, Config, Pace};
use rackloom_node::{Frame, Instant, Node};
use rackloom_role::Memory;
use rackloom_sandbox::WasmSandbox;
use rackloom_verilated::RtlCard;
use rackloom_wire::{CardKind, ErrorCode};

/// A card of any kind. What the suite sees of it is frames, DDR, and time.
pub trait Specimen: Node<Event: Debug> + Sized {
    /// What it announces to be run by.
    const KIND: CardKind;
    /// Tag of the image part that it takes.
    const TARGET: &'static str;

    /// Whether it checks the tag of an image's head beside the digest of the whole.
    const CHECKS_HEAD: bool;
    /// Clock of the role `probe` on it, kHz.
    const PROBE_KHZ: u32;

    /// How a kernel ends that answers nothing any more: a model sees a program that passes its bound, gateware a role
    /// that is not there.
    const STUCK: ErrorCode;

    /// A card that is about to be switched on. Kind and pace of the configuration are its own choice.
    fn plug(config: Config) -> Self;

    /// Says goodbye and is gone.
    fn unplug(&mut self, now: Instant);

    /// A frame arrives whose check sequence is wrong. False if a card of this kind never sees such a frame.
    fn handle_garbled(&mut self, now: Instant, frame: Frame) -> bool;

    /// Its memory; that of the hosts comes first.
    fn ddr(&self) -> &dyn Memory;

    /// Asserts what must be true between two calls.
    fn check(&self);
}

impl Specimen for Card {
    const KIND: CardKind = CardKind::Model;
    const TARGET: &'static str = rackloom_image::TARGET_MODEL;
    const CHECKS_HEAD: bool = true;
    const PROBE_KHZ: u32 = 250_000;
    const STUCK: ErrorCode = ErrorCode::KernelFuel;

    fn plug(config: Config) -> Self {
        static SANDBOX: OnceLock<Arc<WasmSandbox>> = OnceLock::new();
        let sandbox = SANDBOX.get_or_init(|| Arc::new(WasmSandbox::default()));
        let config = Config { kind: Self::KIND, pace: Pace::Virtual, ..config };
        Self::new(config, sandbox.clone()).expect("a sound configuration")
    }

    fn unplug(&mut self, now: Instant) {
        Self::unplug(self, now);
    }

    fn handle_garbled(&mut self, _: Instant, _: Frame) -> bool {
        false
    }

    fn ddr(&self) -> &dyn Memory {
        Self::ddr(self)
    }

    fn check(&self) {
        self.check_invariants();
    }
}

impl Specimen for RtlCard {
    const KIND: CardKind = CardKind::Rtl;
    const TARGET: &'static str = rackloom_image::TARGET_RTL;
    const CHECKS_HEAD: bool = false;
    const PROBE_KHZ: u32 = 156_250;
    const STUCK: ErrorCode = ErrorCode::KernelTrap;

    fn plug(config: Config) -> Self {
        // Live, the bench's clock stands still while the gateware computes, as it does for the model.
        let card = Config { kind: Self::KIND, pace: Pace::Live, ..config };
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

    fn ddr(&self) -> &dyn Memory {
        Self::ddr(self)
    }

    fn check(&self) {
        assert!(!self.firmware_failed(), "the firmware has failed");
        assert_eq!((self.frames_lost(), self.accesses_refused()), (0, 0));
    }
}
