//! Copies of boxes out of arrays, and back.

use bytes::Bytes;

/// A box of an array: its side in each dimension, slowest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    element: usize,
    sides: Vec<Side>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Side {
    /// Extent of the whole array.
    whole: usize,
    /// First element of the box; negative where a halo reaches beyond the border.
    start: isize,
    /// Elements of the box, halo included.
    len: usize,
}

impl Side {
    /// The index in the array of element `i` of the box; beyond the border, that of the outermost element.
    fn at(&self, i: usize) -> usize {
        (self.start + i as isize).clamp(0, self.whole as isize - 1) as usize
    }

    /// Elements of the box before the array's border, inside it, and beyond.
    fn parts(&self) -> (usize, usize, usize) {
        let before = usize::try_from(-self.start).unwrap_or(0).min(self.len);
        let end = self.start + self.len as isize;
        let beyond = usize::try_from(end - self.whole as isize).unwrap_or(0).min(self.len - before);
        (before, self.len - before - beyond, beyond)
    }
}

impl Block {
    /// A box of elements of `element` bytes: for each dimension the array's extent, the first element and the number of
    /// elements, and the halo on either side.
    pub(super) fn new(element: usize, sides: impl Iterator<Item = (usize, (usize, usize), usize)>) -> Self {
        let side = |(whole, (start, len), halo): (usize, (usize, usize), usize)| Side {
            whole,
            start: start as isize - halo as isize,
            len: len + 2 * halo,
        };
        Self { element, sides: sides.map(side).collect() }
    }

    /// Bytes of the box.
    pub(super) fn bytes(&self) -> usize {
        self.sides.iter().fold(self.element, |n, s| n * s.len)
    }

    /// The range of the box's bytes in the array, if they are contiguous.
    fn one_piece(&self) -> Option<std::ops::Range<usize>> {
        let inside = |s: &Side| s.start >= 0 && s.start as usize + s.len <= s.whole;
        // All dimensions after the first that is cut must be whole; those before it must have one element.
        let cut = self.sides.iter().position(|s| s.len > 1).unwrap_or(self.sides.len());
        let rest = self.sides.get(cut + 1..).unwrap_or(&[]);
        if !self.sides.iter().all(inside) || rest.iter().any(|s| s.len != s.whole) {
            return None;
        }
        let start = self.sides.iter().fold(0, |at, s| at * s.whole + s.start as usize) * self.element;
        Some(start..start + self.bytes())
    }

    /// Calls `f` for each row of the box, with the byte offset of the array's row that it lies in.
    fn rows(&self, mut f: impl FnMut(usize, Side)) {
        let (last, outer) = self.sides.split_last().expect("an array has a dimension");
        let mut index = vec![0; outer.len()];
        loop {
            let row = outer.iter().zip(&index).fold(0, |at, (s, &i)| at * s.whole + s.at(i));
            f(row * last.whole * self.element, *last);
            // Increment the index, the fastest dimension first.
            let Some(dim) = (0..outer.len()).rev().find(|&d| index[d] + 1 < outer[d].len) else { return };
            index[dim] += 1;
            index[dim + 1..].fill(0);
        }
    }
}

/// The bytes of a box of `array`, row-major. If they are contiguous in the array, no byte is copied.
pub(super) fn gather(array: &Bytes, block: &Block) -> Bytes {
    if let Some(range) = block.one_piece() {
        return array.slice(range);
    }
    let element = block.element;
    let mut out = Vec::with_capacity(block.bytes());
    block.rows(|row, side| {
        let (before, inside, beyond) = side.parts();
        let first = row + side.at(0) * element;
        for _ in 0..before {
            out.extend_from_slice(&array[first..first + element]);
        }
        let start = row + side.at(before) * element;
        out.extend_from_slice(&array[start..start + inside * element]);
        let last = row + side.at(side.len - 1) * element;
        for _ in 0..beyond {
            out.extend_from_slice(&array[last..last + element]);
        }
    });
    assert_eq!(out.len(), block.bytes());
    out.into()
}

/// Writes the bytes of a box to its place in `array`. The box has no halo.
pub(super) fn scatter(from: &[u8], array: &mut [u8], block: &Block) {
    assert_eq!(from.len(), block.bytes());
    let row_bytes = block.sides.last().expect("an array has a dimension").len * block.element;
    let mut rows = from.chunks_exact(row_bytes);
    block.rows(|row, side| {
        let at = row + side.at(0) * block.element;
        array[at..at + row_bytes].copy_from_slice(rows.next().expect("one for each row of the box"));
    });
}
