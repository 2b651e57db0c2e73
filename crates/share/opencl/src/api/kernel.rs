//! Kernels, their arguments, and information about them.
#![allow(unsafe_code, non_snake_case)]

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use opencl_sys::*;
use rackloom_opencl_wire::ArgumentInfo;
use rackloom_sync::lock;

use super::{object, status, text};
use crate::error::{Error, Result, ensure, fail};
use crate::handle::{Object, Ref, get, release, retain};
use crate::info::{Out, list, put};
use crate::objects::device::Device;
use crate::objects::kernel::{Kernel, Value};
use crate::objects::memory::Buffer;
use crate::objects::program::Program;
use crate::objects::sampler::Sampler;

/// A kernel of a program, from the first device for which it was built.
fn create(program: &Ref<Program>, name: &str) -> Result<*mut c_void> {
    let part = program.executables().next().ok_or(Error(CL_INVALID_PROGRAM_EXECUTABLE))?;
    ensure(lock(&part.state).build.kernels.iter().any(|k| k == name), CL_INVALID_KERNEL_NAME)?;
    let info = program.kernel_info(&part.device, name)?;
    Ok(Object::list(&Object::new(program.table(), Kernel::new(program.clone(), name, info))))
}

pub unsafe extern "C" fn clCreateKernel(
    program: cl_program,
    name: *const c_char,
    errcode_ret: *mut cl_int,
) -> cl_kernel {
    let make = || {
        let program = get::<Program>(program)?;
        // SAFETY: the program's, as the specification asks.
        create(&program, &unsafe { text(name) }?)
    };
    // SAFETY: as above.
    unsafe { object(errcode_ret, make) }
}

pub unsafe extern "C" fn clCreateKernelsInProgram(
    program: cl_program,
    num_kernels: cl_uint,
    kernels: *mut cl_kernel,
    num_kernels_ret: *mut cl_uint,
) -> cl_int {
    status(|| {
        let program = get::<Program>(program)?;
        let part = program.executables().next().ok_or(Error(CL_INVALID_PROGRAM_EXECUTABLE))?;
        let names = lock(&part.state).build.kernels.clone();
        if !kernels.is_null() {
            ensure(num_kernels as usize >= names.len(), CL_INVALID_VALUE)?;
            let mut made = Vec::new();
            for name in &names {
                match create(&program, name) {
                    Ok(kernel) => made.push(kernel),
                    Err(why) => {
                        made.into_iter().for_each(|kernel| _ = release::<Kernel>(kernel));
                        return Err(why);
                    }
                }
            }
            for (at, kernel) in made.into_iter().enumerate() {
                // SAFETY: the program's array has `num_kernels` places.
                unsafe { put(kernels.add(at), kernel) };
            }
        }
        // SAFETY: the program's, or null.
        unsafe { put(num_kernels_ret, names.len() as cl_uint) };
        Ok(())
    })
}

pub unsafe extern "C" fn clCloneKernel(kernel: cl_kernel, errcode_ret: *mut cl_int) -> cl_kernel {
    let make = || {
        let kernel = get::<Kernel>(kernel)?;
        Ok(Object::list(&Object::new(kernel.table(), kernel.copy())))
    };
    // SAFETY: the program's, as the specification asks.
    unsafe { object(errcode_ret, make) }
}

pub unsafe extern "C" fn clRetainKernel(kernel: cl_kernel) -> cl_int {
    status(|| retain::<Kernel>(kernel))
}

pub unsafe extern "C" fn clReleaseKernel(kernel: cl_kernel) -> cl_int {
    status(|| release::<Kernel>(kernel))
}

pub unsafe extern "C" fn clSetKernelArg(
    kernel: cl_kernel,
    index: cl_uint,
    size: usize,
    value: *const c_void,
) -> cl_int {
    status(|| {
        let kernel = get::<Kernel>(kernel)?;
        ensure(index < kernel.info.argument_count, CL_INVALID_ARG_INDEX)?;
        let known = kernel.info.arguments.as_ref().and_then(|a| a.get(index as usize));
        // SAFETY: the program's, as the specification asks.
        let value = unsafe { argument(&kernel, known, size, value) }?;
        kernel.set(index as usize, value)
    })
}

const HANDLE: usize = size_of::<cl_mem>();

