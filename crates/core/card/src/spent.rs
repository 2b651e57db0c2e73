//! A short memory of numbers that are used up.

/// The last `N` values put in. Networks repeat and reorder frames: a request that comes again after its effect has been
/// undone must not take effect once more.
#[derive(Debug, Clone)]
pub(crate) struct Spent<T, const N: usize> {
    slots: [Option<T>; N],
    next: usize,
}

impl<T: Copy + PartialEq, const N: usize> Spent<T, N> {
    pub(crate) const fn new() -> Self {
        Self { slots: [None; N], next: 0 }
    }

    pub(crate) fn insert(&mut self, value: T) {
        self.slots[self.next] = Some(value);
        self.next = (self.next + 1) % N;
    }

    pub(crate) fn contains(&self, value: T) -> bool {
        self.slots.contains(&Some(value))
    }
}
