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
    /// What the same thing is charged to besides.
    _also: Option<Box<Self>>,
}

/// What a client's buffers are charged to.
#[derive(Debug)]
pub(crate) struct Purse {
    /// The tenant.
    pub(crate) tenant: Arc<Quota>,
    /// The machine, if buffers are in its memory.
    pub(crate) host: Option<Arc<Quota>>,
}

impl Purse {
    /// Takes `amount` for a buffer, if that is left. Memory of the client's own is charged to the machine already.
    pub(crate) fn take(&self, amount: u64, is_clients_own: bool) -> Option<Charge> {
        let mut charge = self.tenant.take(amount)?;
        let host = self.host.as_ref().filter(|_| !is_clients_own);
        if let Some(host) = host {
            charge._also = Some(Box::new(host.take(amount)?));
        }
        Some(charge)
    }
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
            return Some(Charge { quota: Arc::clone(self), amount, number, _also: None });
        }
        let more = |used: u64| used.checked_add(amount).filter(|sum| *sum <= self.limit);
        self.used.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok()?;
        Some(Charge { quota: Arc::clone(self), amount, number: 0, _also: None })
    }
}

impl Charge {
    /// A charge on no tenant, for a program that uses a board without a manager.
    #[must_use]
    pub fn on_nobody() -> Self {
        Self { quota: Quota::new(0), amount: 0, number: 0, _also: None }
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

    #[test]
    fn a_buffer_is_charged_to_its_tenant_and_to_the_machine() {
        let (tenant, host) = (Quota::new(100), Quota::new(50));
        let purse = Purse { tenant: Arc::clone(&tenant), host: Some(Arc::clone(&host)) };
        assert!(purse.take(60, false).is_none(), "more than the machine has left");
        let own = purse.take(60, true).unwrap();
        let buffer = purse.take(40, false).unwrap();
        assert!(purse.take(1, true).is_none() && host.take(11).is_none());
        drop((own, buffer));
        assert!(tenant.take(100).is_some() && host.take(50).is_some());
    }
}
