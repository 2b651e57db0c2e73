//! Equal shares of the processors among workers, from when one of them wants more than one.
//!
//! A worker that has one busy thread takes no more of the processors than any program. One that has many takes as many
//! parts, unless each worker is in a group of the controller `cpu`. But the scheduler goes through each level of groups
//! at each sleep and wake, which small calls feel: 1.3 us for each level in a call over TCP on two processors. So the
//! groups are there from the start, and are used from when they are needed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rackloom_sync::lock;

/// At how many looks in a row each worker wanted more than one processor, by its group's name.
#[derive(Debug, Default)]
pub(super) struct Demand(Mutex<BTreeMap<PathBuf, u32>>);

/// Looks in a row: at one, threads that take turns may be awake together.
const LOOKS: u32 = 5;

impl Demand {
    /// Looks at the workers in the groups below this one. Whether one of them wants more than one processor, and has
    /// for some time.
    pub(super) fn is_much(&self, all: &Path) -> bool {
        let mut last = lock(&self.0);
        let before = std::mem::take(&mut *last);
        let most = threads_max();
        let many = workers(all).filter(|worker| wants_many(worker, most));
        last.extend(many.map(|worker| {
            let looks = before.get(&worker).map_or(1, |looks| looks + 1);
            (worker, looks)
        }));
        last.values().any(|looks| *looks >= LOOKS)
    }
}

/// The groups of workers below that of all.
pub(super) fn workers(all: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(all).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path())
}

/// Moves all processes of a group into another.
pub(super) fn move_all(from: &Path, to: &Path) {
    let there = processes(to);
    for pid in processes(from).into_iter().filter(|pid| !there.contains(pid)) {
        let _ = fs::write(to.join("cgroup.procs"), pid.to_string()); // Or it has ended.
    }
}

fn processes(group: &Path) -> Vec<u32> {
    let all = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    all.lines().filter_map(|pid| pid.parse().ok()).collect()
}

/// Whether those in a group want more than one processor: several of their threads run or wait for one, which says more
/// than what they get on a machine that has much to do. Who has more threads than anybody needs wants many as well: a
/// look must not cost the manager what a client likes.
fn wants_many(group: &Path, threads_max: usize) -> bool {
    let threads = processes(group).into_iter().flat_map(|pid| fs::read_dir(format!("/proc/{pid}/task")));
    let (mut seen, mut running) = (0, 0);
    for thread in threads.flatten().flatten() {
        seen += 1;
        running += usize::from(fs::read_to_string(thread.path().join("stat")).is_ok_and(|stat| is_running(&stat)));
        if running > 1 || seen > threads_max {
            return true;
        }
    }
    false
}

/// Threads that are looked at: a runtime has one for each processor, or two, and some of its own.
fn threads_max() -> usize {
    64 + 2 * std::thread::available_parallelism().map_or(1, usize::from)
}

/// By a thread's line of state, proc_pid_stat(5).
fn is_running(stat: &str) -> bool {
    stat.rsplit_once(") ").is_some_and(|(_, behind_name)| behind_name.starts_with('R'))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_line_of_state_is_read() {
        assert!(is_running("7 (a) S) R 1 7 7 0 -1"));
        assert!(!is_running("7 (a) R) S 1 7 7 0 -1") && !is_running(""));
        assert!(is_running(&fs::read_to_string("/proc/thread-self/stat").unwrap()));
    }

    #[test]
    fn a_look_ends_with_what_a_client_may_cost() {
        let group = tempfile::tempdir().unwrap();
        let mut asleep = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        fs::write(group.path().join("cgroup.procs"), asleep.id().to_string()).unwrap();
        assert!(wants_many(group.path(), 0), "one thread, and none is allowed");
        assert!(!wants_many(group.path(), 1));
        asleep.kill().unwrap();
        asleep.wait().unwrap();
    }

    #[test]
    fn several_running_threads_are_much_after_some_looks() {
        let all = tempfile::tempdir().unwrap();
        let worker = all.path().join("worker-0");
        fs::create_dir(&worker).unwrap();
        fs::write(worker.join("cgroup.procs"), std::process::id().to_string()).unwrap();
        let (demand, stop) = (Demand::default(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            assert_eq!((1..20).find(|_| demand.is_much(all.path())), Some(LOOKS));
            fs::write(worker.join("cgroup.procs"), "").unwrap();
            assert!(!demand.is_much(all.path()), "none is left");
            stop.store(true, Ordering::Relaxed);
        });
    }
}
