//! The ways in which a family can be recognised; what its kinds may state depends on it.

use serde::Deserialize;

/// How a receiver knows that a frame is of this family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RecognisedBy {
    /// By its EtherTypes, which no other family has.
    EtherType,
    /// By the IPv6 packets that carry its frames: their next header, and a destination within fc00::/7. Other packets
    /// of the EtherType are a host's.
    Ipv6,
    /// By its EtherTypes, on the links between two cards and nowhere else: there it is any other frame.
    Link,
}
