//! Memory of the program that a command reads or writes: rows with gaps between them, or one row.
#![allow(unsafe_code)]

use rackloom_opencl_wire::{Area, Rect};

/// A region of host memory. Its bytes are transferred row by row, without gaps.
#[derive(Debug, Clone, Copy)]
pub struct HostRegion {
    at: *mut u8,
    /// Bytes of a row, rows of a slice, slices.
    region: [usize; 3],
    row_pitch: usize,
    slice_pitch: usize,
}

// SAFETY: the program leaves the memory alone until the command has ended, as the specification asks; so whichever
// thread moves the bytes has exclusive use of it.
unsafe impl Send for HostRegion {}
// SAFETY: as above.
unsafe impl Sync for HostRegion {}

/// A region of a buffer or an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Region {
    /// From this byte on.
    Linear(u64),
    /// A box.
    Rect(Rect),
    /// An area of an image, whose pixels have so many bytes.
    Image { area: Area, pixel: u64 },
}

impl HostRegion {
    /// # Safety
    /// `at` is good for `len` bytes until the command has ended that this is made for.
    pub const unsafe fn linear(at: *mut u8, len: usize) -> Self {
        Self { at, region: [len, 1, 1], row_pitch: len, slice_pitch: len }
    }

    /// # Safety
    /// The box lies in memory of the program, until the command has ended that this is made for.
    pub unsafe fn rect(at: *mut u8, rect: &Rect) -> Self {
        let [x, y, z] = rect.origin.map(|n| n as usize);
        let (row_pitch, slice_pitch) = (rect.row_pitch as usize, rect.slice_pitch as usize);
        // SAFETY: the box's first byte lies in the program's memory, says the caller.
        let at = unsafe { at.add(z * slice_pitch + y * row_pitch + x) };
        Self { at, region: rect.region.map(|n| n as usize), row_pitch, slice_pitch }
    }

    /// Bytes of a row, rows and slices, with the distances of rows and slices.
    ///
    /// # Safety
    /// As for [`Self::rect`].
    pub const unsafe fn pitched(at: *mut u8, region: [usize; 3], [row_pitch, slice_pitch]: [usize; 2]) -> Self {
        Self { at, region, row_pitch, slice_pitch }
    }

    /// A region of a buffer's own memory at `at`; `len` is the length of a linear one.
    pub fn inside(at: *mut u8, region: Region, len: usize) -> Self {
        match region {
            // SAFETY: commands are checked against their buffer when they are made, and hold it until they have ended.
            Region::Linear(offset) => unsafe { Self::linear(at.add(offset as usize), len) },
            // SAFETY: as above.
            Region::Rect(rect) => unsafe { Self::rect(at, &rect) },
            Region::Image { .. } => unreachable!("the pixels of an image are the board's alone"),
        }
    }

    /// Copies the bytes to another place of as many rows and slices.
    pub fn copy_to(&self, to: &Self) {
        assert_eq!(self.region, to.region, "source and target have the same shape");
        let [row, rows, slices] = self.region;
        // The program may name memory of the very buffer, which it has mapped; so places may overlap.
        if let (Some(from), Some(_)) = (self.as_slice(), to.as_slice()) {
            // SAFETY: both are as long, and good as the constructors were promised.
            return unsafe { std::ptr::copy(from.as_ptr(), to.at, from.len()) };
        }
        for z in 0..slices {
            for y in 0..rows {
                let row_of = |host: &Self| host.at.wrapping_add(z * host.slice_pitch + y * host.row_pitch);
                // SAFETY: each row lies in its memory, as the constructors were promised.
                unsafe { std::ptr::copy(row_of(self), row_of(to), row) };
            }
        }
    }

    /// Bytes in all.
    pub fn len(&self) -> usize {
        self.region.iter().product()
    }

    /// The bytes, if there are no gaps in them.
    pub fn as_slice(&self) -> Option<&[u8]> {
        let [row, rows, slices] = self.region;
        let whole = (rows == 1 || self.row_pitch == row) && (slices == 1 || self.slice_pitch == row * rows);
        // SAFETY: as `linear` or `rect` was promised, and the program does not change them meanwhile.
        whole.then(|| unsafe { std::slice::from_raw_parts(self.at, self.len()) })
    }

    /// As [`Self::as_slice`], for writing.
    pub fn as_mut_slice(&mut self) -> Option<&mut [u8]> {
        let len = self.as_slice()?.len();
        // SAFETY: as above; the program does not look at them meanwhile.
        Some(unsafe { std::slice::from_raw_parts_mut(self.at, len) })
    }

