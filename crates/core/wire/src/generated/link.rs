//! Constants, kinds, enums and zero-copy views of the link family.
//!
//! Made from protocol/link.toml by `cargo run -p protogen`. Change that file, not this one.

use zerocopy::byteorder::network_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::rules::{ClaimRule, Order, Reach, Receiver, Rules, Sender, TakenBy};
use crate::MacAddr;

/// Protocol version.
pub const VERSION: u8 = 1;
/// Bytes from the start of the frame to the payload: 14 of Ethernet and 50 of the common header.
pub const HEADER_END: u16 = 64;
/// Most payload bytes in a standard frame: 22 beats of 64 bytes.
pub const MESSAGE_STANDARD: u16 = 1408;
/// Most payload bytes in a jumbo frame: 139 beats of 64 bytes.
pub const MESSAGE_JUMBO: u16 = 8896;
/// Programs that run at once on a card. Each has a slot, whose number its frames carry.
pub const CONTEXTS: u16 = 8;
/// Bytes of a message that are sent before the receiver has asked for them: at every link a card keeps as many for each
/// slot of its neighbour. Longer messages wait for Ready.
pub const EAGER: u32 = 16384;
/// Numbered frames that may be sent before the receiver has said its limit.
pub const CREDIT: u16 = 64;
/// Bits in the bitmap of a selective acknowledgement.
pub const SACK_BITS: u32 = 256;
/// Number of the kernel by which a launch of the control family starts a program.
pub const KERNEL: u16 = 65535;
/// The card at the other end of the cable, whichever it is.
pub const LINK: MacAddr = MacAddr([0x03, 0x52, 0x4c, 0x00, 0x00, 0x03]);
/// The sender asks for an acknowledgement of what has come, at once.
pub const FLAG_ASKS: u8 = 1 << 0;
/// Reserved: an AuthTrailer of 28 bytes follows the payload. A card drops such a frame and counts it.
pub const FLAG_AUTH: u8 = 1 << 2;
/// The sender takes selective acknowledgements.
pub const FLAG_SELECTIVE: u8 = 1 << 3;

/// The EtherTypes by which a frame of this family is recognised.
pub mod ethertype {
    /// The first EtherType that IEEE 802 leaves for local experiments.
    pub const LINK: u16 = 0x88B5;
    /// All of them.
    pub const ALL: [u16; 1] = [LINK];
}

