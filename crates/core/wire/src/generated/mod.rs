//! What is generated from the descriptions of families: a module for each, and the rules of their kinds.
//!
//! Made from protocol/ by `cargo run -p protogen`. Change that file, not this one.

pub mod bridge;
pub mod control;
pub mod link;
pub mod rules;

/// A family of frames: a set of kinds with a header of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Frames of `protocol/bridge.toml`.
    Bridge,
    /// Frames of `protocol/control.toml`.
    Control,
}

impl Family {
    /// The family that this EtherType alone belongs to.
    pub const fn from_ethertype(value: u16) -> Option<Self> {
        match value {
            0x80EF | 0x80EC | 0x80AA | 0x80AB | 0x80DD | 0x80DB | 0x80CC | 0x80CB => Some(Self::Control),
            _ => None,
        }
    }

    /// The family that this frame belongs to, whether or not it keeps the family's other rules.
    pub fn of(frame: &[u8]) -> Option<Self> {
        let value = u16::from_be_bytes(*frame.get(12..)?.first_chunk()?);
        match value {
            0x86DD if bridge::CARRIER.carries(frame) => Some(Self::Bridge),
            _ => Self::from_ethertype(value),
        }
    }
}

/// The EtherTypes by which alone a frame is known to be of a family.
pub const ETHERTYPES: [u16; 8] = [0x80EF, 0x80EC, 0x80AA, 0x80AB, 0x80DD, 0x80DB, 0x80CC, 0x80CB];

/// The packets that carry the frames of the other families.
pub const CARRIERS: [crate::Carrier; 1] = [bridge::CARRIER];