    /// Copies the bytes out to `to`.
    ///
    /// # Safety
    /// `to` is good for [`Self::len`] bytes and lies elsewhere.
    pub unsafe fn gather(&self, mut to: *mut u8) {
        self.rows(|row, len| {
            // SAFETY: rows lie in the program's memory, and `to` has room for all.
            unsafe {
                std::ptr::copy_nonoverlapping(row, to, len);
                to = to.add(len);
            }
        });
    }

    /// Copies bytes from `from` into the program's memory.
    ///
    /// # Safety
    /// `from` is good for [`Self::len`] bytes and lies elsewhere.
    pub unsafe fn scatter(&self, mut from: *const u8) {
        self.rows(|row, len| {
            // SAFETY: as in `gather`.
            unsafe {
                std::ptr::copy_nonoverlapping(from, row, len);
                from = from.add(len);
            }
        });
    }

    /// Copies `bytes`, as many as there are here, into the program's memory.
    pub fn fill(&self, bytes: &[u8]) {
        assert_eq!(bytes.len(), self.len());
        // SAFETY: just checked; and messages do not lie in the program's memory.
        unsafe { self.scatter(bytes.as_ptr()) };
    }

    fn rows(&self, mut each: impl FnMut(*mut u8, usize)) {
        let [row, rows, slices] = self.region;
        for z in 0..slices {
            for y in 0..rows {
                // SAFETY: the row begins in the program's memory, as the constructors were promised.
                each(unsafe { self.at.add(z * self.slice_pitch + y * self.row_pitch) }, row);
            }
        }
    }

    /// Splits a transfer into pieces of about `max` bytes: whole slices, else whole rows, else parts of the row.
    pub fn split(self, region: Region, max: usize) -> impl Iterator<Item = (Region, Self)> {
        let [row, rows, slices] = self.region;
        // In each dimension: how much a piece takes.
        let step = match region {
            Region::Linear(_) => [max, 1, 1],
            Region::Image { pixel, .. } if row > max => [(max - max % pixel as usize).max(pixel as usize), 1, 1],
            Region::Rect(_) | Region::Image { .. } if row * rows <= max => [row, rows, (max / (row * rows)).max(1)],
            Region::Rect(_) | Region::Image { .. } => [row, (max / row).max(1), 1],
        };
        let parts = |n: usize, step: usize| (0..n).step_by(step).map(move |at| (at, step.min(n - at)));
        parts(slices, step[2]).flat_map(move |(z, depth)| {
            parts(rows, step[1]).flat_map(move |(y, height)| {
                parts(row, step[0]).map(move |(x, width)| {
                    let mut host = self;
                    // SAFETY: inside the region.
                    host.at = unsafe { self.at.add(z * self.slice_pitch + y * self.row_pitch + x) };
                    host.region = [width, height, depth];
                    let part = match region {
                        Region::Linear(offset) => Region::Linear(offset + x as u64),
                        Region::Rect(mut rect) => {
                            rect.origin[1] += y as u64;
                            rect.origin[2] += z as u64;
                            rect.region = [width as u64, height as u64, depth as u64];
                            Region::Rect(rect)
                        }
                        Region::Image { mut area, pixel } => {
                            area.origin[0] += x as u64 / pixel;
                            area.origin[1] += y as u64;
                            area.origin[2] += z as u64;
                            area.region = [width as u64 / pixel, height as u64, depth as u64];
                            Region::Image { area, pixel }
                        }
                    };
                    (part, host)
                })
            })
        })
    }
}

/// Memory of the library in place of the program's: page-aligned, initially zero.
pub struct HostMemory {
    at: *mut u8,
    layout: std::alloc::Layout,
}

