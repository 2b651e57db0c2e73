//! What the workers of all boards share of the machine.

use std::sync::Arc;

use anyhow::Context as _;

use super::memory_guard::MemoryGuard;
use crate::cgroup::{self, Bounds, Group, Groups};
use crate::home::{Home, PREFIX};
use crate::quota::Quota;

/// A manager's folder, its control groups, and the memory that its clients may have together.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) home: Home,
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
        let bounds = Bounds { memory, processes: THREADS_OF_ALL };
        let name = home.path().file_name();
        let groups = name.and_then(|name| Groups::new(cgroup::trees(), PREFIX, name, bounds).ok());
        let guard = MemoryGuard::start(memory).context("cannot start a thread")?;
        Ok(Arc::new(Self { home, groups, memory: Quota::new(memory), guard }))
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
