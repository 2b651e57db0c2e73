//! Queues.
#![allow(unsafe_code, non_snake_case)]

use std::ffi::c_void;

use std::sync::atomic::Ordering;

use opencl_sys::*;
use rackloom_opencl_wire as wire;

use super::{object, status};
use crate::error::{Error, Result, ensure, fail};
use crate::handle::{Object, get, release, retain};
use crate::info::{Out, properties, put};
use crate::objects::context::Context;
use crate::objects::device::Device;
use crate::objects::queue::Queue;

const KNOWN: u64 = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
const ON_DEVICE: u64 = CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;

fn create(
    context: cl_context,
    device: cl_device_id,
    bits: u64,
    array: Vec<cl_queue_properties>,
) -> Result<*mut c_void> {
    let context = get::<Context>(context)?;
    let device = get::<Device>(device)?;
    context.index(&device).ok_or(Error(CL_INVALID_DEVICE))?;
    ensure(bits & !(KNOWN | ON_DEVICE) == 0, CL_INVALID_VALUE)?;
    ensure(bits & ON_DEVICE == 0, CL_INVALID_QUEUE_PROPERTIES)?;
    let board = device.board();
    board.session.check()?;
    if bits & CL_QUEUE_PROFILING_ENABLE != 0 && !board.profiles.swap(true, Ordering::AcqRel) {
        board.session.send(&wire::Command::Profile, &[])?;
    }
    Ok(Object::list(&Object::new(context.table(), Queue::new(context, device, bits, array))))
}

pub unsafe extern "C" fn clCreateCommandQueue(
    context: cl_context,
    device: cl_device_id,
    properties: cl_command_queue_properties,
    errcode_ret: *mut cl_int,
) -> cl_command_queue {
    // SAFETY: the program's, as the specification asks.
    unsafe { object(errcode_ret, || create(context, device, properties, Vec::new())) }
}

pub unsafe extern "C" fn clCreateCommandQueueWithProperties(
    context: cl_context,
    device: cl_device_id,
    given: *const cl_queue_properties,
    errcode_ret: *mut cl_int,
) -> cl_command_queue {
    let make = || {
        // SAFETY: the program's, as the specification asks.
        let pairs = unsafe { properties(given) };
        let mut bits = 0;
        for (name, value) in &pairs {
            match *name as cl_command_queue_info {
                CL_QUEUE_PROPERTIES => bits = *value,
                // A size is for queues on devices.
                CL_QUEUE_SIZE => return fail(CL_INVALID_VALUE),
                _ => return fail(CL_INVALID_VALUE),
            }
        }
        let mut array: Vec<_> = pairs.iter().flat_map(|(name, value)| [*name, *value]).collect();
        if !given.is_null() {
            array.push(0);
        }
        create(context, device, bits, array)
    };
    // SAFETY: as above.
    unsafe { object(errcode_ret, make) }
}

pub unsafe extern "C" fn clRetainCommandQueue(queue: cl_command_queue) -> cl_int {
    status(|| retain::<Queue>(queue))
}

pub unsafe extern "C" fn clReleaseCommandQueue(queue: cl_command_queue) -> cl_int {
    status(|| {
        get::<Queue>(queue)?.flush();
        release::<Queue>(queue)
    })
}

pub unsafe extern "C" fn clGetCommandQueueInfo(
    queue: cl_command_queue,
    name: cl_command_queue_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    status(|| {
        let queue = get::<Queue>(queue)?;
        // SAFETY: the program's, as the specification asks.
        let out = unsafe { Out::new(size, value, size_ret) };
        match name {
            CL_QUEUE_CONTEXT => out.pointer(queue.context.handle()),
            CL_QUEUE_DEVICE => out.pointer(queue.device.handle()),
            CL_QUEUE_REFERENCE_COUNT => out.uint(queue.references()),
            CL_QUEUE_PROPERTIES => out.ulong(queue.properties),
            CL_QUEUE_PROPERTIES_ARRAY => {
                out.bytes(&queue.array.iter().flat_map(|p| p.to_ne_bytes()).collect::<Vec<_>>())
            }
            CL_QUEUE_DEVICE_DEFAULT => out.pointer(std::ptr::null()),
            // Only queues on devices have a size.
            CL_QUEUE_SIZE => fail(CL_INVALID_COMMAND_QUEUE),
            _ => fail(CL_INVALID_VALUE),
        }
    })
}

/// Gone since OpenCL 1.1: it cannot be done while commands run.
pub unsafe extern "C" fn clSetCommandQueueProperty(
    queue: cl_command_queue,
    _properties: cl_command_queue_properties,
    _enable: cl_bool,
    old_properties: *mut cl_command_queue_properties,
) -> cl_int {
    status(|| {
        let queue = get::<Queue>(queue)?;
        // SAFETY: the program's, or null.
        unsafe { put(old_properties, queue.properties) };
        fail(CL_INVALID_OPERATION)
    })
}

pub unsafe extern "C" fn clFlush(queue: cl_command_queue) -> cl_int {
    status(|| {
        let queue = get::<Queue>(queue)?;
        queue.device.board().session.check()?;
        queue.flush();
        Ok(())
    })
}

pub unsafe extern "C" fn clFinish(queue: cl_command_queue) -> cl_int {
    status(|| {
        let queue = get::<Queue>(queue)?;
        queue.finish();
        queue.device.board().session.check()?;
        queue.outcome()
    })
}
