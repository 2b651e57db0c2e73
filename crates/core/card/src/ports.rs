//! The ports of a card, and the service that each belongs to.

use rackloom_wire::MacAddr;

/// A network port of a card, beside port 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortConfig {
    /// Its address.
    pub mac: MacAddr,
    /// What takes its frames.
    pub service: PortService,
}

/// What takes the frames of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortService {
    /// Discovery, claims, loads, memory, launches and results: port 0, and no other.
    Control,
    /// The stream of this number of the role, whose messages are whole Ethernet frames.
    Stream(u8),
    /// None: all frames are dropped and counted.
    Closed,
}

/// Most ports of a card: the announcement counts them in a byte, and port numbers are small.
pub(crate) const PORTS_MAX: usize = 64;
