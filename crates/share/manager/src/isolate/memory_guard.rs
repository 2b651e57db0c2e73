//! Watches what workers occupy, and ends the largest when all together have more than they may.
//!
//! Honest programs get an error when they ask for more than is left. A hostile kernel takes memory without asking, and
//! not every system lets us bound that by control groups. Then this is what keeps the machine from running out: what
//! the system says of a process cannot be forged by the process.

use std::fs;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use rackloom_sync::lock;
use rustix::process::Pid;

use super::descent::descendants;
use super::keeper::Life;

/// The workers of a manager.
#[derive(Debug)]
pub(super) struct MemoryGuard {
    most: u64,
    workers: Mutex<Vec<Weak<Watched>>>,
}

/// A worker that serves a client.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) name: String,
    pub(super) keeper: Pid,
    pub(super) life: Arc<Life>,
    /// A folder of its file system in memory, if it has one.
    pub(super) folder: Option<Arc<OwnedFd>>,
    /// Bytes of arenas, whoever has touched them.
    pub(super) arenas: Arc<AtomicU64>,
    /// The guard has ended it.
    pub(super) is_ended: AtomicBool,
}

/// Bytes a second that a machine's processes can begin to use, more or less: the closer to the bound, the more often we
/// look.
const RATE: u64 = 4 << 30;

/// How long the next look may be away.
const PAUSES: [Duration; 2] = [Duration::from_millis(20), Duration::from_millis(500)];

/// How long the memory of one that was ended may take to come back, before the next one is ended.
const RETURNING: Duration = Duration::from_secs(1);

impl MemoryGuard {
    /// Watches until it is dropped. `most`: bytes for all.
    ///
    /// # Errors
    /// There can be no other thread.
    pub(super) fn start(most: u64) -> std::io::Result<Arc<Self>> {
        let guard = Arc::new(Self { most, workers: Mutex::default() });
        let watched = Arc::downgrade(&guard);
        let watch = move || {
            let mut pause = PAUSES[1];
            while let Some(guard) = watched.upgrade() {
                pause = guard.look().unwrap_or(pause);
                drop(guard);
                std::thread::sleep(pause);
            }
        };
        std::thread::Builder::new().name("memory".into()).spawn(watch)?;
        Ok(guard)
    }

    /// Watches one more, while it is held.
    pub(super) fn watch(&self, worker: &Arc<Watched>) {
        let mut workers = lock(&self.workers);
        workers.retain(|worker| worker.strong_count() > 0);
        workers.push(Arc::downgrade(worker));
    }

    /// Ends the largest if all have too much; how long the next look may wait.
    fn look(&self) -> Option<Duration> {
        let workers: Vec<_> = lock(&self.workers).iter().filter_map(Weak::upgrade).collect();
        let occupied: Vec<_> = workers.iter().map(|worker| worker.occupies()).collect();
        let left = self.most.checked_sub(occupied.iter().sum());
        if left.is_none() {
            let (worker, bytes) = workers.iter().zip(occupied).max_by_key(|(_, bytes)| *bytes)?;
            eprintln!(
                "rackloom-manager: clients occupy more than {} MiB together (--host-memory); {}, which has {} MiB, is ended",
                self.most >> 20,
                worker.name,
                bytes >> 20
            );
            worker.is_ended.store(true, Ordering::Relaxed);
            worker.life.end();
            let since = Instant::now();
            while worker.occupies() > bytes / 2 && since.elapsed() < RETURNING {
                std::thread::sleep(PAUSES[0]);
            }
        }
        let pause = Duration::from_millis(left.unwrap_or(0) / (RATE / 1000));
        Some(pause.clamp(PAUSES[0], PAUSES[1]))
    }
}

impl Watched {
    /// Bytes of memory that it, and what it has begun, occupy.
    fn occupies(&self) -> u64 {
        let status = |pid: Pid| fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let processes = descendants(self.keeper).into_iter().map(|pid| of_status(&status(pid)));
        let (own, shared) = processes.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
        let files = self.folder.as_ref().and_then(|folder| rustix::fs::fstatfs(&**folder).ok());
        let files = files.map_or(0, |at| (at.f_blocks - at.f_bfree) * u64::try_from(at.f_bsize).unwrap_or(0));
        own + shared.max(self.arenas.load(Ordering::Relaxed)) + files
    }
}

/// Bytes of its own and of shared memory that a process occupies, by its status; files of others do not count.
fn of_status(status: &str) -> (u64, u64) {
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) << 10
    };
    (of("RssAnon:"), of("RssShmem:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read() {
        let status = "Name:\tx\nVmRSS:\t  99 kB\nRssAnon:\t      12 kB\nRssFile:\t   80 kB\nRssShmem:\t       7 kB\n";
        assert_eq!(of_status(status), (12 << 10, 7 << 10));
        assert_eq!(of_status(""), (0, 0), "it has ended");
    }
}
