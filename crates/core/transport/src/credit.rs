//! How far a sender may go.

use crate::seq::is_before;

/// A limit that a receiver raises as it makes room: the sender may send the numbers before it.
///
/// Both ends hold one. Credit is never taken back, since the sender may have used it already; a lower limit comes from
/// a frame that was overtaken and changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credit {
    limit: u32,
}

impl Credit {
    /// The numbers before `limit` may be sent.
    pub const fn new(limit: u32) -> Self {
        Self { limit }
    }

    /// The first number that may not be sent.
    pub const fn limit(&self) -> u32 {
        self.limit
    }

    /// True when number `n` may be sent.
    pub const fn allows(&self, n: u32) -> bool {
        is_before(n, self.limit)
    }

    /// Raises the limit; true if it was lower.
    pub const fn raise(&mut self, limit: u32) -> bool {
        let higher = is_before(self.limit, limit);
        if higher {
            self.limit = limit;
        }
        higher
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_only_rises_also_across_the_wrap() {
        let mut credit = Credit::new(u32::MAX);
        assert!(credit.allows(u32::MAX - 1) && !credit.allows(u32::MAX));
        assert!(credit.raise(3) && !credit.raise(2) && !credit.raise(3));
        assert!(credit.allows(u32::MAX) && credit.allows(2) && !credit.allows(3));
    }
}
