//! Reading the frames of any family.

use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use crate::ipv6::Carrier;
use crate::mac::{ETHERNET, MacAddr};
use crate::parse_error::{Ipv6Error, ParseError};

/// What the parser has to know of a family. Generated for each from its description.
pub trait Format {
    /// The header behind Ethernet's, or behind that of the packet; it begins with version and flags, sub-kind, and
    /// length.
    type Header: FromBytes + Immutable + KnownLayout + Unaligned;
    /// What a frame of the family is.
    type Kind: Copy;
    /// The version that this build speaks.
    const VERSION: u8;
    /// The flag which says that a trailer follows that authenticates the frame.
    const AUTH: u8;
    /// The packets that carry the family's frames; `None` if the header follows the EtherType.
    const CARRIER: Option<Carrier> = None;

    /// Whether frames of this EtherType can be of the family.
    fn recognises(ethertype: u16) -> bool;

    /// The kind with this EtherType and sub-kind.
    fn kind(ethertype: u16, kind: u8) -> Option<Self::Kind>;
}

/// A frame taken apart, its header and payload still in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a, F: Format> {
    /// Destination.
    pub dst: MacAddr,
    /// Source.
    pub src: MacAddr,
    /// EtherType and sub-kind.
    pub kind: F::Kind,
    /// `FLAG_*` bits.
    pub flags: u8,
    /// The family's header.
    pub header: &'a F::Header,
    /// The payload, without padding.
    pub payload: &'a [u8],
}

impl<'a, F: Format> Frame<'a, F> {
    /// Takes a frame apart that has no trailer.
    ///
    /// # Errors
    /// See [`ParseError`]; nothing of such a frame may be used.
    pub fn parse(frame: &'a [u8]) -> Result<Self, ParseError> {
        Self::take_apart(frame, false)
    }

    /// Takes a frame apart, whether it has a trailer or not, at which this does not look.
    ///
    /// # Errors
    /// See [`ParseError`]; nothing of such a frame may be used.
    pub(crate) fn parse_any(frame: &'a [u8]) -> Result<Self, ParseError> {
        Self::take_apart(frame, true)
    }

    fn take_apart(frame: &'a [u8], takes_trailer: bool) -> Result<Self, ParseError> {
        let truncated = |need: usize| ParseError::Truncated { need, have: frame.len() };
        let Some((ethernet, behind)) = frame.split_at_checked(ETHERNET) else { return Err(truncated(ETHERNET)) };
        let ethertype = u16::from_be_bytes([ethernet[12], ethernet[13]]);
        if !F::recognises(ethertype) {
            return Err(ParseError::Foreign(ethertype));
        }
        let mac = |at: usize| MacAddr(ethernet[at..at + 6].try_into().expect("six bytes"));
        let (dst, src) = (mac(0), mac(6));
        // A constant for each family: others have no packets to look at.
        let (start, behind) = match F::CARRIER {
            None => (ETHERNET, behind),
            Some(carrier) => carrier.open(behind, dst, src, size_of::<F::Header>())?,
        };
        let end = start + size_of::<F::Header>();
        let (header, rest) = F::Header::ref_from_prefix(behind).map_err(|_| truncated(end))?;
        // Every family's header begins with these.
        let (version, flags, kind) = (behind[0] >> 4, behind[0] & 0xf, behind[1]);
        let length = usize::from(u16::from_be_bytes([behind[2], behind[3]]));
        if version != F::VERSION {
            return Err(ParseError::Version { has: version, speaks: F::VERSION });
        }
        let kind = F::kind(ethertype, kind).ok_or(ParseError::UnknownKind { ethertype, kind })?;
        if flags & F::AUTH != 0 && !takes_trailer {
            return Err(ParseError::Auth);
        }
        // What stands behind a packet is padding; inside there is none.
        if F::CARRIER.is_some() && rest.len() != length {
            return Err(Ipv6Error::Length { packet: behind.len(), frame: size_of::<F::Header>() + length }.into());
        }
        let payload = rest.get(..length).ok_or_else(|| truncated(end + length))?;
        Ok(Self { dst, src, kind, flags, header, payload })
    }
}
