//! Constants, kinds, enums and zero-copy views of the bridge family.
//!
//! Made from protocol/bridge.toml by `cargo run -p protogen`. Change that file, not this one.

use zerocopy::byteorder::network_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::rules::{ClaimRule, Order, Reach, Receiver, Rules, Sender, TakenBy};
use crate::Carrier;

/// Protocol version.
pub const VERSION: u8 = 1;
/// Bytes from the start of the frame to the payload: 14 of Ethernet, 40 of IPv6 and 42 of the common header.
pub const HEADER_END: u16 = 96;
/// Most payload bytes in a standard frame: 22 beats of 64 bytes (1408 + 82 = 1490 of an MTU of 1500).
pub const MESSAGE_STANDARD: u16 = 1408;
/// Most payload bytes in a jumbo frame: 138 beats of 64 bytes (MTU 9000).
pub const MESSAGE_JUMBO: u16 = 8832;
/// Windows of a node, by number: what it opens of its memory to others.
pub const WINDOWS: u16 = 16;
/// Most requests of one node that may be under way at another. One more is its fault, and resets the connection.
pub const TRANSACTIONS: u16 = 64;
/// Channels between two nodes; each has sequence numbers and credit of its own.
pub const CHANNELS: u16 = 2;
/// Numbered packets that may be sent on a channel before the receiver has said its limit. It has room for as many or
/// more.
pub const CREDIT: u16 = 16;
/// The channel of requests and their responses, which are always taken at once.
pub const CHANNEL_MEMORY: u16 = 0;
/// The channel of streams, whose credit is withheld while the receiver does not take the message.
pub const CHANNEL_STREAMS: u16 = 1;
/// Streams of a node, by number.
pub const STREAMS: u16 = 16;
/// Bits in the bitmap of a selective acknowledgement.
pub const SACK_BITS: u32 = 256;
/// The EtherType of IPv6, which carries the frames.
pub const ETHER_TYPE: u16 = 0x86DD;
/// The next header of packets that carry a frame.
pub const NEXT_HEADER: u8 = 253;
/// The hop limit of each packet, sent and demanded.
pub const HOP_LIMIT: u8 = 255;
/// The first eight bytes of every node's address.
pub const SUBNET: u64 = 0xFD524C0000000000;
/// The sender asks for an acknowledgement of what has come, at once.
pub const FLAG_ASKS: u8 = 1 << 0;
/// The last packet of a stream's message.
pub const FLAG_LAST: u8 = 1 << 1;
/// Reserved: an AuthTrailer of 28 bytes follows the payload. A node without keys drops such a frame and counts it.
pub const FLAG_AUTH: u8 = 1 << 2;
/// The sender takes selective acknowledgements.
pub const FLAG_SELECTIVE: u8 = 1 << 3;

