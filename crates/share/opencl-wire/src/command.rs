//! From the library to the manager.

use rackloom_ipc::BulkRef;
use serde::{Deserialize, Serialize};

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
        /// Number of this request.
        request: u32,
        /// [`crate::VERSION`] of the library.
        version: u32,
        /// What the program calls itself, for tables and metrics; the manager does not trust it.
        name: &'a str,
    },
    /// Asks what a board is; answered by [`crate::Answer::Board`].
    Board {
        /// Number of this request.
        request: u32,
        /// Which.
        board: u16,
    },
    /// Makes this session one of a board, once; answered by [`crate::Answer::Open`]. All commands below need it.
    Open {
        /// Number of this request.
        request: u32,
        /// Which.
        board: u16,
    },
    /// Makes a buffer of zeros, or of undefined content that was never another tenant's.
    CreateBuffer {
        /// Its number.
        buffer: Id,
        /// `CL_MEM_READ_WRITE`, `_READ_ONLY` or `_WRITE_ONLY`; others are not looked at. What the program may do from
        /// its host is the library's to check: it writes also where the program must not, to begin with.
        flags: u64,
        /// Bytes.
        size: u64,
        /// Memory of the client that is to be the buffer's own where the board can use it (`CL_MEM_ALLOC_HOST_PTR`).
        /// Then [`Op::Map`] and [`Op::Unmap`] move what has to be moved.
        backing: Option<Place>,
    },
    /// Makes a part of a buffer.
    CreateSubBuffer {
        /// Its number.
        buffer: Id,
        /// What it is a part of; no sub-buffer itself.
        parent: Id,
        /// As for a buffer; 0 takes the parent's.
        flags: u64,
        /// First byte.
        offset: u64,
        /// Bytes.
        size: u64,
    },
    /// Forgets a buffer. Operations sent before still have it.
    ReleaseBuffer {
        /// Which.
        buffer: Id,
    },
    /// Makes a program. The tail, or the bulk, is its source or binary.
    CreateProgram {
        /// Its number.
        program: Id,
        /// What the bytes are.
        form: Form,
        /// The bytes.
        bytes: Payload,
    },
    /// Asks whether a program was made, which a binary of another board is not; answered by
    /// [`crate::Answer::Created`], or by why not.
    Created {
        /// Number of this request.
        request: u32,
        /// Which.
        program: Id,
    },
    /// Forgets a program. Its kernels stay.
    ReleaseProgram {
        /// Which.
        program: Id,
    },
    /// Builds a program; answered by [`crate::Answer::Built`] when that is done. What was sent later is not held up.
    Build {
        /// Number of this request.
        request: u32,
        /// Which.
        program: Id,
        /// Options, as the program gave them.
        options: &'a str,
    },
    /// Compiles a program of source for linking; answered as [`Command::Build`].
    Compile {
        /// Number of this request.
        request: u32,
        /// Which.
        program: Id,
        /// Options.
        options: &'a str,
        /// Names to include and the programs that hold their source.
        #[serde(borrow)]
        headers: Vec<(&'a str, Id)>,
    },
    /// Links compiled programs into a new one; answered as [`Command::Build`].
    Link {
        /// Number of this request.
        request: u32,
        /// The new one's number.
        program: Id,
        /// Options.
        options: &'a str,
        /// What to link.
        inputs: Vec<Id>,
    },
    /// Asks how long a built program's binary is, for which a runtime may have to make it first; answered by
    /// [`crate::Answer::BinarySize`].
    BinarySize {
        /// Number of this request.
        request: u32,
        /// Which program.
        program: Id,
    },
    /// Asks for a built program's binary; answered by [`crate::Answer::Binary`].
    Binary {
        /// Number of this request.
        request: u32,
        /// Which program.
        program: Id,
        /// Where to; at least as long as the binary.
        into: Place,
    },
    /// Asks about a kernel of a built program; answered by [`crate::Answer::Kernel`].
    Kernel {
        /// Number of this request.
        request: u32,
        /// Which program.
        program: Id,
        /// The function's name.
        name: &'a str,
    },
    /// Makes a kernel of a built program, no argument of which is set.
    CreateKernel {
        /// Its number.
        kernel: Id,
        /// Which program.
        program: Id,
        /// The function's name.
        name: &'a str,
    },
    /// Forgets a kernel.
    ReleaseKernel {
        /// Which.
        kernel: Id,
    },
    /// Adds an operation to the task. [`crate::Reply::Done`] reports its end.
    Enqueue {
        /// The event that tells its end. Events are sent in ascending order.
        event: EventId,
        /// Events that were not complete yet, as far as the library knew. If one of them failed, so does this.
        waits: Vec<EventId>,
        /// Closes the task behind this operation.
        submit: bool,
        /// What to do.
        #[serde(borrow)]
        op: Op<'a>,
    },
    /// Closes the task, if any operation is in it.
    Submit,
    /// From the next task on times are to be those that the board measures, which costs some boards more than an
    /// operation does. Else they are those that the manager sees.
    Profile,
    /// Asks for the manager's clock, to be compared with the library's; answered by [`crate::Answer::Clock`].
    Clock {
        /// Number of this request.
        request: u32,
    },
}

