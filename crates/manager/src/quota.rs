//! What a tenant holds, counted against what it is granted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A sum with a bound.
#[derive(Debug)]
pub(crate) struct Quota {
    used: AtomicU64,
    most: u64,
}

/// A part of a quota, given back when dropped.
#[derive(Debug)]
pub struct Charge {
    quota: Arc<Quota>,
    amount: u64,
}

impl Quota {
    pub(crate) fn new(most: u64) -> Arc<Self> {
        Arc::new(Self { used: AtomicU64::new(0), most })
    }

    /// All that there is to take.
    pub(crate) const fn most(&self) -> u64 {
        self.most
    }

    /// Takes so much, if it is there.
    pub(crate) fn take(self: &Arc<Self>, amount: u64) -> Option<Charge> {
        let more = |used: u64| used.checked_add(amount).filter(|sum| *sum <= self.most);
        self.used.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok()?;
        Some(Charge { quota: Arc::clone(self), amount })
    }
}

impl Charge {
    /// A charge on nobody, for who uses a board without a manager.
    #[must_use]
    pub fn on_nobody() -> Self {
        Self { quota: Quota::new(0), amount: 0 }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.quota.used.fetch_sub(self.amount, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_is_never_exceeded_and_comes_back() {
        let quota = Quota::new(100);
        let first = quota.take(60).unwrap();
        assert!(quota.take(41).is_none() && quota.take(u64::MAX).is_none());
        let second = quota.take(40).unwrap();
        drop(first);
        assert!(quota.take(61).is_none());
        drop(second);
        assert!(quota.take(100).is_some());
    }
}
