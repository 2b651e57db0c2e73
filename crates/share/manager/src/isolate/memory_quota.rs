//! Memory quotas that several workers share: the manager counts them.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use rackloom_sync::lock;

use super::control::{self, FromWorker, ToWorker};
use crate::quota::{Charge, Quota, RemoteQuota};

/// A worker's part of a quota, as the manager counts it. It is given back when this is dropped.
#[derive(Debug)]
pub(super) struct WorkerQuota {
    quota: Option<Arc<Quota>>,
    charges: BTreeMap<u64, Charge>,
    most: usize,
}

impl WorkerQuota {
    /// `most`: charges that the worker may hold at a time.
    pub(super) const fn new(quota: Option<Arc<Quota>>, most: usize) -> Self {
        Self { quota, charges: BTreeMap::new(), most }
    }

    /// Answers a worker that asks for `amount`.
    pub(super) fn answer(&mut self, to: impl AsFd, number: u64, amount: u64) -> io::Result<()> {
        let within = self.charges.len() < self.most && !self.charges.contains_key(&number);
        let charge = self.quota.as_ref().filter(|_| within).and_then(|quota| quota.take(amount));
        let was = charge.is_some();
        self.charges.extend(charge.map(|charge| (number, charge)));
        control::send(to, &ToWorker::MemoryTaken(was), &[])
    }

    /// The worker gives the charge of this number back.
    pub(super) fn give(&mut self, number: u64) {
        self.charges.remove(&number);
    }
}

/// A quota that the manager counts, as a worker uses it.
#[derive(Debug)]
pub(super) struct ManagerQuota {
    control: Arc<OwnedFd>,
    /// One thread asks at a time.
    answers: Mutex<Receiver<bool>>,
    next: AtomicU64,
}

impl ManagerQuota {
    /// The manager's answers are to be passed to the sender.
    pub(super) fn new(control: Arc<OwnedFd>) -> (Self, Sender<bool>) {
        let (sender, answers) = channel();
        (Self { control, answers: Mutex::new(answers), next: AtomicU64::new(0) }, sender)
    }
}

impl RemoteQuota for ManagerQuota {
    fn take(&self, amount: u64) -> Option<u64> {
        let answers = lock(&self.answers);
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        control::tell(&*self.control, &FromWorker::TakeMemory(number, amount)).ok()?;
        answers.recv().ok()?.then_some(number)
    }

    fn give(&self, number: u64) {
        let _ = control::tell(&*self.control, &FromWorker::GiveMemory(number)); // Or the manager is gone.
    }
}