// SAFETY: it is plain memory; who reads and writes it when is ruled by the commands that use it.
unsafe impl Send for HostMemory {}
// SAFETY: as above.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    /// `len` bytes; `None` if `len` is 0 or the system is out of memory.
    pub fn new(len: usize) -> Option<Self> {
        let layout = std::alloc::Layout::from_size_align(len, 4096).ok().filter(|l| l.size() > 0)?;
        // SAFETY: the size is not 0.
        let at = unsafe { std::alloc::alloc_zeroed(layout) };
        (!at.is_null()).then_some(Self { at, layout })
    }

    /// Where it begins.
    pub const fn as_ptr(&self) -> *mut u8 {
        self.at
    }

    /// All of it, for commands that hold it until they have ended.
    pub const fn host(&self) -> HostRegion {
        // SAFETY: who uses it keeps it.
        unsafe { HostRegion::linear(self.at, self.layout.size()) }
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        // SAFETY: allocated so in `new`.
        unsafe { std::alloc::dealloc(self.at, self.layout) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rect(origin: [u64; 3], region: [u64; 3], row_pitch: u64, slice_pitch: u64) -> Rect {
        Rect { origin, region, row_pitch, slice_pitch }
    }

    #[test]
    fn a_box_is_gathered_row_by_row_and_scattered_back() {
        let mut memory: Vec<u8> = (0..120).collect();
        let part = rect([1, 2, 1], [3, 2, 2], 6, 30);
        // SAFETY: the box lies in `memory`, which outlives it.
        let host = unsafe { HostRegion::rect(memory.as_mut_ptr(), &part) };
        assert_eq!(host.len(), 12);
        assert!(host.as_slice().is_none());
        let mut out = [0; 12];
        // SAFETY: room for 12 bytes.
        unsafe { host.gather(out.as_mut_ptr()) };
        assert_eq!(out, [43, 44, 45, 49, 50, 51, 73, 74, 75, 79, 80, 81]);
        // SAFETY: 12 bytes there.
        unsafe { host.scatter([200; 12].as_ptr()) };
        assert_eq!(memory.iter().filter(|b| **b == 200).count(), 12);
        assert!([43, 51, 73, 81].iter().all(|at| memory[*at] == 200));
    }

    #[test]
    fn pieces_cover_all_once_and_in_order() {
        let mut memory: Vec<u8> = (0..=255).cycle().take(10_000).collect();
        let boxes = [rect([3, 1, 1], [10, 7, 5], 20, 200), rect([0, 0, 0], [100, 3, 1], 100, 300)];
        for whole in boxes {
            for max in [1, 9, 10, 25, 70, 150, 1000] {
                // SAFETY: the boxes lie in `memory`.
                let host = unsafe { HostRegion::rect(memory.as_mut_ptr(), &whole) };
                let mut once = vec![0; host.len()];
                // SAFETY: room for all.
                unsafe { host.gather(once.as_mut_ptr()) };
                let mut pieces = Vec::new();
                for (region, piece) in host.split(Region::Rect(whole), max) {
                    let Region::Rect(part) = region else { panic!("a part of a box is a box") };
                    // SAFETY: a part of the box.
                    let same = unsafe { HostRegion::rect(memory.as_mut_ptr(), &part) };
                    assert_eq!((same.at, same.region), (piece.at, piece.region));
                    let from = pieces.len();
                    pieces.resize(from + piece.len(), 0);
                    // SAFETY: room for the piece.
                    unsafe { piece.gather(pieces[from..].as_mut_ptr()) };
                }
                assert_eq!(pieces, once, "{whole:?} in pieces of {max}");
            }
        }
        let area = Area { origin: [2, 1, 1], region: [10, 7, 5] };
        for max in [1, 7, 40, 100, 400, 10_000] {
            // SAFETY: in `memory`.
            let host = unsafe { HostRegion::pitched(memory.as_mut_ptr(), [40, 7, 5], [50, 400]) };
            let mut seen = std::collections::HashSet::new();
            for (region, piece) in host.split(Region::Image { area, pixel: 4 }, max) {
                let Region::Image { area: part, .. } = region else { panic!("a part of an area is an area") };
                assert_eq!(piece.len() as u64, part.region.iter().product::<u64>() * 4);
                let [x, y, z] = std::array::from_fn(|at| (part.origin[at] - area.origin[at]) as usize);
                assert_eq!(piece.at, memory.as_mut_ptr().wrapping_add(z * 400 + y * 50 + x * 4));
                let [w, h, d] = part.region.map(|n| n as usize);
                for at in (0..w * h * d).map(|n| (x + n % w, y + n / w % h, z + n / w / h)) {
                    assert!(seen.insert(at), "{at:?} comes twice in pieces of {max}");
                }
            }
            assert_eq!(seen.len(), 10 * 7 * 5, "in pieces of {max}");
        }
        // SAFETY: in `memory`.
        let line = unsafe { HostRegion::linear(memory.as_mut_ptr(), 1000) };
        let parts: Vec<_> = line.split(Region::Linear(50), 400).map(|(r, h)| (r, h.len())).collect();
        assert_eq!(parts, [(Region::Linear(50), 400), (Region::Linear(450), 400), (Region::Linear(850), 200)]);
    }
}
