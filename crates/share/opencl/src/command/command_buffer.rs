//! Command buffers (`cl_khr_command_buffer`): commands that are recorded once, and enqueued together as often as the
//! program wishes.

use std::sync::{Arc, Mutex};

use opencl_sys::{
    CL_INCOMPATIBLE_COMMAND_QUEUE_KHR, CL_INVALID_COMMAND_BUFFER_KHR, CL_INVALID_CONTEXT, CL_INVALID_OPERATION,
    cl_command_buffer_properties_khr, cl_int,
};
use rackloom_sync::lock;

use crate::command::Kind;
use crate::error::{Result, ensure, fail};
use crate::handle::{Live, ObjectKind, Ref};
use crate::objects::queue::Queue;
use crate::process::PerProcess;

/// A command buffer. It holds all objects that its commands use.
pub struct CommandBuffer {
    /// The queue for whose device it was recorded.
    pub queue: Ref<Queue>,
    /// `CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR`.
    pub array: Vec<cl_command_buffer_properties_khr>,
    content: Mutex<Content>,
}

enum Content {
    Recording(Vec<Kind>),
    /// Enqueued as one command, any number of times at once.
    Finalized(Arc<[Kind]>),
}

impl ObjectKind for CommandBuffer {
    const INVALID: cl_int = CL_INVALID_COMMAND_BUFFER_KHR;

    fn live() -> &'static Live<Self> {
        static LIVE: PerProcess<Live<CommandBuffer>> = PerProcess::new();
        LIVE.get()
    }
}

impl CommandBuffer {
    /// One without commands.
    pub fn new(queue: Ref<Queue>, array: Vec<cl_command_buffer_properties_khr>) -> Self {
        Self { queue, array, content: Mutex::new(Content::Recording(Vec::new())) }
    }

    /// Records the command that `make` gives, which is checked with the number of commands before it. Gives its own
    /// number, from 1 on.
    ///
    /// # Errors
    /// It is finalized; what `make` says.
    pub fn record(&self, make: impl FnOnce(u32) -> Result<Kind>) -> Result<u32> {
        let mut content = lock(&self.content);
        let Content::Recording(commands) = &mut *content else { return fail(CL_INVALID_OPERATION) };
        commands.push(make(commands.len() as u32)?);
        Ok(commands.len() as u32)
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// It has ended before.
    pub fn finalize(&self) -> Result<()> {
        let mut content = lock(&self.content);
        let Content::Recording(commands) = &mut *content else { return fail(CL_INVALID_OPERATION) };
        *content = Content::Finalized(std::mem::take(commands).into());
        Ok(())
    }

    /// Whether the recording has ended.
    pub fn is_finalized(&self) -> bool {
        matches!(*lock(&self.content), Content::Finalized(_))
    }

    /// All its commands, as one.
    ///
    /// # Errors
    /// It is still recorded.
    pub fn command(&self) -> Result<Kind> {
        match &*lock(&self.content) {
            Content::Finalized(commands) => Ok(Kind::Sequence(Arc::clone(commands))),
            Content::Recording(_) => fail(CL_INVALID_OPERATION),
        }
    }

    /// Checks that it may be enqueued to a queue in place of its own.
    ///
    /// # Errors
    /// The queue has another context or device.
    pub fn check_queue(&self, queue: &Ref<Queue>) -> Result<()> {
        ensure(queue.context.handle() == self.queue.context.handle(), CL_INVALID_CONTEXT)?;
        ensure(queue.device.handle() == self.queue.device.handle(), CL_INCOMPATIBLE_COMMAND_QUEUE_KHR)
    }
}
