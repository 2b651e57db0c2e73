//! The pool of workers for a device: one is kept ready, since a runtime takes a while to start.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use rackloom_sync::lock;

use super::confine::may_occupy;
use super::control::{DeviceOrigin, ReadAccess, WorkerSetup};
use super::host::Host;
use super::keeper::Enclosure;
use super::kernel_cache::KernelCache;
use super::layers::Layers;
use super::worker::Worker;
use crate::home::remove;

/// A device's workers.
#[derive(Debug)]
pub(super) struct WorkerPool {
    origin: DeviceOrigin,
    /// Bytes of memory that each client may have.
    memory: u64,
    /// Workers ready for a client, one for each kind of access that clients have needed.
    spare: Mutex<BTreeMap<ReadAccess, Worker>>,
    kernels: KernelCache,
    /// The parent of the workers' folders.
    folder: PathBuf,
    pub(super) host: Arc<Host>,
    number: AtomicU64,
    enclosure: Enclosure,
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
        let kernels = KernelCache::new(folder.join("kernels"))?;
        let (spare, ending) = Default::default();
        let number = AtomicU64::new(0);
        let mut pool = Self {
            origin,
            memory,
            spare,
            kernels,
            folder,
            host,
            number,
            enclosure: Enclosure::Namespaces,
            layers: Layers::default(),
            ending,
        };
        let spare = match pool.start(ReadAccess::User) {
            Err(why) if why.kind() == io::ErrorKind::Unsupported => {
                pool.enclosure = Enclosure::Descent;
                pool.start(ReadAccess::User)?
            }
            other => other?,
        };
        pool.layers = spare.layers;
        pool.layers.cgroup &= pool.host.has_bounds();
        pool.spare().insert(ReadAccess::User, spare);
        Ok(pool)
    }

    /// Starts a worker and waits until it is ready.
    fn start(&self, access: ReadAccess) -> io::Result<Worker> {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let own = self.folder.join(format!("worker-{number}"));
        let setup = WorkerSetup { origin: self.origin.clone(), own, access, memory: self.memory };
        let (worker, opened) = Worker::start(setup, self.enclosure, self.host.group(may_occupy(self.memory)))?;
        opened.map_err(io::Error::other)?;
        Ok(worker)
    }

    fn spare(&self) -> MutexGuard<'_, BTreeMap<ReadAccess, Worker>> {
        lock(&self.spare)
    }

    /// Takes a worker for a client of this tenant, if the tenant is known; the next one is started meanwhile.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub(super) fn take(self: &Arc<Self>, tenant: Option<&str>, access: ReadAccess) -> io::Result<Worker> {
        let spare = self.spare().remove(&access);
        // While it was idle, somebody may have ended it.
        let spare = spare.and_then(|mut worker| worker.is_there().then_some(worker));
        let worker = match spare {
            Some(worker) => worker,
            None => self.start(access)?,
        };
        if let (Some(tenant), Some(kernels)) = (tenant, &worker.kernels) {
            self.kernels.take(tenant, kernels);
        }
        let pool = Arc::downgrade(self);
        let refill = move || {
            let Some(pool) = pool.upgrade() else { return };
            let mut spare = pool.spare(); // A client that comes meanwhile waits for this one.
            if !spare.contains_key(&access) {
                spare.extend(pool.start(access).ok().map(|worker| (access, worker)));
            }
        };
        // If the thread cannot start, the next client waits a little longer.
        let _ = std::thread::Builder::new().name("worker".into()).spawn(refill);
        Ok(worker)
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
        drop(std::mem::take(&mut *self.spare()));
        let _ = remove(&self.folder); // What is left goes with the home.
    }
}
