//! Kernels and their arguments.
//!
//! Setting an argument sends nothing. A launch takes the arguments as they are then, and sends those that changed since
//! the kernel's last launch there.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use opencl_sys::*;
use rackloom_opencl_wire::{self as wire, KernelInfo};
use rackloom_sync::lock;

use crate::error::{Error, Result, ensure};
use crate::handle::{Live, Object, ObjectKind, Ref};
use crate::objects::context::Context;
use crate::objects::device::Device;
use crate::objects::memory::Buffer;
use crate::objects::program::Program;
use crate::objects::sampler::Sampler;
use crate::process::PerProcess;
use crate::session::board::Board;
use crate::session::numbers::ObjectTable;
use crate::session::remote::Remote;

/// A kernel.
pub struct Kernel {
    /// At each device of the context, from its first launch there on.
    remotes: Box<[OnceLock<There>]>,
    making: Mutex<()>,
    pub context: Ref<Context>,
    pub program: Ref<Program>,
    pub name: String,
    pub info: Arc<KernelInfo>,
    /// Shared with launches that are under way.
    pub arguments: Mutex<Arc<Vec<Option<Slot>>>>,
    /// Shared virtual memory that it reaches by pointers.
    reaches: Mutex<Option<Reach>>,
    /// Of the last argument that was set.
    version: AtomicU64,
}

/// A kernel at a device.
pub struct There {
    pub remote: Remote,
    /// What the manager has. Locked while a launch is sent.
    pub sent: Mutex<Sent>,
}

/// What a manager has of a kernel: versions, or 0 for nothing.
pub struct Sent {
    pub arguments: Vec<u64>,
    pub reaches: u64,
}

impl Sent {
    /// Has the next launch send all of it.
    pub fn forget(&mut self) {
        self.arguments.fill(0);
        self.reaches = u64::MAX; // 0 is the version of a kernel that reaches nothing.
    }
}

/// Shared virtual memory that a kernel reaches by pointers. What the program frees is no longer among it.
#[derive(Clone)]
pub struct Reach {
    pub version: u64,
    memories: Arc<[Weak<Object<Buffer>>]>,
}

impl Reach {
    /// What there still is of it.
    pub fn memories(&self) -> Vec<Ref<Buffer>> {
        self.memories.iter().filter_map(Weak::upgrade).collect()
    }
}

/// An argument that was set.
#[derive(Clone)]
pub struct Slot {
    pub version: u64,
    pub value: Value,
}

/// The value of an argument.
#[derive(Clone)]
pub enum Value {
    /// Bytes.
    Bytes(Arc<[u8]>),
    /// A buffer or an image. If the program releases it, the argument counts as not set.
    Buffer(Weak<Object<Buffer>>),
    /// An address in shared virtual memory: the memory, and the byte in it.
    Svm(Weak<Object<Buffer>>, u64),
    /// A sampler.
    Sampler(Ref<Sampler>),
    /// No buffer.
    Nothing,
    /// Local memory.
    Local(u64),
}

impl ObjectKind for Kernel {
    const INVALID: cl_int = CL_INVALID_KERNEL;

    fn live() -> &'static Live<Self> {
        static LIVE: PerProcess<Live<Kernel>> = PerProcess::new();
        LIVE.get()
    }
}

impl Kernel {
    /// A kernel of a built program, without arguments.
    pub fn new(program: Ref<Program>, name: &str, info: Arc<KernelInfo>) -> Self {
        program.kernels.fetch_add(1, Ordering::AcqRel);
        let context = program.context.clone();
        Self {
            remotes: context.devices.iter().map(|_| OnceLock::new()).collect(),
            making: Mutex::default(),
            context,
            program,
            name: name.into(),
            arguments: Mutex::new(Arc::new(vec![None; info.argument_count as usize])),
            reaches: Mutex::default(),
            info,
            version: AtomicU64::new(0),
        }
    }

