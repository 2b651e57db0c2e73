//! Launches: kernels with the arguments and work-items that they are to run with.

use std::sync::Arc;

use opencl_sys::{CL_INVALID_KERNEL_ARGS, CL_OUT_OF_RESOURCES};
use rackloom_opencl_wire::{Argument, EventId, Op};
use rackloom_sync::lock;

use crate::error::{Error, Result, ensure, fail};
use crate::handle::Ref;
use crate::objects::content::Access;
use crate::objects::device::Device;
use crate::objects::kernel::{Kernel, Sent, Slot, There, Value};
use crate::objects::memory::Buffer;
use crate::session::board::Board;

/// A kernel with the arguments that it is to run with.
pub struct Launch {
    kernel: Ref<Kernel>,
    arguments: Arc<Vec<Option<Slot>>>,
    /// The buffers and images among them, in order, and what the kernel may do to them.
    buffers: Vec<(Ref<Buffer>, Access)>,
    /// Shared virtual memory that it reaches by pointers, and the version of that list.
    reaches: (Vec<Ref<Buffer>>, u64),
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

impl Launch {
    /// A launch with the arguments as they are now.
    ///
    /// # Errors
    /// One is not set, or its buffer is gone.
    pub fn new(kernel: &Ref<Kernel>, range: Range) -> Result<Self> {
        let arguments = Arc::clone(&lock(&kernel.arguments));
        let mut buffers = Vec::new();
        let mut local = kernel.info.work_group.local_memory;
        for (index, slot) in arguments.iter().enumerate() {
            match slot.as_ref().map(|s| &s.value) {
                None => return fail(CL_INVALID_KERNEL_ARGS),
                Some(Value::Buffer(buffer) | Value::Svm(buffer, _)) => {
                    let buffer = buffer.upgrade().ok_or(Error(CL_INVALID_KERNEL_ARGS))?;
                    let changes = kernel.may_change(index, buffer.flags);
                    buffers.push((buffer, if changes { Access::Update } else { Access::Read }));
                }
                Some(Value::Local(bytes)) => local += bytes,
                Some(Value::Bytes(_) | Value::Sampler(_) | Value::Nothing) => {}
            }
        }
        let fits = |d: &Ref<Device>| local <= d.bounds.local_memory.max(1);
        ensure(kernel.context.devices.iter().any(fits), CL_OUT_OF_RESOURCES)?;
        let reaches = kernel.reach().map_or_else(Default::default, |reach| (reach.memories(), reach.version));
        Ok(Self { kernel: kernel.clone(), arguments, buffers, reaches, range })
    }

    /// The buffers that it uses.
    pub fn buffers(&self) -> impl Iterator<Item = &Ref<Buffer>> {
        self.buffers.iter().map(|(buffer, _)| buffer)
    }

    /// The whole buffers that it uses.
    pub fn uses(&self) -> Vec<(Ref<Buffer>, Access)> {
        self.buffers.iter().map(|(buffer, access)| (Buffer::root(buffer).clone(), *access)).collect()
    }

    /// Its kernel at a board.
    ///
    /// # Errors
    /// A quota is used up; the connection is lost.
    pub fn there(&self, board: &Arc<Board>) -> Result<&There> {
        self.kernel.on(board)
    }

    /// Sends it by `operate`.
    ///
    /// # Errors
    /// A quota is used up; what `operate` says.
    pub fn send(&self, board: &Arc<Board>, operate: impl FnOnce(Op<'_>) -> Result<EventId>) -> Result<EventId> {
        let there = self.there(board)?;
        // Until it is sent: which arguments have changed depends on the launch before.
        let mut sent = lock(&there.sent);
        let id = operate(self.op(board, there, &sent)?)?;
        self.was_sent(&mut sent);
        Ok(id)
    }

    /// It as an operation behind what was `sent` before.
    ///
    /// # Errors
    /// A quota is used up; the connection is lost.
    pub fn op(&self, board: &Arc<Board>, there: &There, sent: &Sent) -> Result<Op<'_>> {
        let mut buffers = self.buffers.iter();
        let mut arguments = Vec::new();
        for (index, slot) in self.arguments.iter().enumerate() {
            let Some(Slot { version, value }) = slot else { continue };
            // Each takes its buffer from the list, even if it has not changed.
            let buffer = if let Value::Buffer(_) | Value::Svm(..) = value { buffers.next() } else { None };
            if sent.arguments[index] == *version {
                continue;
            }
            let argument = match (value, buffer) {
                (Value::Bytes(bytes), _) => Argument::Value(bytes),
                (Value::Local(bytes), _) => Argument::Local(*bytes),
                (Value::Sampler(sampler), _) => Argument::Sampler(sampler.on(board)?),
                (Value::Svm(_, offset), Some((memory, _))) => {
                    Argument::Svm { memory: memory.on(board)?, offset: *offset }
                }
                (_, Some((buffer, _))) => Argument::Buffer(Some(buffer.on(board)?)),
                (_, None) => Argument::Buffer(None),
            };
            arguments.push((index as u32, argument));
        }
        let (memories, version) = &self.reaches;
        let is_new = *version != sent.reaches;
        let reaches = is_new.then(|| memories.iter().map(|memory| memory.on(board)).collect()).transpose()?;
        let Range { dimensions, offset, global, local } = self.range;
        let kernel = there.remote.id;
        Ok(Op::Launch { kernel, dimensions, offset, global, local, arguments, reaches })
    }

    /// The manager has, or will have, all its arguments.
    pub fn was_sent(&self, sent: &mut Sent) {
        sent.reaches = self.reaches.1;
        for (version, slot) in sent.arguments.iter_mut().zip(self.arguments.iter()) {
            if let Some(slot) = slot {
                *version = slot.version;
            }
        }
    }
}