/// The value that the program gave for an argument, checked as far as the argument is known.
///
/// # Safety
/// `value` is null or good for reading `size` bytes.
unsafe fn argument(kernel: &Kernel, known: Option<&ArgumentInfo>, size: usize, value: *const c_void) -> Result<Value> {
    // SAFETY: as the caller says.
    let handle = || unsafe { value.cast::<cl_mem>().read_unaligned() };
    let buffer = |handle: cl_mem| {
        let buffer = get::<Buffer>(handle)?;
        ensure(buffer.context.handle() == kernel.context.handle(), CL_INVALID_MEM_OBJECT)?;
        ensure(buffer.image.is_none() || known.is_none(), CL_INVALID_MEM_OBJECT)?;
        Ok(Value::Buffer(Arc::downgrade(&buffer)))
    };
    if let Some(known) = known.filter(|known| is_image(known)) {
        ensure(size == HANDLE, CL_INVALID_ARG_SIZE)?;
        ensure(!value.is_null(), CL_INVALID_ARG_VALUE)?;
        let memory = get::<Buffer>(handle())?;
        ensure(memory.image.is_some() && memory.context.handle() == kernel.context.handle(), CL_INVALID_MEM_OBJECT)?;
        let is_kept_from = match known.access {
            CL_KERNEL_ARG_ACCESS_READ_ONLY => CL_MEM_WRITE_ONLY,
            CL_KERNEL_ARG_ACCESS_WRITE_ONLY => CL_MEM_READ_ONLY,
            _ => CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
        };
        ensure(memory.flags & is_kept_from == 0, CL_INVALID_ARG_VALUE)?;
        return Ok(Value::Buffer(Arc::downgrade(&memory)));
    }
    if known.is_some_and(|known| known.type_name == "sampler_t") {
        ensure(size == HANDLE, CL_INVALID_ARG_SIZE)?;
        ensure(!value.is_null(), CL_INVALID_SAMPLER)?;
        return sampler(kernel, handle());
    }
    match known.map(|a| a.address) {
        Some(CL_KERNEL_ARG_ADDRESS_GLOBAL | CL_KERNEL_ARG_ADDRESS_CONSTANT) => {
            ensure(size == HANDLE, CL_INVALID_ARG_SIZE)?;
            if value.is_null() || handle().is_null() {
                return Ok(Value::Nothing);
            }
            buffer(handle())
        }
        Some(CL_KERNEL_ARG_ADDRESS_LOCAL) => {
            ensure(value.is_null(), CL_INVALID_ARG_VALUE)?;
            ensure(size > 0, CL_INVALID_ARG_SIZE)?;
            Ok(Value::Local(size as u64))
        }
        Some(_) => {
            let type_name = known.map_or("", |a| a.type_name.as_str());
            ensure(!value.is_null(), CL_INVALID_ARG_VALUE)?;
            let takes = size_of_type(type_name).unwrap_or(size);
            // Three elements of a vector of three: it has the room of four, but runtimes take as many as it names.
            let is_three = type_name.ends_with('3') && size == takes / 4 * 3;
            ensure(size > 0 && (size == takes || is_three), CL_INVALID_ARG_SIZE)?;
            // SAFETY: as the caller says.
            let mut bytes = unsafe { list(value.cast::<u8>(), size) };
            bytes.resize(takes, 0);
            Ok(Value::Bytes(bytes.into()))
        }
        // The board does not say what it is. A live object's handle is taken for that object.
        None if value.is_null() => {
            ensure(size > 0, CL_INVALID_ARG_SIZE)?;
            Ok(Value::Local(size as u64))
        }
        None => {
            ensure(size > 0, CL_INVALID_ARG_SIZE)?;
            let named = || buffer(handle()).or_else(|_| sampler(kernel, handle()));
            match if size == HANDLE { named() } else { fail(CL_INVALID_MEM_OBJECT) } {
                Ok(named) => Ok(named),
                // SAFETY: as the caller says.
                Err(_) => Ok(Value::Bytes(unsafe { list(value.cast::<u8>(), size) }.into())),
            }
        }
    }
}

/// Whether an argument is an image: programs may have types of their own whose names begin so.
fn is_image(known: &ArgumentInfo) -> bool {
    known.access != CL_KERNEL_ARG_ACCESS_NONE && known.type_name.starts_with("image")
}

/// A sampler of the kernel's context.
fn sampler(kernel: &Kernel, handle: cl_sampler) -> Result<Value> {
    let sampler = get::<Sampler>(handle)?;
    ensure(sampler.context.handle() == kernel.context.handle(), CL_INVALID_SAMPLER)?;
    Ok(Value::Sampler(sampler))
}

/// Bytes of a type of OpenCL C; `None` for those that programs define.
fn size_of_type(name: &str) -> Option<usize> {
    let mut base = name.trim();
    let mut unsigned = false;
    for prefix in ["unsigned ", "signed "] {
        if let Some(rest) = base.strip_prefix(prefix) {
            (base, unsigned) = (rest, true);
        }
    }
    let digits = base.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (scalar, lanes) = base.split_at(digits);
    let size = match scalar {
        "char" | "uchar" => 1,
        "short" | "ushort" | "half" => 2,
        "int" | "uint" | "float" | "unsigned" => 4,
        "long" | "ulong" | "double" => 8,
        _ => return None,
    };
    match lanes {
        "" => Some(size),
        _ if unsigned => None,
        "2" | "4" | "8" | "16" => Some(size * lanes.parse::<usize>().ok()?),
        "3" => Some(size * 4),
        _ => None,
    }
}

