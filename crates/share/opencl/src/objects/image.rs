//! What makes a memory object an image.

use opencl_sys::*;
use rackloom_opencl_wire::{self as wire, Answer, Area, Image, ImageFormat};
use rackloom_sync::lock;

use crate::error::Result;
use crate::host_memory::Region;
use crate::session::board::Board;
use crate::session::log_unexpected;

/// An image as the program sees it.
#[derive(Debug, Clone, Copy)]
pub struct ImageView {
    pub image: Image,
    /// Bytes of a pixel.
    pub pixel: u64,
    /// Bytes from one row to the next and from one slice to the next in the program's own memory
    /// (`CL_MEM_USE_HOST_PTR`); without such memory, those of pixels without gaps.
    pub pitches: [usize; 2],
}

impl ImageView {
    /// A part of it, for a command.
    pub const fn region(&self, area: Area) -> Region {
        Region::Image { area, pixel: self.pixel }
    }

    /// All of it.
    pub const fn whole(&self) -> Region {
        self.region(self.image.whole())
    }

    /// Bytes of a row of so many pixels, rows, and slices.
    pub fn bytes(&self, region: [u64; 3]) -> [usize; 3] {
        [region[0] * self.pixel, region[1], region[2]].map(|n| n as usize)
    }
}

/// Distances of rows and slices as this library counts them, of those that a call gives for a region; 0 stands for no
/// gaps. The layers of an array of lines are rows here.
pub const fn pitches(kind: u32, [row, rows, _]: [usize; 3], row_pitch: usize, slice_pitch: usize) -> [usize; 2] {
    let line = if row_pitch == 0 { row } else { row_pitch };
    if kind == CL_MEM_OBJECT_IMAGE1D_ARRAY {
        let layer = if slice_pitch == 0 { line } else { slice_pitch };
        return [layer, layer.saturating_mul(rows)];
    }
    [line, if slice_pitch == 0 { line.saturating_mul(rows) } else { slice_pitch }]
}

/// Whether images of this kind have a slice pitch.
pub const fn has_slices(kind: u32) -> bool {
    matches!(kind, CL_MEM_OBJECT_IMAGE1D_ARRAY | CL_MEM_OBJECT_IMAGE2D_ARRAY | CL_MEM_OBJECT_IMAGE3D)
}

/// The formats that a board has for images of a kind, as far as this library knows their pixels.
///
/// # Errors
/// The connection is lost.
pub fn formats(board: &Board, flags: cl_mem_flags, kind: u32) -> Result<Vec<ImageFormat>> {
    if let Some(known) = lock(&board.image_formats).get(&(flags, kind)) {
        return Ok(known.clone());
    }
    let ask = |request| wire::Command::ImageFormats { request, flags, kind };
    let formats = match board.session.ask(None, &[], ask) {
        Ok(Answer::ImageFormats(formats)) => formats,
        Ok(other) => {
            log_unexpected("ImageFormats", &other);
            Vec::new()
        }
        // It has none of this kind.
        Err(_) => {
            board.session.check()?;
            Vec::new()
        }
    };
    let formats: Vec<_> = formats.into_iter().filter(|format| format.pixel().is_some()).collect();
    lock(&board.image_formats).insert((flags, kind), formats.clone());
    Ok(formats)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_of_lines_are_rows() {
        assert_eq!(pitches(CL_MEM_OBJECT_IMAGE2D, [40, 3, 1], 0, 0), [40, 120]);
        assert_eq!(pitches(CL_MEM_OBJECT_IMAGE3D, [40, 3, 2], 64, 256), [64, 256]);
        assert_eq!(pitches(CL_MEM_OBJECT_IMAGE1D_ARRAY, [40, 3, 1], 0, 0), [40, 120]);
        assert_eq!(pitches(CL_MEM_OBJECT_IMAGE1D_ARRAY, [40, 3, 1], 64, 0), [64, 192]);
        assert_eq!(pitches(CL_MEM_OBJECT_IMAGE1D_ARRAY, [40, 3, 1], 64, 128), [128, 384]);
    }
}
