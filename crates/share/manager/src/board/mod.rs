//! What the manager asks of a board, whatever it is: an OpenCL device behind a vendor's runtime, or a card.
//!
//! A [`Board`] gives each tenant a [`Space`] of its own. A space makes the tenant's objects and runs its operations;
//! which objects there are, under which numbers, and when an operation runs is the manager's business.

pub mod paced;

use std::sync::Arc;

use rackloom_ipc::{Given, Taken};
use rackloom_opencl_wire::{BoardInfo, Build, Form, KernelInfo, Rect, Times};

use crate::code::Code;
use crate::quota::Charge;

/// Something that computes.
pub trait Board: Send + Sync + 'static {
    /// What a tenant has on it.
    type Space: Space;

    /// What it is.
    fn info(&self) -> &BoardInfo;

    /// Room for one more tenant of this name; to the registry it is that instance.
    ///
    /// # Errors
    /// The runtime has no more.
    fn open(&self, tenant: &str) -> Result<Self::Space, Code>;
}

/// A tenant's part of a board. Operations are started and finished by one thread at a time, the one that has the board;
/// everything else may happen meanwhile.
pub trait Space: Send + Sync + Sized + 'static {
    /// Memory.
    type Buffer: Send + Sync;
    /// Code.
    type Program: Send + Sync;
    /// A function and its arguments.
    type Kernel: Send + Sync;
    /// An operation under way.
    type Ticket: Send;

    /// Makes a buffer without any other tenant's bytes. `backing` is as long as it. The charge is kept until the memory
    /// is free again.
    ///
    /// # Errors
    /// OpenCL's code.
    fn buffer(&self, flags: u64, size: u64, backing: Option<Given>, charge: Charge) -> Result<Self::Buffer, Code>;

    /// Bytes of a buffer.
    fn size(buffer: &Self::Buffer) -> u64;

    /// Makes a part of a buffer.
    ///
    /// # Errors
    /// OpenCL's code.
    fn sub_buffer(&self, parent: &Arc<Self::Buffer>, flags: u64, offset: u64, size: u64) -> Result<Self::Buffer, Code>;

    /// Makes a program.
    ///
    /// # Errors
    /// OpenCL's code.
    fn program(&self, form: Form, bytes: Vec<u8>) -> Result<Self::Program, Code>;

    /// What a program is before it is built, as `CL_PROGRAM_BINARY_TYPE`: a binary may hold an object or a library.
    fn binary_type(&self, program: &Self::Program) -> u32;

    /// Builds a program; may take long.
    ///
    /// # Errors
    /// What is no matter of the program's text.
    fn build(&self, program: &Self::Program, options: &str) -> Result<Build, Code>;

    /// Compiles a program for linking; may take long.
    ///
    /// # Errors
    /// As for [`Self::build`].
    fn compile(&self, program: &Self::Program, options: &str, headers: &Headers<Self>) -> Result<Build, Code>;

    /// Links programs into a new one; may take long.
    ///
    /// # Errors
    /// As for [`Self::build`].
    fn link(&self, inputs: &[Arc<Self::Program>], options: &str) -> Result<(Self::Program, Build), Code>;

    /// Bytes of a built program's binary. It may take long: a runtime makes the binary, with code for what launches
    /// would else compile when they know their groups, only when it is asked.
    ///
    /// # Errors
    /// There is none.
    fn binary_size(&self, program: &Self::Program) -> Result<u64, Code>;

    /// Copies a built program's binary out, if there is room.
    ///
    /// # Errors
    /// There is none, or no room.
    fn binary(&self, program: &Self::Program, into: &Given) -> Result<(), Code>;

    /// What a kernel is.
    ///
    /// # Errors
    /// There is none of that name.
    fn kernel_info(&self, program: &Self::Program, name: &str) -> Result<KernelInfo, Code>;

    /// Makes a kernel.
    ///
    /// # Errors
    /// There is none of that name.
    fn kernel(&self, program: &Self::Program, name: &str) -> Result<Self::Kernel, Code>;

    /// How long a kernel's last launch took, in nanoseconds, if there was one.
    fn last_launch_ns(kernel: &Self::Kernel) -> Option<u64>;

    /// From the next task on times are to be the board's own. Boards for which that makes no difference do nothing.
    fn profile(&self) {}

    /// A task begins: all operations of this space have ended.
    fn begin(&self) {}

    /// The tenant is gone: what still waits for its sake is to give up.
    fn leave(&self) {}

    /// Hands an operation to the board, behind those before it.
    ///
    /// # Errors
    /// OpenCL's code; the operation does not run.
    fn start(&self, operation: &mut Operation<Self>) -> Result<Self::Ticket, Code>;

    /// All that was started is to run now.
    fn flush(&self);

    /// Waits for the end of an operation.
    ///
    /// # Errors
    /// OpenCL's code; the operation has ended all the same.
    fn finish(&self, ticket: Self::Ticket, operation: &mut Operation<Self>) -> Result<Times, Code>;
}

