//! The names of Ethernet segments.

use std::fmt;
use std::str::FromStr;

use rackloom_live::{Net, Wire};

use crate::Error;

/// A segment to attach to: `virtual` or `virtual:NAME`, or `eth:INTERFACE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetSpec(Net);

/// Name of the virtual segment when none is given.
const DEFAULT: &str = "default";

impl NetSpec {
    /// Attaches to the segment.
    ///
    /// # Errors
    /// Nobody serves the segment, the interface does not exist, or the operating system refuses.
    pub fn attach(&self) -> Result<Box<dyn Wire>, Error> {
        self.0.attach().map_err(Error::Net)
    }

    /// The segment's name, if it is virtual.
    pub fn segment(&self) -> Option<&str> {
        match &self.0 {
            Net::Segment(name) => Some(name),
            Net::Ethernet(_) => None,
        }
    }

    /// The interface's name, if it is an interface.
    pub fn interface(&self) -> Option<&str> {
        match &self.0 {
            Net::Segment(_) => None,
            Net::Ethernet(name) => Some(name),
        }
    }
}

impl Default for NetSpec {
    fn default() -> Self {
        Self(Net::Segment(DEFAULT.to_owned()))
    }
}

impl FromStr for NetSpec {
    type Err = Error;

    fn from_str(s: &str) -> Result<Self, Error> {
        let name = match s.split_once(':') {
            None if s == "virtual" => DEFAULT,
            Some(("virtual", name)) => name,
            _ => s,
        };
        name.parse().map(Self).map_err(Error::Net)
    }
}

impl fmt::Display for NetSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Net::Segment(name) => write!(f, "virtual:{name}"),
            Net::Ethernet(name) => write!(f, "eth:{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_and_interfaces_are_parsed() {
        let shown = |s: &str| s.parse::<NetSpec>().unwrap().to_string();
        assert_eq!(shown("virtual"), "virtual:default");
        assert_eq!(shown("virtual:lab"), "virtual:lab");
        assert_eq!(shown("lab"), "virtual:lab");
        assert_eq!(shown("eth:veth0"), "eth:veth0");
        for bad in ["", "eth:", "virtual:", "tap:x", "virtual:../x"] {
            assert!(bad.parse::<NetSpec>().is_err(), "{bad}");
        }
    }
}
