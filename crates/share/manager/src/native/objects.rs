//! A tenant's context on a device, and its objects there.
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use opencl_sys::{CL_CONTEXT_PLATFORM, CL_SUCCESS};
use rackloom_ipc::Given;
use rackloom_opencl_wire::Image;

use super::build_queue::BuildQueue;
use super::clock::DeviceClock;
use super::contexts::{Contexts, Lent};
use super::handles::{Context, Kernel, Memory, Program, Queue, Sampler};
use super::mirror::Mirror;
use super::output::Output;
use super::printing::Printing;
use super::runtime::{Device, Runtime, Table, call, make};
use super::svm::Svm;
use crate::board::Owner;
use crate::code::Code;
use crate::quota::Charge;

/// A context, a queue, and what belongs to them. The context is the tenant's own, so that where the hardware keeps
/// contexts apart it keeps tenants apart.
pub struct NativeSpace {
    // Dropped in this order.
    pub(super) plain: Queue,
    /// Times are measured by the runtime, which costs some of them more than an operation does.
    pub(super) profiling: OnceLock<Queue>,
    pub(super) context: Context,
    pub(super) table: Table,
    pub(super) device: Device,
    pub(super) clock: DeviceClock,
    /// Whether the tenant wants times, and whether this task uses the queue that measures them.
    pub(super) wants_times: AtomicBool,
    pub(super) measures: AtomicBool,
    /// When the last operation ended, in nanoseconds of our clock.
    pub(super) last_end: AtomicU64,
    /// Whether operations of this task need no events of their own, but for those that close a group.
    pub(super) spares_events: AtomicBool,
    /// Whether the operation that is started needs none.
    pub(super) as_one: AtomicBool,
    /// Whether one of this task has an event.
    pub(super) has_events: AtomicBool,
    /// Operations that were waited for together: how many of them have no times yet, and when all had ended.
    pub(super) settled: (AtomicU64, AtomicU64),
    /// What came of those that have no events.
    pub(super) outcome: AtomicI32,
    /// What its kernels print, if the process is the tenant's own.
    pub(super) output: Option<Output>,
    /// Whether no other tenant's bytes can be in the memory of new buffers.
    pub(super) has_own_memory: bool,
    /// Where builds wait for each other.
    pub(super) builds: Option<Box<dyn BuildQueue>>,
    /// Whether the board works right in clients' memory as it is.
    pub(super) shares_memory: bool,
    /// If arenas are registered: bytes that the board moves in a second from and to them.
    pub(super) registers: Option<u64>,
    /// For that alone: giving memory back must not wait for kernels.
    pub(super) registrar: OnceLock<Arc<Queue>>,
    /// Whether something has failed at the board: a driver may refuse all that follows in the same context.
    pub(super) has_failed: Arc<AtomicBool>,
    /// Where its context goes.
    pub(super) _returns: Option<Returns>,
}

impl std::fmt::Debug for NativeSpace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NativeSpace").field("device", &self.device).finish_non_exhaustive()
    }
}

/// What goes back to those that wait for it when its client has gone.
#[derive(Debug)]
pub(super) struct Returns {
    lent: Option<Lent>,
    table: Table,
    has_failed: Arc<AtomicBool>,
    to: Arc<Contexts>,
    owner: Owner,
}

impl Drop for Returns {
    fn drop(&mut self) {
        let is_whole = |lent: &Lent| {
            !self.has_failed.load(Ordering::Relaxed) && call!(self.table, clFinish(lent.queue.raw())).is_ok()
        };
        self.to.leave(&self.owner, self.lent.take().filter(is_whole));
    }
}

/// A buffer, a sub-buffer or an image.
#[derive(Debug)]
pub struct NativeBuffer {
    // Dropped in this order.
    pub(super) memory: Memory,
    /// The addresses at which kernels and client have it, if it is shared virtual memory.
    pub(super) svm: Option<Svm>,
    /// The client's memory that is its own.
    pub(super) backing: Option<Given>,
    /// The client's view of it, if it has memory of the board's.
    pub(super) mirror: Option<Mirror>,
    pub(super) parent: Option<Arc<Self>>,
    pub(super) size: u64,
    /// What it is an image of.
    pub(super) image: Option<Image>,
    /// Whether it may hold bytes of earlier owners. Unused in sub-buffers, whose parent's counts.
    pub(super) unscrubbed: AtomicBool,
    pub(super) _charge: Charge,
}

/// A sampler.
#[derive(Debug)]
pub struct NativeSampler {
    pub(super) sampler: Sampler,
    pub(super) _charge: Charge,
}

/// A program.
#[derive(Debug)]
pub struct NativeProgram {
    pub(super) program: Program,
    /// Runtimes need not support concurrent calls for one program.
    pub(super) busy: Mutex<()>,
    pub(super) printing: Arc<Printing>,
    /// The hash of its source, if it was made of one.
    pub(super) source: Option<u64>,
    pub(super) charge: Arc<Charge>,
}

