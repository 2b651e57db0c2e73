//! A tenant's context on a device, and its objects there.
#![allow(unsafe_code)]

use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use opencl_sys::CL_CONTEXT_PLATFORM;
use rackloom_ipc::Given;

use super::clock::DeviceClock;
use super::handles::{Context, Kernel, Memory, Program, Queue};
use super::runtime::{Device, Runtime, Table, make};
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
    /// Whether the tenant wants times, and whether this task has the queue that measures them.
    pub(super) wants_times: AtomicBool,
    pub(super) measures: AtomicBool,
    /// When the last operation was seen to end.
    pub(super) last_end: AtomicU64,
}

impl std::fmt::Debug for NativeSpace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NativeSpace").field("device", &self.device).finish_non_exhaustive()
    }
}

/// A buffer or a part of one.
#[derive(Debug)]
pub struct NativeBuffer {
    // Dropped in this order.
    pub(super) memory: Memory,
    pub(super) backing: Option<Given>,
    pub(super) parent: Option<Arc<Self>>,
    pub(super) size: u64,
    /// It may hold bytes of whoever had its memory before. Of a part, its parent's counts.
    pub(super) unscrubbed: AtomicBool,
    pub(super) _charge: Option<Charge>,
}

/// A program.
#[derive(Debug)]
pub struct NativeProgram {
    pub(super) program: Program,
    /// The runtimes need not take two calls for one program at a time.
    pub(super) busy: Mutex<()>,
}

/// A kernel, and what its arguments refer to: a runtime need not keep a buffer for a kernel that is not running.
#[derive(Debug)]
pub struct NativeKernel {
    pub(super) kernel: Kernel,
    pub(super) kinds: Kinds,
    pub(super) held: Mutex<Vec<Option<Arc<NativeBuffer>>>>,
    /// Nanoseconds of its last launch; 0 for none.
    pub(super) last_ns: AtomicU64,
}

/// What an argument takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Buffer,
    Local,
    Plain,
    /// An image, a sampler, a pipe: what we do not offer.
    Other,
}

/// What the arguments of a kernel take.
#[derive(Debug)]
pub(super) struct Kinds(pub(super) Vec<Kind>);

impl NativeSpace {
    pub(super) fn new(runtime: Runtime, device: Device) -> Result<Self, Code> {
        let table = runtime.table();
        let properties = [CL_CONTEXT_PLATFORM, runtime.platform() as isize, 0];
        let context = make!(table, clCreateContext(properties.as_ptr(), 1, &raw const device.0, None, null_mut()))?;
        let context = Context::new(table, context);
        let plain = Queue::new(table, make!(table, clCreateCommandQueue(context.raw(), device.0, 0))?);
        Ok(Self {
            plain,
            profiling: OnceLock::new(),
            context,
            table,
            device,
            clock: DeviceClock::new(),
            wants_times: AtomicBool::new(false),
            measures: AtomicBool::new(false),
            last_end: AtomicU64::new(0),
        })
    }

    /// The queue of this task.
    pub(super) fn queue(&self) -> &Queue {
        self.profiling.get().filter(|_| self.measures()).unwrap_or(&self.plain)
    }

    /// Whether that queue measures times.
    pub(super) fn measures(&self) -> bool {
        self.measures.load(Ordering::Relaxed)
    }
}
