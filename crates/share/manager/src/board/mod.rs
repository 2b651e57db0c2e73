//! The traits of a board, whether an OpenCL device behind a vendor's runtime or a card.
//!
//! A [`Board`] gives each tenant a [`Space`] of its own. A space makes the tenant's objects and runs its operations;
//! the manager decides which objects exist, under which numbers, and when an operation runs.

mod operation;
pub mod paced;

use std::sync::Arc;

use rackloom_ipc::{Given, Kept};
use rackloom_opencl_wire::{BoardInfo, Build, Form, Image, ImageFormat, KernelInfo, Times};

pub use self::operation::{Operation, Shape, Sink, Source, Value};
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

    /// The same for a client of `owner`: it may get what another client of the owner's leaves.
    ///
    /// # Errors
    /// As of [`Self::open`].
    fn open_of(&self, tenant: &str, _owner: &Owner) -> Result<Self::Space, Code> {
        self.open(tenant)
    }
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
    /// How kernels read images.
    type Sampler: Send + Sync + std::fmt::Debug;
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

    /// Makes shared virtual memory without any other tenant's bytes, of the client's own memory if that is given. Gives
    /// its address for kernels, too.
    ///
    /// # Errors
    /// OpenCL's code; the board has no such memory.
    fn svm(&self, _flags: u64, _size: u64, _: Option<Given>, _charge: Charge) -> Result<(Self::Buffer, u64), Code> {
        Err(Code(opencl_sys::CL_INVALID_OPERATION))
    }

    /// What shared virtual memory of so many bytes costs the board, in bytes.
    fn svm_cost(&self, size: u64) -> u64 {
        size
    }

    /// The formats of images of a kind that kernels use as the flags say.
    ///
    /// # Errors
    /// OpenCL's code; the board has no images.
    fn image_formats(&self, _flags: u64, _kind: u32) -> Result<Vec<ImageFormat>, Code> {
        Err(NO_IMAGES)
    }

    /// Makes an image without any other tenant's bytes, or a view of a buffer `of` as one.
    ///
    /// # Errors
    /// OpenCL's code; the board has no images.
    fn image(
        &self,
        _flags: u64,
        _description: &Image,
        _of: Option<&Arc<Self::Buffer>>,
        _charge: Charge,
    ) -> Result<Self::Buffer, Code> {
        Err(NO_IMAGES)
    }

    /// What a buffer is an image of, if it is one.
    fn description(_: &Self::Buffer) -> Option<&Image> {
        None
    }

    /// Makes a sampler.
    ///
    /// # Errors
    /// OpenCL's code; the board has no images.
    fn sampler(&self, _normalized: bool, _addressing: u32, _filter: u32, _: Charge) -> Result<Self::Sampler, Code> {
        Err(NO_IMAGES)
    }

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

    /// A task begins: all operations of this space have ended.
    fn begin(&self) {}

    /// Whether the next task must begin by [`Self::begin`], and not while operations of the one before run.
    fn is_to_begin(&self) -> bool {
        false
    }

    /// Passes on what has been printed since the last call if this kernel may print, which has ended, and as far as it
    /// can be told from what others have.
    fn printed(&self, _kernel: &Self::Kernel, _pass: &mut dyn FnMut(Printed<'_>)) {}

    /// The tenant is gone: whatever still waits on its behalf gives up.
    fn leave(&self) {}

    /// Hands an operation to the board, behind those before it. If it `closes` a group, its end is waited for while
    /// later ones run; that of others with the next one that does, or with all that there is.
    ///
    /// # Errors
    /// OpenCL's code; the operation does not run.
    fn start(&self, operation: &mut Operation<Self>, closes: bool) -> Result<Self::Ticket, Code>;

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

/// Whose a client is: one and the same for all clients of a tenant at a time.
pub type Owner = Arc<dyn std::any::Any + Send + Sync>;

/// The code of boards that have no images.
const NO_IMAGES: Code = Code(opencl_sys::CL_INVALID_OPERATION);

/// Include names, and the programs that hold the headers' text.
pub type Headers<S> = [(String, Arc<<S as Space>::Program>)];

/// What kernels have printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Printed<'a> {
    /// A part of it; at most [`rackloom_opencl_wire::INLINE_MAX`] bytes.
    Text(&'a [u8]),
    /// There was more, and it is lost.
    Lost,
}