/// What a frame is: its EtherType and sub-kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum Kind {
    /// Bytes of a message, from offset on. Numbered.
    LinkData = 0x88B501,
    /// The sender takes this message: it may come. For messages longer than EAGER. Numbered.
    LinkReady = 0x88B502,
    /// The message has come, all `total` bytes of it. Numbered.
    LinkDone = 0x88B503,
    /// The sender waits for something, or wants to know who is there. Numbered, so that it is acknowledged.
    LinkBeat = 0x88B504,
    /// The sender's program of this operation has failed: what it owed will not come. Numbered.
    LinkFailed = 0x88B508,
    /// What has come. With the bitmap only to a card that has said SELECTIVE.
    LinkAck = 0x88B505,
    /// What has come, as in Ack; and send again, from number ack on.
    LinkNack = 0x88B506,
    /// Asks for an acknowledgement.
    LinkUnack = 0x88B507,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::LinkData,
        Self::LinkReady,
        Self::LinkDone,
        Self::LinkBeat,
        Self::LinkFailed,
        Self::LinkAck,
        Self::LinkNack,
        Self::LinkUnack,
    ];

    /// The kind with this EtherType and sub-kind.
    pub const fn from_wire(ethertype: u16, kind: u8) -> Option<Self> {
        Some(match (ethertype, kind) {
            (0x88B5, 1) => Self::LinkData,
            (0x88B5, 2) => Self::LinkReady,
            (0x88B5, 3) => Self::LinkDone,
            (0x88B5, 4) => Self::LinkBeat,
            (0x88B5, 8) => Self::LinkFailed,
            (0x88B5, 5) => Self::LinkAck,
            (0x88B5, 6) => Self::LinkNack,
            (0x88B5, 7) => Self::LinkUnack,
            _ => return None,
        })
    }

    /// The name that tools print.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LinkData => "link.data",
            Self::LinkReady => "link.ready",
            Self::LinkDone => "link.done",
            Self::LinkBeat => "link.beat",
            Self::LinkFailed => "link.failed",
            Self::LinkAck => "link.ack",
            Self::LinkNack => "link.nack",
            Self::LinkUnack => "link.unack",
        }
    }

    /// The rules of this kind.
    pub const fn rules(self) -> Rules {
        match self {
            Self::LinkData => Rules {
                from: Sender::Card,
                to: Receiver::Card,
                reach: Reach::Group,
                claim: ClaimRule::None,
                taken_by: TakenBy::Sequencer,
                order: Order::None,
            },
            Self::LinkReady => Rules {
                from: Sender::Card,
                to: Receiver::Card,
                reach: Reach::Group,
                claim: ClaimRule::None,
                taken_by: TakenBy::Sequencer,
                order: Order::None,
            },
            Self::LinkDone => Rules {
                from: Sender::Card,
                to: Receiver::Card,
                reach: Reach::Group,
                claim: ClaimRule::None,
                taken_by: TakenBy::Sequencer,
                order: Order::None,
            },
            Self::LinkBeat => Rules {
                from: Sender::Card,
                to: Receiver::Card,
                reach: Reach::Group,
                claim: ClaimRule::None,
                taken_by: TakenBy::Sequencer,
                order: Order::None,
            },
            Self::LinkFailed => Rules {
                from: Sender::Card,
                to: Receiver::Card,
                reach: Reach::Group,
                claim: ClaimRule::None,
                taken_by: TakenBy::Sequencer,
                order: Order::None,
            },
            Self::LinkAck => Rules {
                from: Sender::Card,
                to: Receiver::Card,
                reach: Reach::Group,
                claim: ClaimRule::None,
                taken_by: TakenBy::Transport,
                order: Order::None,
            },
            Self::LinkNack => Rules {
                from: Sender::Card,
                to: Receiver::Card,
                reach: Reach::Group,
                claim: ClaimRule::None,
                taken_by: TakenBy::Transport,
                order: Order::None,
            },
            Self::LinkUnack => Rules {
                from: Sender::Card,
                to: Receiver::Card,
                reach: Reach::Group,
                claim: ClaimRule::None,
                taken_by: TakenBy::Transport,
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

/// The link family, as a parameter of [`Frame`](crate::Frame).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {}

impl crate::Format for Link {
    type Header = Header;
    type Kind = Kind;
    const VERSION: u8 = VERSION;
    const AUTH: u8 = FLAG_AUTH;

    fn recognises(ethertype: u16) -> bool {
        matches!(ethertype, 0x88B5)
    }

    fn kind(ethertype: u16, kind: u8) -> Option<Kind> {
        Kind::from_wire(ethertype, kind)
    }
}

/// The common header, bytes 14 to 63 of each frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Header {
    /// Protocol version in the high four bits, flags in the low four.
    pub version_flags: u8,
    /// What the frame is.
    pub kind: u8,
    /// Payload bytes that follow, without the padding of a frame.
    pub length: U16,
    /// The sender's context that it is from, 0 to CONTEXTS - 1.
    pub slot: U16,
    /// Which message of the operation between these two cards it is about.
    pub tag: U16,
    /// Zero.
    pub reserved: U16,
    /// The sender's life on this link: a number, not 0.
    pub src_epoch: U32,
    /// The newest life that the sender knows of the receiver; 0: none.
    pub dst_epoch: U32,
    /// Sequence number, for the kinds that have one: from 1 on for each direction. It wraps.
    pub seq: U32,
    /// First sequence number that has not come from the receiver. Valid if dst_epoch is not 0.
    pub ack: U32,
    /// First sequence number that the receiver may not send. Valid if dst_epoch is not 0.
    pub limit: U32,
    /// Number of the group's operation.
    pub number: U32,
    /// Offset of the payload in its message.
    pub offset: U32,
    /// Bytes of the whole message.
    pub total: U32,
    /// The group of cards.
    pub group: U64,
}

const _: () = assert!(size_of::<Header>() == 50);

/// What authenticates a frame: 28 bytes behind the payload when flag AUTH is set. Reserved; `length` does not count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct AuthTrailer {
    /// Id of the key.
    pub key: U32,
    /// Grows with each frame under this key, so that a repeated frame is recognised.
    pub counter: U64,
    /// Authentication tag.
    pub tag: [u8; 16],
}

const _: () = assert!(size_of::<AuthTrailer>() == 28);

/// Selective acknowledgement: bit i (byte i / 8, bit i % 8, least significant first) stands for number ack + 1 + i; ack
/// itself is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Sack {
    /// What has come and is kept, beyond the first missing one.
    pub bitmap: [u8; 32],
}

const _: () = assert!(size_of::<Sack>() == 32);

/// Who is at this end of the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Neighbour {
    /// Address of the card's port 0.
    pub mac: MacAddr,
    /// Number of the port.
    pub port: u8,
    /// Zero.
    pub reserved: u8,
}

const _: () = assert!(size_of::<Neighbour>() == 8);