/// A kernel, and the objects of its arguments: a runtime need not keep one for a kernel that is not running.
#[derive(Debug)]
pub struct NativeKernel {
    pub(super) kernel: Kernel,
    pub(super) kinds: Kinds,
    pub(super) held: Mutex<Vec<Option<Held>>>,
    /// Shared virtual memory that it reaches by pointers.
    pub(super) reaches: Mutex<Vec<Arc<NativeBuffer>>>,
    /// Arguments whose last value was refused, and why.
    pub(super) wrong: Mutex<BTreeMap<u32, Code>>,
    /// Duration of its last launch in nanoseconds; 0 before the first.
    pub(super) last_ns: AtomicU64,
    pub(super) printing: Arc<Printing>,
    /// Its own, and that of its program, which the runtime keeps as long.
    pub(super) _charges: (Charge, Arc<Charge>),
}

/// An object that an argument refers to.
#[derive(Debug, Clone)]
pub(super) enum Held {
    Buffer(Arc<NativeBuffer>),
    Sampler { _sampler: Arc<NativeSampler> },
}

/// The kind of values that an argument takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Buffer,
    Image,
    Sampler,
    Local,
    Plain,
    /// A pipe, or unknown: not supported.
    Other,
}

/// The kinds of a kernel's arguments.
#[derive(Debug)]
pub(super) struct Kinds(pub(super) Vec<Kind>);

impl NativeSpace {
    pub(super) fn new(runtime: Runtime, device: Device) -> Result<Self, Code> {
        Ok(Self::over(runtime, device, Self::lent(runtime, device)?))
    }

    /// A new context and its queue.
    pub(super) fn lent(runtime: Runtime, device: Device) -> Result<Lent, Code> {
        let table = runtime.table();
        let properties = [CL_CONTEXT_PLATFORM, runtime.platform() as isize, 0];
        let context = make!(table, clCreateContext(properties.as_ptr(), 1, &raw const device.0, None, null_mut()))?;
        let context = Context::new(table, context);
        let queue = Queue::new(table, make!(table, clCreateCommandQueue(context.raw(), device.0, 0))?);
        Ok(Lent { queue, context })
    }

    pub(super) fn over(runtime: Runtime, device: Device, Lent { queue: plain, context }: Lent) -> Self {
        let table = runtime.table();
        Self {
            plain,
            profiling: OnceLock::new(),
            context,
            table,
            device,
            clock: DeviceClock::new(),
            wants_times: AtomicBool::new(false),
            measures: AtomicBool::new(false),
            last_end: AtomicU64::new(0),
            spares_events: AtomicBool::new(false),
            as_one: AtomicBool::new(false),
            has_events: AtomicBool::new(false),
            settled: Default::default(),
            outcome: AtomicI32::new(CL_SUCCESS),
            output: None,
            has_own_memory: false,
            builds: None,
            shares_memory: false,
            registers: None,
            registrar: OnceLock::new(),
            has_failed: Arc::default(),
            _returns: None,
        }
    }

    /// Its context may be another client's of this owner afterwards.
    pub(super) fn returning(self, to: Arc<Contexts>, owner: Owner) -> Self {
        let (table, has_failed) = (self.table, Arc::clone(&self.has_failed));
        let returns = Returns { lent: self.shared(), table, has_failed, to, owner };
        Self { _returns: Some(returns), ..self }
    }

    /// Its context and queue once more.
    fn shared(&self) -> Option<Lent> {
        let Self { table, plain, context, .. } = self;
        call!(table, clRetainContext(context.raw())).ok()?;
        let context = Context::new(table, context.raw());
        call!(table, clRetainCommandQueue(plain.raw())).ok()?;
        Some(Lent { queue: Queue::new(table, plain.raw()), context })
    }

    /// The process is the tenant's own, and this is where its kernels print to. On a processor so is its memory.
    pub(crate) fn alone(self, output: Output, is_processor: bool) -> Self {
        Self { output: Some(output), has_own_memory: is_processor, ..self }
    }

    /// Builds of sources wait for their turns.
    pub(crate) fn taking_turns(self, builds: Box<dyn BuildQueue>) -> Self {
        Self { builds: Some(builds), ..self }
    }

    /// The board works right in clients' memory as it is, or does not.
    pub(super) fn sharing(self, shares_memory: bool) -> Self {
        Self { shares_memory, ..self }
    }

    /// Arenas are registered, and the board then moves so many bytes a second.
    pub(super) fn registering(self, registers: Option<u64>) -> Self {
        Self { registers, ..self }
    }

    /// The queue with which arenas are registered.
    pub(super) fn registrar(&self) -> Result<Arc<Queue>, Code> {
        if let Some(queue) = self.registrar.get() {
            return Ok(Arc::clone(queue));
        }
        let queue = make!(self.table, clCreateCommandQueue(self.context.raw(), self.device.0, 0))?;
        Ok(Arc::clone(self.registrar.get_or_init(|| Arc::new(Queue::new(self.table, queue)))))
    }

    /// The queue for the current task.
    pub(super) fn queue(&self) -> &Queue {
        self.profiling.get().filter(|_| self.measures()).unwrap_or(&self.plain)
    }

    /// Whether the operation that is started gets no event.
    pub(super) fn is_as_one(&self) -> bool {
        self.as_one.load(Ordering::Relaxed)
    }

    /// Whether that queue measures times.
    pub(super) fn measures(&self) -> bool {
        self.measures.load(Ordering::Relaxed)
    }
}
