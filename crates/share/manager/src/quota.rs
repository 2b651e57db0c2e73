//! What a tenant holds, counted against what it is granted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A sum with a bound, kept here or remotely.
#[derive(Debug)]
pub(crate) struct Quota {
    used: AtomicU64,
    limit: u64,
    remote: Option<Box<dyn RemoteQuota>>,
}

/// Where a quota is kept that others have a part in, too.
pub(crate) trait RemoteQuota: std::fmt::Debug + Send + Sync {
    /// Takes so much, if it is there; a number to give it back by.
    fn take(&self, amount: u64) -> Option<u64>;

    /// Gives back what was taken under a number.
    fn give(&self, number: u64);
}

/// A part of a quota, given back when dropped.
#[derive(Debug)]
pub struct Charge {
    quota: Arc<Quota>,
    amount: u64,
    /// Where the quota is kept remotely.
    number: u64,
}

impl Quota {
    pub(crate) fn new(limit: u64) -> Arc<Self> {
        Arc::new(Self { used: AtomicU64::new(0), limit, remote: None })
    }

    /// One that is kept remotely.
    pub(crate) fn remote(remote: Box<dyn RemoteQuota>) -> Arc<Self> {
        Arc::new(Self { used: AtomicU64::new(0), limit: u64::MAX, remote: Some(remote) })
    }

    /// All that there is to take.
    pub(crate) const fn limit(&self) -> u64 {
        self.limit
    }

    /// Takes so much, if it is there.
    pub(crate) fn take(self: &Arc<Self>, amount: u64) -> Option<Charge> {
        if let Some(remote) = &self.remote {
            let number = remote.take(amount)?;
            return Some(Charge { quota: Arc::clone(self), amount, number });
        }
        let more = |used: u64| used.checked_add(amount).filter(|sum| *sum <= self.limit);
        self.used.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok()?;
        Some(Charge { quota: Arc::clone(self), amount, number: 0 })
    }
}

impl Charge {
    /// A charge on nobody, for who uses a board without a manager.
    #[must_use]
    pub fn on_nobody() -> Self {
        Self { quota: Quota::new(0), amount: 0, number: 0 }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        match &self.quota.remote {
            Some(remote) => remote.give(self.number),
            None => drop(self.quota.used.fetch_sub(self.amount, Ordering::AcqRel)),
        }
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