/// What a frame is: its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Ask for count bytes at addr, 1 to the most of a message. Numbered.
    ReadRequest = 1,
    /// Bytes for addr, at any alignment; a burst with holes is several requests. Numbered.
    WriteRequest = 2,
    /// Answer to a read or an atomic request, whose id and addr it repeats: tag is a BridgeStatus, count the bytes,
    /// which the payload has; of an atomic request the old value, 8 bytes. Numbered.
    ReadResponse = 3,
    /// Answer to a write request or a batch, whose id and addr it repeats: tag is a BridgeStatus, count the bytes that
    /// were written. Numbered.
    WriteResponse = 4,
    /// Part of a message for stream tag of the receiver; addr is the part's offset in the message, and LAST ends it.
    /// Numbered.
    Stream = 5,
    /// What has come. With the bitmap only to a node that has said SELECTIVE.
    Ack = 6,
    /// What has come, as in Ack; and send again, from number ack on.
    Nack = 7,
    /// Asks for an acknowledgement.
    Unack = 8,
    /// Change the 64-bit number at addr, a multiple of 8, at once and alone; tag is a BridgeOperation. Answered by
    /// ReadResponse. Numbered.
    AtomicRequest = 9,
    /// Several writes, one behind the other: of each a BatchRecord and its bytes, padded with zeros to a multiple of 8.
    /// addr is the first one's. Answered by one WriteResponse. Numbered.
    WriteBatch = 10,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 10] = [
        Self::ReadRequest,
        Self::WriteRequest,
        Self::ReadResponse,
        Self::WriteResponse,
        Self::Stream,
        Self::Ack,
        Self::Nack,
        Self::Unack,
        Self::AtomicRequest,
        Self::WriteBatch,
    ];

    /// The kind of this number.
    pub const fn from_wire(kind: u8) -> Option<Self> {
        Some(match kind {
            1 => Self::ReadRequest,
            2 => Self::WriteRequest,
            3 => Self::ReadResponse,
            4 => Self::WriteResponse,
            5 => Self::Stream,
            6 => Self::Ack,
            7 => Self::Nack,
            8 => Self::Unack,
            9 => Self::AtomicRequest,
            10 => Self::WriteBatch,
            _ => return None,
        })
    }

    /// The name that tools print.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadRequest => "bridge.read-request",
            Self::WriteRequest => "bridge.write-request",
            Self::ReadResponse => "bridge.read-response",
            Self::WriteResponse => "bridge.write-response",
            Self::Stream => "bridge.stream",
            Self::Ack => "bridge.ack",
            Self::Nack => "bridge.nack",
            Self::Unack => "bridge.unack",
            Self::AtomicRequest => "bridge.atomic-request",
            Self::WriteBatch => "bridge.write-batch",
        }
    }

    /// The rules of this kind.
    pub const fn rules(self) -> Rules {
        match self {
            Self::ReadRequest => Rules {
                from: Sender::Both,
                to: Receiver::Both,
                reach: Reach::Unicast,
                claim: ClaimRule::Window,
                taken_by: TakenBy::Bridge,
                order: Order::None,
            },
            Self::WriteRequest => Rules {
                from: Sender::Both,
                to: Receiver::Both,
                reach: Reach::Unicast,
                claim: ClaimRule::Window,
                taken_by: TakenBy::Bridge,
                order: Order::None,
            },
            Self::ReadResponse => Rules {
                from: Sender::Both,
                to: Receiver::Both,
                reach: Reach::Unicast,
                claim: ClaimRule::None,
                taken_by: TakenBy::Bridge,
                order: Order::None,
            },
            Self::WriteResponse => Rules {
                from: Sender::Both,
                to: Receiver::Both,
                reach: Reach::Unicast,
                claim: ClaimRule::None,
                taken_by: TakenBy::Bridge,
                order: Order::None,
            },
            Self::Stream => Rules {
                from: Sender::Both,
                to: Receiver::Both,
                reach: Reach::Unicast,
                claim: ClaimRule::Window,
                taken_by: TakenBy::Bridge,
                order: Order::None,
            },
            Self::Ack => Rules {
                from: Sender::Both,
                to: Receiver::Both,
                reach: Reach::Unicast,
                claim: ClaimRule::None,
                taken_by: TakenBy::Transport,
                order: Order::None,
            },
            Self::Nack => Rules {
                from: Sender::Both,
                to: Receiver::Both,
                reach: Reach::Unicast,
                claim: ClaimRule::None,
                taken_by: TakenBy::Transport,
                order: Order::None,
            },
            Self::Unack => Rules {
                from: Sender::Both,
                to: Receiver::Both,
                reach: Reach::Unicast,
                claim: ClaimRule::None,
                taken_by: TakenBy::Transport,
                order: Order::None,
            },
            Self::AtomicRequest => Rules {
                from: Sender::Both,
                to: Receiver::Both,
                reach: Reach::Unicast,
                claim: ClaimRule::Window,
                taken_by: TakenBy::Bridge,
                order: Order::None,
            },
            Self::WriteBatch => Rules {
                from: Sender::Both,
                to: Receiver::Both,
                reach: Reach::Unicast,
                claim: ClaimRule::Window,
                taken_by: TakenBy::Bridge,
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

/// The packets that carry the family's frames.
pub const CARRIER: Carrier =
    Carrier { ethertype: ETHER_TYPE, next_header: NEXT_HEADER, hop_limit: HOP_LIMIT, subnet: SUBNET };

/// The bridge family, as a parameter of [`Frame`](crate::Frame).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bridge {}

impl crate::Format for Bridge {
    type Header = Header;
    type Kind = Kind;
    const VERSION: u8 = VERSION;
    const AUTH: u8 = FLAG_AUTH;
    const CARRIER: Option<Carrier> = Some(CARRIER);

    fn recognises(ethertype: u16) -> bool {
        matches!(ethertype, 0x86DD)
    }

    fn kind(_: u16, kind: u8) -> Option<Kind> {
        Kind::from_wire(kind)
    }
}

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u16)]
pub enum BridgeStatus {
    /// It is done.
    Ok = 0,
    /// No window of the receiver holds the bytes, or it is not open to this sender: which of the two is not said.
    NoWindow = 1,
    /// The window lacks the right.
    Denied = 2,
    /// The request is not what its kind requires.
    Malformed = 3,
    /// The receiver's memory cannot be used.
    MemoryFailed = 4,
    /// The receiver has no room for it: try again.
    Busy = 5,
}

impl BridgeStatus {
    /// The value on the wire, or `None` if this version knows no such.
    pub const fn from_wire(value: u16) -> Option<Self> {
        Some(match value {
            0 => Self::Ok,
            1 => Self::NoWindow,
            2 => Self::Denied,
            3 => Self::Malformed,
            4 => Self::MemoryFailed,
            5 => Self::Busy,
            _ => return None,
        })
    }

    /// The name that tools print.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::NoWindow => "no-window",
            Self::Denied => "denied",
            Self::Malformed => "malformed",
            Self::MemoryFailed => "memory-failed",
            Self::Busy => "busy",
        }
    }

    /// What it means.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Ok => "It is done.",
            Self::NoWindow => {
                "No window of the receiver holds the bytes, or it is not open to this sender: which of the two is not said."
            }
            Self::Denied => "The window lacks the right.",
            Self::Malformed => "The request is not what its kind requires.",
            Self::MemoryFailed => "The receiver's memory cannot be used.",
            Self::Busy => "The receiver has no room for it: try again.",
        }
    }
}

