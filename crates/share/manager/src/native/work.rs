//! Execution of operations as calls of a runtime: started one after the other, waited for in order.
#![allow(unsafe_code)]

use std::ptr::{null, null_mut};
use std::sync::atomic::Ordering;

use opencl_sys::{
    CL_EVENT_COMMAND_EXECUTION_STATUS, CL_FALSE, CL_INVALID_OPERATION, CL_INVALID_VALUE, CL_MAP_FAILURE,
    CL_OUT_OF_RESOURCES, CL_PROFILING_COMMAND_END, CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_START, CL_SUCCESS,
    CL_TRUE, cl_event, cl_uint, cl_ulong,
};
use rackloom_opencl_wire::{Rect, Times, now_ns};
use rackloom_sync::lock;

use super::handles::Event;
use super::mirror::{Mirror, Move};
use super::objects::{Held, NativeBuffer, NativeSpace};
use super::runtime::{call, make};
use super::{arguments, image, svm};
use crate::board::{Operation, Shape, Sink, Value};
use crate::code::Code;

/// An operation that was passed to the runtime.
#[derive(Debug)]
pub struct Ticket {
    /// None if it is waited for with others.
    event: Option<Event>,
    /// Whether it had ended when the call returned, and so had all before it.
    has_ended: bool,
    /// Before and after the call, in nanoseconds of our clock.
    submitted: u64,
    queued: u64,
}

/// Calls an enqueueing function with an empty wait list and, if the task needs one, an event as its last arguments,
/// which are added here.
macro_rules! enqueue {
    ($space:expr, $function:ident($($argument:expr),* $(,)?)) => {{
        let mut event: cl_event = null_mut();
        let place = if $space.is_as_one() { null_mut() } else { &raw mut event };
        call!($space.table, $function($space.queue().raw(), $($argument,)* 0, null(), place))
            .map(|()| (!event.is_null()).then(|| Event::new($space.table, event)))
    }};
}

pub(super) use enqueue;

/// Passes an operation to the runtime.
pub(super) fn start(space: &NativeSpace, operation: &mut Operation<NativeSpace>) -> Result<Ticket, Code> {
    let submitted = now_ns();
    outdate(operation);
    let event = match operation {
        Operation::Write { buffer, offset, from } => {
            let (raw, len, at) = (buffer.memory.raw(), from.len(), from.as_ptr().cast());
            let first = *offset as usize;
            overwrite(space, buffer, *offset, len as u64, || {
                enqueue!(space, clEnqueueWriteBuffer(raw, CL_FALSE, first, len, at))
            })
        }
        Operation::Read { buffer, offset, into } => {
            scrub(space, buffer)?;
            // A blocking read of a few bytes returns at once, where waiting for an event is a system call or more
            // (NVIDIA).
            let blocking = if matches!(into, Sink::Inline(_)) { CL_TRUE } else { CL_FALSE };
            let (raw, offset, len, at) = (buffer.memory.raw(), *offset as usize, into.len(), into.as_mut_ptr().cast());
            enqueue!(space, clEnqueueReadBuffer(raw, blocking, offset, len, at))
        }
        Operation::WriteRect { buffer, rect, from } => {
            scrub(space, buffer)?;
            let (raw, at, [origin, region, [row, slice, _]]) = (buffer.memory.raw(), from.as_ptr().cast(), sizes(rect));
            let (host, [width, height, _]) = ([0; 3], region);
            enqueue!(
                space,
                clEnqueueWriteBufferRect(
                    raw,
                    CL_FALSE,
                    origin.as_ptr(),
                    host.as_ptr(),
                    region.as_ptr(),
                    row,
                    slice,
                    width,
                    width * height,
                    at
                )
            )
        }
        Operation::ReadRect { buffer, rect, into } => {
            scrub(space, buffer)?;
            let (raw, at) = (buffer.memory.raw(), into.as_mut_ptr().cast());
            let [origin, region, [row, slice, _]] = sizes(rect);
            let (host, [width, height, _]) = ([0; 3], region);
            enqueue!(
                space,
                clEnqueueReadBufferRect(
                    raw,
                    CL_FALSE,
                    origin.as_ptr(),
                    host.as_ptr(),
                    region.as_ptr(),
                    row,
                    slice,
                    width,
                    width * height,
                    at
                )
            )
        }
        Operation::Copy { from, from_offset, to, to_offset, len } => {
            scrub(space, from)?;
            let (source, target) = (from.memory.raw(), to.memory.raw());
            let (first, second, bytes) = (*from_offset as usize, *to_offset as usize, *len as usize);
            overwrite(space, to, *to_offset, *len, || {
                enqueue!(space, clEnqueueCopyBuffer(source, target, first, second, bytes))
            })
        }
        Operation::CopyRect { from, source, to, target } => {
            scrub(space, from)?;
            scrub(space, to)?;
            let ([from_origin, region, [from_row, from_slice, _]], [to_origin, _, [to_row, to_slice, _]]) =
                (sizes(source), sizes(target));
            enqueue!(
                space,
                clEnqueueCopyBufferRect(
                    from.memory.raw(),
                    to.memory.raw(),
                    from_origin.as_ptr(),
                    to_origin.as_ptr(),
                    region.as_ptr(),
                    from_row,
                    from_slice,
                    to_row,
                    to_slice
                )
            )
        }
        Operation::Fill { buffer, offset, len, pattern } => {
            overwrite(space, buffer, *offset, *len, || fill(space, buffer, pattern, *offset, *len))
        }
        Operation::Map { buffer, flags, offset, len } => map(space, buffer, *flags, *offset, *len),
        Operation::Unmap { buffer, offset, len } => unmap(space, buffer, *offset, *len),
        Operation::Launch { kernel, shape, arguments, reaches } => {
            let set = arguments::set_all(space.table, kernel, arguments);
            svm::reach(space.table, kernel, reaches.as_deref())?;
            set?;
            for (_, value) in arguments.iter() {
                if let Value::Buffer(Some(buffer)) | Value::Svm(buffer, _) = value {
                    scrub(space, buffer)?;
                }
            }
            reaches.iter().flatten().try_for_each(|memory| scrub(space, memory))?;
            let Shape { dimensions, offset, global, local } = &*shape;
            let local = local.as_ref().map_or(null(), |local| local.as_ptr());
            let (raw, dimensions) = (kernel.kernel.raw(), *dimensions as cl_uint);
            enqueue!(space, clEnqueueNDRangeKernel(raw, dimensions, offset.as_ptr(), global.as_ptr(), local))
        }
        Operation::Marker => marker(space),
        _ => image::start(space, operation).expect("all operations on buffers are above"),
    }?;
    let has_ended = matches!(operation, Operation::Read { into: Sink::Inline(_), .. });
    Ok(Ticket { event, has_ended, submitted, queued: now_ns() })
}

