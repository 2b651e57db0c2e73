//! Operations of a space, with their objects resolved.

use std::sync::Arc;

use rackloom_ipc::{Arena, Given, Taken};
use rackloom_opencl_wire::{Area, Rect};

use super::Space;
use crate::code::Code;

/// An operation whose objects are resolved. Ranges and rectangles lie within their buffers.
#[derive(Debug)]
pub enum Operation<S: Space> {
    /// Writes bytes into a buffer.
    Write {
        /// The buffer.
        buffer: Arc<S::Buffer>,
        /// Offset of the first byte.
        offset: u64,
        /// The bytes.
        from: Source,
    },
    /// Reads bytes from a buffer.
    Read {
        /// The buffer.
        buffer: Arc<S::Buffer>,
        /// Offset of the first byte.
        offset: u64,
        /// The destination; its length is the range's.
        into: Sink,
    },
    /// Writes a rectangle; its rows arrive without gaps.
    WriteRect {
        /// The buffer.
        buffer: Arc<S::Buffer>,
        /// The rectangle.
        rect: Rect,
        /// The bytes.
        from: Source,
    },
    /// Reads a rectangle; its rows leave without gaps.
    ReadRect {
        /// The buffer.
        buffer: Arc<S::Buffer>,
        /// The rectangle.
        rect: Rect,
        /// The destination.
        into: Sink,
    },
    /// Copies between buffers.
    Copy {
        /// The source buffer.
        from: Arc<S::Buffer>,
        /// Offset of the first byte there.
        from_offset: u64,
        /// The destination buffer.
        to: Arc<S::Buffer>,
        /// Offset of the first byte there.
        to_offset: u64,
        /// Length in bytes.
        len: u64,
    },
    /// Copies a rectangle.
    CopyRect {
        /// The source buffer.
        from: Arc<S::Buffer>,
        /// The rectangle there.
        source: Rect,
        /// The destination buffer.
        to: Arc<S::Buffer>,
        /// The rectangle there; of the same region.
        target: Rect,
    },
    /// Fills with a pattern.
    Fill {
        /// The buffer.
        buffer: Arc<S::Buffer>,
        /// Offset of the first byte.
        offset: u64,
        /// Length in bytes.
        len: u64,
        /// The pattern.
        pattern: Box<[u8]>,
    },
    /// Writes an area of an image; its pixels arrive without gaps.
    WriteImage {
        /// The image.
        image: Arc<S::Buffer>,
        /// The area.
        area: Area,
        /// The bytes.
        from: Source,
    },
    /// Reads an area of an image; its pixels leave without gaps.
    ReadImage {
        /// The image.
        image: Arc<S::Buffer>,
        /// The area.
        area: Area,
        /// The destination.
        into: Sink,
    },
    /// Copies an area between images of one format.
    CopyImage {
        /// The source image.
        from: Arc<S::Buffer>,
        /// The area there.
        source: Area,
        /// The destination image.
        to: Arc<S::Buffer>,
        /// The area there; of the same region.
        target: Area,
        /// Its bytes.
        len: u64,
    },
    /// Copies an area of an image into a buffer.
    CopyImageToBuffer {
        /// The image.
        from: Arc<S::Buffer>,
        /// The area.
        area: Area,
        /// The buffer.
        to: Arc<S::Buffer>,
        /// Offset of the first byte there.
        offset: u64,
        /// Length in bytes.
        len: u64,
    },
    /// Copies from a buffer into an area of an image.
    CopyBufferToImage {
        /// The buffer.
        from: Arc<S::Buffer>,
        /// Offset of the first byte there.
        offset: u64,
        /// The image.
        to: Arc<S::Buffer>,
        /// The area.
        area: Area,
        /// Its bytes.
        len: u64,
    },
    /// Fills an area of an image.
    FillImage {
        /// The image.
        image: Arc<S::Buffer>,
        /// The area.
        area: Area,
        /// Its bytes.
        len: u64,
        /// The colour, as `clEnqueueFillImage` takes it.
        color: [u8; 16],
    },
    /// Makes a range of a backed buffer valid in its backing.
    Map {
        /// The buffer.
        buffer: Arc<S::Buffer>,
        /// `CL_MAP_...`.
        flags: u64,
        /// Offset of the first byte.
        offset: u64,
        /// Length in bytes.
        len: u64,
    },
    /// Makes a mapped range valid on the board again.
    Unmap {
        /// The buffer.
        buffer: Arc<S::Buffer>,
        /// Offset of the first byte.
        offset: u64,
        /// Length in bytes.
        len: u64,
    },
    /// Runs a kernel.
    Launch {
        /// The kernel.
        kernel: Arc<S::Kernel>,
        /// Its index space.
        shape: Shape,
        /// Arguments to set before the launch.
        arguments: Vec<(u32, Value<S>)>,
        /// Shared virtual memory that the kernel reaches by pointers from now on, if that changes.
        reaches: Option<Vec<Arc<S::Buffer>>>,
    },
    /// Does nothing.
    Marker,
}

