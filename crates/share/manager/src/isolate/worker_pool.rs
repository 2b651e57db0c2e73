//! The pool of workers for a device: one is kept ready, since a runtime takes a while to start.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use rackloom_sync::{lock, wait};

use super::build_turns::{BuildTurn, BuildTurns, Member};
use super::confine::may_occupy;
use super::control::{DeviceOrigin, ReadAccess, WorkerSetup};
use super::host::Host;
use super::keeper::Enclosure;
use super::kernel_cache::KernelCache;
use super::layers::Layers;
use super::template::Template;
use super::worker::{Worker, first_that_starts};
use crate::home::remove;

/// A device's workers.
#[derive(Debug)]
pub(super) struct WorkerPool {
    origin: DeviceOrigin,
    /// Bytes of memory that each client may have.
    memory: u64,
    /// Workers ready for a client, one for each kind of access that clients have needed.
    spare: Mutex<BTreeMap<ReadAccess, Worker>>,
    starts: Starts,
    kernels: KernelCache,
    builds: Arc<BuildTurns>,
    /// The parent of the workers' folders.
    folder: PathBuf,
    pub(super) host: Arc<Host>,
    number: AtomicU64,
    enclosure: Enclosure,
    gives_users: bool,
    /// Drivers of other devices may start threads and open files when they are loaded.
    template: Option<Template>,
    /// What confines the workers.
    pub(super) layers: Layers,
    /// Workers that take long to end.
    ending: Mutex<Vec<Worker>>,
}