/// Names to include, and the programs with their text.
pub type Headers<S> = [(String, Arc<<S as Space>::Program>)];

/// An operation whose objects are found. Ranges lie within their buffers, boxes as well.
#[derive(Debug)]
pub enum Operation<S: Space> {
    /// Writes bytes into a buffer.
    Write {
        /// Which.
        buffer: Arc<S::Buffer>,
        /// First byte.
        offset: u64,
        /// The bytes.
        from: Source,
    },
    /// Reads bytes from a buffer.
    Read {
        /// Which.
        buffer: Arc<S::Buffer>,
        /// First byte.
        offset: u64,
        /// Where to, and so how many.
        into: Sink,
    },
    /// Writes a box; its rows come without gaps.
    WriteRect {
        /// Which.
        buffer: Arc<S::Buffer>,
        /// The box.
        rect: Rect,
        /// The bytes.
        from: Source,
    },
    /// Reads a box; its rows go without gaps.
    ReadRect {
        /// Which.
        buffer: Arc<S::Buffer>,
        /// The box.
        rect: Rect,
        /// Where to.
        into: Sink,
    },
    /// Copies between buffers.
    Copy {
        /// From.
        from: Arc<S::Buffer>,
        /// First byte there.
        from_offset: u64,
        /// To.
        to: Arc<S::Buffer>,
        /// First byte there.
        to_offset: u64,
        /// Bytes.
        len: u64,
    },
    /// Copies a box.
    CopyRect {
        /// From.
        from: Arc<S::Buffer>,
        /// The box there.
        source: Rect,
        /// To.
        to: Arc<S::Buffer>,
        /// The box there; of the same region.
        target: Rect,
    },
    /// Fills with a pattern.
    Fill {
        /// Which.
        buffer: Arc<S::Buffer>,
        /// First byte.
        offset: u64,
        /// Bytes.
        len: u64,
        /// The pattern.
        pattern: Box<[u8]>,
    },
    /// Makes a part of a backed buffer valid in its backing.
    Map {
        /// Which.
        buffer: Arc<S::Buffer>,
        /// `CL_MAP_...`.
        flags: u64,
        /// First byte.
        offset: u64,
        /// Bytes.
        len: u64,
    },
    /// The reverse.
    Unmap {
        /// Which.
        buffer: Arc<S::Buffer>,
        /// First byte.
        offset: u64,
        /// Bytes.
        len: u64,
    },
    /// Runs a kernel.
    Launch {
        /// Which.
        kernel: Arc<S::Kernel>,
        /// How many work-items.
        shape: Shape,
        /// Arguments to be set before.
        arguments: Vec<(u32, Value<S>)>,
    },
    /// Nothing.
    Marker,
}

/// A launch's index space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// 1 to 3.
    pub dimensions: usize,
    /// First number in each.
    pub offset: [usize; 3],
    /// Work-items in each.
    pub global: [usize; 3],
    /// Of a group, if the program chose.
    pub local: Option<[usize; 3]>,
}

/// An argument.
#[derive(Debug)]
pub enum Value<S: Space> {
    /// Bytes of a value.
    Plain(Box<[u8]>),
    /// A buffer or none.
    Buffer(Option<Arc<S::Buffer>>),
    /// Bytes of local memory.
    Local(u64),
}

/// Bytes on their way to a board.
#[derive(Debug)]
pub enum Source {
    /// That came in a message.
    Inline(Box<[u8]>),
    /// In the client's bulk memory.
    Bulk(Taken),
}

/// A place for bytes on their way from a board.
#[derive(Debug)]
pub enum Sink {
    /// To go in a message.
    Inline(Box<[u8]>),
    /// In the client's bulk memory.
    Bulk(Given),
}

impl Source {
    /// Bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Inline(bytes) => bytes.len(),
            Self::Bulk(taken) => taken.len(),
        }
    }

    /// Whether there are none.
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

    /// Where they stand.
    #[must_use]
    pub fn as_ptr(&self) -> *const u8 {
        match self {
            Self::Inline(bytes) => bytes.as_ptr(),
            Self::Bulk(taken) => taken.as_ptr(),
        }
    }
}

impl Sink {
    /// Bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Inline(bytes) => bytes.len(),
            Self::Bulk(given) => given.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where they are to stand.
    #[must_use]
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        match self {
            Self::Inline(bytes) => bytes.as_mut_ptr(),
            Self::Bulk(given) => given.as_mut_ptr(),
        }
    }
}

impl<S: Space> Operation<S> {
    /// Bytes that it moves.
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
