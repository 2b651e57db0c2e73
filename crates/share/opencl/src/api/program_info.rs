//! Information about programs.
#![allow(unsafe_code, non_snake_case)]

use std::ffi::c_void;
use std::sync::atomic::Ordering;

use opencl_sys::*;
use rackloom_sync::lock;

use super::status;
use crate::error::{Error, Result, ensure, fail};
use crate::handle::get;
use crate::info::Out;
use crate::objects::device::Device;
use crate::objects::program::{Origin, Program};

pub unsafe extern "C" fn clGetProgramInfo(
    program: cl_program,
    name: cl_program_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    status(|| {
        let program = get::<Program>(program)?;
        // SAFETY: the program's, as the specification asks.
        let out = unsafe { Out::new(size, value, size_ret) };
        match name {
            CL_PROGRAM_REFERENCE_COUNT => out.uint(program.references()),
            CL_PROGRAM_CONTEXT => out.pointer(program.context.handle()),
            CL_PROGRAM_NUM_DEVICES => out.uint(program.parts.len() as u32),
            CL_PROGRAM_DEVICES => out.sizes(program.parts.iter().map(|p| p.device.handle().addr())),
            CL_PROGRAM_SOURCE => match &program.origin {
                Origin::Source(source) => out.text(source),
                Origin::Binary | Origin::Linked => out.text(""),
            },
            CL_PROGRAM_IL => out.bytes(&[]),
            CL_PROGRAM_BINARY_SIZES => {
                out.sizes(program.parts.iter().map(|p| p.binary_size()).collect::<Result<Vec<_>>>()?)
            }
            CL_PROGRAM_BINARIES => binaries(&program, out),
            CL_PROGRAM_NUM_KERNELS => out.size(kernels(&program)?.len()),
            CL_PROGRAM_KERNEL_NAMES => out.text(&kernels(&program)?.join(";")),
            CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT | CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT => out.uint(CL_FALSE),
            _ => fail(CL_INVALID_VALUE),
        }
    })
}

fn binaries(program: &Program, out: Out) -> Result<()> {
    let Some(places) = out.pointers(program.parts.len())? else { return Ok(()) };
    for (part, to) in program.parts.iter().zip(places) {
        if !to.is_null() {
            let bytes = part.binary()?;
            // SAFETY: the program made room for the size it got before.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        }
    }
    Ok(())
}

fn kernels(program: &Program) -> Result<Vec<String>> {
    let part = program.executables().next().ok_or(Error(CL_INVALID_PROGRAM_EXECUTABLE))?;
    let names = lock(&part.state).build.kernels.clone();
    Ok(names)
}

pub unsafe extern "C" fn clGetProgramBuildInfo(
    program: cl_program,
    device: cl_device_id,
    name: cl_program_build_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    status(|| {
        let program = get::<Program>(program)?;
        let device = get::<Device>(device)?;
        let part = program.part(&device).ok_or(Error(CL_INVALID_DEVICE))?;
        // SAFETY: the program's, as the specification asks.
        let out = unsafe { Out::new(size, value, size_ret) };
        let state = lock(&part.state).clone();
        match name {
            CL_PROGRAM_BUILD_STATUS => out.uint(state.status.cast_unsigned()),
            CL_PROGRAM_BUILD_OPTIONS => out.text(&state.options),
            CL_PROGRAM_BUILD_LOG => out.text(&state.build.log),
            CL_PROGRAM_BINARY_TYPE => out.uint(state.build.binary_type),
            CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE => out.size(state.build.global_variables as usize),
            _ => fail(CL_INVALID_VALUE),
        }
    })
}

/// Gone since OpenCL 3.0: no program has global destructors.
pub unsafe extern "C" fn clSetProgramReleaseCallback(
    program: cl_program,
    _notify: Option<unsafe extern "C" fn(cl_program, *mut c_void)>,
    _user_data: *mut c_void,
) -> cl_int {
    status(|| get::<Program>(program).and(Err(Error(CL_INVALID_OPERATION))))
}

/// Only programs in an intermediate language have such constants, and they are not supported.
pub unsafe extern "C" fn clSetProgramSpecializationConstant(
    program: cl_program,
    _spec_id: cl_uint,
    _spec_size: usize,
    _spec_value: *const c_void,
) -> cl_int {
    status(|| {
        let program = get::<Program>(program)?;
        ensure(program.kernels.load(Ordering::Acquire) == 0, CL_INVALID_OPERATION)?;
        fail(CL_INVALID_PROGRAM)
    })
}
