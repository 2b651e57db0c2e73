//! What an endpoint counts.

/// Counters of an [`Endpoint`](crate::Endpoint).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EndpointCounters {
    /// Frames that came in.
    pub rx: u64,
    /// Frames that went out, those sent again included.
    pub tx: u64,
    /// Of these, frames whose payload had been sent before.
    pub resent: u64,
    /// Requests carried out, or that memory failed.
    pub served: u64,
    /// Frames that are not for this node, or not of its subnet, or whose source cannot be: dropped.
    pub foreign: u64,
    /// Frames that are malformed, or that acknowledge or answer what never was: dropped. Requests that are malformed:
    /// answered with a status.
    pub malformed: u64,
    /// Frames of another life of either node: dropped.
    pub stale: u64,
    /// Payloads that had come before: dropped.
    pub duplicates: u64,
    /// Frames and requests that no window permits, or for which there is no room: dropped, or answered with a status.
    pub denied: u64,
}
