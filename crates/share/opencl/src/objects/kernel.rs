//! Kernels and their arguments.
//!
//! Setting an argument sends nothing. A launch takes the arguments as they are then, and tells the manager those that
//! differ from what the kernel had there at its last launch.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use opencl_sys::*;
use rackloom_opencl_wire::{self as wire, Argument, EventId, KernelInfo, Op};

use crate::command::Memory;
use crate::command::migrate::Access;
use crate::error::{Error, Result, ensure, fail};
use crate::globals::Globals;
use crate::handle::{Live, Object, ObjectKind, Ref, lock};
use crate::objects::context::Context;
use crate::objects::device::Device;
use crate::objects::memory::Buffer;
use crate::objects::program::Program;
use crate::session::board::Board;
use crate::session::remote::{ObjectTable, Remote};

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
    arguments: Mutex<Arc<Vec<Option<Slot>>>>,
    /// Of the last argument that was set.
    version: AtomicU64,
}

struct There {
    remote: Remote,
    /// The version of each argument that the manager has; 0 for none. Locked while a launch is sent.
    sent: Mutex<Vec<u64>>,
}

/// An argument that was set.
#[derive(Clone)]
struct Slot {
    version: u64,
    value: Value,
}

/// What an argument is.
#[derive(Clone)]
pub enum Value {
    /// Bytes.
    Bytes(Arc<[u8]>),
    /// A buffer. The program may release it; then the argument is as good as none.
    Buffer(Weak<Object<Buffer>>),
    /// No buffer.
    Nothing,
    /// Local memory.
    Local(u64),
}

/// A kernel with the arguments that it is to run with.
pub struct Launch {
    kernel: Ref<Kernel>,
    arguments: Arc<Vec<Option<Slot>>>,
    /// The buffers among them, in order, and whether the kernel may change them.
    buffers: Vec<(Ref<Buffer>, bool)>,
    pub range: Range,
}

/// Work-items of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    pub dimensions: u8,
    pub offset: [u64; 3],
    pub global: [u64; 3],
    pub local: Option<[u64; 3]>,
}

impl ObjectKind for Kernel {
    const INVALID: cl_int = CL_INVALID_KERNEL;

    fn live(globals: &Globals) -> &Live<Self> {
        &globals.kernels
    }
}

