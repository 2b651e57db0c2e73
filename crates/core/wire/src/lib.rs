//! Every frame that Rackloom puts on the wire.
//!
//! Formats and the rules of each kind come from the families in `protocol/`. The control family is re-exported here:
//! [`Packet`] reads one of its frames without copying it and [`Head::frame`] writes one. [`Family::from_ethertype`]
//! tells which family a frame belongs to.
//!
//! ```text
//!  0      6      12   14       15   16     18    20    24     32
//!  | dst  | src  | ty | ver:fl |kind| len  |epoch| seq | addr | payload ... | zeros to 60 |
//! ```
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;

mod generated;
mod group;
mod mac;
mod packet;
mod ranges;

pub use generated::control::*;
pub use generated::{ETHERTYPES, Family, rules};
pub use mac::MacAddr;
pub use packet::{Head, Packet, ParseError};
pub use ranges::{missing_report, parse_missing};
/// The integer types of the payload structs, and the traits that read and write them.
pub use zerocopy::{
    FromBytes, IntoBytes,
    byteorder::network_endian::{U16, U32, U64},
};
