//! A receiver's window of numbers, which the caller keeps.

use rackloom_transport::{Arrival, Sack};

/// A window, as an acknowledgement carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Window {
    /// The first number missing.
    pub next: u32,
    /// Bit `i % 8` of byte `i / 8` stands for number `next + 1 + i`.
    pub bitmap: [u8; 32],
}

/// Takes note of `number`, and says what it was: 0 new, 1 a duplicate, 2 beyond the window.
pub(crate) fn insert(window: &mut Window, number: u32) -> usize {
    let mut sack = Sack::from_bitmap(window.next, &window.bitmap);
    let arrival = sack.insert(number);
    *window = Window { next: sack.next(), bitmap: sack.bitmap() };
    match arrival {
        Arrival::New => 0,
        Arrival::Duplicate => 1,
        Arrival::Beyond => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_what_has_arrived() {
        let mut window = Window { next: u32::MAX, bitmap: [0; 32] };
        assert_eq!([1, 1, 300, 0].map(|n| insert(&mut window, n)), [0, 1, 2, 0]);
        assert_eq!((window.next, window.bitmap[0]), (u32::MAX, 0b11));
        assert_eq!(insert(&mut window, u32::MAX), 0);
        assert_eq!(window, Window { next: 2, bitmap: [0; 32] });
    }
}
