//! Reading, writing and copying boxes of buffers.
#![allow(unsafe_code, non_snake_case)]

use std::ffi::c_void;

use opencl_sys::*;
use rackloom_opencl_wire::Rect;

use super::transfer::{check_place, check_readable, check_writable, place};
use super::{give_event, status, wait_list};
use crate::command::Work;
use crate::error::{Error, Result, ensure};
use crate::gate::enqueue;
use crate::handle::get;
use crate::host::{Host, Region};
use crate::objects::memory::Buffer;
use crate::transmit::span;

/// A box as the program describes it, with the pitches that 0 stands for.
///
/// # Safety
/// `origin` and `region` are null or good for reading three numbers.
unsafe fn rect(origin: *const usize, region: *const usize, row_pitch: usize, slice_pitch: usize) -> Result<Rect> {
    ensure(!origin.is_null() && !region.is_null(), CL_INVALID_VALUE)?;
    // SAFETY: as the caller says.
    let [origin, region] = [origin, region].map(|p| unsafe { p.cast::<[usize; 3]>().read_unaligned() });
    let [origin, region] = [origin, region].map(|a| a.map(|n| n as u64));
    ensure(region.iter().all(|n| *n > 0), CL_INVALID_VALUE)?;
    let row_pitch = if row_pitch == 0 { region[0] } else { row_pitch as u64 };
    ensure(row_pitch >= region[0], CL_INVALID_VALUE)?;
    let slice = region[1].checked_mul(row_pitch).ok_or(Error(CL_INVALID_VALUE))?;
    let slice_pitch = if slice_pitch == 0 { slice } else { slice_pitch as u64 };
    ensure(slice_pitch >= slice && slice_pitch % row_pitch == 0, CL_INVALID_VALUE)?;
    Ok(Rect { origin, region, row_pitch, slice_pitch })
}

/// Whether a box lies in a buffer; and as one in the whole, if the buffer is a part.
fn within(buffer: &Buffer, mut rect: Rect) -> Result<Rect> {
    let end = span(&rect).and_then(|(start, len)| start.checked_add(len));
    ensure(end.is_some_and(|end| end <= buffer.size), CL_INVALID_VALUE)?;
    rect.origin[0] += buffer.offset;
    Ok(rect)
}

/// Whether a box of the program's memory can be addressed at all.
fn check_host(rect: &Rect) -> Result<()> {
    let end = span(rect).and_then(|(start, len)| start.checked_add(len));
    ensure(end.is_some_and(|end| end <= isize::MAX as u64), CL_INVALID_VALUE)
}

pub unsafe extern "C" fn clEnqueueReadBufferRect(
    queue: cl_command_queue,
    mem: cl_mem,
    blocking: cl_bool,
    origin: *const usize,
    host_origin: *const usize,
    region: *const usize,
    row_pitch: usize,
    slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    ptr: *mut c_void,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    status(|| {
        let (queue, buffer) = place(queue, mem)?;
        // SAFETY: the program's, as the specification asks.
        let there = within(&buffer, unsafe { rect(origin, region, row_pitch, slice_pitch) }?)?;
        // SAFETY: as above.
        let here = unsafe { rect(host_origin, region, host_row_pitch, host_slice_pitch) }?;
        check_host(&here)?;
        ensure(!ptr.is_null(), CL_INVALID_VALUE)?;
        // SAFETY: as above.
        let waits = unsafe { wait_list(&queue.context, num_waits, waits) }?;
        check_readable(&buffer)?;
        // SAFETY: the program keeps the memory for us until the command has ended.
        let host = unsafe { Host::rect(ptr.cast(), &here) };
        let work = Work::Read { from: Buffer::root(&buffer).clone(), region: Region::Rect(there), host };
        let made = enqueue(&queue, CL_COMMAND_READ_BUFFER_RECT, waits, work, blocking != CL_FALSE)?;
        // SAFETY: as above.
        unsafe { give_event(event, &made) };
        Ok(())
    })
}

pub unsafe extern "C" fn clEnqueueWriteBufferRect(
    queue: cl_command_queue,
    mem: cl_mem,
    blocking: cl_bool,
    origin: *const usize,
    host_origin: *const usize,
    region: *const usize,
    row_pitch: usize,
    slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    ptr: *const c_void,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    status(|| {
        let (queue, buffer) = place(queue, mem)?;
        // SAFETY: the program's, as the specification asks.
        let there = within(&buffer, unsafe { rect(origin, region, row_pitch, slice_pitch) }?)?;
        // SAFETY: as above.
        let here = unsafe { rect(host_origin, region, host_row_pitch, host_slice_pitch) }?;
        check_host(&here)?;
        ensure(!ptr.is_null(), CL_INVALID_VALUE)?;
        // SAFETY: as above.
        let waits = unsafe { wait_list(&queue.context, num_waits, waits) }?;
        check_writable(&buffer)?;
        // SAFETY: the program keeps the memory for us until the command has ended; it is only read.
        let host = unsafe { Host::rect(ptr.cast_mut().cast(), &here) };
        let work = Work::Write { to: Buffer::root(&buffer).clone(), region: Region::Rect(there), host };
        let made = enqueue(&queue, CL_COMMAND_WRITE_BUFFER_RECT, waits, work, blocking != CL_FALSE)?;
        // SAFETY: as above.
        unsafe { give_event(event, &made) };
        Ok(())
    })
}

