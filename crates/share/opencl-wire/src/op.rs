//! Operations: what a board does for a client, in the order in which it is asked.

use rackloom_ipc::BulkRef;
use serde::{Deserialize, Serialize};

use crate::image::Area;

/// The number of an object. Objects of one kind have numbers of their own, from 0 up and dense: the manager keeps them
/// in a table as long as the quota.
pub type Id = u32;

/// Where the bytes of a command are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Payload {
    /// In the message, as its tail; at most [`crate::INLINE_MAX`].
    Inline,
    /// In bulk memory.
    Bulk(Place),
}

/// A reference to bulk memory, as the channel encodes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place([u8; BulkRef::LEN]);

impl From<BulkRef> for Place {
    fn from(bulk: BulkRef) -> Self {
        Self(bulk.encode())
    }
}

impl From<Place> for BulkRef {
    fn from(place: Place) -> Self {
        Self::decode(&place.0)
    }
}

/// An operation. Offsets, sizes and pitches are in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op<'a> {
    /// Writes the payload into a buffer.
    Write {
        /// The buffer.
        buffer: Id,
        /// First byte in the buffer.
        offset: u64,
        /// Where the bytes are.
        from: Payload,
    },
    /// Reads from a buffer, into bulk or the tail of [`crate::Reply::Done`].
    Read {
        /// The buffer.
        buffer: Id,
        /// First byte in the buffer.
        offset: u64,
        /// Number of bytes; at most [`crate::INLINE_MAX`] without `into`.
        len: u64,
        /// Memory for the bytes; without it they are the reply's tail.
        into: Option<Place>,
    },
    /// Writes a box of a buffer. The payload holds its rows without gaps.
    WriteRect {
        /// The buffer.
        buffer: Id,
        /// The box in the buffer.
        rect: Rect,
        /// Where the bytes are.
        from: Payload,
    },
    /// Reads a box of a buffer, its rows without gaps.
    ReadRect {
        /// The buffer.
        buffer: Id,
        /// The box in the buffer.
        rect: Rect,
        /// Memory for the bytes; without it they are the reply's tail.
        into: Option<Place>,
    },
    /// Copies from one buffer to another.
    Copy {
        /// The source buffer.
        from: Id,
        /// First byte in it.
        from_offset: u64,
        /// The target buffer.
        to: Id,
        /// First byte in it.
        to_offset: u64,
        /// Number of bytes.
        len: u64,
    },
    /// Copies a box. Both have the same region.
    CopyRect {
        /// The source buffer.
        from: Id,
        /// The box in it.
        source: Rect,
        /// The target buffer.
        to: Id,
        /// The box in it.
        target: Rect,
    },
    /// Fills a part of a buffer with a pattern.
    Fill {
        /// The buffer.
        buffer: Id,
        /// First byte; a multiple of the pattern's length.
        offset: u64,
        /// Number of bytes; a multiple of the pattern's length.
        len: u64,
        /// The pattern: 1, 2, 4 ... 128 bytes.
        pattern: &'a [u8],
    },
    /// Writes an area of an image. The payload holds its pixels without gaps.
    WriteImage {
        /// The image.
        image: Id,
        /// The area.
        area: Area,
        /// Where the bytes are.
        from: Payload,
    },
    /// Reads an area of an image, its pixels without gaps.
    ReadImage {
        /// The image.
        image: Id,
        /// The area.
        area: Area,
        /// Memory for the bytes; without it they are the reply's tail.
        into: Option<Place>,
    },
    /// Copies an area between images of one format.
    CopyImage {
        /// The source image.
        from: Id,
        /// The area there.
        source: Area,
        /// The target image.
        to: Id,
        /// First pixel, row and slice there.
        origin: [u64; 3],
    },
    /// Copies an area of an image into a buffer, its pixels without gaps.
    CopyImageToBuffer {
        /// The image.
        from: Id,
        /// The area.
        area: Area,
        /// The buffer.
        to: Id,
        /// First byte in it.
        offset: u64,
    },
    /// Copies pixels without gaps from a buffer into an area of an image.
    CopyBufferToImage {
        /// The buffer.
        from: Id,
        /// First byte in it.
        offset: u64,
        /// The image.
        to: Id,
        /// The area.
        area: Area,
    },
    /// Fills an area of an image with a colour.
    FillImage {
        /// The image.
        image: Id,
        /// The area.
        area: Area,
        /// Four channels of 4 bytes, as `clEnqueueFillImage` takes them for the image's format.
        color: [u8; 16],
    },
    /// Makes a part of a backed buffer valid in its backing.
    Map {
        /// The buffer.
        buffer: Id,
        /// `CL_MAP_READ`, `_WRITE` or `_WRITE_INVALIDATE_REGION`.
        flags: u64,
        /// First byte.
        offset: u64,
        /// Number of bytes.
        len: u64,
    },
    /// Ends one earlier [`Op::Map`] of this very part: the content of the backing is the buffer's content again.
    Unmap {
        /// The buffer.
        buffer: Id,
        /// First byte.
        offset: u64,
        /// Number of bytes.
        len: u64,
    },
    /// Runs a kernel.
    Launch {
        /// The kernel.
        kernel: Id,
        /// Number of dimensions, 1 to 3; elements beyond are 0, in `local` 1.
        dimensions: u8,
        /// First global number in each dimension.
        offset: [u64; 3],
        /// Work-items in each dimension.
        global: [u64; 3],
        /// Work-items of a work-group in each dimension; `None` leaves the choice to the board.
        local: Option<[u64; 3]>,
        /// Arguments that changed since this kernel's last launch.
        #[serde(borrow)]
        arguments: Vec<(u32, Argument<'a>)>,
        /// Shared virtual memory that the kernel reaches by pointers within other memory, if that has changed since its
        /// last launch.
        reaches: Option<Vec<Id>>,
    },
    /// Does nothing; ends when all operations before it have ended.
    Marker,
}

impl Op<'_> {
    /// Whether it works on what the board has, and moves no bytes from or to the client: what a
    /// [`Command::Sequence`](crate::Command::Sequence) may hold.
    pub const fn is_at_board(&self) -> bool {
        match self {
            Self::Write { .. } | Self::WriteRect { .. } | Self::WriteImage { .. } => false,
            Self::Read { .. } | Self::ReadRect { .. } | Self::ReadImage { .. } => false,
            Self::Map { .. } | Self::Unmap { .. } => false,
            Self::Copy { .. } | Self::CopyRect { .. } | Self::Fill { .. } => true,
            Self::CopyImage { .. } | Self::CopyImageToBuffer { .. } | Self::CopyBufferToImage { .. } => true,
            Self::FillImage { .. } | Self::Launch { .. } | Self::Marker => true,
        }
    }
}

/// A box of bytes, as in `clEnqueueReadBufferRect`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rect {
    /// First byte in its row, row, slice.
    pub origin: [u64; 3],
    /// Bytes of a row, rows, slices.
    pub region: [u64; 3],
    /// Bytes from one row to the next; not 0.
    pub row_pitch: u64,
    /// Bytes from one slice to the next; not 0.
    pub slice_pitch: u64,
}

/// An argument of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Argument<'a> {
    /// A value.
    Value(&'a [u8]),
    /// A buffer or an image; `None` is a null buffer.
    Buffer(Option<Id>),
    /// An address in shared virtual memory.
    Svm {
        /// The memory.
        memory: Id,
        /// The byte in it.
        offset: u64,
    },
    /// A sampler.
    Sampler(Id),
    /// Local memory of this many bytes.
    Local(u64),
}