    /// Another with the same arguments.
    pub fn copy(&self) -> Self {
        let copy = Self::new(self.program.clone(), &self.name, Arc::clone(&self.info));
        lock(&copy.arguments).clone_from(&lock(&self.arguments));
        lock(&copy.reaches).clone_from(&lock(&self.reaches));
        copy.version.store(self.version.load(Ordering::Acquire), Ordering::Release);
        copy
    }

    /// Sets an argument.
    ///
    /// # Errors
    /// The kernel has fewer arguments.
    pub fn set(&self, index: usize, value: Value) -> Result<()> {
        let mut arguments = lock(&self.arguments);
        ensure(index < arguments.len(), CL_INVALID_ARG_INDEX)?;
        let version = self.version.fetch_add(1, Ordering::AcqRel) + 1;
        Arc::make_mut(&mut arguments)[index] = Some(Slot { version, value });
        Ok(())
    }

    /// Says which shared virtual memory it reaches by pointers, besides its arguments.
    pub fn set_reach(&self, memories: &[Ref<Buffer>]) {
        let version = self.version.fetch_add(1, Ordering::AcqRel) + 1;
        let memories = memories.iter().map(Arc::downgrade).collect();
        *lock(&self.reaches) = Some(Reach { version, memories });
    }

    /// What it reaches.
    pub fn reach(&self) -> Option<Reach> {
        lock(&self.reaches).clone()
    }

    /// Bytes of local memory that arguments ask for.
    pub fn local_arguments(&self) -> u64 {
        let bytes = |slot: &Option<Slot>| match slot.as_ref().map(|s| &s.value) {
            Some(Value::Local(bytes)) => *bytes,
            _ => 0,
        };
        lock(&self.arguments).iter().map(bytes).sum()
    }

    /// Whether its program was built with options that allow the last work-groups to be smaller.
    pub fn may_have_uneven_groups(&self, device: &Ref<Device>) -> bool {
        let options = self.program.part(device).map(|p| lock(&p.state).options.clone()).unwrap_or_default();
        let mut words = options.split_whitespace();
        let version = words.clone().find_map(|w| w.strip_prefix("-cl-std=CL"));
        version.is_some_and(|v| v.starts_with(['2', '3'])) && words.all(|w| w != "-cl-uniform-work-group-size")
    }

    /// Whether the kernel may change the buffer or image of an argument; true if that is not known.
    pub fn may_change(&self, index: usize, flags: u64) -> bool {
        let known = self.info.arguments.as_ref().and_then(|a| a.get(index));
        let constant = known.is_some_and(|a| {
            a.address == CL_KERNEL_ARG_ADDRESS_CONSTANT
                || a.access == CL_KERNEL_ARG_ACCESS_READ_ONLY
                || a.qualifiers & u64::from(CL_KERNEL_ARG_TYPE_CONST) != 0
        });
        flags & CL_MEM_READ_ONLY == 0 && !constant
    }

    /// The kernel at a board, where it is made at its first launch.
    ///
    /// # Errors
    /// The program is not built for the board; a quota is used up; the connection is lost.
    pub fn on(&self, board: &Arc<Board>) -> Result<&There> {
        let place = self.context.devices.iter().position(|d| Arc::ptr_eq(d.board(), board));
        let at = place.ok_or(Error(CL_INVALID_PROGRAM_EXECUTABLE))?;
        let slot = &self.remotes[at];
        if let Some(there) = slot.get() {
            return Ok(there);
        }
        let _making = lock(&self.making);
        if let Some(there) = slot.get() {
            return Ok(there);
        }
        let part = self.program.part(&self.context.devices[at]).ok_or(Error(CL_INVALID_PROGRAM_EXECUTABLE))?;
        let program = part.id()?;
        let create = |kernel| wire::Command::CreateKernel { kernel, program, name: &self.name };
        let remote = Remote::new(board, ObjectTable::Kernels, create, &[])?;
        let sent = Mutex::new(Sent { arguments: vec![0; self.info.argument_count as usize], reaches: 0 });
        Ok(slot.get_or_init(|| There { remote, sent }))
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        self.program.kernels.fetch_sub(1, Ordering::AcqRel);
    }
}
