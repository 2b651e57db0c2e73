//! Events.
#![allow(unsafe_code, non_snake_case)]

use std::ffi::c_void;

use opencl_sys::*;

use super::{object, status};
use crate::callback::UserData;
use crate::error::{Error, ensure, fail};
use crate::handle::{Object, get, get_all, release, retain};
use crate::info::{Out, list};
use crate::objects::context::Context;
use crate::objects::event::{Event, wait_all};

pub unsafe extern "C" fn clWaitForEvents(num_events: cl_uint, events: *const cl_event) -> cl_int {
    status(|| {
        ensure(num_events > 0 && !events.is_null(), CL_INVALID_VALUE)?;
        // SAFETY: the program's, as the specification asks.
        let events = get_all::<Event>(&unsafe { list(events, num_events as usize) })?;
        let one = |e: &crate::handle::Ref<Event>| e.context.handle() == events[0].context.handle();
        ensure(events.iter().all(one), CL_INVALID_CONTEXT)?;
        wait_all(&events)
    })
}

pub unsafe extern "C" fn clGetEventInfo(
    event: cl_event,
    name: cl_event_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    status(|| {
        let event = get::<Event>(event)?;
        // SAFETY: the program's, as the specification asks.
        let out = unsafe { Out::new(size, value, size_ret) };
        match name {
            CL_EVENT_COMMAND_QUEUE => out.pointer(event.queue.as_ref().map_or(std::ptr::null_mut(), |q| q.handle())),
            CL_EVENT_CONTEXT => out.pointer(event.context.handle()),
            CL_EVENT_COMMAND_TYPE => out.uint(event.command_type),
            CL_EVENT_REFERENCE_COUNT => out.uint(event.references()),
            CL_EVENT_COMMAND_EXECUTION_STATUS => {
                // A program that polls without a flush would poll forever.
                event.submit();
                event.catch_up();
                if let Some(queue) = &event.queue
                    && !event.is_done()
                {
                    queue.device.board().session.poll();
                }
                out.uint(event.status().cast_unsigned())
            }
            _ => fail(CL_INVALID_VALUE),
        }
    })
}

pub unsafe extern "C" fn clRetainEvent(event: cl_event) -> cl_int {
    status(|| retain::<Event>(event))
}

pub unsafe extern "C" fn clReleaseEvent(event: cl_event) -> cl_int {
    status(|| release::<Event>(event))
}

pub unsafe extern "C" fn clGetEventProfilingInfo(
    event: cl_event,
    name: cl_profiling_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    status(|| {
        let event = get::<Event>(event)?;
        event.catch_up();
        let profiles = event.queue.as_ref().is_some_and(|q| q.profiles());
        ensure(profiles && event.status() == CL_COMPLETE, CL_PROFILING_INFO_NOT_AVAILABLE)?;
        let times = event.profile();
        // SAFETY: the program's, as the specification asks.
        let out = unsafe { Out::new(size, value, size_ret) };
        match name {
            CL_PROFILING_COMMAND_QUEUED => out.ulong(times.queued),
            CL_PROFILING_COMMAND_SUBMIT => out.ulong(times.submitted),
            CL_PROFILING_COMMAND_START => out.ulong(times.started),
            CL_PROFILING_COMMAND_END | CL_PROFILING_COMMAND_COMPLETE => out.ulong(times.ended),
            _ => fail(CL_INVALID_VALUE),
        }
    })
}

pub unsafe extern "C" fn clCreateUserEvent(context: cl_context, errcode_ret: *mut cl_int) -> cl_event {
    let make = || {
        let context = get::<Context>(context)?;
        Ok(Object::list(&Object::new(context.table(), Event::new(context, None, CL_COMMAND_USER))))
    };
    // SAFETY: the program's, as the specification asks.
    unsafe { object(errcode_ret, make) }
}

pub unsafe extern "C" fn clSetUserEventStatus(event: cl_event, execution_status: cl_int) -> cl_int {
    status(|| {
        let event = get::<Event>(event)?;
        ensure(event.command_type == CL_COMMAND_USER, CL_INVALID_EVENT)?;
        ensure(execution_status <= CL_COMPLETE, CL_INVALID_VALUE)?;
        event.set_by_user(execution_status)
    })
}

pub unsafe extern "C" fn clSetEventCallback(
    event: cl_event,
    at: cl_int,
    notify: Option<unsafe extern "C" fn(cl_event, cl_int, *mut c_void)>,
    user_data: *mut c_void,
) -> cl_int {
    status(|| {
        let event = get::<Event>(event)?;
        let notify = notify.ok_or(Error(CL_INVALID_VALUE))?;
        ensure(matches!(at, CL_SUBMITTED | CL_RUNNING | CL_COMPLETE), CL_INVALID_VALUE)?;
        let data = UserData(user_data);
        let mine = event.clone();
        event.on(
            at,
            Box::new(move |status| {
                // SAFETY: the program gave the function for this call; the event is held for it.
                unsafe { notify(mine.handle(), status, data.pointer()) };
            }),
        );
        event.submit();
        Ok(())
    })
}
