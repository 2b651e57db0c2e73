//! Sending a command, or holding it back.
//!
//! A command is sent in the caller's thread if all that it waits for is complete or was sent to the same board before:
//! the stream of a board is executed in order. Otherwise it is held: behind user events, events of other boards, and
//! commands of the same queue that are held themselves. The session's own thread sends it later.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use opencl_sys::CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
use rackloom_sync::lock;

use crate::command::local::run_locally;
use crate::command::send::{WINDOW, send};
use crate::command::{CallMode, Command};
use crate::error::{Error, Result};
use crate::handle::Ref;
use crate::objects::event::{Dependent, Event, Standing};
use crate::session::board::Board;
use crate::session::sender_thread::HeldCommand;
use crate::session::stream::Submit;
use crate::stats;

/// A command that is held back.
struct Held {
    board: Arc<Board>,
    /// Until a thread takes it, to send it or to fail it.
    command: Mutex<Option<Arc<Command>>>,
    /// Events that it still waits for, and one more while it is set up.
    left: AtomicUsize,
}

/// Sends a command, or holds it back behind `blockers` and what it waits for; false if it failed at once, since
/// something that it waits for has failed.
///
/// # Errors
/// It could not be sent.
pub fn dispatch(command: Arc<Command>, mut blockers: Vec<Ref<Event>>, mode: CallMode) -> Result<bool> {
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
    } else if blockers.is_empty() && (mode == CallMode::Blocking || command.kind.bytes() <= WINDOW) {
        if run_locally(&command, mode)? {
            return Ok(true);
        }
        let (event, submit) = (command.event.clone(), command.submit);
        if let Err(why) = send(command, submit) {
            // Parts that were sent still use the program's memory.
            event.wait();
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
    let board = Arc::clone(&command.board);
    let held = Arc::new(Held { board, command: Mutex::new(Some(command)), left: AtomicUsize::new(1) });
    let listed: Arc<dyn HeldCommand> = held.clone();
    held.board.session.hold(Arc::downgrade(&listed));
    for blocker in blockers {
        held.left.fetch_add(1, Ordering::AcqRel);
        if !blocker.depend(held.clone()) {
            held.left.fetch_sub(1, Ordering::AcqRel);
        }
    }
    held.satisfied();
}

impl Dependent for Held {
    fn board(&self) -> &Arc<Board> {
        &self.board
    }

    fn satisfied(self: Arc<Self>) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            let session = Arc::clone(&self.board.session);
            session.release(self);
        }
    }
}

impl HeldCommand for Held {
    fn send(&self, submit: Submit) {
        let Some(command) = lock(&self.command).take() else { return };
        let submit = if submit == Submit::Now { Submit::Now } else { command.submit };
        // An error is the event's.
        let _ = send(command, submit);
    }

    fn fail(&self, why: Error) {
        let command = lock(&self.command).take();
        if let Some(command) = command {
            let event = command.event.clone();
            drop(command);
            event.fail(why);
        }
    }
}
