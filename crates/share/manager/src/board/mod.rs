//! The traits of a board, whether an OpenCL device behind a vendor's runtime or a card.
//!
//! A [`Board`] gives each tenant a [`Space`] of its own. A space makes the tenant's objects and runs its operations;
//! the manager decides which objects exist, under which numbers, and when an operation runs.

pub mod paced;

use std::sync::Arc;

use rackloom_ipc::{Arena, Given, Kept, Taken};
use rackloom_opencl_wire::{BoardInfo, Build, Form, KernelInfo, Rect, Times};

use crate::code::Code;
use crate::quota::Charge;

/// A device that computes.
pub trait Board: Send + Sync + 'static {
    /// A tenant's part of it.
    type Space: Space;

    /// Its description.
    fn info(&self) -> &BoardInfo;

    /// Opens a space for one more tenant. `tenant` is its name; at the registry, its instance.
    ///
    /// # Errors
    /// The runtime has no room for it.
    fn open(&self, tenant: &str) -> Result<Self::Space, Code>;
}

/// A tenant's part of a board. Operations are started and finished by one thread at a time, the one that holds the
/// board; everything else may happen meanwhile.
pub trait Space: Send + Sync + Sized + 'static {
    /// A range of memory.
    type Buffer: Send + Sync;
    /// A program.
    type Program: Send + Sync;
    /// A kernel and its arguments.
    type Kernel: Send + Sync;
    /// A started operation.
    type Ticket: Send;

    /// Makes a buffer without any other tenant's bytes. `backing` has its size. The charge is kept until the
    /// memory is free again.
    ///
    /// # Errors
    /// OpenCL's code.
    fn buffer(&self, flags: u64, size: u64, backing: Option<Given>, charge: Charge) -> Result<Self::Buffer, Code>;

    /// Size of a buffer in bytes.
    fn size(buffer: &Self::Buffer) -> u64;

    /// The client's view of a buffer, if mapping moves bytes between it and the board.
    fn backing(_: &Self::Buffer) -> Option<&Given> {
        None
    }

    /// Bytes that the board moves in a second from and to arenas that are registered; `None` if it registers none.
    fn registers(&self) -> Option<u64> {
        None
    }

    /// Registers an arena: what is given ends that when it is dropped, while the arena is still mapped. `None` if the
    /// runtime cannot; transfers are then as slow as others.
    fn register(&self, _at: *mut u8, _len: usize, _charge: Charge) -> Option<Kept> {
        None
    }

    /// Makes a sub-buffer of a buffer.
    ///
    /// # Errors
    /// OpenCL's code.
    fn sub_buffer(
        &self,
        parent: &Arc<Self::Buffer>,
        flags: u64,
        offset: u64,
        size: u64,
        charge: Charge,
    ) -> Result<Self::Buffer, Code>;

    /// Makes a program. The charge is kept until it, and the kernels of it, are gone.
    ///
    /// # Errors
    /// OpenCL's code.
    fn program(&self, form: Form, bytes: Vec<u8>, charge: Charge) -> Result<Self::Program, Code>;

    /// The `CL_PROGRAM_BINARY_TYPE` of a program before it is built: a binary may hold an object or a library.
    fn binary_type(&self, program: &Self::Program) -> u32;

    /// Builds a program; this may take long.
    ///
    /// # Errors
    /// OpenCL's code, for failures other than errors in the program's text.
    fn build(&self, program: &Self::Program, options: &str) -> Result<Build, Code>;

    /// Compiles a program for linking; this may take long.
    ///
    /// # Errors
    /// As for [`Self::build`].
    fn compile(&self, program: &Self::Program, options: &str, headers: &Headers<Self>) -> Result<Build, Code>;

    /// Links programs into a new one; this may take long.
    ///
    /// # Errors
    /// As for [`Self::build`].
    fn link(
        &self,
        inputs: &[Arc<Self::Program>],
        options: &str,
        charge: Charge,
    ) -> Result<(Self::Program, Build), Code>;

    /// Size of a built program's binary in bytes. This may take long: a runtime may make the binary only now, with code
    /// that launches would otherwise compile once their group sizes are known.
    ///
    /// # Errors
    /// The program has no binary.
    fn binary_size(&self, program: &Self::Program) -> Result<u64, Code>;

    /// Copies a built program's binary out.
    ///
    /// # Errors
    /// The program has no binary, or it does not fit.
    fn binary(&self, program: &Self::Program, into: &Given) -> Result<(), Code>;

    /// The description of a kernel.
    ///
    /// # Errors
    /// The program has no kernel of that name.
    fn kernel_info(&self, program: &Self::Program, name: &str) -> Result<KernelInfo, Code>;

    /// Makes a kernel.
    ///
    /// # Errors
    /// The program has no kernel of that name.
    fn kernel(&self, program: &Self::Program, name: &str, charge: Charge) -> Result<Self::Kernel, Code>;

    /// Duration of a kernel's last launch, in nanoseconds; `None` before the first.
    fn last_launch_ns(kernel: &Self::Kernel) -> Option<u64>;

    /// From the next task on, operations report the board's own times. Boards that always do ignore this.
    fn profile(&self) {}

    /// A task begins: all operations of this space have ended. Whether those of the task are waited for at once.
    fn begin(&self, _together: bool) {}

    /// Passes on what has been printed since the last call if this kernel may print, which has ended, and as far as it
    /// can be told from what others have.
    fn printed(&self, _kernel: &Self::Kernel, _pass: &mut dyn FnMut(Printed<'_>)) {}

    /// The tenant is gone: whatever still waits on its behalf gives up.
    fn leave(&self) {}

    /// Hands an operation to the board, behind those before it.
    ///
    /// # Errors
    /// OpenCL's code; the operation does not run.
    fn start(&self, operation: &mut Operation<Self>) -> Result<Self::Ticket, Code>;

    /// An operation does not run, because one that it waits for has failed. A kernel's arguments are set all the same:
    /// later launches rely on that.
    fn skip(&self, _operation: &Operation<Self>) {}

    /// Makes all started operations run.
    fn flush(&self);

    /// Waits for the end of an operation.
    ///
    /// # Errors
    /// OpenCL's code; the operation has ended all the same.
    fn finish(&self, ticket: Self::Ticket, operation: &mut Operation<Self>) -> Result<Times, Code>;

    /// Waits for the end of this and all `count - 1` operations before it at once, if it can; [`Self::finish`] follows
    /// for each of them.
    fn settle(&self, _last: &Self::Ticket, _count: usize) {}
}

/// Include names, and the programs that hold the headers' text.
pub type Headers<S> = [(String, Arc<<S as Space>::Program>)];

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
    },
    /// Does nothing.
    Marker,
}

