//! Running kernels.
#![allow(unsafe_code, non_snake_case)]

use opencl_sys::*;
use rackloom_sync::lock;

use super::status;
use crate::api::transfer::check_place;
use crate::command::Kind;
use crate::command::launch::{Launch, Range};
use crate::command::wait_list::WaitList;
use crate::error::{Error, Result, ensure};
use crate::handle::{Ref, get};
use crate::objects::kernel::Kernel;
use crate::objects::queue::Queue;

pub unsafe extern "C" fn clEnqueueNDRangeKernel(
    queue: cl_command_queue,
    kernel: cl_kernel,
    dimensions: cl_uint,
    offset: *const usize,
    global: *const usize,
    local: *const usize,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the program's, as the specification asks.
    let wait_list = unsafe { WaitList::new(num_waits, waits, event) };
    // SAFETY: as above.
    let make = |queue: &Ref<Queue>| unsafe { launch(queue, kernel, [offset, global, local], dimensions) };
    status(|| wait_list.command(queue, CL_COMMAND_NDRANGE_KERNEL, make))
}

pub unsafe extern "C" fn clEnqueueTask(
    queue: cl_command_queue,
    kernel: cl_kernel,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let one = &raw const ONE;
    // SAFETY: the program's, as the specification asks.
    let wait_list = unsafe { WaitList::new(num_waits, waits, event) };
    // SAFETY: each array has the one dimension.
    let make = |queue: &Ref<Queue>| unsafe { launch(queue, kernel, [std::ptr::null(), one, one], 1) };
    status(|| wait_list.command(queue, CL_COMMAND_TASK, make))
}

static ONE: usize = 1;

/// A launch of a kernel with its arguments as they are now; offset, global and local sizes as the calls have them.
///
/// # Safety
/// Each array is null or good for reading as many numbers as dimensions.
pub unsafe fn launch(
    queue: &Ref<Queue>,
    kernel: cl_kernel,
    [offset, global, local]: [*const usize; 3],
    dimensions: cl_uint,
) -> Result<Kind> {
    let kernel = get::<Kernel>(kernel)?;
    ensure(queue.context.handle() == kernel.context.handle(), CL_INVALID_CONTEXT)?;
    let part = kernel.program.part(&queue.device).ok_or(Error(CL_INVALID_PROGRAM_EXECUTABLE))?;
    ensure(lock(&part.state).is_executable(), CL_INVALID_PROGRAM_EXECUTABLE)?;
    ensure((1..=3).contains(&dimensions), CL_INVALID_WORK_DIMENSION)?;
    // SAFETY: as the caller says.
    let [offset, global, local] = unsafe { [offset, global, local].map(|p| numbers(p, dimensions)) };
    // A launch of nothing ends as soon as it may begin.
    let is_empty = global.is_none_or(|g| g[..dimensions as usize].contains(&0));
    let range = Range {
        dimensions: dimensions as u8,
        offset: offset.unwrap_or([0; 3]),
        global: global.unwrap_or([0; 3]),
        local,
    };
    let range = if is_empty { range } else { check_range(queue, &kernel, range)? };
    let launch = Launch::new(&kernel, range)?;
    launch.buffers().try_for_each(|buffer| check_place(queue, buffer))?;
    Ok(if is_empty { Kind::Marker } else { Kind::Launch(launch) })
}

/// One number for each dimension, and 0 for others.
///
/// # Safety
/// `from` is null or good for reading `dimensions` numbers, at most three.
unsafe fn numbers(from: *const usize, dimensions: cl_uint) -> Option<[u64; 3]> {
    let mut all = [0; 3];
    for (at, to) in all.iter_mut().take(dimensions as usize).enumerate() {
        // SAFETY: as the caller says.
        *to = unsafe {
            from.as_ref()?;
            from.add(at).read_unaligned()
        } as u64;
    }
    Some(all)
}

/// Checks the work-items of a launch, and gives them with the groups' size in all dimensions, if it has one.
fn check_range(queue: &Ref<Queue>, kernel: &Ref<Kernel>, mut range: Range) -> Result<Range> {
    let bounds = &queue.device.bounds;
    let dimensions = usize::from(range.dimensions);
    let max = if bounds.address_bits == 32 { u64::from(u32::MAX) } else { u64::MAX };
    for at in 0..dimensions {
        ensure(range.global[at] <= max, CL_INVALID_GLOBAL_WORK_SIZE)?;
        let end = range.offset[at].checked_add(range.global[at]);
        ensure(end.is_some_and(|end| end <= max), CL_INVALID_GLOBAL_OFFSET)?;
    }
    let group = match kernel.context.single() {
        Some(_) => kernel.info.work_group,
        None => kernel.program.kernel_info(&queue.device, &kernel.name)?.work_group,
    };
    let wanted = (group.compiled[0] != 0).then_some(group.compiled);
    // Where the program gives none, a kernel's own size is taken, as the later texts of OpenCL 3.0 ask; older runtimes
    // refuse that.
    let Some(mut local) = range.local.or(wanted) else { return Ok(range) };
    local[dimensions..].fill(1);
    range.local = Some(local);
    ensure(wanted.is_none_or(|w| w == local), CL_INVALID_WORK_GROUP_SIZE)?;
    let fits = |at: usize| local[at] <= bounds.items.get(at).map_or(1, |n| *n as u64);
    ensure(local[..dimensions].iter().all(|n| *n > 0), CL_INVALID_WORK_GROUP_SIZE)?;
    ensure((0..dimensions).all(fits), CL_INVALID_WORK_ITEM_SIZE)?;
    let items = local.iter().try_fold(1u64, |all, n| all.checked_mul(*n));
    let most = if group.size == 0 { bounds.group as u64 } else { group.size };
    ensure(items.is_some_and(|n| n <= most), CL_INVALID_WORK_GROUP_SIZE)?;
    let even = (0..dimensions).all(|at| range.global[at].is_multiple_of(local[at]));
    ensure(even || bounds.uneven_groups && kernel.may_have_uneven_groups(&queue.device), CL_INVALID_WORK_GROUP_SIZE)?;
    Ok(range)
}
