//! Programs: making, building, compiling and linking them.
#![allow(unsafe_code, non_snake_case)]

use std::ffi::{c_char, c_uchar, c_void};

use opencl_sys::*;
use rackloom_sync::lock;

use super::{object, status, text};
use crate::callback::{Call, UserData};
use crate::command::build::{self, Task};
use crate::error::{Error, Result, code, ensure, fail};
use crate::handle::{Object, Ref, get, get_all, release, retain};
use crate::info::{list, put};
use crate::objects::context::Context;
use crate::objects::device::Device;
use crate::objects::program::{Origin, Part, Program};

type Notify = Option<unsafe extern "C" fn(cl_program, *mut c_void)>;

pub unsafe extern "C" fn clCreateProgramWithSource(
    context: cl_context,
    count: cl_uint,
    strings: *mut *const c_char,
    lengths: *const usize,
    errcode_ret: *mut cl_int,
) -> cl_program {
    let make = || {
        let context = get::<Context>(context)?;
        ensure(count > 0 && !strings.is_null(), CL_INVALID_VALUE)?;
        // SAFETY: the program's, as the specification asks.
        let (strings, lengths) = unsafe { (list(strings.cast_const(), count as usize), list(lengths, count as usize)) };
        let mut source = String::new();
        for (at, string) in strings.into_iter().enumerate() {
            ensure(!string.is_null(), CL_INVALID_VALUE)?;
            match lengths.get(at).copied().unwrap_or(0) {
                // SAFETY: without a length it ends with a zero.
                0 => source += &unsafe { text(string) }?,
                // SAFETY: with a length it has `len` bytes.
                len => source += &String::from_utf8_lossy(&unsafe { list(string.cast::<u8>(), len) }),
            }
        }
        let devices = context.devices.iter().map(|d| (d.clone(), source.as_bytes().to_vec())).collect();
        Ok(Object::list(&Object::new(context.table(), Program::new(context, Origin::Source(source), devices))))
    };
    // SAFETY: the program's, as the specification asks.
    unsafe { object(errcode_ret, make) }
}

pub unsafe extern "C" fn clCreateProgramWithBinary(
    context: cl_context,
    num_devices: cl_uint,
    devices: *const cl_device_id,
    lengths: *const usize,
    binaries: *mut *const c_uchar,
    binary_status: *mut cl_int,
    errcode_ret: *mut cl_int,
) -> cl_program {
    let make = || {
        let context = get::<Context>(context)?;
        ensure(num_devices > 0 && !devices.is_null(), CL_INVALID_VALUE)?;
        ensure(!lengths.is_null() && !binaries.is_null(), CL_INVALID_VALUE)?;
        let count = num_devices as usize;
        // SAFETY: the program's, as the specification asks.
        let (handles, lengths, binaries) =
            unsafe { (list(devices, count), list(lengths, count), list(binaries.cast_const(), count)) };
        let devices = get_all::<Device>(&handles)?;
        ensure(devices.iter().all(|d| context.index(d).is_some()), CL_INVALID_DEVICE)?;
        let mut parts = Vec::new();
        for (at, device) in devices.into_iter().enumerate() {
            let len = if binaries[at].is_null() { 0 } else { lengths[at] };
            // SAFETY: as above.
            parts.push((device, unsafe { list(binaries[at], len) }));
        }
        let program = Object::new(context.table(), Program::new(context, Origin::Binary, parts));
        let found: Vec<Result<()>> = program.parts.iter().map(Part::check_binary).collect();
        if !binary_status.is_null() {
            for (at, found) in found.iter().enumerate() {
                // SAFETY: as above.
                unsafe { put(binary_status.add(at), code(*found)) };
            }
        }
        found.into_iter().collect::<Result<()>>()?;
        Ok(Object::list(&program))
    };
    // SAFETY: the program's, as the specification asks.
    unsafe { object(errcode_ret, make) }
}

pub unsafe extern "C" fn clRetainProgram(program: cl_program) -> cl_int {
    status(|| retain::<Program>(program))
}

