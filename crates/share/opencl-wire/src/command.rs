//! Messages from the library to the manager.

use serde::{Deserialize, Serialize};

use crate::image::Image;
use crate::op::{Id, Op, Payload, Place};

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
    /// Adds operations to the task, each behind the one before it, with one event for all. The tail holds them, one
    /// behind the other as [`crate::encode_op`] writes them; each [is at the board](Op::is_at_board).
    /// [`crate::Reply::Done`] reports the first error, or when the first began and the last ended. What has not started
    /// when one fails does not.
    Sequence {
        /// The event that ends with the last.
        event: EventId,
        /// Events to wait for, as of one operation.
        waits: Vec<EventId>,
        /// Closes the task behind them.
        submit: bool,
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
