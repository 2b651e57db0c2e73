//! Boxes of bytes: reading them from a call's parameters, and checking them.
#![allow(unsafe_code)]

use opencl_sys::CL_INVALID_VALUE;
use rackloom_opencl_wire::Rect;

use crate::error::{Error, Result, ensure};
use crate::objects::memory::Buffer;

/// Bytes without gaps, as a box of one row.
pub const fn line(len: u64) -> Rect {
    Rect { origin: [0; 3], region: [len, 1, 1], row_pitch: len, slice_pitch: len }
}

/// A box as the program describes it, with the pitches that 0 stands for.
///
/// # Safety
/// `origin` and `region` are null or good for reading three numbers.
pub unsafe fn rect(origin: *const usize, region: *const usize, row_pitch: usize, slice_pitch: usize) -> Result<Rect> {
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

/// Bytes that a box spans, from its first to behind its last, and where it begins.
fn span(rect: &Rect) -> Option<(u64, u64)> {
    let start = |at: [u64; 3]| {
        let slices = at[2].checked_mul(rect.slice_pitch)?;
        at[1].checked_mul(rect.row_pitch)?.checked_add(slices)?.checked_add(at[0])
    };
    let [x, y, z] = rect.region;
    let last = [x, y.checked_sub(1)?, z.checked_sub(1)?];
    Some((start(rect.origin)?, start(last)?))
}

/// Checks that a box lies in a buffer. Of a sub-buffer, gives the box in the whole buffer.
pub fn within(buffer: &Buffer, mut rect: Rect) -> Result<Rect> {
    let end = span(&rect).and_then(|(start, len)| start.checked_add(len));
    ensure(end.is_some_and(|end| end <= buffer.size), CL_INVALID_VALUE)?;
    rect.origin[0] += buffer.offset;
    Ok(rect)
}

/// Checks that a box of the program's memory does not exceed the address space.
pub fn check_host(rect: &Rect) -> Result<()> {
    let end = span(rect).and_then(|(start, len)| start.checked_add(len));
    ensure(end.is_some_and(|end| end <= isize::MAX as u64), CL_INVALID_VALUE)
}

/// Whether two boxes of one buffer overlap, as the specification's appendix decides it. Boxes of different pitches,
/// which only parts of one buffer can have, do if what they span does.
pub fn overlap(a: &Rect, b: &Rect) -> bool {
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