/// A launch's index space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Number of dimensions, 1 to 3.
    pub dimensions: usize,
    /// First global index in each dimension.
    pub offset: [usize; 3],
    /// Work-items in each dimension.
    pub global: [usize; 3],
    /// Work-items of a group in each dimension, if the program chose them.
    pub local: Option<[usize; 3]>,
}

/// An argument.
#[derive(Debug)]
pub enum Value<S: Space> {
    /// The bytes of a value.
    Plain(Box<[u8]>),
    /// A buffer or an image, or a null pointer.
    Buffer(Option<Arc<S::Buffer>>),
    /// Shared virtual memory from this byte on, which lies within it.
    Svm(Arc<S::Buffer>, u64),
    /// A sampler.
    Sampler(Arc<S::Sampler>),
    /// An object that could not be made, for this reason.
    Missing(Code),
    /// Size of local memory in bytes.
    Local(u64),
}

/// Bytes on their way to a board.
#[derive(Debug)]
pub enum Source {
    /// Bytes that came in a message.
    Inline(Box<[u8]>),
    /// Bytes in the client's bulk memory.
    Bulk(Taken),
}

/// The destination of bytes on their way from a board.
#[derive(Debug)]
pub enum Sink {
    /// Bytes to send in a message.
    Inline(Box<[u8]>),
    /// A place in the client's bulk memory.
    Bulk(Given),
}

impl Source {
    /// Length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Inline(bytes) => bytes.len(),
            Self::Bulk(taken) => taken.len(),
        }
    }

    /// Whether the length is 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A copy that nobody else can change.
    #[must_use]
    pub fn into_vec(self) -> Vec<u8> {
        match self {
            Self::Inline(bytes) => bytes.into(),
            Self::Bulk(taken) => {
                let mut bytes = vec![0; taken.len()];
                taken.read(0, &mut bytes);
                bytes
            }
        }
    }

    /// Address of the first byte.
    #[must_use]
    pub fn as_ptr(&self) -> *const u8 {
        match self {
            Self::Inline(bytes) => bytes.as_ptr(),
            Self::Bulk(taken) => taken.as_ptr(),
        }
    }
}

impl Sink {
    /// Length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Inline(bytes) => bytes.len(),
            Self::Bulk(given) => given.len(),
        }
    }

    /// Whether the length is 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Address for the first byte.
    #[must_use]
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        match self {
            Self::Inline(bytes) => bytes.as_mut_ptr(),
            Self::Bulk(given) => given.as_mut_ptr(),
        }
    }
}

impl<S: Space> Operation<S> {
    /// The arena from or to which it moves bytes.
    #[must_use]
    pub fn arena(&self) -> Option<Arena<'_>> {
        match self {
            Self::Write { from: Source::Bulk(taken), .. }
            | Self::WriteRect { from: Source::Bulk(taken), .. }
            | Self::WriteImage { from: Source::Bulk(taken), .. } => taken.arena(),
            Self::Read { into: Sink::Bulk(given), .. }
            | Self::ReadRect { into: Sink::Bulk(given), .. }
            | Self::ReadImage { into: Sink::Bulk(given), .. } => given.arena(),
            Self::Map { buffer, .. } | Self::Unmap { buffer, .. } => S::backing(buffer)?.arena(),
            _ => None,
        }
    }

    /// Number of bytes that it moves.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Write { from, .. } | Self::WriteRect { from, .. } | Self::WriteImage { from, .. } => {
                from.len() as u64
            }
            Self::Read { into, .. } | Self::ReadRect { into, .. } | Self::ReadImage { into, .. } => into.len() as u64,
            Self::Copy { len, .. }
            | Self::Fill { len, .. }
            | Self::CopyImage { len, .. }
            | Self::CopyImageToBuffer { len, .. }
            | Self::CopyBufferToImage { len, .. }
            | Self::FillImage { len, .. }
            | Self::Map { len, .. }
            | Self::Unmap { len, .. } => *len,
            Self::CopyRect { source, .. } => source.region.iter().product(),
            Self::Launch { .. } | Self::Marker => 0,
        }
    }
}
