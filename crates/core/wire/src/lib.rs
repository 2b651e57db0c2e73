//! Every frame that Rackloom puts on the wire.
//!
//! Formats and the rules of each kind come from the families in `protocol/`. [`Family::of`] tells which family a frame
//! belongs to, and [`Frame`] reads a frame of any family without copying it. The control family is re-exported here:
//! [`Packet`] reads one of its frames and [`Head::frame`] writes one. The names of the bridge family are in [`bridge`];
//! [`BridgePacket`] reads one of its frames, which IPv6 packets carry, and [`BridgeHead::frame`] writes one. The link
//! family's are in [`link`], with [`LinkPacket`] and [`LinkHead::frame`].
//!
//! ```text
//!  0      6      12   14       15   16     18    20    24     32
//!  | dst  | src  | ty | ver:fl |kind| len  |epoch| seq | addr | payload ... | zeros to 60 |
//! ```
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;

mod batch;
mod bridge_frame;
mod frame;
mod generated;
mod group;
mod ipv6;
mod link_frame;
mod mac;
mod packet;
mod parse_error;
mod pause;
mod ranges;
mod tagged;

pub use batch::{parse_batch, put_record};
pub use bridge_frame::{BridgeHead, BridgePacket};
pub use frame::{Format, Frame};
pub use generated::bridge::{self, Bridge};
pub use generated::control::*;
pub use generated::link::{self, Link};
pub use generated::{CARRIERS, ETHERTYPES, Family, rules};
pub use ipv6::Carrier;
pub use link_frame::{LinkHead, LinkPacket};
pub use mac::MacAddr;
pub use packet::{Head, Packet};
pub use parse_error::{Ipv6Error, ParseError};
pub use pause::{MAC_CONTROL, Pause};
pub use ranges::{missing_report, parse_missing};
pub use tagged::{Tagged, Trailer, in_session, open_bytes, with_trailer};
/// The integer types of the payload structs, and the traits that read and write them.
pub use zerocopy::{
    FromBytes, IntoBytes,
    byteorder::network_endian::{U16, U32, U64},
};
