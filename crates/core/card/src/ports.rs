//! The ports of a card, and the service that each belongs to.

use rackloom_node::Port;
use rackloom_wire::MacAddr;

/// A network port of a card, beside port 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortConfig {
    /// Its address.
    pub mac: MacAddr,
    /// What takes its frames.
    pub service: PortService,
    /// The port, not port 0, to which frames pass that are not for its own address. What is for a group passes and goes
    /// to the service as well; families of ours pass as any other, and go to no service here.
    pub passes_to: Option<Port>,
}

impl PortConfig {
    /// A port that passes nothing.
    pub const fn new(mac: MacAddr, service: PortService) -> Self {
        Self { mac, service, passes_to: None }
    }

    /// The same, passing frames to another port.
    pub const fn passing_to(self, port: Port) -> Self {
        Self { passes_to: Some(port), ..self }
    }

    /// The stream of the role that takes its frames.
    pub(crate) const fn stream(&self) -> Option<u8> {
        match self.service {
            PortService::Stream(stream) => Some(stream),
            PortService::Control | PortService::Link | PortService::Closed => None,
        }
    }

    /// Nothing takes its frames.
    pub(crate) fn is_closed(&self) -> bool {
        self.service == PortService::Closed && self.passes_to.is_none()
    }
}

/// What takes the frames of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortService {
    /// Discovery, claims, loads, memory, launches and results: port 0, and no other.
    Control,
    /// The stream of this number of the role, whose messages are whole Ethernet frames.
    Stream(u8),
    /// A link to one other card, for operations of groups of cards.
    Link,
    /// None: all frames are dropped and counted.
    Closed,
}

/// Most ports of a card: the announcement counts them in a byte, and port numbers are small.
pub(crate) const PORTS_MAX: usize = 64;
