//! Images, as both sides measure them.
//!
//! Origins and regions count pixels, rows and slices, as in OpenCL's calls: the layers of an array are the rows of one
//! of lines, and the slices of one of pictures. On their way pixels have no gaps between them.

use serde::{Deserialize, Serialize};

/// An image: its pixels and how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// `CL_MEM_OBJECT_IMAGE...`.
    pub kind: u32,
    /// Its pixels.
    pub format: ImageFormat,
    /// Pixels of a row, rows, slices; 1 where its kind has no such dimension.
    pub extent: [u64; 3],
    /// Bytes from one row to the next if it is a view of a buffer; else 0, and the board decides.
    pub row_pitch: u64,
}

/// What a pixel is: `cl_image_format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageFormat {
    /// `CL_R`, `CL_RGBA`, ...
    pub order: u32,
    /// `CL_UNORM_INT8`, `CL_FLOAT`, ...
    pub data_type: u32,
}

/// A part of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Area {
    /// First pixel, row and slice.
    pub origin: [u64; 3],
    /// Pixels of a row, rows, slices; none is 0.
    pub region: [u64; 3],
}

/// Bytes that a row counts for at least, since boards begin rows at such addresses.
const ROW_MIN: u64 = 64;

impl ImageFormat {
    /// Channels of a pixel; `None` if the order is unknown.
    #[must_use]
    pub const fn channels(self) -> Option<u64> {
        Some(match self.order {
            // CL_R, CL_A, CL_INTENSITY, CL_LUMINANCE, CL_DEPTH
            0x10b0 | 0x10b1 | 0x10b8 | 0x10b9 | 0x10bd => 1,
            // CL_RG, CL_RA, CL_Rx
            0x10b2 | 0x10b3 | 0x10ba => 2,
            // CL_RGB, CL_RGx, CL_sRGB
            0x10b4 | 0x10bb | 0x10bf => 3,
            // CL_RGBA, CL_BGRA, CL_ARGB, CL_RGBx, CL_sRGBx, CL_sRGBA, CL_sBGRA, CL_ABGR
            0x10b5 | 0x10b6 | 0x10b7 | 0x10bc | 0x10c0 | 0x10c1 | 0x10c2 | 0x10c3 => 4,
            _ => return None,
        })
    }

    /// Bytes of a pixel; `None` for formats that are unknown, or no format.
    #[must_use]
    pub const fn pixel(self) -> Option<u64> {
        let Some(channels) = self.channels() else { return None };
        let (one, is_packed) = match self.data_type {
            // CL_SNORM_INT8, CL_UNORM_INT8, CL_SIGNED_INT8, CL_UNSIGNED_INT8
            0x10d0 | 0x10d2 | 0x10d7 | 0x10da => (1, false),
            // CL_SNORM_INT16, CL_UNORM_INT16, CL_SIGNED_INT16, CL_UNSIGNED_INT16, CL_HALF_FLOAT
            0x10d1 | 0x10d3 | 0x10d8 | 0x10db | 0x10dd => (2, false),
            // CL_SIGNED_INT32, CL_UNSIGNED_INT32, CL_FLOAT
            0x10d9 | 0x10dc | 0x10de => (4, false),
            // CL_UNORM_SHORT_565, CL_UNORM_SHORT_555: all channels in one short
            0x10d4 | 0x10d5 => (2, true),
            // CL_UNORM_INT_101010, CL_UNORM_INT_101010_2
            0x10d6 | 0x10e0 => (4, true),
            _ => return None,
        };
        match (is_packed, channels) {
            (true, 3 | 4) => Some(one),
            (true, _) => None,
            (false, channels) => Some(one * channels),
        }
    }
}

impl Image {
    /// Bytes of all pixels without gaps; `None` if they are more than 64 bits count, or the format is unknown.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        self.bytes_of(self.extent)
    }

    /// Bytes of a region's pixels without gaps; `None` as for [`Self::bytes`].
    #[must_use]
    pub fn bytes_of(&self, region: [u64; 3]) -> Option<u64> {
        region.iter().try_fold(self.format.pixel()?, |product, n| product.checked_mul(*n))
    }

    /// Bytes that count against a quota; `None` as for [`Self::bytes`].
    #[must_use]
    pub fn cost(&self) -> Option<u64> {
        let [row, rows, slices] = self.extent;
        let row = row.checked_mul(self.format.pixel()?)?.max(ROW_MIN);
        row.checked_mul(rows)?.checked_mul(slices)
    }

    /// Whether an area is not empty and lies in the image.
    #[must_use]
    pub fn contains(&self, area: &Area) -> bool {
        let ends = area.origin.iter().zip(area.region).map(|(at, len)| at.checked_add(len).filter(|_| len > 0));
        ends.zip(self.extent).all(|(end, extent)| end.is_some_and(|end| end <= extent))
    }

    /// All of it.
    #[must_use]
    pub const fn whole(&self) -> Area {
        Area { origin: [0; 3], region: self.extent }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(order: u32, data_type: u32, extent: [u64; 3]) -> Image {
        Image { kind: 0x10f1, format: ImageFormat { order, data_type }, extent, row_pitch: 0 }
    }

    #[test]
    fn pixels_have_the_bytes_of_their_channels() {
        let cases = [
            (0x10b5, 0x10d2, Some(4)),
            (0x10b0, 0x10de, Some(4)),
            (0x10b5, 0x10de, Some(16)),
            (0x10b2, 0x10dd, Some(4)),
            (0x10b4, 0x10d4, Some(2)),
            (0x10b5, 0x10e0, Some(4)),
            (0x10b0, 0x10d4, None),
            (0x10b5, 0x1234, None),
            (0, 0x10d2, None),
        ];
        for (order, data_type, bytes) in cases {
            assert_eq!(ImageFormat { order, data_type }.pixel(), bytes, "{order:x} {data_type:x}");
        }
    }

    #[test]
    fn no_extent_overflows_and_short_rows_count_as_the_boards_rows() {
        assert_eq!(image(0x10b5, 0x10d2, [3, 5, 1]).bytes(), Some(60));
        assert_eq!(image(0x10b5, 0x10d2, [3, 5, 1]).cost(), Some(5 * 64));
        assert_eq!(image(0x10b5, 0x10d2, [100, 5, 2]).cost(), Some(4000));
        assert_eq!(image(0x10b5, 0x10d2, [u64::MAX, 5, 2]).cost(), None);
        assert_eq!(image(0x10b5, 0x10d2, [1 << 30, 1 << 30, 1 << 30]).bytes(), None);
    }

    #[test]
    fn an_area_is_inside_or_not() {
        let image = image(0x10b5, 0x10d2, [10, 5, 2]);
        let inside = |origin, region| image.contains(&Area { origin, region });
        assert!(inside([0; 3], [10, 5, 2]) && inside([9, 4, 1], [1, 1, 1]));
        assert!(!inside([0; 3], [11, 5, 2]) && !inside([1, 0, 0], [10, 5, 2]) && !inside([0; 3], [10, 0, 2]));
        assert!(!inside([u64::MAX, 0, 0], [2, 1, 1]));
    }
}
