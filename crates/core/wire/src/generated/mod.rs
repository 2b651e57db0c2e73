//! What is generated from the descriptions of families: a module for each, and the rules of their kinds.
//!
//! Made from protocol/ by `cargo run -p protogen`. Change that file, not this one.

pub mod control;
pub mod rules;

/// A family of frames: a set of kinds with a header of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Frames of `protocol/control.toml`.
    Control,
}

impl Family {
    /// The family that this EtherType belongs to.
    pub const fn from_ethertype(value: u16) -> Option<Self> {
        match value {
            0x80EF | 0x80EC | 0x80AA | 0x80AB | 0x80DD | 0x80DB | 0x80CC | 0x80CB => Some(Self::Control),
            _ => None,
        }
    }
}

/// The EtherTypes of all families.
pub const ETHERTYPES: [u16; 8] = [0x80EF, 0x80EC, 0x80AA, 0x80AB, 0x80DD, 0x80DB, 0x80CC, 0x80CB];
