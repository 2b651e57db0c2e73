//! What travels between two nodes of the bridge: requests, responses and pieces of streams.

use bytes::Bytes;
use rackloom_wire::bridge::{BridgeOperation, BridgeStatus, Kind};

/// A numbered payload of a connection, with the fields of its header that are the bridge's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its kind; one of those that are numbered.
    pub kind: Kind,
    /// The transaction; 0 for streams.
    pub id: u16,
    /// Address, or offset in a stream's message.
    pub addr: u64,
    /// Bytes asked for or applied.
    pub count: u32,
    /// Status, stream or operation.
    pub tag: u16,
    /// It ends its stream's message.
    pub is_last: bool,
    /// The bytes.
    pub payload: Bytes,
}

impl Message {
    /// Asks for `count` bytes at `addr`.
    pub fn read(id: u16, addr: u64, count: u32) -> Self {
        Self { count, ..Self::new(Kind::ReadRequest, id, addr, Bytes::new()) }
    }

    /// Writes `bytes` at `addr`.
    pub const fn write(id: u16, addr: u64, bytes: Bytes) -> Self {
        Self::new(Kind::WriteRequest, id, addr, bytes)
    }

    /// Changes the 8 bytes at `addr` in one step.
    pub fn atomic(id: u16, addr: u64, atomic: Atomic) -> Self {
        let (op, operand, compare) = match atomic {
            Atomic::FetchAdd(value) => (BridgeOperation::FetchAdd, value, 0),
            Atomic::CompareSwap { expected, new } => (BridgeOperation::CompareSwap, new, expected),
        };
        let payload = [operand.to_be_bytes(), compare.to_be_bytes()].concat();
        Self { tag: op.into(), ..Self::new(Kind::AtomicRequest, id, addr, payload.into()) }
    }

    /// Several writes in one.
    pub const fn batch(id: u16, records: Bytes) -> Self {
        Self::new(Kind::WriteBatch, id, 0, records)
    }

    /// A piece of a stream's message.
    pub fn stream(stream: u16, offset: u64, is_last: bool, bytes: Bytes) -> Self {
        Self { tag: stream, is_last, ..Self::new(Kind::Stream, 0, offset, bytes) }
    }

    /// The answer to a read or an atomic operation.
    pub fn read_response(asked: &Self, status: BridgeStatus, bytes: Bytes) -> Self {
        let count = u32::try_from(bytes.len()).expect("a frame's payload");
        Self { count, tag: status.into(), ..Self::new(Kind::ReadResponse, asked.id, asked.addr, bytes) }
    }

    /// The answer to a write of `count` bytes.
    pub fn write_response(asked: &Self, status: BridgeStatus, count: u32) -> Self {
        Self { count, tag: status.into(), ..Self::new(Kind::WriteResponse, asked.id, asked.addr, Bytes::new()) }
    }

    const fn new(kind: Kind, id: u16, addr: u64, payload: Bytes) -> Self {
        Self { kind, id, addr, count: 0, tag: 0, is_last: false, payload }
    }
}

/// An operation on 8 bytes of memory, a big-endian integer, that nothing else comes between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Atomic {
    /// Adds, with wrap-around.
    FetchAdd(u64),
    /// Stores `new` if the memory holds `expected`.
    CompareSwap {
        /// What has to be there.
        expected: u64,
        /// What to store.
        new: u64,
    },
}

impl Atomic {
    /// From an atomic request; `None` if it is malformed.
    pub fn parse(message: &Message) -> Option<Self> {
        let words: &[u8; 16] = message.payload[..].try_into().ok()?;
        let word = |at: usize| u64::from_be_bytes(words[at..at + 8].try_into().expect("eight bytes"));
        match BridgeOperation::from_wire(message.tag)? {
            BridgeOperation::FetchAdd => Some(Self::FetchAdd(word(0))),
            BridgeOperation::CompareSwap => Some(Self::CompareSwap { new: word(0), expected: word(8) }),
        }
    }

    /// What the memory holds afterwards, where it held `old`.
    pub const fn apply(self, old: u64) -> u64 {
        match self {
            Self::FetchAdd(value) => old.wrapping_add(value),
            Self::CompareSwap { expected, new } if old == expected => new,
            Self::CompareSwap { .. } => old,
        }
    }
}
