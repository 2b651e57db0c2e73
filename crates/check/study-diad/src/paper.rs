//! What the DiAD paper states in its text: figures that ours are set beside. Points of its figures that the text does
//! not state are not read off the drawings.

/// Rate of all links, bits a second (IV).
pub const LINK_RATE: u64 = 100_000_000_000;
/// Round trip of small packets between two fabrics over one switch, microseconds (IV.B.1, figure 4).
pub const SMALL_ROUND_TRIP_US: f64 = 1.8;
/// Gb/s of payload that memory-mapped transfers reach at most (IV.B.2, figure 5).
pub const MEMORY_GBPS: f64 = 87.0;
/// Gb/s of messages of 8 KiB, two packets of 4 KiB (IV.B.2).
pub const MESSAGE_8K_GBPS: f64 = 25.0;
/// Gb/s of streams (IV.B.2).
pub const STREAM_GBPS: f64 = 99.6;
/// Reads of 8 bytes from a remote card's DDR by a host, microseconds there and back (IV.C, figure 6).
pub const CHASE_CARD_US: f64 = 3.2;
/// The same from a remote host's DDR.
pub const CHASE_HOST_US: f64 = 3.9;
