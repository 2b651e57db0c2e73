//! Selective acknowledgement: which of a run of numbers have arrived.

/// A receiver's window of numbers: the first one missing, and which of the 256 beyond it have arrived.
///
/// Formats carry it as [`next`](Self::next) and [`bitmap`](Self::bitmap).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sack {
    next: u32,
    /// Bit i stands for number `next + 1 + i`.
    bits: [u64; 4],
}

/// What a number was to a [`Sack`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// It has arrived for the first time.
    New,
    /// It had arrived already.
    Duplicate,
    /// It lies beyond the window.
    Beyond,
}

impl Sack {
    /// Numbers beyond the first missing one that it can tell of.
    pub const BITS: u32 = 256;

    /// Nothing has arrived; `first` is the first number to come.
    pub const fn new(first: u32) -> Self {
        Self { next: first, bits: [0; 4] }
    }

    /// What a peer says with the first number missing and a [`bitmap`](Self::bitmap).
    pub fn from_bitmap(next: u32, bitmap: &[u8; 32]) -> Self {
        let word = |i: usize| u64::from_le_bytes(bitmap[8 * i..8 * i + 8].try_into().expect("eight bytes"));
        Self { next, bits: [word(0), word(1), word(2), word(3)] }
    }

    /// The numbers beyond the first missing one: bit `i % 8` of byte `i / 8` stands for number `next + 1 + i`.
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

    /// True when `n` has arrived. Numbers wrap; those up to 2^31 behind count as arrived.
    pub const fn has(&self, n: u32) -> bool {
        let ahead = n.wrapping_sub(self.next);
        if ahead >= 1 << 31 {
            return true;
        }
        ahead >= 1 && ahead <= Self::BITS && self.bits[((ahead - 1) / 64) as usize] >> ((ahead - 1) % 64) & 1 == 1
    }

    /// One past the highest number that has arrived.
    pub const fn end(&self) -> u32 {
        let mut word = 4;
        while word > 0 {
            word -= 1;
            if self.bits[word] != 0 {
                let highest = word as u32 * 64 + self.bits[word].ilog2();
                return self.next.wrapping_add(highest + 2);
            }
        }
        self.next
    }

    /// True when no number beyond the first missing one has arrived.
    pub const fn is_contiguous(&self) -> bool {
        matches!(self.bits, [0, 0, 0, 0])
    }

    /// Takes note of `n`.
    pub const fn insert(&mut self, n: u32) -> Arrival {
        if self.has(n) {
            return Arrival::Duplicate;
        }
        let ahead = n.wrapping_sub(self.next);
        if ahead > Self::BITS {
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
        assert_eq!((s.next(), s.end()), (1, 5));
        assert_eq!(s.bitmap()[0], 0b101);
        assert_eq!(s.insert(1), Arrival::New);
        assert_eq!((s.next(), s.end(), Sack::new(7).end()), (3, 5, 7));
        assert_eq!(Sack::from_bitmap(s.next(), &s.bitmap()), s);
        assert_eq!(s.insert(3 + 257), Arrival::Beyond);
        assert_eq!(s.insert(3 + 256), Arrival::New);
        assert_eq!(s.end(), 3 + 257);
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