pub unsafe extern "C" fn clReleaseProgram(program: cl_program) -> cl_int {
    status(|| release::<Program>(program))
}

/// Places of these devices in the program; of all its devices without a list.
///
/// # Safety
/// `devices` is null or good for reading `count` handles.
unsafe fn places(program: &Program, count: cl_uint, devices: *const cl_device_id) -> Result<Vec<usize>> {
    ensure(devices.is_null() == (count == 0), CL_INVALID_VALUE)?;
    if devices.is_null() {
        return Ok((0..program.parts.len()).collect());
    }
    // SAFETY: as the caller says.
    let handles = unsafe { list(devices, count as usize) };
    let place = |h: &cl_device_id| program.parts.iter().position(|p| p.device.handle() == *h);
    handles.iter().map(|h| place(h).ok_or(Error(CL_INVALID_DEVICE))).collect()
}

/// The call to make when a build has ended, if the program wants one.
fn notify_call(program: &Ref<Program>, notify: Notify, user_data: *mut c_void) -> Result<Option<Call>> {
    ensure(notify.is_some() || user_data.is_null(), CL_INVALID_VALUE)?;
    let (program, data) = (program.clone(), UserData(user_data));
    Ok(notify.map(|notify| -> Call {
        Box::new(move || {
            // SAFETY: the program gave the function for this call; its program is held for it.
            unsafe { notify(program.handle(), data.pointer()) };
        })
    }))
}

/// Options of the program; null means empty.
///
/// # Safety
/// `options` is null or a text that ends with a zero.
unsafe fn options_text(options: *const c_char) -> Result<String> {
    // SAFETY: as the caller says.
    if options.is_null() { Ok(String::new()) } else { unsafe { text(options) } }
}

pub unsafe extern "C" fn clBuildProgram(
    program: cl_program,
    num_devices: cl_uint,
    devices: *const cl_device_id,
    options: *const c_char,
    notify: Notify,
    user_data: *mut c_void,
) -> cl_int {
    status(|| {
        let program = get::<Program>(program)?;
        // SAFETY: the program's, as the specification asks.
        let places = unsafe { places(&program, num_devices, devices) }?;
        let call = notify_call(&program, notify, user_data)?;
        // SAFETY: as above.
        let options = unsafe { options_text(options) }?;
        match &program.origin {
            Origin::Source(_) => {
                let compiles = places.iter().all(|at| program.parts[*at].device.compiles());
                ensure(compiles, CL_COMPILER_NOT_AVAILABLE)?;
            }
            Origin::Binary => {}
            // It is an executable, or a library of which others are made.
            Origin::Linked => return fail(CL_INVALID_OPERATION),
        }
        build::run(&program, &places, &Task::Build, &options, call)
    })
}

pub unsafe extern "C" fn clCompileProgram(
    program: cl_program,
    num_devices: cl_uint,
    devices: *const cl_device_id,
    options: *const c_char,
    num_headers: cl_uint,
    headers: *const cl_program,
    names: *mut *const c_char,
    notify: Notify,
    user_data: *mut c_void,
) -> cl_int {
    status(|| {
        let program = get::<Program>(program)?;
        // SAFETY: the program's, as the specification asks.
        let places = unsafe { places(&program, num_devices, devices) }?;
        let lists = headers.is_null() == (num_headers == 0) && names.is_null() == (num_headers == 0);
        ensure(lists, CL_INVALID_VALUE)?;
        let call = notify_call(&program, notify, user_data)?;
        ensure(matches!(program.origin, Origin::Source(_)), CL_INVALID_OPERATION)?;
        ensure(places.iter().all(|at| program.parts[*at].device.compiles()), CL_COMPILER_NOT_AVAILABLE)?;
        // SAFETY: as above.
        let (handles, names) =
            unsafe { (list(headers, num_headers as usize), list(names.cast_const(), num_headers as usize)) };
        let mut included = Vec::new();
        for (handle, name) in handles.into_iter().zip(names) {
            let header = get::<Program>(handle)?;
            ensure(matches!(header.origin, Origin::Source(_)), CL_INVALID_OPERATION)?;
            ensure(header.context.handle() == program.context.handle(), CL_INVALID_PROGRAM)?;
            // SAFETY: as above.
            included.push((unsafe { text(name) }?, header));
        }
        // SAFETY: as above.
        let options = unsafe { options_text(options) }?;
        let run = build::run(&program, &places, &Task::Compile(included), &options, call);
        // This call has its own codes for the same errors.
        let named = |e: Error| match e.0 {
            CL_INVALID_BUILD_OPTIONS => Error(CL_INVALID_COMPILER_OPTIONS),
            CL_BUILD_PROGRAM_FAILURE => Error(CL_COMPILE_PROGRAM_FAILURE),
            _ => e,
        };
        run.map_err(named)
    })
}

