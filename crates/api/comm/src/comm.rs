//! Communicators: a group, and the thread that does its operations one after the other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rackloom::{CardName, Communicator, Operation, Prepared, Rack};
use rackloom_sync::lock;

use crate::failure::Failure;
use crate::request::{Buffers, Request};

/// A group, and what was begun on it.
#[derive(Debug)]
pub(crate) struct Comm {
    group: Arc<Communicator<Arc<Rack>>>,
    /// Ranks of this process.
    own: Vec<usize>,
    queue: Mutex<Option<Sender<Arc<Request>>>>,
    worker: Mutex<Option<JoinHandle<()>>>,
}

impl Comm {
    /// # Errors
    /// The system refuses a thread.
    pub(crate) fn new(group: Communicator<Arc<Rack>>, own: Vec<usize>) -> Result<Self, Failure> {
        let group = Arc::new(group);
        let (queue, begun) = channel::<Arc<Request>>();
        let of = Arc::clone(&group);
        let work = move || {
            for request in begun {
                // C knows no panics, and whoever waits for the request would wait for ever.
                if catch_unwind(AssertUnwindSafe(|| request.perform(&of))).is_err() {
                    std::process::abort();
                }
            }
        };
        let worker = std::thread::Builder::new().name("rackloom-comm".to_owned()).spawn(work);
        let worker = worker.map_err(|source| Failure::Rack(rackloom::Error::Thread(source)))?;
        Ok(Self { group, own, queue: Mutex::new(Some(queue)), worker: Mutex::new(Some(worker)) })
    }

    pub(crate) fn cards(&self) -> &[CardName] {
        self.group.cards()
    }

    /// Groups of a colour each. See [`Communicator::split`].
    pub(crate) fn split(&self, colours: &[Option<u32>], keys: &[i64]) -> Result<Vec<Self>, Failure> {
        if self.own.len() < self.cards().len() {
            return Err(Failure::Invalid("other processes have ranks of the group: join one of some seats".to_owned()));
        }
        let parts = self.group.split(colours, keys);
        let all = |group: &Communicator<_>| (0..group.cards().len()).collect();
        parts
            .into_iter()
            .map(|group| {
                let own = all(&group);
                Self::new(group, own)
            })
            .collect()
    }

    /// # Errors
    /// There is no plan for it.
    pub(crate) fn prepare(&self, operation: &Operation, counts: Option<&[u64]>) -> Result<Prepared, Failure> {
        Ok(self.group.prepare(operation, counts)?)
    }

    /// A request for an operation on the program's memory: for each rank of this process an address, or 0.
    ///
    /// # Errors
    /// There is no plan for it; or a rank gives something and says not where.
    pub(crate) fn request(&self, prepared: Prepared, give: &[usize], get: &[usize]) -> Result<Request, Failure> {
        let mut buffers = Vec::new();
        for ((rank, give), get) in self.own.iter().zip(give).zip(get) {
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
        self.own.len()
    }

    /// Begins a request, behind those that were begun before.
    pub(crate) fn start(&self, request: &Arc<Request>) -> Result<(), Failure> {
        let queue = lock(&self.queue);
        let queue = queue.as_ref().ok_or_else(|| Failure::Invalid("the communicator was freed".to_owned()))?;
        request.start()?;
        queue.send(Arc::clone(request)).expect("the worker waits for more");
        Ok(())
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
