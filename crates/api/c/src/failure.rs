//! What `rl_error` says.

use std::cell::RefCell;
use std::error::Error;
use std::ffi::{CStr, CString};
use std::fmt::Write as _;

thread_local! {
    /// Of the last call of this thread that failed.
    static LAST: RefCell<CString> = RefCell::new(c"no call has failed".to_owned());
}

/// Keeps an error and its causes as text.
pub(crate) fn keep(error: &dyn Error) {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let _ = write!(text, ": {cause}");
        next = cause.source();
    }
    let text = CString::new(text.replace('\0', " ")).expect("it has no zeros left");
    LAST.set(text);
}

/// Lets `f` see the text.
pub(crate) fn with<R>(f: impl FnOnce(&CStr) -> R) -> R {
    LAST.with_borrow(|text| f(text))
}
