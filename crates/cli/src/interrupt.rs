//! Ctrl-C: what there is to tidy up is tidied up, and a second one ends everything at once.

use std::sync::{Mutex, PoisonError};

use crate::exit::Exit;

type Action = Box<dyn FnOnce() + Send>;

static ACTION: Mutex<Option<Action>> = Mutex::new(None);

/// Listens from now on.
pub(crate) fn listen() {
    // It fails only when somebody listens already.
    let _ = ctrlc::set_handler(|| {
        let action = ACTION.lock().unwrap_or_else(PoisonError::into_inner).take();
        match action {
            Some(action) => action(),
            None => std::process::exit(Exit::Interrupted as i32),
        }
    });
}

/// At the next interrupt, `action` is called instead of ending the process.
pub(crate) fn instead(action: impl FnOnce() + Send + 'static) {
    *ACTION.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(action));
}
