//! What the host keeps of each operation, sender and Go.

use rackloom_node::Instant;
use rackloom_transport::Backoff;
use rackloom_wire::MacAddr;

use crate::event::OpId;

/// Where an operation is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// `None`: a load.
    pub(super) card: Option<MacAddr>,
    pub(super) begun: Instant,
    pub(super) deadline: Option<Instant>,
    /// In `limits`.
    pub(super) limit: Option<Instant>,
}

/// Something that may have bulk frames to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Card(MacAddr),
    Load(OpId),
}

/// A Go that some held launch may not have heard.
#[derive(Debug)]
pub(super) struct Go {
    pub(super) number: u32,
    pub(super) timer: Backoff,
}