/// Waits for the end of an operation and of those before it: they are in one queue, which is in order.
pub(super) fn settle(space: &NativeSpace, last: &Ticket, count: usize) {
    // Without events an error is that of all of them. Otherwise each is asked for its own.
    let outcome = wait(space, last).err().map_or(CL_SUCCESS, |Code(code)| code);
    space.outcome.store(outcome, Ordering::Relaxed);
    let (left, at) = &space.settled;
    left.store(count as u64, Ordering::Relaxed);
    at.store(now_ns(), Ordering::Relaxed);
}

/// Waits for the end of an operation and of those before it.
fn wait(space: &NativeSpace, ticket: &Ticket) -> Result<(), Code> {
    match ticket.event.as_ref().map(Event::raw) {
        Some(event) => call!(space.table, clWaitForEvents(1, &raw const event)),
        None if ticket.has_ended => Ok(()),
        None => call!(space.table, clFinish(space.queue().raw())),
    }
}

/// When an operation ended that began at `started`, if nobody measured it: now, or as if all that were waited for
/// together had taken the same time.
fn ended(space: &NativeSpace, started: u64) -> u64 {
    let (left, at) = &space.settled;
    match left.load(Ordering::Relaxed) {
        0 => now_ns(),
        n => {
            left.store(n - 1, Ordering::Relaxed);
            started + at.load(Ordering::Relaxed).saturating_sub(started) / n
        }
    }
}

