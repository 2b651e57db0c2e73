//! How a message names bulk.

use crate::le::le_u64;

/// A part of a client's bulk, as it goes in a message: 24 bytes. It names nothing in another client's channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BulkRef {
    /// The arena on one node; the transfer between nodes.
    pub(crate) id: u64,
    /// First byte in the arena; 0 between nodes.
    pub(crate) offset: u64,
    /// Bytes.
    pub(crate) len: u64,
}

impl BulkRef {
    /// Bytes of its encoding.
    pub const LEN: usize = 24;

    /// What it names when there is nothing to transfer.
    pub const EMPTY: Self = Self { id: 0, offset: 0, len: 0 };

    /// For a message.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::LEN] {
        let mut out = [0; Self::LEN];
        out[..8].copy_from_slice(&self.id.to_le_bytes());
        out[8..16].copy_from_slice(&self.offset.to_le_bytes());
        out[16..].copy_from_slice(&self.len.to_le_bytes());
        out
    }

    /// From a message. Any bytes are a reference; whether it names anything is found when it is used.
    #[must_use]
    pub fn decode(bytes: &[u8; Self::LEN]) -> Self {
        Self { id: le_u64(bytes, 0), offset: le_u64(bytes, 8), len: le_u64(bytes, 16) }
    }

    /// Bytes that it names; what a peer says, and not checked yet.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether it names no byte.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}
