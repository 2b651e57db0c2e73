//! What may go out, and what is held back.
//!
//! A command goes out in the caller's thread if all that it waits for is complete or was sent to the same board before:
//! the stream of a board is executed in order. Anything else is held: behind user events, events of other boards, and
//! commands of the same queue that are held themselves. It goes out from the session's own thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use opencl_sys::CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;

use crate::command::local::at_once;
use crate::command::migrate;
use crate::command::send::{WINDOW, send};
use crate::command::{Command, Kind};
use crate::error::{Error, Result};
use crate::handle::{Object, Ref, lock};
use crate::objects::event::{Event, Standing};
use crate::objects::queue::Queue;
use crate::stats;

/// A command that is held back.
pub struct HeldCommand {
    pub command: Arc<Command>,
    /// Events that it still waits for, and one more while it is set up.
    left: AtomicUsize,
    /// Somebody sends it, or lets it fail.
    claimed: AtomicBool,
}

/// What a command means to those behind it in an out-of-order queue, and those before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Nothing.
    Command,
    /// Waits for all before it, unless it has a wait list.
    Marker,
    /// As a marker; and all behind wait for it.
    Barrier,
}

/// Adds a command to a queue. A blocking one has ended on return.
///
/// # Errors
/// The board is lost; a blocking command failed.
pub fn enqueue(
    queue: &Ref<Queue>,
    command_type: u32,
    waits: Vec<Ref<Event>>,
    kind: Kind,
    blocking: bool,
) -> Result<Ref<Event>> {
    enqueue_as(queue, command_type, waits, kind, blocking, Scope::Command)
}

/// As [`enqueue`], for markers and barriers, too.
///
/// # Errors
/// As there.
pub fn enqueue_as(
    queue: &Ref<Queue>,
    command_type: u32,
    waits: Vec<Ref<Event>>,
    kind: Kind,
    blocking: bool,
    scope: Scope,
) -> Result<Ref<Event>> {
    let board = Arc::clone(queue.device.board());
    let event = Object::new(Event::new(queue.context.clone(), Some(queue.clone()), command_type));
    let submit = blocking || scope == Scope::Barrier;
    let mut command = Command { board, event: event.clone(), waits, kind, submit, _keep: None };
    migrate::prepare(&queue.context, &mut command)?;
    let mut state = lock(&queue.state);
    let before = state.blockers(scope, command.waits.is_empty());
    if dispatch(Arc::new(command), before, blocking)? {
        state.note(&event, scope);
    }
    drop(state);
    if blocking {
        event.wait();
        event.outcome()?;
    }
    Ok(event)
}

/// Sends a command, or holds it back behind `blockers` and what it waits for; false if it failed at once, since
/// something that it waits for has failed.
///
/// # Errors
/// It could not be sent.
pub fn dispatch(command: Arc<Command>, mut blockers: Vec<Ref<Event>>, blocking: bool) -> Result<bool> {
    command.board.session.check()?;
    let mut failed = false;
    for wait in &command.waits {
        match wait.standing(&command.board) {
            Standing::Complete | Standing::Sent(_) => {}
            Standing::Failed => failed = true,
            Standing::Elsewhere => blockers.push(wait.clone()),
        }
    }
    if failed {
        command.event.fail(Error(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST));
    } else if blockers.is_empty() && (blocking || command.kind.bytes() <= WINDOW) {
        if at_once(&command, blocking)? {
            return Ok(true);
        }
        if let Err(why) = send(&command, command.submit) {
            // Parts that were sent still use the program's memory.
            command.event.wait();
            // Something that it waits for may have failed meanwhile.
            return if why.0 == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST { Ok(false) } else { Err(why) };
        }
    } else {
        hold(command, &blockers);
    }
    Ok(!failed)
}

fn hold(command: Arc<Command>, blockers: &[Ref<Event>]) {
    stats::HELD.add(1);
    let held = Arc::new(HeldCommand { command, left: AtomicUsize::new(1), claimed: AtomicBool::new(false) });
    held.command.board.session.hold(&held);
    for blocker in blockers {
        held.left.fetch_add(1, Ordering::AcqRel);
        if !blocker.depend(&held) {
            held.left.fetch_sub(1, Ordering::AcqRel);
        }
    }
    held.satisfied();
}

impl HeldCommand {
    /// One event less to wait for.
    pub fn satisfied(self: &Arc<Self>) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.command.board.session.release(Arc::clone(self));
        }
    }

    /// Sends it, now that it may go; `last` if no other is about to follow.
    pub fn go(&self, last: bool) {
        if self.claimed.swap(true, Ordering::AcqRel) {
            return;
        }
        // An error is the event's.
        let _ = send(&self.command, last || self.command.submit);
    }

    /// Lets it fail, since its board is lost.
    pub fn fail(&self, why: Error) {
        if !self.claimed.swap(true, Ordering::AcqRel) {
            self.command.event.fail(why);
        }
    }
}