pub unsafe extern "C" fn clGetKernelInfo(
    kernel: cl_kernel,
    name: cl_kernel_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    status(|| {
        let kernel = get::<Kernel>(kernel)?;
        // SAFETY: the program's, as the specification asks.
        let out = unsafe { Out::new(size, value, size_ret) };
        match name {
            CL_KERNEL_FUNCTION_NAME => out.text(&kernel.name),
            CL_KERNEL_NUM_ARGS => out.uint(kernel.info.argument_count),
            CL_KERNEL_REFERENCE_COUNT => out.uint(kernel.references()),
            CL_KERNEL_CONTEXT => out.pointer(kernel.context.handle()),
            CL_KERNEL_PROGRAM => out.pointer(kernel.program.handle()),
            CL_KERNEL_ATTRIBUTES => out.text(&kernel.info.attributes),
            _ => fail(CL_INVALID_VALUE),
        }
    })
}

pub unsafe extern "C" fn clGetKernelArgInfo(
    kernel: cl_kernel,
    index: cl_uint,
    name: cl_kernel_arg_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    status(|| {
        let kernel = get::<Kernel>(kernel)?;
        ensure(index < kernel.info.argument_count, CL_INVALID_ARG_INDEX)?;
        let arguments = kernel.info.arguments.as_ref();
        let known = arguments.and_then(|a| a.get(index as usize)).ok_or(Error(CL_KERNEL_ARG_INFO_NOT_AVAILABLE))?;
        // SAFETY: the program's, as the specification asks.
        let out = unsafe { Out::new(size, value, size_ret) };
        match name {
            CL_KERNEL_ARG_ADDRESS_QUALIFIER => out.uint(known.address),
            CL_KERNEL_ARG_ACCESS_QUALIFIER => out.uint(known.access),
            CL_KERNEL_ARG_TYPE_NAME => out.text(&known.type_name),
            CL_KERNEL_ARG_TYPE_QUALIFIER => out.ulong(known.qualifiers),
            CL_KERNEL_ARG_NAME => out.text(&known.name),
            _ => fail(CL_INVALID_VALUE),
        }
    })
}

pub unsafe extern "C" fn clGetKernelWorkGroupInfo(
    kernel: cl_kernel,
    device: cl_device_id,
    name: cl_kernel_work_group_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    status(|| {
        let kernel = get::<Kernel>(kernel)?;
        let group = if device.is_null() {
            // Allowed only for a program with one device.
            ensure(kernel.program.parts.len() == 1, CL_INVALID_DEVICE)?;
            kernel.info.work_group
        } else {
            let device = get::<Device>(device)?;
            ensure(kernel.program.part(&device).is_some(), CL_INVALID_DEVICE)?;
            kernel.program.kernel_info(&device, &kernel.name)?.work_group
        };
        // SAFETY: the program's, as the specification asks.
        let out = unsafe { Out::new(size, value, size_ret) };
        match name {
            CL_KERNEL_WORK_GROUP_SIZE => out.size(group.size as usize),
            CL_KERNEL_COMPILE_WORK_GROUP_SIZE => out.sizes(group.compiled.map(|n| n as usize)),
            CL_KERNEL_LOCAL_MEM_SIZE => out.ulong(group.local_memory + kernel.local_arguments()),
            CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => out.size(group.preferred_multiple as usize),
            CL_KERNEL_PRIVATE_MEM_SIZE => out.ulong(group.private_memory),
            // For kernels that are built in, and custom devices.
            _ => fail(CL_INVALID_VALUE),
        }
    })
}

/// No device has sub-groups.
pub unsafe extern "C" fn clGetKernelSubGroupInfo(
    kernel: cl_kernel,
    device: cl_device_id,
    _name: cl_kernel_sub_group_info,
    _input_size: usize,
    _input: *const c_void,
    _size: usize,
    _value: *mut c_void,
    _size_ret: *mut usize,
) -> cl_int {
    status(|| {
        get::<Kernel>(kernel)?;
        if !device.is_null() {
            get::<Device>(device)?;
        }
        fail(CL_INVALID_OPERATION)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_the_sizes_of_the_language() {
        let cases = [("char", 1), ("ushort3", 8), ("float4", 16), ("unsigned int", 4), ("double16", 128), ("half", 2)];
        cases.iter().for_each(|(name, size)| assert_eq!(size_of_type(name), Some(*size), "{name}"));
        ["struct point", "my_type", "float5", "image2d_t", ""].iter().for_each(|n| assert_eq!(size_of_type(n), None));
    }
}
