//! Selective acknowledgement: which of a run of numbers are there.

use crate::SACK_BITS;

/// The receiver's side of a window of numbers: the first one missing, and which of the next 256 beyond it are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sack {
    next: u32,
    /// Bit i stands for number `next + 1 + i`.
    bits: [u64; 4],
}

/// What a number was to a [`Sack`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// It is there now, for the first time.
    New,
    /// It was there already.
    Duplicate,
    /// It lies beyond the window.
    Beyond,
}

impl Sack {
    /// Nothing is there; `first` is the first number to come.
    pub const fn new(first: u32) -> Self {
        Self { next: first, bits: [0; 4] }
    }

    /// What a peer says with a frame's seq and an `Ack` bitmap.
    pub fn from_wire(next: u32, bitmap: &[u8; 32]) -> Self {
        let word = |i: usize| u64::from_le_bytes(bitmap[8 * i..8 * i + 8].try_into().expect("eight bytes"));
        Self { next, bits: [word(0), word(1), word(2), word(3)] }
    }

    /// The bitmap for an `Ack`.
    pub fn bitmap(&self) -> [u8; 32] {
        let mut out = [0; 32];
        for (i, word) in self.bits.iter().enumerate() {
            out[8 * i..8 * i + 8].copy_from_slice(&word.to_le_bytes());
        }
        out
    }

    /// The first number missing.
    pub const fn next(&self) -> u32 {
        self.next
    }

    /// True when `n` is there. Numbers wrap; those up to 2^31 behind count as there.
    pub const fn has(&self, n: u32) -> bool {
        let ahead = n.wrapping_sub(self.next);
        if ahead >= 1 << 31 {
            return true;
        }
        ahead >= 1 && ahead <= SACK_BITS && self.bits[((ahead - 1) / 64) as usize] >> ((ahead - 1) % 64) & 1 == 1
    }

    /// True when nothing is there beyond the first missing one.
    pub const fn is_contiguous(&self) -> bool {
        matches!(self.bits, [0, 0, 0, 0])
    }

    /// Takes note of `n`.
    pub const fn insert(&mut self, n: u32) -> Arrival {
        if self.has(n) {
            return Arrival::Duplicate;
        }
        let ahead = n.wrapping_sub(self.next);
        if ahead > SACK_BITS {
            return Arrival::Beyond;
        }
        if ahead > 0 {
            self.bits[((ahead - 1) / 64) as usize] |= 1 << ((ahead - 1) % 64);
            return Arrival::New;
        }
        // The gap closes: move on to the next number that is not there.
        loop {
            self.next = self.next.wrapping_add(1);
            let there = self.bits[0] & 1 == 1;
            self.shift();
            if !there {
                return Arrival::New;
            }
        }
    }

    const fn shift(&mut self) {
        let [a, b, c, d] = self.bits;
        self.bits = [a >> 1 | b << 63, b >> 1 | c << 63, c >> 1 | d << 63, d >> 1];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_closes() {
        let mut s = Sack::new(1);
        assert_eq!(s.insert(2), Arrival::New);
        assert_eq!(s.insert(4), Arrival::New);
        assert_eq!(s.insert(2), Arrival::Duplicate);
        assert_eq!(s.next(), 1);
        assert_eq!(s.bitmap()[0], 0b101);
        assert_eq!(s.insert(1), Arrival::New);
        assert_eq!(s.next(), 3);
        assert_eq!(Sack::from_wire(s.next(), &s.bitmap()), s);
        assert_eq!(s.insert(3 + 257), Arrival::Beyond);
        assert_eq!(s.insert(3 + 256), Arrival::New);
        assert!(s.has(4) && s.has(0) && !s.has(3) && s.has(259) && !s.has(258));
    }

    #[test]
    fn any_order_across_the_wrap_ends_contiguous() {
        let first = u32::MAX - 100;
        let mut s = Sack::new(first);
        for step in 0..200u32 {
            let n = first.wrapping_add(step * 7 % 200);
            assert_eq!(s.insert(n), Arrival::New, "{step}");
            assert_eq!(s.insert(n), Arrival::Duplicate, "{step}");
        }
        assert_eq!(s.next(), first.wrapping_add(200));
        assert!(s.is_contiguous());
    }
}
