//! The wait list of a command and the place for its own event: the last three parameters of each call that enqueues
//! one.
#![allow(unsafe_code)]

use opencl_sys::{
    CL_INVALID_CONTEXT, CL_INVALID_EVENT_WAIT_LIST, cl_command_queue, cl_command_type, cl_event, cl_uint,
};

use crate::command::enqueue::enqueue;
use crate::command::{CallMode, Kind};
use crate::error::{Error, Result, ensure};
use crate::handle::{Object, Ref, get};
use crate::info::{list, put};
use crate::objects::context::Context;
use crate::objects::event::Event;
use crate::objects::queue::Queue;

/// `num_events_in_wait_list`, `event_wait_list` and `event`.
#[derive(Clone, Copy)]
pub struct WaitList {
    count: cl_uint,
    before: *const cl_event,
    own: *mut cl_event,
}

impl WaitList {
    /// # Safety
    /// `before` is null or good for reading `count` handles, `own` null or good for writing one.
    pub const unsafe fn new(count: cl_uint, before: *const cl_event, own: *mut cl_event) -> Self {
        Self { count, before, own }
    }

    /// The events that the command waits for, all of this context.
    pub fn waits(self, context: &Ref<Context>) -> Result<Vec<Ref<Event>>> {
        ensure(self.before.is_null() == (self.count == 0), CL_INVALID_EVENT_WAIT_LIST)?;
        if self.count == 0 {
            return Ok(Vec::new());
        }
        // SAFETY: as `new` was promised.
        let handles = unsafe { list(self.before, self.count as usize) };
        let events = handles.into_iter().map(|h| get::<Event>(h).map_err(|_| Error(CL_INVALID_EVENT_WAIT_LIST)));
        let events = events.collect::<Result<Vec<_>>>()?;
        ensure(events.iter().all(|e| e.context.handle() == context.handle()), CL_INVALID_CONTEXT)?;
        Ok(events)
    }

    /// Gives the program the command's event, if it asked for it.
    pub fn give(self, event: &Ref<Event>) {
        if !self.own.is_null() {
            // SAFETY: as `new` was promised.
            unsafe { put(self.own, Object::list(event)) };
        }
    }

    /// Enqueues the command that `make` gives for the queue, behind the events of the list, and gives its own.
    pub fn command(
        self,
        queue: cl_command_queue,
        command_type: cl_command_type,
        make: impl FnOnce(&Ref<Queue>) -> Result<Kind>,
    ) -> Result<()> {
        let queue = get::<Queue>(queue)?;
        let kind = make(&queue)?;
        let waits = self.waits(&queue.context)?;
        self.enqueue(&queue, command_type, waits, kind, CallMode::NonBlocking)
    }

    /// Enqueues a command behind events that [`Self::waits`] gave, and gives its own. A blocking one has ended on
    /// return. A failure that nobody can learn of from an event is the queue's.
    pub fn enqueue(
        self,
        queue: &Ref<Queue>,
        command_type: cl_command_type,
        waits: Vec<Ref<Event>>,
        kind: Kind,
        mode: CallMode,
    ) -> Result<()> {
        let event = enqueue(queue, command_type, waits, kind, mode)?;
        if self.own.is_null() {
            event.tells_queue();
        } else {
            self.give(&event);
        }
        if mode == CallMode::NonBlocking { Ok(()) } else { queue.outcome() }
    }
}
