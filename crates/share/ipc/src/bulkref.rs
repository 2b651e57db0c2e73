//! The reference by which a message names bulk.

use crate::le::le_u64;

/// A reference to a part of a client's bulk: 24 bytes of a message. It is valid in this client's channel only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BulkRef {
    /// The arena on one node; the transfer between nodes.
    pub(crate) id: u64,
    /// Offset of the first byte in the arena; 0 between nodes.
    pub(crate) offset: u64,
    /// Length in bytes.
    pub(crate) len: u64,
}

impl BulkRef {
    /// Length of the encoding in bytes.
    pub const LEN: usize = 24;

    /// The reference to no bytes.
    pub const EMPTY: Self = Self { id: 0, offset: 0, len: 0 };

    /// Encodes it for a message.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::LEN] {
        let mut out = [0; Self::LEN];
        out[..8].copy_from_slice(&self.id.to_le_bytes());
        out[8..16].copy_from_slice(&self.offset.to_le_bytes());
        out[16..].copy_from_slice(&self.len.to_le_bytes());
        out
    }

    /// Decodes it from a message. Any bytes decode; using the reference checks it.
    #[must_use]
    pub fn decode(bytes: &[u8; Self::LEN]) -> Self {
        Self { id: le_u64(bytes, 0), offset: le_u64(bytes, 8), len: le_u64(bytes, 16) }
    }

    /// The length in bytes that the other side claims, not checked yet.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether the length is 0.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}
