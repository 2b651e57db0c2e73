//! Addresses of groups.

use crate::generated::control::GROUP;
use crate::mac::MacAddr;

impl MacAddr {
    /// The multicast address of a group.
    pub const fn group(id: u16) -> Self {
        let [a, b, c, d, ..] = GROUP.0;
        let [high, low] = id.to_be_bytes();
        Self([a, b, c, d, high, low])
    }

    /// True for the address of a group, whatever its id.
    pub fn is_group(self) -> bool {
        let [.., high, low] = self.0;
        self == Self::group(u16::from_be_bytes([high, low]))
    }
}
