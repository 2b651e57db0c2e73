//! Constants, kinds, enums and zero-copy views of the toy family.
//!
//! Made from protocol/toy.toml by `cargo run -p protogen`. Change that file, not this one.

use zerocopy::byteorder::network_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::rules::{ClaimRule, Order, Reach, Receiver, Rules, Sender, TakenBy};

/// Protocol version.
pub const VERSION: u8 = 3;
/// A ToyTrailer follows the payload.
pub const FLAG_SIGNED: u8 = 1 << 3;

/// The EtherTypes by which a frame of this family is recognised.
pub mod ethertype {
    /// Toys. The value is IEEE 802's for local experiments.
    pub const TOY: u16 = 0x88B5;
    /// All of them.
    pub const ALL: [u16; 1] = [TOY];
}

/// What a frame is: its EtherType and sub-kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum Kind {
    /// Turn.
    ToySpin = 0x88B501,
    /// It has stopped.
    ToyStopped = 0x88B502,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::ToySpin, Self::ToyStopped];

    /// The kind with this EtherType and sub-kind.
    pub const fn from_wire(ethertype: u16, kind: u8) -> Option<Self> {
        Some(match (ethertype, kind) {
            (0x88B5, 1) => Self::ToySpin,
            (0x88B5, 2) => Self::ToyStopped,
            _ => return None,
        })
    }

    /// The name that tools print.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ToySpin => "toy.spin",
            Self::ToyStopped => "toy.stopped",
        }
    }

    /// The rules of this kind.
    pub const fn rules(self) -> Rules {
        match self {
            Self::ToySpin => Rules {
                from: Sender::Host,
                to: Receiver::Card,
                reach: Reach::Unicast,
                claim: ClaimRule::None,
                taken_by: TakenBy::Firmware,
                order: Order::None,
            },
            Self::ToyStopped => Rules {
                from: Sender::Card,
                to: Receiver::Host,
                reach: Reach::Any,
                claim: ClaimRule::None,
                taken_by: TakenBy::Host,
                order: Order::None,
            },
        }
    }

    /// True for what cards send.
    pub const fn is_from_card(self) -> bool {
        matches!(self.rules().from, Sender::Card | Sender::Both)
    }

    /// True for what cards take.
    pub const fn is_to_card(self) -> bool {
        matches!(self.rules().to, Receiver::Card | Receiver::Both)
    }

    /// True for what hosts take.
    pub const fn is_to_host(self) -> bool {
        matches!(self.rules().to, Receiver::Host | Receiver::Both)
    }

    /// The destination addresses at which a kind of frame is taken.
    pub const fn reach(self) -> Reach {
        self.rules().reach
    }

    /// What a card requires of the sender before it acts on a frame.
    pub const fn claim(self) -> ClaimRule {
        self.rules().claim
    }

    /// What takes a kind of frame in a card made of gateware. A hardware path hands to the firmware what it cannot
    /// take.
    pub const fn taken_by(self) -> TakenBy {
        self.rules().taken_by
    }

    /// How a card made of gateware orders a frame with those its firmware has not finished. A frame to a group address
    /// waits for barriers whatever its kind, since a barrier may make the card join the group.
    pub const fn order(self) -> Order {
        self.rules().order
    }
}

/// The toy family, as a parameter of [`Frame`](crate::Frame).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toy {}

impl crate::Format for Toy {
    type Header = ToyHeader;
    type Kind = Kind;
    const VERSION: u8 = VERSION;
    const AUTH: u8 = FLAG_SIGNED;

    fn recognises(ethertype: u16) -> bool {
        matches!(ethertype, 0x88B5)
    }

    fn kind(ethertype: u16, kind: u8) -> Option<Kind> {
        Kind::from_wire(ethertype, kind)
    }
}

/// The toy's header, bytes 14 to 23 of each frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct ToyHeader {
    /// Version in the high four bits, flags in the low four.
    pub version_flags: u8,
    /// Sub-kind.
    pub kind: u8,
    /// Payload bytes.
    pub length: U16,
    /// The lane it takes.
    pub lane: U16,
    /// Hops so far.
    pub hop: U32,
}

const _: () = assert!(size_of::<ToyHeader>() == 10);

/// What authenticates a toy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct ToyTrailer {
    /// Id of the key.
    pub key: U32,
    /// Grows with each frame.
    pub counter: U64,
    /// The tag.
    pub tag: [u8; 16],
}

const _: () = assert!(size_of::<ToyTrailer>() == 28);

/// How to spin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Spin {
    /// Turns a minute.
    pub speed: U32,
    /// Where to stop.
    pub angle: U32,
}

const _: () = assert!(size_of::<Spin>() == 8);
