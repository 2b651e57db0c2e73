//! Windows: which part of a node's memory, or which of its streams, a peer may use.

use core::fmt;
use core::ops::BitOr;

use rackloom_wire::MacAddr;
use rackloom_wire::bridge::BridgeStatus;

/// What a window permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rights(u8);

impl Rights {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// Reads.
    pub const READ: Self = Self(1);
    /// Writes.
    pub const WRITE: Self = Self(1 << 1);
    /// Atomic operations.
    pub const ATOMIC: Self = Self(1 << 2);
    /// Messages to streams: the window is a range of stream numbers, and permits nothing else.
    pub const STREAM: Self = Self(1 << 3);

    /// From the protocol's bits; `None` if there are unknown ones, or streams together with memory.
    pub const fn from_bits(bits: u8) -> Option<Self> {
        let memory = Self::READ.0 | Self::WRITE.0 | Self::ATOMIC.0;
        if bits & !memory == 0 || bits == Self::STREAM.0 { Some(Self(bits)) } else { None }
    }

    /// The protocol's bits.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether it has all that `other` has.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Rights {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Display for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [(Self::READ, "read"), (Self::WRITE, "write"), (Self::ATOMIC, "atomic"), (Self::STREAM, "stream")];
        let mut between = "";
        for (right, name) in names {
            if self.contains(right) {
                write!(f, "{between}{name}")?;
                between = "+";
            }
        }
        if between.is_empty() { f.write_str("none") } else { Ok(()) }
    }
}

/// A range of memory, or of stream numbers, that peers may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// First address, or first stream.
    pub base: u64,
    /// Bytes, or streams; 1 or more.
    pub length: u64,
    /// Who may use it; [`MacAddr::ZERO`]: anybody.
    pub peer: MacAddr,
    /// What for.
    pub rights: Rights,
}

impl Window {
    fn is_for(&self, peer: MacAddr) -> bool {
        self.peer.is_zero() || self.peer == peer
    }

    fn covers(&self, addr: u64, length: u64) -> bool {
        // Neither sum can overflow: the subtractions come first.
        addr.checked_sub(self.base).is_some_and(|at| at < self.length && length <= self.length - at)
    }
}

/// Windows that a node has open at once.
pub const WINDOWS: usize = 16;

/// A node's windows, by number.
#[derive(Debug, Clone, Default)]
pub struct Windows([Option<Window>; WINDOWS]);

impl Windows {
    /// Sets or closes window `number`. False if there is no such number.
    pub fn set(&mut self, number: u64, window: Option<Window>) -> bool {
        let place = usize::try_from(number).ok().and_then(|at| self.0.get_mut(at));
        place.map(|place| *place = window).is_some()
    }

    /// Closes all.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The same, each for everybody.
    #[cfg(feature = "planted-bugs")]
    pub(crate) fn for_anybody(&self) -> Self {
        Self(self.0.map(|w| w.map(|w| Window { peer: MacAddr::ZERO, ..w })))
    }

    /// Whether `peer` may do anything at all on this channel.
    pub fn admits(&self, peer: MacAddr, streams: bool) -> bool {
        self.open().any(|w| w.is_for(peer) && (w.rights == Rights::STREAM) == streams && w.rights != Rights::NONE)
    }

    /// Whether `peer` may do `right` with all of `length` from `addr` on. One window has to permit all of it.
    ///
    /// # Errors
    /// [`BridgeStatus::NoWindow`] where none that is open to `peer` covers it, so that nobody learns of the windows of
    /// others; [`BridgeStatus::Denied`] where one does and lacks the right.
    pub fn check(&self, peer: MacAddr, addr: u64, length: u64, right: Rights) -> Result<(), BridgeStatus> {
        let is_stream = right == Rights::STREAM;
        let same_space = |w: &&Window| (w.rights == Rights::STREAM) == is_stream;
        let mut covering =
            self.open().filter(|w| w.is_for(peer) && w.covers(addr, length)).filter(same_space).peekable();
        if covering.peek().is_none() {
            return Err(BridgeStatus::NoWindow);
        }
        if covering.any(|w| w.rights.contains(right)) { Ok(()) } else { Err(BridgeStatus::Denied) }
    }

    fn open(&self) -> impl Iterator<Item = &Window> {
        self.0.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
    const B: MacAddr = MacAddr([2, 0, 0, 0, 0, 2]);

    fn windows() -> Windows {
        let mut windows = Windows::default();
        let rw = Rights::READ | Rights::WRITE;
        assert!(windows.set(0, Some(Window { base: 0x1000, length: 0x100, peer: A, rights: rw })));
        assert!(windows.set(1, Some(Window { base: 0x2000, length: 8, peer: MacAddr::ZERO, rights: Rights::READ })));
        let top = Window { base: u64::MAX - 7, length: 8, peer: A, rights: Rights::ATOMIC };
        assert!(windows.set(2, Some(top)));
        assert!(windows.set(15, Some(Window { base: 3, length: 2, peer: B, rights: Rights::STREAM })));
        assert!(!windows.set(16, None));
        windows
    }

    #[test]
    fn each_edge_is_where_it_should_be() {
        let w = windows();
        let no = Err(BridgeStatus::NoWindow);
        for (addr, length, is) in [
            (0x1000, 0x100, Ok(())),
            (0x0fff, 2, no),
            (0x10ff, 1, Ok(())),
            (0x10ff, 2, no),
            (0x1100, 1, no),
            (0x1000, u64::MAX, no),
            (u64::MAX, 2, no),
        ] {
            assert_eq!(w.check(A, addr, length, Rights::READ), is, "{addr:#x} {length}");
        }
        assert_eq!(w.check(A, u64::MAX - 7, 8, Rights::ATOMIC), Ok(()));
        assert_eq!(w.check(A, u64::MAX - 7, 9, Rights::ATOMIC), no);
    }

    #[test]
    fn others_windows_do_not_show_and_rights_do() {
        let w = windows();
        assert_eq!(w.check(B, 0x1000, 1, Rights::READ), Err(BridgeStatus::NoWindow));
        assert_eq!(w.check(A, 0x1000, 8, Rights::ATOMIC), Err(BridgeStatus::Denied));
        assert_eq!(w.check(B, 0x2000, 8, Rights::READ), Ok(()));
        assert_eq!(w.check(B, 0x2000, 8, Rights::WRITE), Err(BridgeStatus::Denied));
    }

    #[test]
    fn streams_are_numbers_of_their_own() {
        let w = windows();
        assert_eq!(w.check(B, 4, 1, Rights::STREAM), Ok(()));
        assert_eq!(w.check(B, 5, 1, Rights::STREAM), Err(BridgeStatus::NoWindow));
        assert_eq!(w.check(B, 3, 1, Rights::READ), Err(BridgeStatus::NoWindow));
        assert_eq!(w.check(A, 0x1000, 1, Rights::STREAM), Err(BridgeStatus::NoWindow));
        assert!(w.admits(B, true) && !w.admits(A, true) && w.admits(B, false));
        let mut none = windows();
        none.clear();
        assert!(!none.admits(A, false) && !none.admits(B, true));
    }

    #[test]
    fn bits_that_make_no_sense_are_refused() {
        assert_eq!(Rights::from_bits(0b0111), Some(Rights::READ | Rights::WRITE | Rights::ATOMIC));
        assert_eq!(Rights::from_bits(0b1000), Some(Rights::STREAM));
        assert_eq!(Rights::from_bits(0b1001), None);
        assert_eq!(Rights::from_bits(0b1_0000), None);
        assert_eq!((Rights::READ | Rights::ATOMIC).to_string(), "read+atomic");
    }
}