/// What kernels have printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Printed<'a> {
    /// A part of it; at most [`rackloom_opencl_wire::INLINE_MAX`] bytes.
    Text(&'a [u8]),
    /// There was more, and it is lost.
    Lost,
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
    /// A buffer, or a null pointer.
    Buffer(Option<Arc<S::Buffer>>),
    /// A buffer that could not be made, for this reason.
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
            Self::Write { from: Source::Bulk(taken), .. } | Self::WriteRect { from: Source::Bulk(taken), .. } => {
                taken.arena()
            }
            Self::Read { into: Sink::Bulk(given), .. } | Self::ReadRect { into: Sink::Bulk(given), .. } => {
                given.arena()
            }
            Self::Map { buffer, .. } | Self::Unmap { buffer, .. } => S::backing(buffer)?.arena(),
            _ => None,
        }
    }

    /// Number of bytes that it moves.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Write { from, .. } | Self::WriteRect { from, .. } => from.len() as u64,
            Self::Read { into, .. } | Self::ReadRect { into, .. } => into.len() as u64,
            Self::Copy { len, .. } | Self::Fill { len, .. } | Self::Map { len, .. } | Self::Unmap { len, .. } => *len,
            Self::CopyRect { source, .. } => source.region.iter().product(),
            Self::Launch { .. } | Self::Marker => 0,
        }
    }
}