impl WorkerPool {
    /// Makes a pool with one worker ready, for programs of this user. `memory`: bytes that each client may have.
    ///
    /// # Errors
    /// It cannot be started, or cannot open the device.
    pub(super) fn new(origin: DeviceOrigin, memory: u64, host: Arc<Host>) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("device-").tempdir_in(host.home.path())?.keep();
        let gives_users = host.gives_users;
        if gives_users {
            fs::set_permissions(&folder, fs::Permissions::from_mode(0o711))?; // The workers pass through.
        }
        let kernels = KernelCache::new(folder.join("kernels"))?;
        let (spare, ending, builds) = Default::default();
        let number = AtomicU64::new(0);
        let template = origin.is_processor.then(|| Template::new(origin.library.clone()));
        let mut pool = Self {
            origin,
            memory,
            spare,
            starts: Starts::default(),
            kernels,
            builds,
            folder,
            host,
            number,
            enclosure: Enclosure::Namespaces,
            gives_users,
            template,
            layers: Layers::default(),
            ending,
        };
        let spare = first_that_starts(gives_users, |enclosure, gives_users| {
            (pool.enclosure, pool.gives_users) = (enclosure, gives_users);
            pool.start(pool.usual())
        })?;
        pool.layers = spare.layers;
        pool.layers.cgroup &= pool.host.has_bounds();
        pool.spare().insert(pool.usual(), spare);
        Ok(pool)
    }

    /// The access of most clients.
    const fn usual(&self) -> ReadAccess {
        // One that is another user cannot read what the manager's may.
        if self.gives_users { ReadAccess::Runtime } else { ReadAccess::User }
    }

    /// Starts a worker and waits until it is ready.
    fn start(&self, access: ReadAccess) -> io::Result<Worker> {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let own = self.folder.join(format!("worker-{number}"));
        let setup = WorkerSetup { origin: self.origin.clone(), own, access, memory: self.memory };
        let group = self.host.group(may_occupy(self.memory));
        let (worker, opened) = Worker::start(setup, self.enclosure, self.gives_users, group, self.template.as_ref())?;
        opened.map_err(io::Error::other)?;
        Ok(worker)
    }

    fn spare(&self) -> MutexGuard<'_, BTreeMap<ReadAccess, Worker>> {
        lock(&self.spare)
    }

    /// A worker that is ready, if one is.
    fn ready(&self, access: ReadAccess) -> Option<Worker> {
        let spare = self.spare().remove(&access);
        // While it was idle, somebody may have ended it.
        spare.and_then(|mut worker| worker.is_there().then_some(worker))
    }

    /// Takes a worker for a client of this tenant, if the tenant is known; the next one is started meanwhile.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub(super) fn take(self: &Arc<Self>, tenant: Option<&str>, access: ReadAccess) -> io::Result<Worker> {
        let worker = match self.ready(access) {
            Some(worker) => worker,
            None => {
                let _turn = self.starts.turn()?;
                match self.ready(access) {
                    Some(worker) => worker,
                    None => self.start(access)?,
                }
            }
        };
        if let (Some(tenant), Some(kernels)) = (tenant, &worker.kernels) {
            self.kernels.take(tenant, kernels);
            // What a driver of another device has in files is not known to be whole before its process ends.
            if self.origin.is_processor {
                self.kernels.share(tenant, kernels);
            }
        }
        let pool = Arc::downgrade(self);
        let refill = move || {
            let Some(pool) = pool.upgrade() else { return };
            let Ok(_turn) = pool.starts.turn() else { return };
            if !pool.spare().contains_key(&access) {
                let worker = pool.start(access).ok();
                pool.spare().extend(worker.map(|worker| (access, worker)));
            }
        };
        // If the thread cannot start, the next client waits a little longer.
        let _ = std::thread::Builder::new().name("worker".into()).spawn(refill);
        Ok(worker)
    }

    /// A worker's part in the builds of its tenant, where compiled kernels may be passed on while programs run.
    pub(super) fn build_turn(&self, id: u64, tenant: Option<&str>, worker: &Worker) -> Option<BuildTurn> {
        let tenant = tenant.filter(|_| self.origin.is_processor)?;
        let (control, kernels) = (Arc::clone(&worker.control), Arc::clone(worker.kernels.as_ref()?));
        Some(BuildTurn::new(Arc::clone(&self.builds), tenant.to_owned(), Member { id, control, kernels }))
    }

    /// Takes a worker that is to end, and keeps what its runtime has compiled for the tenant.
    pub(super) fn put_back(&self, mut worker: Worker, tenant: Option<String>) {
        let mut ending = lock(&self.ending);
        ending.retain_mut(Worker::is_there);
        if worker.is_there() {
            ending.push(worker);
        } else if let (Some(tenant), Some(kernels)) = (tenant, &worker.kernels) {
            self.kernels.keep(tenant, kernels);
        }
    }

    /// Removes the folders, though some workers may not have ended yet.
    pub(super) fn close(&self) {
        self.starts.close(); // Those that are starting have their folders in this one.
        drop(std::mem::take(&mut *self.spare()));
        let _ = remove(&self.folder); // What is left goes with the home.
    }
}

/// Turns to start a worker: several at a time, since many programs may start at once, but no more than processors run
/// well. The others wait, rather than all taking longer than any may take.
#[derive(Debug, Default)]
struct Starts {
    state: Mutex<StartState>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct StartState {
    running: usize,
    is_closed: bool,
}

/// A turn, until this is dropped.
struct Turn<'a>(&'a Starts);

/// Most workers that start at a time, whatever the machine: each takes some files, memory and a place on the disk.
const STARTS_MAX: usize = 16;

impl Starts {
    /// Waits for a turn.
    ///
    /// # Errors
    /// There are no more turns.
    fn turn(&self) -> io::Result<Turn<'_>> {
        let most = std::thread::available_parallelism().map_or(1, usize::from).clamp(2, STARTS_MAX);
        let mut state = lock(&self.state);
        while state.running >= most && !state.is_closed {
            state = wait(&self.ended, state);
        }
        if state.is_closed {
            return Err(io::Error::other("the manager stops"));
        }
        state.running += 1;
        Ok(Turn(self))
    }

    /// Ends all turns; waits for those that were given.
    fn close(&self) {
        let mut state = lock(&self.state);
        state.is_closed = true;
        self.ended.notify_all();
        while state.running > 0 {
            state = wait(&self.ended, state);
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let Self(starts) = self;
        lock(&starts.state).running -= 1;
        starts.ended.notify_all();
    }
}
