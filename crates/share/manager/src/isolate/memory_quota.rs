//! Memory that the manager counts for workers: of the quota of a tenant, whose clients each have a worker, and of the
//! machine's, which all share.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use rackloom_sync::lock;
use serde::{Deserialize, Serialize};

use super::control::{self, FromWorker, ToWorker};
use crate::quota::{Charge, Quota, RemoteQuota};

/// What memory is charged to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Account {
    /// The tenant: buffers on the board.
    Tenant,
    /// The machine: buffers in its memory.
    HostBuffers,
    /// The machine: arenas that the client shares with its worker.
    HostArenas,
}

/// What a worker has, as the manager counts it. It is given back when this is dropped.
#[derive(Debug)]
pub(super) struct WorkerQuota {
    tenant: Option<Arc<Quota>>,
    host: Arc<Quota>,
    charges: BTreeMap<u64, Part>,
    most: usize,
    /// Bytes of arenas.
    arenas: Arc<AtomicU64>,
}

#[derive(Debug)]
struct Part {
    account: Account,
    amount: u64,
    _charge: Charge,
}

impl WorkerQuota {
    /// `most`: charges that the worker may hold at a time.
    pub(super) fn new(tenant: Option<Arc<Quota>>, host: Arc<Quota>, most: usize) -> Self {
        Self { tenant, host, charges: BTreeMap::new(), most, arenas: Arc::default() }
    }

    /// Bytes of its arenas, now and later.
    pub(super) fn arenas(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.arenas)
    }

    /// Answers a worker that asks for `amount`.
    pub(super) fn answer(&mut self, to: impl AsFd, account: Account, number: u64, amount: u64) -> io::Result<()> {
        let within = self.charges.len() < self.most && !self.charges.contains_key(&number);
        let quota = match account {
            Account::Tenant => self.tenant.as_ref(),
            Account::HostBuffers | Account::HostArenas => Some(&self.host),
        };
        let charge = quota.filter(|_| within).and_then(|quota| quota.take(amount));
        let was = charge.is_some();
        if let Some(charge) = charge {
            if account == Account::HostArenas {
                self.arenas.fetch_add(amount, Ordering::Relaxed);
            }
            self.charges.insert(number, Part { account, amount, _charge: charge });
        }
        control::send(to, &ToWorker::MemoryTaken(was), &[])
    }

    /// The worker gives the charge of this number back.
    pub(super) fn give(&mut self, number: u64) {
        let part = self.charges.remove(&number);
        if let Some(part) = part.filter(|part| part.account == Account::HostArenas) {
            self.arenas.fetch_sub(part.amount, Ordering::Relaxed);
        }
    }
}

/// A worker's way to ask the manager.
#[derive(Debug)]
pub(super) struct Asker {
    control: Arc<OwnedFd>,
    /// One thread asks at a time.
    answers: Mutex<Receiver<bool>>,
    next: AtomicU64,
}

impl Asker {
    /// The manager's answers are to be passed to the sender.
    pub(super) fn new(control: Arc<OwnedFd>) -> (Arc<Self>, Sender<bool>) {
        let (sender, answers) = channel();
        (Arc::new(Self { control, answers: Mutex::new(answers), next: AtomicU64::new(0) }), sender)
    }

    /// A quota that is charged to an account.
    pub(super) fn quota(self: &Arc<Self>, account: Account) -> Arc<Quota> {
        Quota::remote(Box::new(ManagerQuota { asker: Arc::clone(self), account }))
    }
}

/// A quota that the manager counts, as a worker uses it.
#[derive(Debug)]
struct ManagerQuota {
    asker: Arc<Asker>,
    account: Account,
}

impl RemoteQuota for ManagerQuota {
    fn take(&self, amount: u64) -> Option<u64> {
        let Self { asker, account } = self;
        let answers = lock(&asker.answers);
        let number = asker.next.fetch_add(1, Ordering::Relaxed);
        control::tell(&*asker.control, &FromWorker::TakeMemory(*account, number, amount)).ok()?;
        answers.recv().ok()?.then_some(number)
    }

    fn give(&self, number: u64) {
        let _ = control::tell(&*self.asker.control, &FromWorker::GiveMemory(number)); // Or the manager is gone.
    }
}
