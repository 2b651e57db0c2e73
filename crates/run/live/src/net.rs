//! How a user names an Ethernet segment.

use std::fmt;
use std::str::FromStr;

use crate::raw::{Raw, RawError};
use crate::segment::{SegmentClient, SegmentError, SegmentPath};
use crate::wire::Wire;

/// A segment to attach to: `eth:IFNAME` is an interface of this machine, anything else the name of a virtual segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Net {
    /// A network interface.
    Ethernet(String),
    /// A virtual segment of this user.
    Segment(String),
}

impl Net {
    /// Plugs into the segment.
    ///
    /// # Errors
    /// See [`Raw::open`] and [`SegmentClient::connect`].
    pub fn attach(&self) -> Result<Box<dyn Wire>, NetError> {
        Ok(match self {
            Self::Ethernet(interface) => Box::new(Raw::open(interface)?),
            Self::Segment(name) => Box::new(SegmentClient::connect(&SegmentPath::named(name)?)?),
        })
    }
}

impl FromStr for Net {
    type Err = NetError;

    fn from_str(s: &str) -> Result<Self, NetError> {
        match s.split_once(':') {
            Some(("eth", interface)) if !interface.is_empty() => Ok(Self::Ethernet(interface.to_owned())),
            Some(_) => Err(NetError::Unknown { text: s.to_owned() }),
            None => SegmentPath::named(s).map(|path| Self::Segment(path.name().to_owned())).map_err(NetError::from),
        }
    }
}

impl fmt::Display for Net {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ethernet(interface) => write!(f, "eth:{interface}"),
            Self::Segment(name) => f.write_str(name),
        }
    }
}

/// Why a segment cannot be attached to.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// The interface cannot be used.
    #[error(transparent)]
    Raw(#[from] RawError),
    /// The virtual segment cannot be used.
    #[error(transparent)]
    Segment(#[from] SegmentError),
    /// The text names neither.
    #[error("{text:?} names no segment; use eth:INTERFACE for a network interface, or the name of a virtual segment")]
    Unknown {
        /// What was given.
        text: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_are_read_and_written() {
        for text in ["eth:enp1s0", "default", "lab-2"] {
            assert_eq!(text.parse::<Net>().unwrap().to_string(), text);
        }
        assert_eq!("eth:veth0".parse::<Net>().unwrap(), Net::Ethernet("veth0".to_owned()));
        for bad in ["eth:", "tap:x", ":"] {
            assert!(matches!(bad.parse::<Net>(), Err(NetError::Unknown { .. })), "{bad}");
        }
        assert!(matches!("../x".parse::<Net>(), Err(NetError::Segment(SegmentError::BadName { .. }))));
    }
}