pub unsafe extern "C" fn clLinkProgram(
    context: cl_context,
    num_devices: cl_uint,
    devices: *const cl_device_id,
    options: *const c_char,
    num_inputs: cl_uint,
    inputs: *const cl_program,
    notify: Notify,
    user_data: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_program {
    let mut ended = Ok(());
    let make = || {
        let context = get::<Context>(context)?;
        ensure(devices.is_null() == (num_devices == 0), CL_INVALID_VALUE)?;
        ensure(num_inputs > 0 && !inputs.is_null(), CL_INVALID_VALUE)?;
        // SAFETY: the program's, as the specification asks.
        let inputs = get_all::<Program>(&unsafe { list(inputs, num_inputs as usize) })?;
        ensure(inputs.iter().all(|p| p.context.handle() == context.handle()), CL_INVALID_PROGRAM)?;
        // SAFETY: as above.
        let named = get_all::<Device>(&unsafe { list(devices, num_devices as usize) })?;
        ensure(named.iter().all(|d| context.index(d).is_some()), CL_INVALID_DEVICE)?;
        let wanted = if devices.is_null() { context.devices.clone() } else { named };
        ensure(wanted.iter().all(|d| d.links()), CL_LINKER_NOT_AVAILABLE)?;
        let has_object = |p: &Ref<Program>, d: &Ref<Device>| {
            p.part(d).is_some_and(|part| {
                let types = [CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT, CL_PROGRAM_BINARY_TYPE_LIBRARY];
                types.contains(&lock(&part.state).build.binary_type)
            })
        };
        // A device for which no input has an object is left out, unless it was named.
        let linkable = |d: &Ref<Device>| inputs.iter().all(|p| has_object(p, d));
        let (good, bad): (Vec<_>, Vec<_>) = wanted.into_iter().partition(linkable);
        let partly = |d: &Ref<Device>| inputs.iter().any(|p| has_object(p, d));
        ensure(!good.is_empty() && !bad.iter().any(partly), CL_INVALID_OPERATION)?;
        // SAFETY: as above.
        let options = unsafe { options_text(options) }?;
        let devices = good.into_iter().map(|d| (d, Vec::new())).collect();
        let program = Object::new(context.table(), Program::new(context, Origin::Linked, devices));
        let call = notify_call(&program, notify, user_data)?;
        let places: Vec<usize> = (0..program.parts.len()).collect();
        let handle = Object::list(&program);
        // One that does not link is a program all the same, whose log can be read.
        ended = build::run(&program, &places, &Task::Link(inputs), &options, call);
        Ok(handle)
    };
    // SAFETY: the program's, as the specification asks.
    let program = unsafe { object(errcode_ret, make) };
    if let Err(why) = ended {
        let code = match why.0 {
            CL_INVALID_BUILD_OPTIONS => CL_INVALID_LINKER_OPTIONS,
            CL_BUILD_PROGRAM_FAILURE => CL_LINK_PROGRAM_FAILURE,
            code => code,
        };
        // SAFETY: as above.
        unsafe { put(errcode_ret, code) };
        if code != CL_LINK_PROGRAM_FAILURE {
            let _ = release::<Program>(program);
            return std::ptr::null_mut();
        }
    }
    program
}
