//! Queues.

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, Weak};

use opencl_sys::{
    CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_INVALID_COMMAND_QUEUE, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
    CL_QUEUE_PROFILING_ENABLE, CL_SUCCESS, cl_int, cl_queue_properties,
};
use rackloom_sync::lock;

use crate::error::{Error, Result};
use crate::handle::{Live, Object, ObjectKind, Ref};
use crate::objects::context::Context;
use crate::objects::device::Device;
use crate::objects::event::Event;
use crate::process::PerProcess;

/// A queue.
pub struct Queue {
    pub context: Ref<Context>,
    pub device: Ref<Device>,
    /// `CL_QUEUE_PROPERTIES`.
    pub properties: u64,
    /// `CL_QUEUE_PROPERTIES_ARRAY`.
    pub array: Vec<cl_queue_properties>,
    /// Locked while a command is added, so that commands go out in the order of the queue.
    pub state: Mutex<QueueState>,
    /// The first failure of a command without an event that the program has not heard of, or `CL_SUCCESS`.
    failure: AtomicI32,
}

/// The events that new commands may have to wait for. An event holds its queue, so the queue must not hold events; an
/// event that is gone has ended.
pub struct QueueState {
    in_order: bool,
    /// The last command that did not fail at once.
    last: Weak<Object<Event>>,
    /// The last of those whose end the program can know of.
    watched: Weak<Object<Event>>,
    barrier: Weak<Object<Event>>,
    /// Commands, except some that have ended.
    commands: Vec<Weak<Object<Event>>>,
    /// Number of commands left when ended ones were last dropped.
    kept: usize,
}

/// How a command is ordered with the commands before and after it in an out-of-order queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Not at all.
    Command,
    /// Waits for all commands before it, unless it has a wait list.
    Marker,
    /// As a marker; and all commands after it wait for it.
    Barrier,
}

impl ObjectKind for Queue {
    const INVALID: cl_int = CL_INVALID_COMMAND_QUEUE;

    fn live() -> &'static Live<Self> {
        static LIVE: PerProcess<Live<Queue>> = PerProcess::new();
        LIVE.get()
    }
}

impl Queue {
    /// An empty queue.
    pub fn new(context: Ref<Context>, device: Ref<Device>, properties: u64, array: Vec<cl_queue_properties>) -> Self {
        let in_order = properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE == 0;
        let state = QueueState {
            in_order,
            last: Weak::new(),
            watched: Weak::new(),
            barrier: Weak::new(),
            commands: Vec::new(),
            kept: 0,
        };
        Self { context, device, properties, array, state: Mutex::new(state), failure: AtomicI32::new(CL_SUCCESS) }
    }

    /// Whether its events have profiling times.
    pub fn profiles(&self) -> bool {
        self.properties & CL_QUEUE_PROFILING_ENABLE != 0
    }

    /// Submits all commands that were sent. Held commands are submitted when they are sent.
    pub fn flush(&self) {
        self.device.board().submit();
    }

    /// A command has failed, and nobody has its event.
    pub fn has_failed(&self, status: cl_int) {
        // The program itself has failed what such a command waits for.
        if status != CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST {
            let _ = self.failure.compare_exchange(CL_SUCCESS, status, Ordering::AcqRel, Ordering::Relaxed);
        }
    }

    /// Tells once of such a failure, in a call that waits.
    ///
    /// # Errors
    /// The command's.
    pub fn outcome(&self) -> Result<()> {
        match self.failure.swap(CL_SUCCESS, Ordering::AcqRel) {
            CL_SUCCESS => Ok(()),
            status => Err(Error(status)),
        }
    }

    /// Waits until all commands have ended.
    pub fn finish(&self) {
        let commands = {
            let state = lock(&self.state);
            state.commands.iter().filter_map(Weak::upgrade).collect::<Vec<_>>()
        };
        self.flush();
        // The last one first: when that has ended, most others have.
        commands.iter().rev().for_each(|event| event.wait());
    }
}

impl QueueState {
    /// Commands that have not been sent and must be before the next one, which waits for all before it if it is a
    /// marker or barrier without a list.
    pub fn blockers(&self, scope: Scope, wait_list: &[Ref<Event>]) -> Vec<Ref<Event>> {
        if self.in_order {
            return unsent([&self.last]);
        }
        let all = if scope != Scope::Command && wait_list.is_empty() { &self.commands[..] } else { &[] };
        unsent(std::iter::once(&self.barrier).chain(all))
    }

    /// Whether the end of a blocking call tells the program of nothing before it: in order, that has ended, but for
    /// writes that returned early.
    pub fn lets_return_early(&self) -> bool {
        self.in_order && self.watched.upgrade().is_none_or(|event| event.is_done())
    }

    /// Notes a new command, and whether its call returns early.
    pub fn note(&mut self, event: &Ref<Event>, scope: Scope, is_early: bool) {
        if self.in_order {
            self.last = Arc::downgrade(event);
            if !is_early {
                self.watched = Arc::downgrade(event);
            }
        } else if scope == Scope::Barrier {
            self.barrier = Arc::downgrade(event);
        }
        if self.commands.len() >= 64 + 2 * self.kept {
            self.prune();
        }
        self.commands.push(Arc::downgrade(event));
    }

    fn prune(&mut self) {
        self.commands.retain(|e| e.upgrade().is_some_and(|e| !e.is_done()));
        self.kept = self.commands.len();
    }
}

fn unsent<'a>(events: impl IntoIterator<Item = &'a Weak<Object<Event>>>) -> Vec<Ref<Event>> {
    events.into_iter().filter_map(Weak::upgrade).filter(|e| e.is_unsent()).collect()
}
