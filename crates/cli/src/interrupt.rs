//! Ctrl-C: the first runs a command's clean-up, a second ends the process at once.

use std::sync::{Mutex, PoisonError};

use crate::exit::Exit;

type Action = Box<dyn FnOnce() + Send>;

static ACTION: Mutex<Option<Action>> = Mutex::new(None);

/// Handles Ctrl-C from now on.
pub(crate) fn listen() {
    // It fails only if a handler is already set.
    let _ = ctrlc::set_handler(|| {
        let action = ACTION.lock().unwrap_or_else(PoisonError::into_inner).take();
        match action {
            Some(action) => action(),
            None => std::process::exit(Exit::Interrupted as i32),
        }
    });
}

/// Calls `action` at the next interrupt, instead of ending the process.
pub(crate) fn instead(action: impl FnOnce() + Send + 'static) {
    *ACTION.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(action));
}
