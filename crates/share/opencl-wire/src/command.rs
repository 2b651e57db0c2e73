//! Messages from the library to the manager.

use rackloom_ipc::BulkRef;
use serde::{Deserialize, Serialize};

use crate::image::{Area, Image};

/// The number of an object. Objects of one kind have numbers of their own, from 0 up and dense: the manager keeps them
/// in a table as long as the quota.
pub type Id = u32;

/// The number of an event. Events count up, and none is used again.
pub type EventId = u64;

/// A message to the manager.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command<'a> {
    /// The first message: which version the library speaks. Answered by [`crate::Answer::Welcome`].
    Hello {
        /// The request's number, which its answer repeats.
        request: u32,
        /// [`crate::VERSION`] of the library.
        version: u32,
        /// The program's own name, for tables and metrics; the manager does not trust it.
        name: &'a str,
    },
    /// Asks for the description of a board; answered by [`crate::Answer::Board`].
    Board {
        /// The request's number, which its answer repeats.
        request: u32,
        /// The board, from 0 up to [`crate::Answer::Welcome`]'s `boards`, exclusive.
        board: u16,
    },
    /// Makes this session that of a board, once; answered by [`crate::Answer::Open`]. All commands below need it.
    Open {
        /// The request's number, which its answer repeats.
        request: u32,
        /// The board, from 0 up to [`crate::Answer::Welcome`]'s `boards`, exclusive.
        board: u16,
    },
    /// Makes a buffer. Its content is zero, or undefined but never another tenant's.
    CreateBuffer {
        /// Number of the new buffer.
        buffer: Id,
        /// `CL_MEM_READ_WRITE`, `_READ_ONLY` or `_WRITE_ONLY`; others are ignored. The library
        /// checks what the program may do from its host; it initializes also buffers that the program must not write.
        flags: u64,
        /// Size in bytes; not 0.
        size: u64,
        /// Memory of the client that becomes the buffer's own where the board can use it (`CL_MEM_ALLOC_HOST_PTR`).
        /// [`Op::Map`] and [`Op::Unmap`] then move bytes where that is needed.
        backing: Option<Place>,
    },
    /// Makes a sub-buffer.
    CreateSubBuffer {
        /// Number of the new sub-buffer.
        buffer: Id,
        /// The buffer of which it is a part; not itself a sub-buffer.
        parent: Id,
        /// As for a buffer; 0 takes the parent's.
        flags: u64,
        /// First byte in the parent.
        offset: u64,
        /// Size in bytes; not 0.
        size: u64,
    },
    /// Makes shared virtual memory, which is a buffer as well, of content as that of one; answered by
    /// [`crate::Answer::Svm`]. The library sees to it that the program has memory at the same address.
    CreateSvm {
        /// The request's number, which its answer repeats.
        request: u32,
        /// Number of the new buffer.
        buffer: Id,
        /// As for a buffer.
        flags: u64,
        /// Size in bytes; not 0.
        size: u64,
        /// Memory of the client that stands there for both, if the board works right in it: the whole pages that `size`
        /// bytes take.
        backing: Option<Place>,
    },
    /// Releases a buffer, an image or shared virtual memory. Operations sent before keep it.
    ReleaseBuffer {
        /// The buffer.
        buffer: Id,
    },
    /// Asks for the formats of images that the board has; answered by [`crate::Answer::ImageFormats`].
    ImageFormats {
        /// The request's number, which its answer repeats.
        request: u32,
        /// `CL_MEM_READ_WRITE`, ...: how kernels are to use them.
        flags: u64,
        /// `CL_MEM_OBJECT_IMAGE...`.
        kind: u32,
    },
    /// Makes an image, whose number is one of buffers. Its content is as that of a buffer.
    CreateImage {
        /// Number of the new image.
        image: Id,
        /// As for a buffer.
        flags: u64,
        /// Its pixels and how many.
        description: Image,
        /// The buffer of which it is a view, from its first byte.
        of: Option<Id>,
    },
    /// Makes a sampler.
    CreateSampler {
        /// Number of the new sampler.
        sampler: Id,
        /// Whether coordinates are normalized.
        normalized: bool,
        /// `CL_ADDRESS_...`.
        addressing: u32,
        /// `CL_FILTER_...`.
        filter: u32,
    },
    /// Releases a sampler. Operations sent before keep it.
    ReleaseSampler {
        /// The sampler.
        sampler: Id,
    },
    /// Makes a program. The tail, or the bulk, is its source or binary.
    CreateProgram {
        /// Number of the new program.
        program: Id,
        /// Whether the bytes are source or a binary.
        form: Form,
        /// Where the bytes are.
        bytes: Payload,
    },
    /// Asks whether a program was made, which a binary of another board is not; answered by
    /// [`crate::Answer::Created`] or an error.
    Created {
        /// The request's number, which its answer repeats.
        request: u32,
        /// The program.
        program: Id,
    },
    /// Releases a program. Its kernels stay.
    ReleaseProgram {
        /// The program.
        program: Id,
    },
    /// Builds a program; answered by [`crate::Answer::Built`] when that is done. Later messages do not wait for it.
    Build {
        /// The request's number, which its answer repeats.
        request: u32,
        /// The program.
        program: Id,
        /// Options, as the program gave them.
        options: &'a str,
    },
    /// Compiles a program of source for linking; answered as [`Command::Build`].
    Compile {
        /// The request's number, which its answer repeats.
        request: u32,
        /// The program.
        program: Id,
        /// Options, as the program gave them.
        options: &'a str,
        /// Names to include and the programs that hold their source.
        #[serde(borrow)]
        headers: Vec<(&'a str, Id)>,
    },
    /// Links compiled programs into a new one; answered as [`Command::Build`].
    Link {
        /// The request's number, which its answer repeats.
        request: u32,
        /// Number of the new program.
        program: Id,
        /// Options, as the program gave them.
        options: &'a str,
        /// The compiled programs to link.
        inputs: Vec<Id>,
    },
    /// Asks for the length of a built program's binary, which a runtime may have to make first; answered by
    /// [`crate::Answer::BinarySize`].
    BinarySize {
        /// The request's number, which its answer repeats.
        request: u32,
        /// The program.
        program: Id,
    },
    /// Asks for a built program's binary; answered by [`crate::Answer::Binary`].
    Binary {
        /// The request's number, which its answer repeats.
        request: u32,
        /// The program.
        program: Id,
        /// Memory for the binary; at least as long as it.
        into: Place,
    },
    /// Asks about a kernel of a built program; answered by [`crate::Answer::Kernel`].
    Kernel {
        /// The request's number, which its answer repeats.
        request: u32,
        /// The program.
        program: Id,
        /// The function's name.
        name: &'a str,
    },
    /// Makes a kernel of a built program, without arguments.
    CreateKernel {
        /// Number of the new kernel.
        kernel: Id,
        /// The program.
        program: Id,
        /// The function's name.
        name: &'a str,
    },
    /// Releases a kernel.
    ReleaseKernel {
        /// The kernel.
        kernel: Id,
    },
    /// Adds an operation to the task. [`crate::Reply::Done`] reports its end.
    Enqueue {
        /// The event that ends with it. Events are sent in ascending order.
        event: EventId,
        /// Events to wait for, except those that the library knew to be complete. If one of them failed, so does this.
        waits: Vec<EventId>,
        /// Closes the task behind this operation.
        submit: bool,
        /// The operation.
        #[serde(borrow)]
        op: Op<'a>,
    },
    /// Closes the task, if any operation is in it.
    Submit,
    /// From the next task on, times are those that the board measures, which costs some boards more than an operation.
    /// Without it they are those that the manager sees.
    Profile,
    /// Asks for the manager's clock, to be compared with the library's; answered by [`crate::Answer::Clock`].
    Clock {
        /// The request's number, which its answer repeats.
        request: u32,
    },
}

/// Whether a program is made from source or a binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Form {
    /// OpenCL C.
    Source,
    /// A binary for the board's own runtime.
    Binary,
}

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
