//! Quotas: sums that a tenant holds, counted against bounds.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::metrics::gauge::Gauge;
use rackloom_opencl_wire::Limits;
use serde::{Deserialize, Serialize};

/// A sum with a bound.
#[derive(Debug)]
pub struct Quota {
    used: AtomicU64,
    limit: u64,
}

/// What all clients of a tenant may have together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TenantLimits {
    /// Bytes of buffers.
    pub memory: u64,
    /// Bytes of programs: sources and binaries.
    pub programs: u64,
    /// Objects of each kind.
    pub objects: u32,
    /// Bytes of arenas that a runtime has pinned.
    pub registered: u64,
}

/// How many programs of the largest size a tenant may have, unless somebody says otherwise.
const LARGEST_PROGRAMS: u64 = 4;

/// Bytes of arenas that may be pinned for a tenant, unless somebody says otherwise: pinned memory is the machine's at
/// the cost of all that need it otherwise.
pub(crate) const REGISTERED: u64 = 1 << 30;

impl From<Limits> for TenantLimits {
    fn from(Limits { memory, objects, program, .. }: Limits) -> Self {
        let programs = program.saturating_mul(LARGEST_PROGRAMS);
        Self { memory, programs, objects, registered: REGISTERED }
    }
}

/// What something is charged to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Account {
    /// The tenant's bytes of buffers.
    Memory,
    /// The tenant's bytes of programs.
    ProgramBytes,
    /// The tenant's buffers.
    Buffers,
    /// The tenant's programs.
    Programs,
    /// The tenant's kernels.
    Kernels,
    /// The tenant's samplers.
    Samplers,
    /// The tenant's bytes of arenas that a runtime has pinned.
    Registered,
    /// This machine's memory, for buffers and programs.
    Host,
    /// This machine's memory, for arenas that a client shares with its worker.
    HostArenas,
}

/// What one thing costs: it is taken as a whole.
pub(crate) type Bill = [(Account, u64)];

/// Most items of a bill.
const ITEMS_MAX: usize = 4;

/// A tenant's quotas.
#[derive(Debug)]
pub(crate) struct TenantQuotas {
    memory: Arc<Quota>,
    program_bytes: Arc<Quota>,
    buffers: Arc<Quota>,
    programs: Arc<Quota>,
    kernels: Arc<Quota>,
    samplers: Arc<Quota>,
    registered: Arc<Quota>,
}

/// What a client's things are charged to: quotas here, or in the manager's process.
pub(crate) trait Purse: Debug + Send + Sync {
    /// Pays a bill, if all of it is left.
    fn pay(&self, bill: &Bill) -> Option<Charge>;
}

/// The quotas of a client's tenant, and the machine's.
#[derive(Debug, Clone)]
pub(crate) struct Accounts {
    pub(crate) tenant: Arc<TenantQuotas>,
    pub(crate) host: Arc<Quota>,
    /// Counts the bytes that are registered, for people.
    pub(crate) registered: Gauge,
}

/// Bytes that a gauge shows until this is dropped.
#[derive(Debug)]
struct Shown {
    gauge: Gauge,
    bytes: i64,
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.gauge.dec_by(self.bytes);
    }
}

/// Parts of quotas; given back when dropped.
#[derive(Debug)]
pub struct Charge {
    _held: Box<dyn Debug + Send + Sync>,
}

/// A part of a quota.
#[derive(Debug)]
struct Part {
    quota: Arc<Quota>,
    amount: u64,
}

impl Quota {
    pub(crate) fn new(limit: u64) -> Arc<Self> {
        Arc::new(Self { used: AtomicU64::new(0), limit })
    }

    /// The bound.
    pub(crate) const fn limit(&self) -> u64 {
        self.limit
    }

    /// Takes `amount` if that is left.
    pub(crate) fn take(self: &Arc<Self>, amount: u64) -> Option<Charge> {
        self.part(amount).map(Charge::of)
    }

    fn part(self: &Arc<Self>, amount: u64) -> Option<Part> {
        let more = |used: u64| used.checked_add(amount).filter(|sum| *sum <= self.limit);
        self.used.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok()?;
        Some(Part { quota: Arc::clone(self), amount })
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.quota.used.fetch_sub(self.amount, Ordering::AcqRel);
    }
}

impl TenantQuotas {
    pub(crate) fn new(limits: TenantLimits) -> Arc<Self> {
        let objects = u64::from(limits.objects);
        Arc::new(Self {
            memory: Quota::new(limits.memory),
            program_bytes: Quota::new(limits.programs),
            buffers: Quota::new(objects),
            programs: Quota::new(objects),
            kernels: Quota::new(objects),
            samplers: Quota::new(objects),
            registered: Quota::new(limits.registered),
        })
    }

