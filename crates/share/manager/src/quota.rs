//! Quotas: sums that a tenant holds, counted against a bound.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A sum with a bound, counted in this process or by another one.
#[derive(Debug)]
pub(crate) struct Quota {
    used: AtomicU64,
    limit: u64,
    remote: Option<Box<dyn RemoteQuota>>,
}

/// A quota that another process counts, since several processes share it.
pub(crate) trait RemoteQuota: std::fmt::Debug + Send + Sync {
    /// Takes `amount` if that is left; returns a number to give it back by.
    fn take(&self, amount: u64) -> Option<u64>;

    /// Gives back what was taken under this number.
    fn give(&self, number: u64);
}

/// A part of a quota; given back when dropped.
#[derive(Debug)]
pub struct Charge {
    quota: Arc<Quota>,
    amount: u64,
    /// Its number, if another process counts the quota.
    number: u64,
}

impl Quota {
    pub(crate) fn new(limit: u64) -> Arc<Self> {
        Arc::new(Self { used: AtomicU64::new(0), limit, remote: None })
    }

    /// A quota that another process counts.
    pub(crate) fn remote(remote: Box<dyn RemoteQuota>) -> Arc<Self> {
        Arc::new(Self { used: AtomicU64::new(0), limit: u64::MAX, remote: Some(remote) })
    }

    /// The bound.
    pub(crate) const fn limit(&self) -> u64 {
        self.limit
    }

    /// Takes `amount` if that is left.
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
    /// A charge on no tenant, for a program that uses a board without a manager.
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