impl Kernel {
    /// A kernel of a built program, no argument of which is set.
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
            info,
            version: AtomicU64::new(0),
        }
    }

    /// Another with the same arguments.
    pub fn copy(&self) -> Self {
        let copy = Self::new(self.program.clone(), &self.name, Arc::clone(&self.info));
        lock(&copy.arguments).clone_from(&lock(&self.arguments));
        copy.version.store(self.version.load(Ordering::Acquire), Ordering::Release);
        copy
    }

    /// Sets an argument.
    ///
    /// # Errors
    /// There is none with this number.
    pub fn set(&self, index: usize, value: Value) -> Result<()> {
        let mut arguments = lock(&self.arguments);
        ensure(index < arguments.len(), CL_INVALID_ARG_INDEX)?;
        let version = self.version.fetch_add(1, Ordering::AcqRel) + 1;
        Arc::make_mut(&mut arguments)[index] = Some(Slot { version, value });
        Ok(())
    }

    /// Takes the arguments as they are now.
    ///
    /// # Errors
    /// One is not set, or its buffer is gone.
    pub fn launch(this: &Ref<Self>, range: Range) -> Result<Launch> {
        let arguments = Arc::clone(&lock(&this.arguments));
        let mut buffers = Vec::new();
        let mut local = this.info.work_group.local_memory;
        for (index, slot) in arguments.iter().enumerate() {
            match slot.as_ref().map(|s| &s.value) {
                None => return fail(CL_INVALID_KERNEL_ARGS),
                Some(Value::Buffer(buffer)) => {
                    let buffer = buffer.upgrade().ok_or(Error(CL_INVALID_KERNEL_ARGS))?;
                    let changes = this.may_change(index, buffer.flags);
                    buffers.push((buffer, changes));
                }
                Some(Value::Local(bytes)) => local += bytes,
                Some(Value::Bytes(_) | Value::Nothing) => {}
            }
        }
        let fits = |d: &Ref<Device>| local <= d.bounds.local_memory.max(1);
        ensure(this.context.devices.iter().any(fits), CL_OUT_OF_RESOURCES)?;
        Ok(Launch { kernel: this.clone(), arguments, buffers, range })
    }

    /// Bytes of local memory that arguments ask for.
    pub fn local_arguments(&self) -> u64 {
        let bytes = |slot: &Option<Slot>| match slot.as_ref().map(|s| &s.value) {
            Some(Value::Local(bytes)) => *bytes,
            _ => 0,
        };
        lock(&self.arguments).iter().map(bytes).sum()
    }

    /// Whether its program was built in a way that lets the last work-groups be smaller.
    pub fn may_have_uneven_groups(&self, device: &Ref<Device>) -> bool {
        let options = self.program.part(device).map(|p| lock(&p.state).options.clone()).unwrap_or_default();
        let mut words = options.split_whitespace();
        let version = words.clone().find_map(|w| w.strip_prefix("-cl-std=CL"));
        version.is_some_and(|v| v.starts_with(['2', '3'])) && words.all(|w| w != "-cl-uniform-work-group-size")
    }

    /// Whether the kernel may change the buffer of an argument, as far as is known.
    fn may_change(&self, index: usize, flags: u64) -> bool {
        let known = self.info.arguments.as_ref().and_then(|a| a.get(index));
        let constant = known.is_some_and(|a| {
            a.address == CL_KERNEL_ARG_ADDRESS_CONSTANT || a.qualifiers & u64::from(CL_KERNEL_ARG_TYPE_CONST) != 0
        });
        flags & CL_MEM_READ_ONLY == 0 && !constant
    }

    fn on(&self, board: &Arc<Board>) -> Result<&There> {
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
        let sent = Mutex::new(vec![0; self.info.argument_count as usize]);
        Ok(slot.get_or_init(|| There { remote, sent }))
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        self.program.kernels.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Launch {
    /// The buffers that it uses.
    pub fn buffers(&self) -> impl Iterator<Item = &Ref<Buffer>> {
        self.buffers.iter().map(|(buffer, _)| buffer)
    }

    /// The whole buffers that it uses.
    pub fn uses(&self) -> Vec<(Memory, Access)> {
        let access = |changes: bool| if changes { Access::Update } else { Access::Read };
        self.buffers.iter().map(|(b, changes)| (Buffer::root(b).clone(), access(*changes))).collect()
    }

    /// Sends it by `operate`.
    ///
    /// # Errors
    /// A quota is used up; what `operate` says.
    pub fn send(&self, board: &Arc<Board>, operate: impl FnOnce(Op<'_>) -> Result<EventId>) -> Result<EventId> {
        let there = self.kernel.on(board)?;
        // Until it is sent: which arguments have changed depends on the launch before.
        let mut sent = lock(&there.sent);
        let mut buffers = self.buffers.iter();
        let mut arguments = Vec::new();
        for (index, slot) in self.arguments.iter().enumerate() {
            let Some(Slot { version, value }) = slot else { continue };
            // Each takes its own out of the list, even if nothing has changed.
            let buffer = if let Value::Buffer(_) = value { buffers.next() } else { None };
            if sent[index] == *version {
                continue;
            }
            let argument = match (value, buffer) {
                (Value::Bytes(bytes), _) => Argument::Value(bytes),
                (Value::Local(bytes), _) => Argument::Local(*bytes),
                (_, Some((buffer, _))) => Argument::Buffer(Some(buffer.on(board)?)),
                (_, None) => Argument::Buffer(None),
            };
            arguments.push((index as u32, argument));
        }
        let Range { dimensions, offset, global, local } = self.range;
        let changed: Vec<usize> = arguments.iter().map(|(index, _)| *index as usize).collect();
        let id = operate(Op::Launch { kernel: there.remote.id, dimensions, offset, global, local, arguments })?;
        for index in changed {
            sent[index] = self.arguments[index].as_ref().map_or(0, |s| s.version);
        }
        Ok(id)
    }
}