    /// The same with another bound of memory, if that is another one; what is held by then counts no longer.
    pub(crate) fn with_memory(self: &Arc<Self>, most: u64) -> Arc<Self> {
        if self.memory.limit() == most {
            return Arc::clone(self);
        }
        let Self { program_bytes, buffers, programs, kernels, samplers, registered, .. } = &**self;
        Arc::new(Self {
            memory: Quota::new(most),
            program_bytes: Arc::clone(program_bytes),
            buffers: Arc::clone(buffers),
            programs: Arc::clone(programs),
            kernels: Arc::clone(kernels),
            samplers: Arc::clone(samplers),
            registered: Arc::clone(registered),
        })
    }

    /// Most bytes of buffers.
    pub(crate) fn memory(&self) -> u64 {
        self.memory.limit()
    }
}

impl Accounts {
    fn quota(&self, account: Account) -> &Arc<Quota> {
        match account {
            Account::Memory => &self.tenant.memory,
            Account::ProgramBytes => &self.tenant.program_bytes,
            Account::Buffers => &self.tenant.buffers,
            Account::Programs => &self.tenant.programs,
            Account::Kernels => &self.tenant.kernels,
            Account::Samplers => &self.tenant.samplers,
            Account::Registered => &self.tenant.registered,
            Account::Host | Account::HostArenas => &self.host,
        }
    }
}

impl Purse for Accounts {
    fn pay(&self, bill: &Bill) -> Option<Charge> {
        if bill.len() > ITEMS_MAX {
            return None; // Nothing costs so much: it is a worker's nonsense.
        }
        let parts = bill.iter().map(|(account, amount)| self.quota(*account).part(*amount));
        let parts = parts.collect::<Option<Vec<_>>>()?;
        let registered = bill.iter().filter(|(account, _)| *account == Account::Registered);
        let shown = registered.map(|(_, amount)| {
            let (gauge, bytes) = (self.registered.clone(), i64::try_from(*amount).unwrap_or(i64::MAX));
            gauge.inc_by(bytes);
            Shown { gauge, bytes }
        });
        Some(Charge::of((parts, shown.collect::<Vec<_>>())))
    }
}

impl Charge {
    /// A charge that is given back by dropping `held`.
    pub(crate) fn of(held: impl Debug + Send + Sync + 'static) -> Self {
        Self { _held: Box::new(held) }
    }

    /// A charge on no tenant, for a program that uses a board without a manager.
    #[must_use]
    pub fn on_nobody() -> Self {
        Self::of(())
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

    fn accounts() -> Accounts {
        let tenant = TenantQuotas::new(TenantLimits { memory: 100, programs: 70, objects: 3, registered: 0 });
        Accounts { tenant, host: Quota::new(50), registered: Gauge::default() }
    }

    #[test]
    fn a_bill_is_paid_as_a_whole_or_not() {
        use Account::{Buffers, Host, Memory};

        let accounts = accounts();
        let buffer = |bytes| [(Buffers, 1), (Memory, bytes), (Host, bytes)];
        assert!(accounts.pay(&buffer(60)).is_none(), "more than the machine has left");
        let own = accounts.pay(&[(Buffers, 1), (Memory, 60)]).unwrap();
        let here = accounts.pay(&buffer(40)).unwrap();
        assert!(accounts.pay(&[(Memory, 1)]).is_none() && accounts.host.take(11).is_none());
        let last = accounts.pay(&buffer(0)).unwrap();
        assert!(accounts.pay(&buffer(0)).is_none(), "the fourth of three");
        assert!(accounts.pay(&[(Host, 0); ITEMS_MAX + 1]).is_none());
        drop((own, here, last));
        assert!(accounts.tenant.memory.take(100).is_some() && accounts.host.take(50).is_some());
        assert!(accounts.tenant.buffers.take(3).is_some());
    }

    #[test]
    fn another_bound_of_memory_leaves_the_other_quotas_as_they_are() {
        let Accounts { tenant, .. } = accounts();
        let _held = (tenant.memory.take(90).unwrap(), tenant.kernels.take(3).unwrap());
        assert!(tenant.with_memory(100).memory.take(11).is_none(), "it is the same bound");
        let other = tenant.with_memory(200);
        assert!(other.memory.take(200).is_some() && other.kernels.take(1).is_none());
    }

    #[test]
    fn what_is_registered_is_bounded_and_shown() {
        let tenant = TenantQuotas::new(TenantLimits { memory: 0, programs: 0, objects: 0, registered: 100 });
        let accounts = Accounts { tenant, host: Quota::new(0), registered: Gauge::default() };
        let charge = accounts.pay(&[(Account::Registered, 60)]);
        assert!(charge.is_some() && accounts.pay(&[(Account::Registered, 41)]).is_none());
        assert_eq!(accounts.registered.get(), 60, "what is refused is not shown");
        drop(charge);
        assert_eq!(accounts.registered.get(), 0);
        assert!(accounts.pay(&[(Account::Registered, 100)]).is_some());
    }
}
