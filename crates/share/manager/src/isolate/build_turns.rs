//! Turns to build programs, on the manager's side. Where several programs of a tenant build the same at the same time,
//! as functions do that start in a burst, one of them compiles; the others wait, and find in their caches what it has
//! compiled.
//!
//! A worker names what it builds by a hash. One that makes it up keeps other programs of its tenant waiting, and these
//! wait [no longer than they like](super::build_asker).

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use rackloom_sync::lock;

use super::control::{self, ToWorker};
use super::kernel_cache::pass_on;

/// A tenant, and what one of its programs builds.
type Key = (String, u64);

/// Builds under way, with the workers that wait for each.
#[derive(Debug, Default)]
pub(super) struct BuildTurns(Mutex<BTreeMap<Key, Vec<Member>>>);

/// A worker, as long as it serves a client.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) id: u64,
    pub(super) control: Arc<OwnedFd>,
    /// Its folder of compiled kernels.
    pub(super) kernels: Arc<OwnedFd>,
}

/// A worker's part in its tenant's builds. Who waits for it is let go when this is dropped.
#[derive(Debug)]
pub(super) struct BuildTurn {
    turns: Arc<BuildTurns>,
    tenant: String,
    member: Member,
    builds: Option<Key>,
    awaits: Option<Key>,
}

impl BuildTurn {
    pub(super) const fn new(turns: Arc<BuildTurns>, tenant: String, member: Member) -> Self {
        Self { turns, tenant, member, builds: None, awaits: None }
    }

    /// The worker wants to build this: we answer at once, or when another one has built the same.
    ///
    /// # Errors
    /// It does not take the answer.
    pub(super) fn begin(&mut self, build: u64) -> io::Result<()> {
        self.end(); // It builds one program at a time.
        let key = (self.tenant.clone(), build);
        let mut turns = lock(&self.turns.0);
        if let Some(waiting) = turns.get_mut(&key) {
            waiting.push(self.member.clone());
            self.awaits = Some(key);
            return Ok(());
        }
        turns.insert(key.clone(), Vec::new());
        drop(turns);
        self.builds = Some(key);
        control::send(&*self.member.control, &ToWorker::Build, &[])
    }

    /// It has built, or waits no more.
    pub(super) fn end(&mut self) {
        if let Some(key) = self.awaits.take()
            && let Some(waiting) = lock(&self.turns.0).get_mut(&key)
        {
            waiting.retain(|member| member.id != self.member.id);
        }
        let Some(key) = self.builds.take() else { return };
        let waiting = lock(&self.turns.0).remove(&key).unwrap_or_default();
        if waiting.is_empty() {
            return;
        }
        let (from, built) = (Arc::clone(&self.member.kernels), SystemTime::now());
        // The thread that listens to the worker has other things to do.
        let let_go = move || {
            for member in waiting {
                pass_on(&from, &member.kernels, built);
                let _ = control::send(&*member.control, &ToWorker::Build, &[]); // Or it has ended.
            }
        };
        // If the thread cannot start, they wait for as long as they like.
        let _ = std::thread::Builder::new().name("kernels".into()).spawn(let_go);
    }
}

impl Drop for BuildTurn {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use rustix::net::sockopt::{Timeout, set_socket_timeout};

    use super::super::control::Receiver;
    use super::*;

    /// A worker's end, and its folder.
    struct Worker {
        control: OwnedFd,
        folder: tempfile::TempDir,
    }

    fn worker(turns: &Arc<BuildTurns>, id: u64, tenant: &str) -> (Worker, BuildTurn) {
        let (control, theirs) = control::pair().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let kernels = Arc::new(OwnedFd::from(std::fs::File::open(folder.path()).unwrap()));
        let member = Member { id, control: Arc::new(control), kernels };
        (Worker { control: theirs, folder }, BuildTurn::new(Arc::clone(turns), tenant.to_owned(), member))
    }

    impl Worker {
        /// Whether it may build; if not, after a while.
        fn may_build(&self) -> bool {
            self.may_build_in(Duration::from_secs(60))
        }

        fn may_build_in(&self, time: Duration) -> bool {
            set_socket_timeout(&self.control, Timeout::Recv, Some(time)).unwrap();
            matches!(Receiver::new().next(&self.control), Ok(Some((ToWorker::Build, _))))
        }

        fn waits(&self) -> bool {
            !self.may_build_in(Duration::from_millis(1)) // Its answer would be there by now.
        }
    }

    fn compile(folder: &Path) {
        std::fs::write(folder.join("kernel"), "code").unwrap();
    }

    #[test]
    fn one_compiles_and_the_others_get_what_it_has_compiled() {
        let turns = Arc::default();
        let [(one, mut first), (two, mut second), (three, mut third)] =
            [1, 2, 3].map(|id| worker(&turns, id, "tenant"));
        first.begin(7).unwrap();
        assert!(one.may_build());
        second.begin(7).unwrap();
        third.begin(7).unwrap();
        assert!(two.waits() && three.waits());
        compile(one.folder.path());
        first.end();
        for other in [&two, &three] {
            assert!(other.may_build());
            assert_eq!(std::fs::read(other.folder.path().join("kernel")).unwrap(), b"code");
        }
        // They have built it, and are done; what comes now is built anew.
        second.end();
        third.begin(7).unwrap();
        assert!(three.may_build());
    }

    #[test]
    fn other_builds_and_other_tenants_wait_for_nothing() {
        let turns = Arc::default();
        let (one, mut first) = worker(&turns, 1, "tenant");
        first.begin(7).unwrap();
        assert!(one.may_build());
        for (tenant, build) in [("tenant", 8), ("other", 7)] {
            let (worker, mut turn) = worker(&turns, 2, tenant);
            turn.begin(build).unwrap();
            assert!(worker.may_build(), "{tenant}");
        }
    }

    #[test]
    fn a_worker_that_ends_or_builds_something_else_keeps_nobody_waiting() {
        let turns = Arc::default();
        let [(one, mut first), (two, mut second), (three, mut third)] =
            [1, 2, 3].map(|id| worker(&turns, id, "tenant"));
        first.begin(7).unwrap();
        second.begin(7).unwrap();
        assert!(one.may_build() && two.waits());
        first.begin(8).unwrap(); // Without an end.
        assert!(one.may_build() && two.may_build());
        third.begin(8).unwrap();
        second.begin(8).unwrap();
        drop(second); // It waited.
        assert_eq!(lock(&turns.0).values().map(Vec::len).sum::<usize>(), 1);
        drop(first);
        assert!(three.may_build());
        drop(third);
        assert!(lock(&turns.0).is_empty());
    }
}