/// Waits for the end of an operation; returns its times by our clock.
pub(super) fn finish(
    space: &NativeSpace,
    ticket: Ticket,
    operation: &mut Operation<NativeSpace>,
) -> Result<Times, Code> {
    let is_settled = ticket.event.is_none() && space.settled.0.load(Ordering::Relaxed) > 0;
    let waited = match space.outcome.load(Ordering::Relaxed) {
        CL_SUCCESS if is_settled => Ok(()),
        code if is_settled => Err(Code(code)),
        _ => wait(space, &ticket),
    };
    if let Err(code) = waited {
        space.has_failed.store(true, Ordering::Relaxed);
        if let Operation::Map { buffer, .. } | Operation::Unmap { buffer, .. } = operation {
            buffer.mirror.iter().for_each(Mirror::is_outdated);
        }
        let Some(event) = ticket.event.as_ref().map(Event::raw) else { return Err(code) };
        let mut status = 0i32;
        let place = (&raw mut status).cast();
        let parameter = CL_EVENT_COMMAND_EXECUTION_STATUS;
        call!(space.table, clGetEventInfo(event, parameter, size_of::<i32>(), place, null_mut()))?;
        return Err(Code(if status < 0 { status } else { CL_OUT_OF_RESOURCES }));
    }
    let at = |parameter| {
        let event = ticket.event.as_ref()?.raw();
        let mut time: cl_ulong = 0;
        let place = (&raw mut time).cast();
        let asked =
            call!(space.table, clGetEventProfilingInfo(event, parameter, size_of::<cl_ulong>(), place, null_mut()));
        asked.ok().map(|()| time)
    };
    let times = if space.measures() {
        (at(CL_PROFILING_COMMAND_QUEUED), at(CL_PROFILING_COMMAND_START), at(CL_PROFILING_COMMAND_END))
    } else {
        (None, None, None)
    };
    let (started, ended) = match times {
        (Some(queued), Some(start), Some(end)) if queued <= start && start <= end => {
            space.clock.learn(queued, ticket.submitted, ticket.queued);
            in_order(space.clock.ours(start), space.clock.ours(end), space.last_end.load(Ordering::Relaxed), now_ns())
        }
        // It began when it was passed over, or when the one before it had ended.
        _ => {
            let started = ticket.submitted.max(space.last_end.load(Ordering::Relaxed));
            (started, ended(space, started))
        }
    };
    space.last_end.store(ended, Ordering::Relaxed);
    if let Operation::Launch { kernel, .. } = operation {
        kernel.last_ns.store(ended.saturating_sub(started).max(1), Ordering::Relaxed);
    }
    Ok(Times { submitted: ticket.submitted, started, ended })
}

/// Corrects an operation's times from the device. The estimate of the device's clock improves, which must not make the
/// queue seem out of order, nor an operation that has ended by `now` seem to end later: the client may have begun
/// something since that needs no board.
fn in_order(started: u64, ended: u64, last_end: u64, now: u64) -> (u64, u64) {
    let started = started.min(now.saturating_sub(1)).max(last_end);
    (started, ended.min(now).max(started + 1))
}

/// Clears memory that may hold another tenant's bytes, before anything of this tenant can see them.
pub(super) fn scrub(space: &NativeSpace, buffer: &NativeBuffer) -> Result<(), Code> {
    let buffer = buffer.parent.as_deref().unwrap_or(buffer);
    if buffer.unscrubbed.load(Ordering::Relaxed) {
        match &buffer.image {
            Some(description) => image::clear(space, buffer, description)?,
            None => drop(fill(space, buffer, &[0], 0, buffer.size)?),
        }
        buffer.unscrubbed.store(false, Ordering::Relaxed);
    }
    Ok(())
}

/// Writes a range of a buffer by `write`. The buffer is cleared first, unless the range is all of it.
pub(super) fn overwrite(
    space: &NativeSpace,
    buffer: &NativeBuffer,
    offset: u64,
    len: u64,
    write: impl FnOnce() -> Result<Option<Event>, Code>,
) -> Result<Option<Event>, Code> {
    let whole = offset == 0 && len == buffer.size && buffer.parent.is_none();
    if !whole {
        scrub(space, buffer)?;
    }
    let event = write()?;
    if whole {
        buffer.unscrubbed.store(false, Ordering::Relaxed);
    }
    Ok(event)
}

fn fill(
    space: &NativeSpace,
    buffer: &NativeBuffer,
    pattern: &[u8],
    offset: u64,
    len: u64,
) -> Result<Option<Event>, Code> {
    let (raw, at, size) = (buffer.memory.raw(), pattern.as_ptr().cast(), pattern.len());
    enqueue!(space, clEnqueueFillBuffer(raw, at, size, offset as usize, len as usize))
}

/// Notes that clients' views of buffers differ from what an operation leaves in them. It may not be executed, which is
/// no harm.
fn outdate(operation: &Operation<NativeSpace>) {
    let changes = |buffer: &NativeBuffer| {
        let whole = buffer.parent.as_deref().unwrap_or(buffer);
        whole.mirror.iter().for_each(Mirror::is_outdated);
    };
    match operation {
        Operation::Write { buffer, .. } | Operation::WriteRect { buffer, .. } | Operation::Fill { buffer, .. } => {
            changes(buffer);
        }
        Operation::Copy { to, .. }
        | Operation::CopyRect { to, .. }
        | Operation::WriteImage { image: to, .. }
        | Operation::CopyImage { to, .. }
        | Operation::CopyImageToBuffer { to, .. }
        | Operation::CopyBufferToImage { to, .. }
        | Operation::FillImage { image: to, .. } => changes(to),
        Operation::Launch { kernel, arguments, .. } => {
            // Those of earlier launches, too.
            for held in lock(&kernel.held).iter().flatten() {
                if let Held::Buffer(buffer) = held {
                    changes(buffer);
                }
            }
            for (_, value) in arguments {
                if let Value::Buffer(Some(buffer)) | Value::Svm(buffer, _) = value {
                    changes(buffer);
                }
            }
        }
        Operation::Read { .. }
        | Operation::ReadRect { .. }
        | Operation::ReadImage { .. }
        | Operation::Map { .. }
        | Operation::Unmap { .. }
        | Operation::Marker => {}
    }
}

