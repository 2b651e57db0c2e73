//! Numbers of objects in a session: dense, from 0 up, below the quota.

/// The manager's table in which an object has its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectTable {
    /// Buffers and images, with their bytes, which count against the quota.
    Buffers(u64),
    /// Programs.
    Programs,
    /// Kernels.
    Kernels,
    /// Samplers.
    Samplers,
}

/// Gives out the smallest numbers first, so that the manager's tables stay short.
#[derive(Debug, Default)]
pub struct Numbers {
    next: u32,
    free: Vec<u32>,
}

impl Numbers {
    /// A free number below `limit`, if there is one.
    pub fn take(&mut self, limit: u32) -> Option<u32> {
        self.free.pop().or_else(|| {
            let fresh = (self.next < limit).then_some(self.next);
            self.next += u32::from(fresh.is_some());
            fresh
        })
    }

    /// Takes one back, once the manager knows that its object is released.
    pub fn give(&mut self, number: u32) {
        debug_assert!(number < self.next);
        self.free.push(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_dense_bounded_and_come_again() {
        let mut numbers = Numbers::default();
        assert_eq!((numbers.take(2), numbers.take(2), numbers.take(2)), (Some(0), Some(1), None));
        numbers.give(0);
        assert_eq!((numbers.take(2), numbers.take(2)), (Some(0), None));
    }
}
