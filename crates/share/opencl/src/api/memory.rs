//! Buffers, and information about them and images.
#![allow(unsafe_code, non_snake_case)]

use std::ffi::c_void;

use opencl_sys::*;
use rackloom_sync::lock;

use super::{object, status};
use crate::callback::UserData;
use crate::command::migrate::fill_new;
use crate::error::{Error, Result, ensure, fail};
use crate::handle::{Object, Ref, get, release, retain};
use crate::host_memory::{HostMemory, HostRegion};
use crate::info::{Out, properties};
use crate::objects::context::Context;
use crate::objects::memory::{Buffer, HostSide};
use crate::objects::svm;

pub const ACCESS: u64 = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
const HOST_ACCESS: u64 = CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS;
const HOST_POINTER: u64 = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;

pub fn check_flags(flags: cl_mem_flags) -> Result<()> {
    ensure(flags & !(ACCESS | HOST_ACCESS | HOST_POINTER) == 0, CL_INVALID_VALUE)?;
    ensure((flags & ACCESS).count_ones() <= 1 && (flags & HOST_ACCESS).count_ones() <= 1, CL_INVALID_VALUE)?;
    let both = flags & CL_MEM_USE_HOST_PTR != 0 && flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR) != 0;
    ensure(!both, CL_INVALID_VALUE)
}

fn create(
    context: cl_context,
    mut flags: cl_mem_flags,
    size: usize,
    host_ptr: *mut c_void,
    properties: Vec<cl_mem_properties>,
) -> Result<*mut c_void> {
    let context = get::<Context>(context)?;
    check_flags(flags)?;
    let largest = context.devices.iter().map(|d| d.bounds.allocation).max().unwrap_or(0);
    ensure(size > 0 && size as u64 <= largest, CL_INVALID_BUFFER_SIZE)?;
    let wants_pointer = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR) != 0;
    ensure(host_ptr.is_null() != wants_pointer, CL_INVALID_HOST_PTR)?;
    if flags & ACCESS == 0 {
        flags |= CL_MEM_READ_WRITE;
    }
    if flags & CL_MEM_USE_HOST_PTR != 0
        && let Some((memory, offset)) = svm::find(&context, host_ptr, 1)
    {
        ensure(size as u64 <= memory.size - offset, CL_INVALID_BUFFER_SIZE)?;
        // The buffer's memory is the very memory there.
        let mut buffer = Buffer::part(memory, flags, offset, size as u64);
        buffer.properties = properties;
        return Ok(Object::list(&Object::new(context.table(), buffer)));
    }
    let side = host_side(&context, flags, size, host_ptr)?;
    let buffer = Object::new(context.table(), Buffer::new(context.clone(), flags, size as u64, side, properties));
    if let Some(device) = context.single() {
        buffer.on(device.board())?;
    }
    if wants_pointer {
        // SAFETY: the program gave `size` bytes.
        fill_new(&buffer, unsafe { HostRegion::linear(host_ptr.cast(), size) })?;
    }
    Ok(Object::list(&buffer))
}

fn host_side(context: &Ref<Context>, flags: u64, size: usize, host_ptr: *mut c_void) -> Result<HostSide> {
    if flags & CL_MEM_USE_HOST_PTR != 0 {
        return Ok(HostSide::User(UserData(host_ptr)));
    }
    let wanted = flags & CL_MEM_ALLOC_HOST_PTR != 0;
    // Memory that the manager sees as well, if it is on this node and grants `size` bytes.
    if let Some(board) = context.single().map(|device| device.board())
        && (wanted || board.info.shares_memory)
        && let Some(bulk) = board.memory_for_both(size as u64)?
    {
        return Ok(if board.info.shares_memory { HostSide::Shared(bulk) } else { HostSide::Backing(bulk) });
    }
    if !wanted {
        return Ok(HostSide::None);
    }
    Ok(HostSide::Own(HostMemory::new(size).ok_or(Error(CL_MEM_OBJECT_ALLOCATION_FAILURE))?))
}

