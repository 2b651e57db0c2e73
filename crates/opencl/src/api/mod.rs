//! The functions of the table, by family. Each checks all that the specification wants checked at the call, and leaves
//! the work to the objects.
#![allow(unsafe_code)]

pub mod context;
pub mod device;
pub mod event;
pub mod kernel;
pub mod launch;
pub mod map;
pub mod memory;
pub mod platform;
pub mod program;
pub mod program_info;
pub mod queue;
pub mod rect;
pub mod sync;
pub mod transfer;
pub mod unsupported;

use std::ffi::{CStr, c_char, c_void};

use opencl_sys::{CL_INVALID_CONTEXT, CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_VALUE, CL_SUCCESS, cl_event, cl_int};

use crate::error::{Error, Result, code, ensure};
use crate::handle::{Object, Ref, get};
use crate::info::{list, put};
use crate::objects::context::Context;
use crate::objects::event::Event;

/// The result of a call that returns a code.
fn status(call: impl FnOnce() -> Result<()>) -> cl_int {
    code(call())
}

/// The result of a call that makes an object and writes its code.
///
/// # Safety
/// `errcode_ret` is null or good for writing.
unsafe fn object(errcode_ret: *mut cl_int, call: impl FnOnce() -> Result<*mut c_void>) -> *mut c_void {
    let (code, handle) = call().map_or_else(|e| (e.0, std::ptr::null_mut()), |handle| (CL_SUCCESS, handle));
    // SAFETY: as the caller says.
    unsafe { put(errcode_ret, code) };
    handle
}

/// The events that a command waits for, all of this context.
///
/// # Safety
/// `events` is null or good for reading `count` handles.
unsafe fn wait_list(context: &Ref<Context>, count: u32, events: *const cl_event) -> Result<Vec<Ref<Event>>> {
    ensure(events.is_null() == (count == 0), CL_INVALID_EVENT_WAIT_LIST)?;
    if count == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: as the caller says.
    let handles = unsafe { list(events, count as usize) };
    let events = handles.into_iter().map(|h| get::<Event>(h).map_err(|_| Error(CL_INVALID_EVENT_WAIT_LIST)));
    let events = events.collect::<Result<Vec<_>>>()?;
    ensure(events.iter().all(|e| e.context.handle() == context.handle()), CL_INVALID_CONTEXT)?;
    Ok(events)
}

/// Gives the program the event of a command, if it wants it.
///
/// # Safety
/// `out` is null or good for writing.
unsafe fn give_event(out: *mut cl_event, event: &Ref<Event>) {
    if !out.is_null() {
        // SAFETY: as the caller says.
        unsafe { put(out, Object::list(event)) };
    }
}

/// A text of the program; `CL_INVALID_VALUE` if there is none.
///
/// # Safety
/// `from` is null or a text that ends with a zero.
unsafe fn text(from: *const c_char) -> Result<String> {
    ensure(!from.is_null(), CL_INVALID_VALUE)?;
    // SAFETY: as the caller says.
    Ok(unsafe { CStr::from_ptr(from) }.to_string_lossy().into_owned())
}
