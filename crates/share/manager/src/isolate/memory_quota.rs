//! What the manager counts for workers: on the quotas of a tenant, whose clients each have a worker, and on the
//! machine's, which all share.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use rackloom_sync::lock;

use super::control::{self, FromWorker, ToWorker};
use crate::quota::{Account, Accounts, Bill, Charge, Purse};

/// What a worker has, as the manager counts it. It is given back when this is dropped.
#[derive(Debug)]
pub(super) struct WorkerQuota {
    accounts: Accounts,
    charges: BTreeMap<u64, Paid>,
    most: usize,
    /// Bytes of arenas.
    arenas: Arc<AtomicU64>,
}

#[derive(Debug)]
struct Paid {
    /// Bytes of arenas among it.
    arenas: u64,
    _charge: Charge,
}

impl WorkerQuota {
    /// `most`: charges that the worker may hold at a time.
    pub(super) fn new(accounts: Accounts, most: usize) -> Self {
        Self { accounts, charges: BTreeMap::new(), most, arenas: Arc::default() }
    }

    /// Bytes of its arenas, now and later.
    pub(super) fn arenas(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.arenas)
    }

    /// Answers a worker that asks for what is on a bill.
    pub(super) fn answer(&mut self, to: impl AsFd, number: u64, bill: &Bill) -> io::Result<()> {
        let within = self.charges.len() < self.most && !self.charges.contains_key(&number);
        let charge = within.then(|| self.accounts.pay(bill)).flatten();
        let was = charge.is_some();
        if let Some(charge) = charge {
            let arenas =
                bill.iter().filter(|(account, _)| *account == Account::HostArenas).map(|(_, bytes)| bytes).sum();
            self.arenas.fetch_add(arenas, Ordering::Relaxed);
            self.charges.insert(number, Paid { arenas, _charge: charge });
        }
        control::send(to, &ToWorker::Charged(was), &[])
    }

    /// The worker gives the charge of this number back.
    pub(super) fn give(&mut self, number: u64) {
        let arenas = self.charges.remove(&number).map_or(0, |paid| paid.arenas);
        self.arenas.fetch_sub(arenas, Ordering::Relaxed);
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

    /// Asks the manager to pay a bill.
    fn ask(self: &Arc<Self>, bill: &Bill) -> Option<Charge> {
        let answers = lock(&self.answers);
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        control::tell(&*self.control, &FromWorker::Charge(number, bill.to_vec())).ok()?;
        answers.recv().ok()?.then(|| Charge::of(Given { asker: Arc::clone(self), number }))
    }
}

impl Purse for Arc<Asker> {
    fn pay(&self, bill: &Bill) -> Option<Charge> {
        self.ask(bill)
    }
}

/// A charge that the manager keeps, as a worker holds it.
#[derive(Debug)]
struct Given {
    asker: Arc<Asker>,
    number: u64,
}

impl Drop for Given {
    fn drop(&mut self) {
        let _ = control::tell(&*self.asker.control, &FromWorker::GiveBack(self.number)); // Or the manager is gone.
    }
}
