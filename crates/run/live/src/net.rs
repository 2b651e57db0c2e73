//! How a user names an Ethernet network.

use std::fmt;
use std::str::FromStr;

use crate::raw::{Raw, RawError};
use crate::segment::{SegmentClient, SegmentError, SegmentPath};
use crate::wire::Wire;

/// A network to attach to, written `virtual`, `virtual:NAME` (or `NAME` alone) or `eth:INTERFACE`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Net {
    /// A network interface of this machine.
    Ethernet(String),
    /// A virtual segment of this user.
    Segment(String),
}

/// Name of the virtual segment when none is given.
const DEFAULT: &str = "default";

impl Net {
    /// Plugs into the network.
    ///
    /// # Errors
    /// See [`Raw::open`] and [`SegmentClient::connect`].
    pub fn attach(&self) -> Result<Box<dyn Wire>, NetError> {
        Ok(match self {
            Self::Ethernet(interface) => Box::new(Raw::open(interface)?),
            Self::Segment(name) => Box::new(SegmentClient::connect(&SegmentPath::named(name)?)?),
        })
    }

    /// The virtual segment's name, if it is one.
    #[must_use]
    pub fn segment(&self) -> Option<&str> {
        match self {
            Self::Segment(name) => Some(name),
            Self::Ethernet(_) => None,
        }
    }

    /// The interface's name, if it is one.
    #[must_use]
    pub fn interface(&self) -> Option<&str> {
        match self {
            Self::Segment(_) => None,
            Self::Ethernet(name) => Some(name),
        }
    }
}

impl Default for Net {
    fn default() -> Self {
        Self::Segment(DEFAULT.to_owned())
    }
}

impl FromStr for Net {
    type Err = NetError;

    fn from_str(text: &str) -> Result<Self, NetError> {
        let segment = match text.split_once(':') {
            Some(("eth", interface)) if !interface.is_empty() => return Ok(Self::Ethernet(interface.to_owned())),
            Some(("virtual", name)) => name,
            Some(_) => return Err(NetError::Unknown { text: text.to_owned() }),
            None if text == "virtual" => DEFAULT,
            None => text,
        };
        Ok(Self::Segment(SegmentPath::named(segment)?.name().to_owned()))
    }
}

impl fmt::Display for Net {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ethernet(interface) => write!(f, "eth:{interface}"),
            Self::Segment(name) => write!(f, "virtual:{name}"),
        }
    }
}

/// Why a network cannot be attached to.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// The interface cannot be used.
    #[error(transparent)]
    Raw(#[from] RawError),
    /// The virtual segment cannot be used.
    #[error(transparent)]
    Segment(#[from] SegmentError),
    /// The text names neither.
    #[error("invalid network {text:?}: expected virtual, virtual:NAME or eth:INTERFACE")]
    Unknown {
        /// What was given.
        text: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_and_interfaces_are_read() {
        let shown = |text: &str| text.parse::<Net>().unwrap().to_string();
        assert_eq!(shown("virtual"), "virtual:default");
        assert_eq!(shown("virtual:lab"), "virtual:lab");
        assert_eq!(shown("lab-2"), "virtual:lab-2");
        assert_eq!(shown("eth:enp1s0"), "eth:enp1s0");
        assert_eq!(Net::default(), "virtual".parse().unwrap());
        for bad in ["eth:", "tap:x", ":"] {
            assert!(matches!(bad.parse::<Net>(), Err(NetError::Unknown { .. })), "{bad}");
        }
        for bad in ["", "virtual:", "../x", "virtual:../x"] {
            assert!(matches!(bad.parse::<Net>(), Err(NetError::Segment(SegmentError::BadName { .. }))), "{bad}");
        }
    }
}
