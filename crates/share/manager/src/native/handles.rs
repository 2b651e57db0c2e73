//! Handles of a runtime's objects, released when dropped.
#![allow(unsafe_code)]

use opencl_sys::{cl_command_queue, cl_context, cl_event, cl_kernel, cl_mem, cl_program, cl_sampler};

use super::runtime::Table;

macro_rules! object {
    ($(#[$doc:meta])* $name:ident, $raw:ty, $release:ident) => {
        $(#[$doc])*
        pub(super) struct $name {
            raw: $raw,
            table: Table,
        }

        // SAFETY: OpenCL's handles belong to no thread. What the standard does not let two threads do at a time
        // (arguments of a kernel) only the thread does that has the board.
        unsafe impl Send for $name {}
        // SAFETY: as above.
        unsafe impl Sync for $name {}

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.raw).finish()
            }
        }

        impl $name {
            /// Takes over one reference.
            pub(super) const fn new(table: Table, raw: $raw) -> Self {
                Self { raw, table }
            }

            pub(super) const fn raw(&self) -> $raw {
                self.raw
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                if let Some(release) = self.table.$release {
                    // SAFETY: the reference is ours, and given back once.
                    unsafe { release(self.raw) };
                }
            }
        }
    };
}

object!(
    /// A context of one device.
    Context,
    cl_context,
    clReleaseContext
);
object!(
    /// An in-order queue that measures.
    Queue,
    cl_command_queue,
    clReleaseCommandQueue
);
object!(
    /// A buffer, a part of one, or an image.
    Memory,
    cl_mem,
    clReleaseMemObject
);
object!(
    /// A program.
    Program,
    cl_program,
    clReleaseProgram
);
object!(
    /// A kernel with its arguments.
    Kernel,
    cl_kernel,
    clReleaseKernel
);
object!(
    /// A sampler.
    Sampler,
    cl_sampler,
    clReleaseSampler
);
object!(
    /// The end of an operation.
    Event,
    cl_event,
    clReleaseEvent
);
