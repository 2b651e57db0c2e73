//! The functions of the header.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::panic::catch_unwind;
use std::ptr::null_mut;

use rackloom::Access;

use crate::failure;
use crate::given::Window;
use crate::maps::{self, Failure};

/// Runs a call; its error is kept. A bug of ours ends the process: C knows no panics.
fn call<T>(f: impl FnOnce() -> Result<T, Failure> + std::panic::UnwindSafe) -> Option<T> {
    match catch_unwind(f) {
        Ok(Ok(value)) => Some(value),
        Ok(Err(error)) => {
            failure::keep(&error);
            None
        }
        Err(_) => std::process::abort(),
    }
}

fn status(done: Option<()>) -> c_int {
    if done.is_some() { 0 } else { -1 }
}

/// See the header.
///
/// # Safety
/// `node` is null or a string that ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_map(node: *const c_char, base: u64, length: u64, access: c_int) -> *mut c_void {
    let at = call(|| {
        if node.is_null() {
            return Err(Failure::Invalid("no node is named".to_owned()));
        }
        // SAFETY: the caller hands over a string.
        let text = unsafe { CStr::from_ptr(node) }.to_string_lossy();
        let node = text.parse().map_err(|_| Failure::Invalid(format!("no address of a node: `{text}`")))?;
        let access = match access {
            1 => Access::Read,
            3 => Access::ReadWrite,
            other => return Err(Failure::Invalid(format!("access {other}: RL_READ or RL_READ_WRITE"))),
        };
        maps::map(Window { node, base, length, access })
    });
    at.map_or(null_mut(), <*mut u8>::cast)
}

/// See the header.
///
/// # Safety
/// `length` is null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_map_given(length: *mut u64) -> *mut c_void {
    let mapped = call(|| {
        let window = maps::given()?;
        Ok((maps::map(window)?, window.length))
    });
    let Some((at, bytes)) = mapped else { return null_mut() };
    if !length.is_null() {
        // SAFETY: the caller hands over a place for it.
        unsafe { length.write(bytes) };
    }
    at.cast()
}

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn rl_sync(map: *mut c_void) -> c_int {
    let addr = map.addr();
    status(call(|| Ok(maps::at(addr)?.sync()?)))
}

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn rl_invalidate(map: *mut c_void) -> c_int {
    let addr = map.addr();
    status(call(|| {
        maps::at(addr)?.invalidate();
        Ok(())
    }))
}

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn rl_unmap(map: *mut c_void) -> c_int {
    let addr = map.addr();
    status(call(|| maps::unmap(addr)))
}

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn rl_error() -> *const c_char {
    // The text stays where it is until the thread's next call.
    failure::with(CStr::as_ptr)
}