pub unsafe extern "C" fn clCreateBuffer(
    context: cl_context,
    flags: cl_mem_flags,
    size: usize,
    host_ptr: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_mem {
    // SAFETY: the program's, as the specification asks.
    unsafe { object(errcode_ret, || create(context, flags, size, host_ptr, Vec::new())) }
}

pub unsafe extern "C" fn clCreateBufferWithProperties(
    context: cl_context,
    given: *const cl_mem_properties,
    flags: cl_mem_flags,
    size: usize,
    host_ptr: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_mem {
    let make = || {
        // SAFETY: the program's, as the specification asks.
        let pairs = unsafe { properties(given) };
        ensure(pairs.is_empty(), CL_INVALID_PROPERTY)?;
        create(context, flags, size, host_ptr, if given.is_null() { Vec::new() } else { vec![0] })
    };
    // SAFETY: as above.
    unsafe { object(errcode_ret, make) }
}

pub unsafe extern "C" fn clCreateSubBuffer(
    parent: cl_mem,
    flags: cl_mem_flags,
    create_type: cl_buffer_create_type,
    create_info: *const c_void,
    errcode_ret: *mut cl_int,
) -> cl_mem {
    let make = || {
        let parent = get::<Buffer>(parent)?;
        ensure(!parent.is_part() && parent.image.is_none(), CL_INVALID_MEM_OBJECT)?;
        let flags = part_flags(parent.flags, flags)?;
        ensure(create_type == CL_BUFFER_CREATE_TYPE_REGION && !create_info.is_null(), CL_INVALID_VALUE)?;
        // SAFETY: a region of the program's, as the type says.
        let region = unsafe { create_info.cast::<cl_buffer_region>().read_unaligned() };
        let (origin, size) = (region.origin as u64, region.size as u64);
        ensure(size > 0, CL_INVALID_BUFFER_SIZE)?;
        ensure(origin.checked_add(size).is_some_and(|end| end <= parent.size), CL_INVALID_VALUE)?;
        let devices = &parent.context.devices;
        ensure(devices.iter().any(|d| origin % d.bounds.align == 0), CL_MISALIGNED_SUB_BUFFER_OFFSET)?;
        let offset = parent.offset + origin;
        Ok(Object::list(&Object::new(parent.table(), Buffer::part(parent, flags, offset, size))))
    };
    // SAFETY: the program's, as the specification asks.
    unsafe { object(errcode_ret, make) }
}

/// The flags of a part: its own, else the whole's.
pub fn part_flags(whole: u64, own: u64) -> Result<u64> {
    ensure(own & HOST_POINTER == 0, CL_INVALID_VALUE)?;
    check_flags(own)?;
    let (access, host) = (own & ACCESS, own & HOST_ACCESS);
    let widens = |one: u64, others: u64| whole & one != 0 && own & others != 0;
    let wrong = widens(CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE | CL_MEM_READ_ONLY)
        || widens(CL_MEM_READ_ONLY, CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY)
        || widens(CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY)
        || widens(CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY)
        || widens(CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY);
    ensure(!wrong, CL_INVALID_VALUE)?;
    let access = if access == 0 { whole & ACCESS } else { access };
    let host = if host == 0 { whole & HOST_ACCESS } else { host };
    Ok(access | host | whole & HOST_POINTER)
}

pub unsafe extern "C" fn clRetainMemObject(mem: cl_mem) -> cl_int {
    status(|| retain::<Buffer>(mem))
}

pub unsafe extern "C" fn clReleaseMemObject(mem: cl_mem) -> cl_int {
    status(|| release::<Buffer>(mem))
}

pub unsafe extern "C" fn clGetMemObjectInfo(
    mem: cl_mem,
    name: cl_mem_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    status(|| {
        let buffer = get::<Buffer>(mem)?;
        // SAFETY: the program's, as the specification asks.
        let out = unsafe { Out::new(size, value, size_ret) };
        match name {
            CL_MEM_TYPE => out.uint(buffer.image.map_or(CL_MEM_OBJECT_BUFFER, |view| view.image.kind)),
            CL_MEM_FLAGS => out.ulong(buffer.flags),
            CL_MEM_SIZE => out.size(buffer.size as usize),
            CL_MEM_HOST_PTR => out.pointer(match &Buffer::root(&buffer).side {
                HostSide::User(data) => data.pointer().wrapping_byte_add(buffer.offset as usize),
                HostSide::Svm(region) => region.as_ptr().wrapping_add(buffer.offset as usize).cast(),
                _ => std::ptr::null_mut(),
            }),
            CL_MEM_MAP_COUNT => out.uint(lock(&buffer.maps).len() as u32),
            CL_MEM_REFERENCE_COUNT => out.uint(buffer.references()),
            CL_MEM_CONTEXT => out.pointer(buffer.context.handle()),
            CL_MEM_ASSOCIATED_MEMOBJECT => {
                let whole = buffer.parent.as_ref().filter(|_| buffer.is_part());
                out.pointer(whole.map_or(std::ptr::null_mut(), |whole| whole.handle()))
            }
            CL_MEM_OFFSET if buffer.image.is_some() => out.size(0),
            CL_MEM_OFFSET => out.size(buffer.offset_in_parent() as usize),
            CL_MEM_USES_SVM_POINTER => out.uint(cl_uint::from(matches!(Buffer::root(&buffer).side, HostSide::Svm(_)))),
            CL_MEM_PROPERTIES => out.bytes(&buffer.properties.iter().flat_map(|p| p.to_ne_bytes()).collect::<Vec<_>>()),
            _ => fail(CL_INVALID_VALUE),
        }
    })
}

pub unsafe extern "C" fn clSetMemObjectDestructorCallback(
    mem: cl_mem,
    notify: Option<unsafe extern "C" fn(cl_mem, *mut c_void)>,
    user_data: *mut c_void,
) -> cl_int {
    status(|| {
        let handle = UserData(mem);
        let buffer = get::<Buffer>(mem)?;
        let notify = notify.ok_or(Error(CL_INVALID_VALUE))?;
        let data = UserData(user_data);
        lock(&buffer.destructors).push(Box::new(move || {
            // SAFETY: the program gave the function for this call; the handle is only a name by then.
            unsafe { notify(handle.pointer(), data.pointer()) };
        }));
        Ok(())
    })
}
