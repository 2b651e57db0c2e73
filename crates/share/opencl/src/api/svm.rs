//! Shared virtual memory: allocation, and commands on it.
#![allow(unsafe_code, non_snake_case)]

use std::ffi::c_void;
use std::sync::Arc;

use opencl_sys::*;

use super::map::{check_flags, enqueue_map, enqueue_unmap, mapping};
use super::memory::ACCESS;
use super::status;
use crate::callback::UserData;
use crate::command::enqueue::enqueue;
use crate::command::wait_list::WaitList;
use crate::command::{CallMode, Kind};
use crate::error::{Error, Result, ensure};
use crate::handle::{Object, Ref, get};
use crate::host_memory::{HostRegion, Region};
use crate::info::list;
use crate::objects::context::Context;
use crate::objects::memory::{Buffer, HostSide};
use crate::objects::queue::Queue;
use crate::objects::svm::{allocate, find, free};

/// The largest type of OpenCL C, to which memory may be asked to be aligned. It begins with a page anyway.
const ALIGN_MAX: u32 = 128;

pub unsafe extern "C" fn clSVMAlloc(
    context: cl_context,
    flags: cl_svm_mem_flags,
    size: usize,
    alignment: cl_uint,
) -> *mut c_void {
    let make = || {
        let context = get::<Context>(context)?;
        let fine = flags & (CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS);
        ensure(flags & !ACCESS == fine && fine != CL_MEM_SVM_ATOMICS, CL_INVALID_VALUE)?;
        ensure((flags & ACCESS).count_ones() <= 1, CL_INVALID_VALUE)?;
        ensure(alignment == 0 || alignment.is_power_of_two() && alignment <= ALIGN_MAX, CL_INVALID_VALUE)?;
        let largest = context.devices.iter().map(|d| d.bounds.allocation).max().unwrap_or(0);
        ensure(size > 0 && size as u64 <= largest, CL_INVALID_BUFFER_SIZE)?;
        let flags = if flags & ACCESS == 0 { flags | CL_MEM_READ_WRITE } else { flags };
        allocate(&context, flags, size)
    };
    make().unwrap_or(std::ptr::null_mut())
}

pub unsafe extern "C" fn clSVMFree(context: cl_context, pointer: *mut c_void) {
    if let Ok(context) = get::<Context>(context) {
        drop(free(&context, pointer));
    }
}

/// A queue of a device that has shared virtual memory.
fn queue_with_svm(queue: cl_command_queue) -> Result<Ref<Queue>> {
    let queue = get::<Queue>(queue)?;
    check_svm(&queue)?;
    Ok(queue)
}

/// Checks that a queue's device has shared virtual memory.
fn check_svm(queue: &Ref<Queue>) -> Result<()> {
    ensure(queue.device.svm() != 0, CL_INVALID_OPERATION)
}

/// The function that frees memory in the library's place.
type Free = unsafe extern "C" fn(cl_command_queue, cl_uint, *mut *mut c_void, *mut c_void);

pub unsafe extern "C" fn clEnqueueSVMFree(
    queue: cl_command_queue,
    count: cl_uint,
    pointers: *mut *mut c_void,
    notify: Option<Free>,
    user_data: *mut c_void,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the program's, as the specification asks.
    let wait_list = unsafe { WaitList::new(num_waits, waits, event) };
    status(|| {
        let queue = queue_with_svm(queue)?;
        ensure(pointers.is_null() == (count == 0) && count > 0, CL_INVALID_VALUE)?;
        // SAFETY: as above.
        let given = unsafe { list(pointers, count as usize) };
        let mut given: Vec<_> = given.into_iter().map(UserData).collect();
        ensure(given.iter().all(|at| !at.pointer().is_null()), CL_INVALID_VALUE)?;
        let waits = wait_list.waits(&queue.context)?;
        let made = enqueue(&queue, CL_COMMAND_SVM_FREE, waits, Kind::Marker, CallMode::NonBlocking)?;
        let (data, mine) = (UserData(user_data), queue.clone());
        let end = move |_| match notify {
            Some(notify) => {
                let mut pointers: Vec<_> = given.drain(..).map(|at| at.pointer()).collect();
                // SAFETY: the program gave the function for this call, and the array is good for its duration.
                unsafe { notify(mine.handle(), count, pointers.as_mut_ptr(), data.pointer()) };
            }
            None => given.iter().for_each(|at| drop(free(&mine.context, at.pointer()))),
        };
        made.on(CL_COMPLETE, Box::new(end));
        wait_list.give(&made);
        Ok(())
    })
}

/// A copy between shared virtual memory or the program's own, as it is when the command runs.
///
/// # Safety
/// Memory of the program's own is left to the library until the command has ended.
pub unsafe fn copy_memory(queue: &Ref<Queue>, to: *mut c_void, from: *const c_void, size: usize) -> Result<Kind> {
    check_svm(queue)?;
    ensure(!to.is_null() && !from.is_null(), CL_INVALID_VALUE)?;
    ensure(to.addr().abs_diff(from.addr()) >= size, CL_MEM_COPY_OVERLAP)?;
    let len = size as u64;
    // SAFETY: as the caller says; what is copied from is only read.
    let host = |at: *mut c_void| unsafe { HostRegion::linear(at.cast(), size) };
    let write = |to, offset| Kind::Write { to, region: Region::Linear(offset), host: host(from.cast_mut()) };
    let read = |from, offset| Kind::Read { from, region: Region::Linear(offset), host: host(to) };
    Ok(match (find(&queue.context, to, size), find(&queue.context, from, size)) {
        _ if size == 0 => Kind::Marker,
        (Some((to, to_offset)), Some((from, from_offset))) => Kind::Copy { from, from_offset, to, to_offset, len },
        (Some((to, offset)), None) => write(to, offset),
        (None, Some((from, offset))) => read(from, offset),
        // By way of the board, so that it happens in its turn.
        (None, None) => {
            let between = Buffer::new(queue.context.clone(), CL_MEM_READ_WRITE, len, HostSide::None, Vec::new());
            let between = Object::new(queue.table(), between);
            Kind::Sequence(Arc::new([write(between.clone(), 0), read(between, 0)]))
        }
    })
}

