//! Messages and packets of the channel itself: their kinds and sizes.

/// Kinds from here on belong to the channel itself.
pub const RESERVED: u32 = 0xffff_ff00;

/// Client to server: requests an arena (request u32, 4 zero bytes, bytes u64).
pub(crate) const ARENA_ASK: u32 = RESERVED;
/// Client to server: returns an arena (arena u32).
pub(crate) const ARENA_FREE: u32 = RESERVED + 1;
/// Client to server: cancels transfers (u64 each); the server may discard what it has of them.
pub(crate) const BULK_DROP: u32 = RESERVED + 2;

/// Most transfers that one [`BULK_DROP`] names.
pub(crate) const DROPS_MAX: usize = 64;

/// First byte of a packet from the server on the Unix socket: wakes the client's own thread. The packet has no more.
pub(crate) const PACKET_WAKE: u8 = 1;
/// First byte of a packet from the server on the Unix socket: the answer to [`ARENA_ASK`].
pub(crate) const PACKET_ARENA: u8 = 2;
/// Bytes of such an answer: packet kind u8, 3 zero bytes, request u32, arena u32, 4 zero bytes, length in bytes u64.
/// The arena's file comes with it, or is missing when the server refuses.
pub(crate) const ARENA_ANSWER: usize = 24;