impl From<BridgeStatus> for u16 {
    fn from(value: BridgeStatus) -> Self {
        value as Self
    }
}

/// What an atomic request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u16)]
pub enum BridgeOperation {
    /// Adds the operand; the sum wraps.
    FetchAdd = 1,
    /// Writes the operand if the value is equal to `compare`.
    CompareSwap = 2,
}

impl BridgeOperation {
    /// The value on the wire, or `None` if this version knows no such.
    pub const fn from_wire(value: u16) -> Option<Self> {
        Some(match value {
            1 => Self::FetchAdd,
            2 => Self::CompareSwap,
            _ => return None,
        })
    }

    /// The name that tools print.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FetchAdd => "fetch-add",
            Self::CompareSwap => "compare-swap",
        }
    }

    /// What it means.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::FetchAdd => "Adds the operand; the sum wraps.",
            Self::CompareSwap => "Writes the operand if the value is equal to `compare`.",
        }
    }
}

impl From<BridgeOperation> for u16 {
    fn from(value: BridgeOperation) -> Self {
        value as Self
    }
}

/// The common header, bytes 54 to 95 of each frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Header {
    /// Protocol version in the high four bits, flags in the low four.
    pub version_flags: u8,
    /// What the frame is.
    pub kind: u8,
    /// Payload bytes that follow, without the padding of a frame.
    pub length: U16,
    /// Number of the transaction, which the requester chooses and the response repeats.
    pub id: U16,
    /// Sequence number, for the kinds that have one: from 1 on for each pair of nodes, direction and channel. It wraps.
    pub seq: U32,
    /// The sender's life: a number, not 0, of its own start.
    pub src_epoch: U32,
    /// The newest life that the sender knows of the receiver; 0: none.
    pub dst_epoch: U32,
    /// First sequence number that has not come from the receiver. Valid if dst_epoch is not 0.
    pub ack: U32,
    /// First sequence number that the receiver may not send. Valid if dst_epoch is not 0.
    pub limit: U32,
    /// Address in the receiver's windows; for streams the offset of the payload in its message.
    pub addr: U64,
    /// Bytes that are asked for, given or applied.
    pub count: U32,
    /// Of a response its status, of a stream its number at the receiver, of an atomic request the operation; else 0.
    pub tag: U16,
    /// 0: memory, 1: streams.
    pub channel: U16,
}

const _: () = assert!(size_of::<Header>() == 42);

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

/// Payload of an atomic request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Atomic {
    /// The summand, or the new value.
    pub operand: U64,
    /// The value that must be there for the new one to be written; 0 for a sum.
    pub compare: U64,
}

const _: () = assert!(size_of::<Atomic>() == 16);

/// Head of one write in a batch; `length` bytes follow, padded with zeros to a multiple of 8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct BatchRecord {
    /// Where the bytes go.
    pub addr: U64,
    /// How many there are, not 0.
    pub length: U16,
    /// Zero.
    pub reserved: [u8; 6],
}

const _: () = assert!(size_of::<BatchRecord>() == 16);
