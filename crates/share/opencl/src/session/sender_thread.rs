//! The session's own thread: it sends the commands that were held back, writes what kernels print, and finishes
//! operations for which no thread waits.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, Weak};

use rackloom_sync::{lock, wait};

use crate::error::Error;
use crate::session::stream::Submit;

/// A command that is held back until all that it waits for is complete or was sent to its board.
pub trait HeldCommand: Send + Sync {
    /// Sends it, now that it may go. With [`Submit::Later`] another one follows at once.
    fn send(&self, submit: Submit);

    /// Fails it, since its board is lost.
    fn fail(&self, why: Error);
}

/// The thread, started with its first work, and the commands that wait for it.
#[derive(Default)]
pub struct SenderThread {
    state: Mutex<State>,
    more: Condvar,
    held: Mutex<Held>,
}

#[derive(Default)]
struct State {
    released: VecDeque<Arc<dyn HeldCommand>>,
    is_called: bool,
    is_running: bool,
}

/// All commands that are held back.
#[derive(Default)]
struct Held {
    commands: Vec<Weak<dyn HeldCommand>>,
    /// Number of commands left when those that are gone were last dropped.
    kept: usize,
}

impl SenderThread {
    /// Notes a command that is held back, so that it ends with the connection.
    pub fn hold(&self, command: Weak<dyn HeldCommand>) {
        let mut held = lock(&self.held);
        if held.commands.len() >= 64 + 2 * held.kept {
            held.commands.retain(|h| h.strong_count() > 0);
            held.kept = held.commands.len();
        }
        held.commands.push(command);
    }

    /// Queues a command that may be sent; [`Self::wake`] follows.
    pub fn release(&self, command: Arc<dyn HeldCommand>) {
        lock(&self.state).released.push_back(command);
    }

    /// Wakes the thread. If it does not run, `start` starts it, unless it cannot; whether it runs.
    pub fn wake(&self, start: impl FnOnce() -> bool) -> bool {
        let mut state = lock(&self.state);
        state.is_called = true;
        if !state.is_running {
            state.is_running = start();
        }
        let runs = state.is_running;
        drop(state);
        self.more.notify_one();
        runs
    }

    /// The thread's body: sends, and calls `finish` whenever it is woken, until `is_lost`.
    pub fn run(&self, finish: impl Fn(), is_lost: impl Fn() -> bool) {
        let mut state = lock(&self.state);
        loop {
            state.is_called = false;
            while let Some(command) = state.released.pop_front() {
                let submit = if state.released.is_empty() { Submit::Now } else { Submit::Later };
                drop(state);
                command.send(submit);
                // Without the lock: objects may end with it.
                drop(command);
                state = lock(&self.state);
            }
            drop(state);
            finish();
            state = lock(&self.state);
            if state.is_called || !state.released.is_empty() {
                continue;
            }
            if is_lost() {
                state.is_running = false;
                return;
            }
            state = wait(&self.more, state);
        }
    }

    /// Fails all commands that are held back.
    pub fn fail_held(&self, why: Error) {
        let held = std::mem::take(&mut *lock(&self.held));
        held.commands.iter().filter_map(Weak::upgrade).for_each(|command| command.fail(why));
    }
}