/// What a program is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Form {
    /// OpenCL C.
    Source,
    /// What the board's own runtime takes, or gave earlier.
    Binary,
}

/// Where the bytes that go with a command are.
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

/// What an operation does. Offsets, sizes and pitches are bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op<'a> {
    /// Writes the payload into a buffer.
    Write {
        /// Which.
        buffer: Id,
        /// First byte.
        offset: u64,
        /// The bytes.
        from: Payload,
    },
    /// Reads from a buffer, into bulk or the tail of [`crate::Reply::Done`].
    Read {
        /// Which.
        buffer: Id,
        /// First byte.
        offset: u64,
        /// Bytes; at most [`crate::INLINE_MAX`] without a place.
        len: u64,
        /// Where to.
        into: Option<Place>,
    },
    /// Writes a box of a buffer. The payload holds its rows without gaps.
    WriteRect {
        /// Which.
        buffer: Id,
        /// The box in the buffer.
        rect: Rect,
        /// The bytes.
        from: Payload,
    },
    /// Reads a box of a buffer, its rows without gaps.
    ReadRect {
        /// Which.
        buffer: Id,
        /// The box in the buffer.
        rect: Rect,
        /// Where to; else the tail of the reply.
        into: Option<Place>,
    },
    /// Copies from one buffer to another.
    Copy {
        /// From which.
        from: Id,
        /// From which byte.
        from_offset: u64,
        /// To which.
        to: Id,
        /// To which byte.
        to_offset: u64,
        /// Bytes.
        len: u64,
    },
    /// Copies a box. Both have the same region.
    CopyRect {
        /// From which.
        from: Id,
        /// The box there.
        source: Rect,
        /// To which.
        to: Id,
        /// The box there.
        target: Rect,
    },
    /// Fills a part of a buffer with a pattern.
    Fill {
        /// Which.
        buffer: Id,
        /// First byte; a multiple of the pattern's length.
        offset: u64,
        /// Bytes; a multiple of the pattern's length.
        len: u64,
        /// The pattern: 1, 2, 4 ... 128 bytes.
        pattern: &'a [u8],
    },
    /// Makes a part of a backed buffer valid in its backing.
    Map {
        /// Which.
        buffer: Id,
        /// `CL_MAP_READ`, `_WRITE` or `_WRITE_INVALIDATE_REGION`.
        flags: u64,
        /// First byte.
        offset: u64,
        /// Bytes.
        len: u64,
    },
    /// Ends one earlier [`Op::Map`] of this very part: what stands in the backing is the buffer's content again.
    Unmap {
        /// Which.
        buffer: Id,
        /// First byte.
        offset: u64,
        /// Bytes.
        len: u64,
    },
    /// Runs a kernel.
    Launch {
        /// Which.
        kernel: Id,
        /// 1 to 3; elements beyond are 0, in `local` 1.
        dimensions: u8,
        /// First global number in each dimension.
        offset: [u64; 3],
        /// Work-items in each dimension.
        global: [u64; 3],
        /// Of a work-group; none leaves the choice to the board.
        local: Option<[u64; 3]>,
        /// Arguments that changed since this kernel's last launch.
        #[serde(borrow)]
        arguments: Vec<(u32, Argument<'a>)>,
    },
    /// Does nothing; ends when all before it has ended.
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
    /// A buffer, or none.
    Buffer(Option<Id>),
    /// So many bytes of local memory.
    Local(u64),
}
