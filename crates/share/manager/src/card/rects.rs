//! Rectangles of a buffer as rows, and rows as few large transfers.
//!
//! A card reads and writes ranges. A range for each row would cost a frame or more for every few bytes; so rows close
//! to each other are moved as one range, with the bytes between them.

use rackloom_opencl_wire::Rect;

/// Most bytes of a range that holds several rows.
const BAND_MAX: u64 = 1 << 20;

/// Offsets of a rectangle's rows, in order.
pub(super) fn rows(rect: &Rect) -> impl Iterator<Item = u64> + use<> {
    let Rect { origin: [x, y, z], region: [_, height, depth], row_pitch, slice_pitch } = *rect;
    (z..z + depth).flat_map(move |z| (y..y + height).map(move |y| z * slice_pitch + y * row_pitch + x))
}

/// Neighbouring rows, and the range that holds them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Band {
    /// Offset of the first byte in the buffer.
    pub(super) offset: u64,
    /// Length in bytes.
    pub(super) len: u64,
    /// Offsets of the rows in the range.
    pub(super) rows: Vec<u64>,
}

/// Groups rows of this width into bands.
pub(super) fn bands(rows: impl Iterator<Item = u64>, width: u64) -> impl Iterator<Item = Band> {
    let mut rows = rows.peekable();
    std::iter::from_fn(move || {
        let offset = rows.next()?;
        let mut band = Band { offset, len: width, rows: vec![0] };
        // Rows of a rectangle follow one another: each begins where the one before ends, or later.
        while let Some(next) = rows.next_if(|next| next - offset + width <= BAND_MAX) {
            band.len = next - offset + width;
            band.rows.push(next - offset);
        }
        Some(band)
    })
}

impl Band {
    /// Whether there are bytes between its rows.
    pub(super) fn has_gaps(&self, width: u64) -> bool {
        self.len > self.rows.len() as u64 * width
    }

    /// Appends the rows, taken from the range's bytes, to `out` without gaps.
    pub(super) fn gather(&self, range: &[u8], width: u64, out: &mut Vec<u8>) {
        self.rows.iter().for_each(|at| out.extend_from_slice(&range[*at as usize..][..width as usize]));
    }

    /// Writes rows without gaps to their places among the range's bytes.
    pub(super) fn scatter(&self, rows: &[u8], width: u64, range: &mut [u8]) {
        for (at, row) in self.rows.iter().zip(rows.chunks_exact(width as usize)) {
            range[*at as usize..][..row.len()].copy_from_slice(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn far_rows_go_alone_and_near_ones_together() {
        let far = [0, 2 << 20, (2 << 20) + 10];
        let found: Vec<_> = bands(far.into_iter(), 10).collect();
        assert_eq!(found[0], Band { offset: 0, len: 10, rows: vec![0] });
        assert_eq!(found[1], Band { offset: 2 << 20, len: 20, rows: vec![0, 10] });
        assert!(!found[1].has_gaps(10));
        let wide: Vec<_> = bands([0, 3 << 20].into_iter(), 3 << 20).collect();
        assert_eq!(wide.len(), 2);
    }

    proptest! {
        #[test]
        fn a_rect_is_gathered_and_scattered_byte_by_byte(
            origin in prop::array::uniform3(0..4u64), region in prop::array::uniform3(1..5u64),
            more_row in 0..5u64, more_slice in 0..9u64,
        ) {
            let row_pitch = region[0] + more_row;
            let rect = Rect { origin, region, row_pitch, slice_pitch: row_pitch * region[1] + more_slice };
            let buffer: Vec<u8> = (0..2000u32).map(|i| (i * 7 + i / 256) as u8).collect();
            let (mut expected, mut got) = (Vec::new(), Vec::new());
            for z in origin[2]..origin[2] + region[2] {
                for y in origin[1]..origin[1] + region[1] {
                    for x in origin[0]..origin[0] + region[0] {
                        expected.push(buffer[(z * rect.slice_pitch + y * row_pitch + x) as usize]);
                    }
                }
            }
            let mut blank = vec![0; buffer.len()];
            for band in bands(rows(&rect), region[0]) {
                let at = band.offset as usize..(band.offset + band.len) as usize;
                let before = got.len();
                band.gather(&buffer[at.clone()], region[0], &mut got);
                band.scatter(&got[before..], region[0], &mut blank[at]);
            }
            prop_assert_eq!(&got, &expected);
            prop_assert_eq!(blank.iter().filter(|b| **b != 0).count(), got.iter().filter(|b| **b != 0).count());
        }
    }
}