fn marker(space: &NativeSpace) -> Result<Option<Event>, Code> {
    enqueue!(space, clEnqueueMarkerWithWaitList())
}

fn unmap(space: &NativeSpace, buffer: &NativeBuffer, offset: u64, len: u64) -> Result<Option<Event>, Code> {
    let Some(mirror) = &buffer.mirror else {
        let place = backing(buffer, offset, len)?;
        return enqueue!(space, clEnqueueUnmapMemObject(buffer.memory.raw(), place.cast()));
    };
    let at = mirror.at(offset, len)?;
    match mirror.unmap(offset, len)? {
        Move::Nothing => marker(space),
        Move::Bytes => overwrite(space, buffer, offset, len, || {
            let (raw, first, len) = (buffer.memory.raw(), offset as usize, len as usize);
            enqueue!(space, clEnqueueWriteBuffer(raw, CL_FALSE, first, len, at.cast()))
        })
        .inspect_err(|_| mirror.is_outdated()),
    }
}

fn map(space: &NativeSpace, buffer: &NativeBuffer, flags: u64, offset: u64, len: u64) -> Result<Option<Event>, Code> {
    if let Some(mirror) = &buffer.mirror {
        let at = mirror.at(offset, len)?;
        if mirror.map(flags, offset, len)? == Move::Nothing {
            return marker(space);
        }
        scrub(space, buffer)?;
        let (raw, first, len) = (buffer.memory.raw(), offset as usize, len as usize);
        let started = enqueue!(space, clEnqueueReadBuffer(raw, CL_FALSE, first, len, at.cast()));
        return started.inspect_err(|_| mirror.is_outdated());
    }
    let place = backing(buffer, offset, len)?;
    let mut event: cl_event = null_mut();
    let (queue, raw) = (space.queue().raw(), buffer.memory.raw());
    let (offset, len) = (offset as usize, len as usize);
    let mapped =
        make!(space.table, clEnqueueMapBuffer(queue, raw, CL_FALSE, flags, offset, len, 0, null(), &raw mut event))?;
    let event = Some(Event::new(space.table, event));
    // The standard requires this of CL_MEM_USE_HOST_PTR; other runtimes are not usable here.
    if mapped == place.cast() { Ok(event) } else { Err(Code(CL_MAP_FAILURE)) }
}

/// The address of a range of a backed buffer.
fn backing(buffer: &NativeBuffer, offset: u64, len: u64) -> Result<*mut u8, Code> {
    let place = buffer.backing.as_ref().ok_or(Code(CL_INVALID_OPERATION))?;
    let within = offset.checked_add(len).is_some_and(|end| end <= place.len() as u64);
    // SAFETY: within the place.
    if within { Ok(unsafe { place.as_mut_ptr().add(offset as usize) }) } else { Err(Code(CL_INVALID_VALUE)) }
}

/// Origin, region and pitches of a rectangle.
const fn sizes(rect: &Rect) -> [[usize; 3]; 3] {
    let Rect { origin: [x, y, z], region: [width, height, depth], row_pitch, slice_pitch } = *rect;
    [
        [x as usize, y as usize, z as usize],
        [width as usize, height as usize, depth as usize],
        [row_pitch as usize, slice_pitch as usize, 0],
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random program 6 on a busy machine, where a clock was taken for too fast: what the library did at once
    /// afterwards seemed to begin before.
    #[test]
    fn times_are_in_order_and_not_in_the_future() {
        assert_eq!(in_order(110, 120, 100, 200), (110, 120));
        assert_eq!(in_order(90, 95, 100, 200), (100, 101), "not before the end of the one before");
        assert_eq!(in_order(150, 230, 100, 200), (150, 200), "it has ended");
        assert_eq!(in_order(210, 230, 100, 200), (199, 200), "and begun before");
        assert_eq!(in_order(110, 110, 100, 200), (110, 111), "nothing takes no time");
    }
}
