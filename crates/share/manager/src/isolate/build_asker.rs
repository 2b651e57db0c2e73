//! Turns to build programs, on the worker's side.

use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rackloom_sync::lock;

use super::control::{self, FromWorker};
use crate::native::BuildQueue;

/// How long a worker waits for another one's build of the same: then it builds as well, since the other one may be
/// stopped, or not the tenant's own any more.
const PATIENCE: Duration = Duration::from_secs(60);

/// A worker's way to ask for a turn.
#[derive(Debug)]
pub(super) struct BuildAsker {
    control: Arc<OwnedFd>,
    turns: Mutex<Receiver<()>>,
}

impl BuildAsker {
    /// The manager's answers are to be passed to the sender.
    pub(super) fn new(control: Arc<OwnedFd>) -> (Self, Sender<()>) {
        let (sender, turns) = channel();
        (Self { control, turns: Mutex::new(turns) }, sender)
    }
}

impl BuildQueue for BuildAsker {
    fn wait(&self, build: u64) {
        let turns = lock(&self.turns);
        while turns.try_recv().is_ok() {} // It came too late for another build.
        if control::tell(&*self.control, &FromWorker::BeginBuild(build)).is_ok() {
            let _ = turns.recv_timeout(PATIENCE); // Or the manager is gone.
        }
    }

    fn done(&self) {
        let _ = control::tell(&*self.control, &FromWorker::EndBuild); // Or the manager is gone.
    }
}