pub unsafe extern "C" fn clEnqueueCopyBufferRect(
    queue: cl_command_queue,
    from: cl_mem,
    to: cl_mem,
    from_origin: *const usize,
    to_origin: *const usize,
    region: *const usize,
    from_row_pitch: usize,
    from_slice_pitch: usize,
    to_row_pitch: usize,
    to_slice_pitch: usize,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    status(|| {
        let (queue, from) = place(queue, from)?;
        let to = get::<Buffer>(to)?;
        check_place(&queue, &to)?;
        // SAFETY: the program's, as the specification asks.
        let source = within(&from, unsafe { rect(from_origin, region, from_row_pitch, from_slice_pitch) }?)?;
        // SAFETY: as above.
        let target = within(&to, unsafe { rect(to_origin, region, to_row_pitch, to_slice_pitch) }?)?;
        // SAFETY: as above.
        let waits = unsafe { wait_list(&queue.context, num_waits, waits) }?;
        if from.handle() == to.handle() {
            let same = source.row_pitch == target.row_pitch && source.slice_pitch == target.slice_pitch;
            ensure(same, CL_INVALID_VALUE)?;
        }
        let (from, to) = (Buffer::root(&from).clone(), Buffer::root(&to).clone());
        ensure(from.handle() != to.handle() || !overlap(&source, &target), CL_MEM_COPY_OVERLAP)?;
        let work = Work::CopyRect { from, source, to, target };
        let made = enqueue(&queue, CL_COMMAND_COPY_BUFFER_RECT, waits, work, false)?;
        // SAFETY: as above.
        unsafe { give_event(event, &made) };
        Ok(())
    })
}

/// Whether two boxes of one buffer overlap, as the specification's appendix decides it. Boxes of different pitches,
/// which only parts of one buffer can have, do if what they span does.
fn overlap(a: &Rect, b: &Rect) -> bool {
    let Some(((a_start, a_len), (b_start, b_len))) = span(a).zip(span(b)) else { return true };
    if a_start + a_len <= b_start || b_start + b_len <= a_start {
        return false;
    }
    if a.row_pitch != b.row_pitch || a.slice_pitch != b.slice_pitch {
        return true;
    }
    // One fits into the gaps that the other leaves, between its rows or between its slices.
    let fits = |a: u64, b: u64, len: u64, pitch: u64| a >= b + len && a + len <= b + pitch;
    let apart = |a: u64, b: u64, len: u64, pitch: u64| fits(a, b, len, pitch) || fits(b, a, len, pitch);
    let slice = (a.region[1] - 1) * a.row_pitch + a.region[0];
    !apart(a_start % a.row_pitch, b_start % a.row_pitch, a.region[0], a.row_pitch)
        && !apart(a_start % a.slice_pitch, b_start % a.slice_pitch, slice, a.slice_pitch)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(rect: &Rect) -> std::collections::HashSet<u64> {
        let [ox, oy, oz] = rect.origin;
        let [w, h, d] = rect.region;
        let rows = (0..d).flat_map(|z| (0..h).map(move |y| (y, z)));
        rows.flat_map(|(y, z)| {
            let start = (oz + z) * rect.slice_pitch + (oy + y) * rect.row_pitch + ox;
            start..start + w
        })
        .collect()
    }

    #[test]
    fn boxes_that_share_a_byte_overlap_and_others_mostly_do_not() {
        let mut refused = 0;
        let mut apart = 0;
        let mut seed = 1u32;
        let mut next = |n: u64| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            u64::from(seed >> 16) % n
        };
        for _ in 0..20_000 {
            let (row_pitch, rows) = (4 + next(6), 3 + next(4));
            let slice_pitch = row_pitch * rows;
            let region = [1 + next(4), 1 + next(3), 1 + next(3)];
            let mut one = || {
                let origin = [next(row_pitch), next(rows), next(3)];
                Rect { origin, region, row_pitch, slice_pitch }
            };
            let (a, b) = (one(), one());
            let shared = !bytes(&a).is_disjoint(&bytes(&b));
            if shared {
                assert!(overlap(&a, &b), "{a:?} {b:?}");
            } else {
                apart += 1;
                refused += u32::from(overlap(&a, &b));
            }
        }
        assert!(refused * 5 < apart, "{refused} of {apart} copies are refused for nothing");
    }
}