/// A pattern of `pattern_size` bytes into shared virtual memory.
///
/// # Safety
/// `pattern` is null or good for reading so many bytes.
pub unsafe fn fill_memory(
    queue: &Ref<Queue>,
    pointer: *mut c_void,
    (pattern, pattern_size): (*const c_void, usize),
    size: usize,
) -> Result<Kind> {
    check_svm(queue)?;
    let fits = pattern_size.is_power_of_two() && pattern_size <= ALIGN_MAX as usize;
    ensure(!pointer.is_null() && !pattern.is_null() && fits, CL_INVALID_VALUE)?;
    let is_even = pointer.addr().is_multiple_of(pattern_size) && size.is_multiple_of(pattern_size);
    ensure(is_even, CL_INVALID_VALUE)?;
    let (to, offset) = find(&queue.context, pointer, size).ok_or(Error(CL_INVALID_VALUE))?;
    // SAFETY: as the caller says.
    let pattern = unsafe { list(pattern.cast::<u8>(), pattern_size) };
    Ok(if size == 0 { Kind::Marker } else { Kind::Fill { to, offset, len: size as u64, pattern } })
}

pub unsafe extern "C" fn clEnqueueSVMMemcpy(
    queue: cl_command_queue,
    blocking: cl_bool,
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the program's, as the specification asks.
    let wait_list = unsafe { WaitList::new(num_waits, waits, event) };
    status(|| {
        let queue = get::<Queue>(queue)?;
        // SAFETY: as above.
        let kind = unsafe { copy_memory(&queue, to, from, size) }?;
        let waits = wait_list.waits(&queue.context)?;
        wait_list.enqueue(&queue, CL_COMMAND_SVM_MEMCPY, waits, kind, CallMode::of(blocking))
    })
}

pub unsafe extern "C" fn clEnqueueSVMMemFill(
    queue: cl_command_queue,
    pointer: *mut c_void,
    pattern: *const c_void,
    pattern_size: usize,
    size: usize,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the program's, as the specification asks.
    let wait_list = unsafe { WaitList::new(num_waits, waits, event) };
    // SAFETY: as above.
    let make = |queue: &Ref<Queue>| unsafe { fill_memory(queue, pointer, (pattern, pattern_size), size) };
    status(|| wait_list.command(queue, CL_COMMAND_SVM_MEMFILL, make))
}

pub unsafe extern "C" fn clEnqueueSVMMap(
    queue: cl_command_queue,
    blocking: cl_bool,
    flags: cl_map_flags,
    pointer: *mut c_void,
    size: usize,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the program's, as the specification asks.
    let wait_list = unsafe { WaitList::new(num_waits, waits, event) };
    status(|| {
        let queue = queue_with_svm(queue)?;
        ensure(!pointer.is_null(), CL_INVALID_VALUE)?;
        check_flags(flags, size)?;
        let waits = wait_list.waits(&queue.context)?;
        let (memory, offset) = find(&queue.context, pointer, size).ok_or(Error(CL_INVALID_VALUE))?;
        let mapping = mapping(&queue, &memory, flags, offset as usize, size)?;
        enqueue_map(&queue, &memory, CL_COMMAND_SVM_MAP, mapping, (wait_list, waits), blocking).map(|_| ())
    })
}

pub unsafe extern "C" fn clEnqueueSVMUnmap(
    queue: cl_command_queue,
    pointer: *mut c_void,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the program's, as the specification asks.
    let wait_list = unsafe { WaitList::new(num_waits, waits, event) };
    status(|| {
        let queue = queue_with_svm(queue)?;
        let (memory, _) = find(&queue.context, pointer, 1).ok_or(Error(CL_INVALID_VALUE))?;
        let waits = wait_list.waits(&queue.context)?;
        enqueue_unmap(&queue, &memory, CL_COMMAND_SVM_UNMAP, pointer, (wait_list, waits))
    })
}

pub unsafe extern "C" fn clEnqueueSVMMigrateMem(
    queue: cl_command_queue,
    count: cl_uint,
    pointers: *mut *const c_void,
    sizes: *const usize,
    flags: cl_mem_migration_flags,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the program's, as the specification asks.
    let wait_list = unsafe { WaitList::new(num_waits, waits, event) };
    status(|| {
        let queue = queue_with_svm(queue)?;
        ensure(count > 0 && !pointers.is_null(), CL_INVALID_VALUE)?;
        let known = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
        ensure(flags & !known == 0, CL_INVALID_VALUE)?;
        // SAFETY: as above.
        let pointers = unsafe { list(pointers.cast_const(), count as usize) };
        let sizes = if sizes.is_null() {
            vec![0; pointers.len()]
        } else {
            // SAFETY: as above.
            unsafe { list(sizes, count as usize) }
        };
        let is_known = |(at, len): (&*const c_void, &usize)| find(&queue.context, *at, (*len).max(1)).is_some();
        ensure(pointers.iter().zip(&sizes).all(is_known), CL_INVALID_VALUE)?;
        let waits = wait_list.waits(&queue.context)?;
        // It is at the only device that the context has.
        wait_list.enqueue(&queue, CL_COMMAND_SVM_MIGRATE_MEM, waits, Kind::Marker, CallMode::NonBlocking)
    })
}
