//! Ethernet addresses.

use core::fmt;
use core::str::FromStr;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Bytes of Ethernet that begin every frame: two addresses and the EtherType.
pub(crate) const ETHERNET: usize = 14;

/// An Ethernet address.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[repr(C)]
pub struct MacAddr(pub [u8; 6]);

impl MacAddr {
    /// The broadcast address.
    pub const BROADCAST: Self = Self([0xff; 6]);
    /// No address.
    pub const ZERO: Self = Self([0; 6]);

    /// True for group addresses, broadcast included.
    pub const fn is_multicast(self) -> bool {
        self.0[0] & 1 == 1
    }

    /// True for all zeros.
    pub const fn is_zero(self) -> bool {
        matches!(self.0, [0, 0, 0, 0, 0, 0])
    }
}

impl fmt::Display for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl fmt::Debug for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text is not six hexadecimal bytes with colons between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an Ethernet address such as 02:52:4c:00:00:01")]
pub struct MacParseError;

impl FromStr for MacAddr {
    type Err = MacParseError;
    fn from_str(s: &str) -> Result<Self, MacParseError> {
        let mut bytes = [0; 6];
        let mut parts = s.split(':');
        for b in &mut bytes {
            // from_str_radix takes a sign, too: `+0` is no byte.
            let hex = |p: &&str| p.len() == 2 && p.bytes().all(|b| b.is_ascii_hexdigit());
            let part = parts.next().filter(hex).ok_or(MacParseError)?;
            *b = u8::from_str_radix(part, 16).map_err(|_| MacParseError)?;
        }
        if parts.next().is_some() { Err(MacParseError) } else { Ok(Self(bytes)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn reads_what_it_prints() {
        let mac = MacAddr([2, 0x52, 0x4c, 0, 0xab, 9]);
        assert_eq!(mac.to_string().parse(), Ok(mac));
        for bad in ["", "02:52", "02:52:4c:00:00:01:02", "2:52:4c:0:0:1", "02:52:4c:00:00:zz", "02:52:4c:00:+0:01"] {
            assert_eq!(bad.parse::<MacAddr>(), Err(MacParseError), "{bad}");
        }
        assert_eq!(MacAddr::group(0x1234).to_string(), "03:52:4c:01:12:34");
    }
}
