//! Markers and barriers.
#![allow(unsafe_code, non_snake_case)]

use opencl_sys::*;

use super::status;
use crate::command::enqueue::enqueue_as;
use crate::command::wait_list::WaitList;
use crate::command::{CallMode, Kind};
use crate::error::{Error, ensure};
use crate::handle::get;
use crate::objects::queue::{Queue, Scope};

fn mark(queue: cl_command_queue, wait_list: WaitList, scope: Scope) -> cl_int {
    status(|| {
        let queue = get::<Queue>(queue)?;
        let waits = wait_list.waits(&queue.context)?;
        let command_type = if scope == Scope::Barrier { CL_COMMAND_BARRIER } else { CL_COMMAND_MARKER };
        wait_list.give(&enqueue_as(&queue, command_type, waits, Kind::Marker, CallMode::NonBlocking, scope)?);
        Ok(())
    })
}

pub unsafe extern "C" fn clEnqueueMarkerWithWaitList(
    queue: cl_command_queue,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the program's, as the specification asks.
    mark(queue, unsafe { WaitList::new(num_waits, waits, event) }, Scope::Marker)
}

pub unsafe extern "C" fn clEnqueueBarrierWithWaitList(
    queue: cl_command_queue,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the program's, as the specification asks.
    mark(queue, unsafe { WaitList::new(num_waits, waits, event) }, Scope::Barrier)
}

pub unsafe extern "C" fn clEnqueueMarker(queue: cl_command_queue, event: *mut cl_event) -> cl_int {
    if event.is_null() {
        return status(|| get::<Queue>(queue).and(Err(Error(CL_INVALID_VALUE))));
    }
    // SAFETY: the program's, as the specification asks.
    mark(queue, unsafe { WaitList::new(0, std::ptr::null(), event) }, Scope::Marker)
}

pub unsafe extern "C" fn clEnqueueBarrier(queue: cl_command_queue) -> cl_int {
    // SAFETY: there is nothing to read or write.
    mark(queue, unsafe { WaitList::new(0, std::ptr::null(), std::ptr::null_mut()) }, Scope::Barrier)
}

pub unsafe extern "C" fn clEnqueueWaitForEvents(
    queue: cl_command_queue,
    num_events: cl_uint,
    events: *const cl_event,
) -> cl_int {
    // SAFETY: the program's, as the specification asks.
    let wait_list = unsafe { WaitList::new(num_events, events, std::ptr::null_mut()) };
    let wrong = status(|| {
        let queue = get::<Queue>(queue)?;
        ensure(num_events > 0 && !events.is_null(), CL_INVALID_VALUE)?;
        // This call has its own code for an invalid event.
        let named = |e: Error| if e.0 == CL_INVALID_EVENT_WAIT_LIST { Error(CL_INVALID_EVENT) } else { e };
        wait_list.waits(&queue.context).map(|_| ()).map_err(named)
    });
    if wrong == CL_SUCCESS { mark(queue, wait_list, Scope::Barrier) } else { wrong }
}
