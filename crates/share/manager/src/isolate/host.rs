//! What the workers of all boards share of the machine.

use std::sync::Arc;

use anyhow::Context as _;

use super::memory_guard::MemoryGuard;
use super::own_user;
use crate::cgroup::{self, Bounds, Group, Groups};
use crate::home::{Home, PREFIX};
use crate::quota::Quota;

/// A manager's folder, its control groups, and the memory that its clients may have together.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) home: Home,
    /// Whether each worker gets a user of its own.
    pub(super) gives_users: bool,
    /// Where the system lets the manager make them.
    pub(super) groups: Option<Groups>,
    /// What all clients may have together, as far as they ask for it.
    pub(super) memory: Arc<Quota>,
    /// The same, as far as they do not.
    pub(super) guard: Arc<MemoryGuard>,
}

/// Most threads and processes of a worker.
pub(super) const THREADS: u64 = 1024;

/// Most of all workers: a runtime has a thread for each processor.
const THREADS_OF_ALL: u64 = 16 * THREADS;

impl Host {
    /// `memory`: bytes that all clients may have together.
    ///
    /// # Errors
    /// There is no place for the manager's folder.
    pub(crate) fn new(memory: u64) -> anyhow::Result<Arc<Self>> {
        let parent = std::env::temp_dir();
        let home = Home::new(&parent)
            .with_context(|| format!("cannot make a folder in {}; set TMPDIR to another place", parent.display()))?;
        let gives_users = own_user::can_be_given(home.path());
        if gives_users {
            home.let_through().context("cannot change the manager's folder")?;
        }
        let bounds = Bounds { memory, processes: THREADS_OF_ALL };
        let name = home.path().file_name();
        let groups = name.and_then(|name| Groups::new(cgroup::trees(), PREFIX, name, bounds).ok());
        let guard = MemoryGuard::start(memory).context("cannot start a thread")?;
        let host = Arc::new(Self { home, gives_users, groups, memory: Quota::new(memory), guard });
        if host.has_bounds() {
            let watched = Arc::downgrade(&host);
            let share = move || {
                while let Some(host) = watched.upgrade() {
                    host.groups.iter().for_each(Groups::share_processors);
                    drop(host);
                    std::thread::sleep(cgroup::LOOK);
                }
            };
            std::thread::Builder::new().name("processors".into()).spawn(share).context("cannot start a thread")?;
        }
        Ok(host)
    }

    /// What all clients may have together.
    pub(crate) const fn memory(&self) -> &Arc<Quota> {
        &self.memory
    }

    /// Makes the group of a worker, which may have so many bytes of memory.
    pub(super) fn group(&self, memory: u64) -> Option<Group> {
        let each = Bounds { memory: memory.min(self.memory.limit()), processes: THREADS };
        self.groups.as_ref()?.worker(each).ok()
    }

    /// Removes the folder and the groups: threads of clients that have not ended yet hold this, too.
    pub(crate) fn close(&self) {
        self.groups.iter().for_each(Groups::close);
        self.home.close();
    }

    /// Whether groups bound what workers have.
    pub(super) fn has_bounds(&self) -> bool {
        self.groups.as_ref().is_some_and(|groups| groups.has_bounds)
    }
}
