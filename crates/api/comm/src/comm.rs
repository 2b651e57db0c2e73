//! Communicators: a group, and the thread that does its operations one after the other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rackloom::Operation;
use rackloom_sync::lock;

use crate::failure::Failure;
use crate::group::{Group, Ready};
use crate::request::{Buffers, Request};

/// A group, and what was begun on it.
#[derive(Debug)]
pub(crate) struct Comm {
    group: Arc<Group>,
    /// Operations that were begun and are not over.
    under_way: Arc<AtomicUsize>,
    queue: Mutex<Option<Sender<Arc<Request>>>>,
    worker: Mutex<Option<JoinHandle<()>>>,
}

impl Comm {
    /// # Errors
    /// The system refuses a thread.
    pub(crate) fn new(group: Group) -> Result<Self, Failure> {
        let (group, under_way) = (Arc::new(group), Arc::new(AtomicUsize::new(0)));
        let (queue, begun) = channel::<Arc<Request>>();
        let (of, open) = (Arc::clone(&group), Arc::clone(&under_way));
        let work = move || {
            for request in begun {
                // C knows no panics, and whoever waits for the request would wait for ever.
                if catch_unwind(AssertUnwindSafe(|| request.perform(&of))).is_err() {
                    std::process::abort();
                }
                open.fetch_sub(1, Ordering::Release);
            }
        };
        let worker = std::thread::Builder::new().name("rackloom-comm".to_owned()).spawn(work);
        let worker = worker.map_err(|source| Failure::Rack(rackloom::Error::Thread(source)))?;
        Ok(Self { group, under_way, queue: Mutex::new(Some(queue)), worker: Mutex::new(Some(worker)) })
    }

    pub(crate) fn group(&self) -> &Group {
        &self.group
    }

    /// Groups of a colour each. See [`Group::split`].
    pub(crate) fn split(&self, colours: &[Option<u32>], keys: &[i64]) -> Result<Vec<Self>, Failure> {
        self.group.split(colours, keys)?.into_iter().map(Self::new).collect()
    }

    /// The group of those who are left. See [`Group::shrink`].
    pub(crate) fn shrink(&self) -> Result<Self, Failure> {
        Self::new(self.group.shrink()?)
    }

    /// # Errors
    /// There is no plan for it.
    pub(crate) fn prepare(&self, operation: &Operation, counts: Option<&[u64]>) -> Result<Ready, Failure> {
        self.group.prepare(operation, counts)
    }

    /// A request for an operation on the program's memory: for each rank of this process an address, or 0.
    ///
    /// # Errors
    /// There is no plan for it; or a rank gives something and says not where.
    pub(crate) fn request(&self, prepared: Ready, give: &[usize], get: &[usize]) -> Result<Request, Failure> {
        let mut buffers = Vec::new();
        for ((rank, give), get) in self.group.own().iter().zip(give).zip(get) {
            let bytes = |bytes: u64| usize::try_from(bytes).expect("at most a message");
            let (gives, gets) = (bytes(prepared.gives(*rank)), bytes(prepared.gets(*rank)));
            if gives > 0 && *give == 0 {
                return Err(Failure::Invalid(format!("rank {rank} gives {gives} bytes, and its buffer is NULL")));
            }
            buffers.push(Buffers { give: *give, gives, get: if gets == 0 { 0 } else { *get }, gets });
        }
        Ok(Request::new(prepared, buffers))
    }

    /// How many ranks this process has.
    pub(crate) fn own(&self) -> usize {
        self.group.own().len()
    }

    /// Begins a request, behind those that were begun before.
    pub(crate) fn start(&self, request: &Arc<Request>) -> Result<(), Failure> {
        let queue = lock(&self.queue);
        let queue = queue.as_ref().ok_or_else(|| Failure::Invalid("the communicator was freed".to_owned()))?;
        request.start()?;
        self.under_way.fetch_add(1, Ordering::Relaxed);
        queue.send(Arc::clone(request)).expect("the worker waits for more");
        Ok(())
    }

    /// Does a request, behind those that were begun before. Among hosts, where it may take less than a microsecond,
    /// this thread does it itself if none were.
    pub(crate) fn run(&self, request: &Arc<Request>) -> Result<(), Failure> {
        let queue = lock(&self.queue);
        if matches!(*self.group, Group::Hosts(..)) && queue.is_some() && self.under_way.load(Ordering::Acquire) == 0 {
            request.start()?;
            // What is begun meanwhile waits for this one: all ranks have them in this order.
            request.perform(&self.group);
            return Ok(());
        }
        drop(queue);
        self.start(request)
    }

    /// Waits until all that was begun is over. Nothing else can be begun.
    pub(crate) fn end(&self) {
        lock(&self.queue).take();
        if let Some(worker) = lock(&self.worker).take() {
            worker.join().expect("it aborts instead");
        }
    }
}

impl Drop for Comm {
    fn drop(&mut self) {
        self.end();
    }
}
