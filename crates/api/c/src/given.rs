//! A window that another process has opened for this one, as the environment tells of it.

use std::fmt;
use std::str::FromStr;

use rackloom::{Access, MacAddr};

/// The environment variable with a [`Window`].
pub const GIVEN: &str = "RACKLOOM_WINDOW";
/// The environment variable with this process's address as a node.
pub const NODE: &str = "RACKLOOM_NODE";

/// A window: whose, what part, and for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The node whose memory it is.
    pub node: MacAddr,
    /// First address.
    pub base: u64,
    /// Bytes.
    pub length: u64,
    /// For what.
    pub access: Access,
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let access = match self.access {
            Access::Read => "read",
            Access::ReadWrite => "read-write",
        };
        write!(f, "{},{},{},{access}", self.node, self.base, self.length)
    }
}

impl FromStr for Window {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let parts: Vec<_> = text.split(',').collect();
        let [node, base, length, access] = parts[..] else { return Err(()) };
        let access = match access {
            "read" => Access::Read,
            "read-write" => Access::ReadWrite,
            _ => return Err(()),
        };
        let number = |text: &str| text.parse().map_err(|_| ());
        Ok(Self { node: node.parse().map_err(|_| ())?, base: number(base)?, length: number(length)?, access })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_read_as_it_is_written() {
        for access in [Access::Read, Access::ReadWrite] {
            let window = Window { node: MacAddr([2, 0, 0, 0, 0, 9]), base: 1 << 40, length: 4096, access };
            assert_eq!(window.to_string().parse(), Ok(window));
        }
        for bad in ["", "02:00:00:00:00:09,1,2", "02:00:00:00:00:09,1,2,write", "9,1,2,read", "9,1,2,read,"] {
            assert_eq!(bad.parse::<Window>(), Err(()), "{bad}");
        }
    }
}
