//! Names of the things in a network: small numbers, given in order of creation.

use core::fmt;
use rackloom_node::Port;

/// A node, from 0 in order of [`Net::add`](crate::Net::add).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(crate) u32);

/// A switch, from 0 in order of creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SwitchId(pub(crate) u32);

/// A cable, from 0 in order of connection; the number of a cable that was pulled is never given again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub(crate) u32);

impl NodeId {
    /// The number, from 0.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl LinkId {
    /// The direction of this cable: its queue, its faults, its counters.
    pub(crate) const fn pipe(self, way: Way) -> PipeId {
        PipeId(self.0 * 2 + way as u32)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node{}", self.0)
    }
}

/// One end of a cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// A port of a node, from 0.
    Node(NodeId, Port),
    /// A port of a switch, from 0.
    Switch(SwitchId, u16),
}

impl From<NodeId> for End {
    /// The node's port 0.
    fn from(id: NodeId) -> Self {
        Self::Node(id, 0)
    }
}

/// A direction of a cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// From the end that was named first when it was connected to the second.
    Forth = 0,
    /// From the second to the first.
    Back = 1,
}

impl Way {
    /// Both directions.
    pub const BOTH: [Self; 2] = [Self::Forth, Self::Back];
}

/// One direction of a cable: two for each link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PipeId(pub(crate) u32);

impl PipeId {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }

    /// The other direction of the same cable.
    pub(crate) const fn reverse(self) -> Self {
        Self(self.0 ^ 1)
    }
}
