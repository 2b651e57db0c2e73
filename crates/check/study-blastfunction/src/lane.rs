//! A device with a context, a queue and a few kernels: what a bench calls.
#![allow(unsafe_code)]

use std::ptr::null;

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::Device;
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, CL_MAP_READ, CL_MAP_WRITE, CL_MEM_READ_WRITE, ClMem};
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, CL_NON_BLOCKING, cl_device_id, cl_map_flags, cl_mem_flags, cl_uchar};

use crate::error::{BenchError, Result};
use crate::recorded::Recorded;

/// A kernel that does as little as there is: NVIDIA's compiler cannot take one with nothing in it.
const SOURCE: &str = "kernel void empty(int x) { if (x) return; }";

/// A device and a queue in order.
#[derive(Debug)]
pub struct Lane {
    // Dropped in this order: objects before their context.
    empty: Kernel,
    _program: Program,
    queue: CommandQueue,
    context: Context,
}

/// Bytes on a device.
pub type Bytes = Buffer<cl_uchar>;

impl Lane {
    /// Opens a device.
    ///
    /// # Errors
    /// Those of its calls.
    pub fn open(device: cl_device_id) -> Result<Self> {
        let device = Device::new(device);
        let context = Context::from_device(&device)?;
        #[allow(deprecated, reason = "devices of OpenCL 1.2 know no other")]
        let queue = CommandQueue::create_default(&context, 0)?;
        let program = Program::create_and_build_from_source(&context, SOURCE, "")
            .map_err(|log| BenchError::Site(format!("the device cannot build a kernel: {log}")))?;
        let empty = Kernel::create(&program, "empty")?;
        // SAFETY: the argument is an int, as the kernel's is.
        unsafe { empty.set_arg(0, &0_i32) }?;
        Ok(Self { empty, _program: program, queue, context })
    }

    /// Makes a buffer of so many bytes; `flags` beside `CL_MEM_READ_WRITE`.
    ///
    /// # Errors
    /// Those of the call.
    pub fn buffer(&self, flags: cl_mem_flags, len: usize) -> Result<Bytes> {
        // SAFETY: no flag that needs memory of the host is given by this crate.
        Ok(unsafe { Buffer::create(&self.context, CL_MEM_READ_WRITE | flags, len, std::ptr::null_mut()) }?)
    }

    /// Writes, and waits.
    ///
    /// # Errors
    /// Those of the call.
    pub fn write(&self, to: &mut Bytes, bytes: &[u8]) -> Result<()> {
        // SAFETY: the call has taken the bytes on return.
        unsafe { self.queue.enqueue_write_buffer(to, CL_BLOCKING, 0, bytes, &[]) }?;
        Ok(())
    }

    /// Reads, and waits.
    ///
    /// # Errors
    /// Those of the call.
    pub fn read(&self, from: &Bytes, bytes: &mut [u8]) -> Result<()> {
        // SAFETY: the bytes are there on return.
        unsafe { self.queue.enqueue_read_buffer(from, CL_BLOCKING, 0, bytes, &[]) }?;
        Ok(())
    }

    /// Writes, launches the empty kernel and reads, and waits only for the last.
    ///
    /// # Errors
    /// Those of the calls.
    pub fn write_launch_read(&self, buffer: &mut Bytes, bytes: &[u8], back: &mut [u8]) -> Result<()> {
        // SAFETY: the queue is in order, and the read blocks; until then the bytes are borrowed.
        unsafe {
            self.queue.enqueue_write_buffer(buffer, CL_NON_BLOCKING, 0, bytes, &[])?;
        }
        self.launch()?;
        self.read(buffer, back)
    }

    /// Launches the empty kernel.
    ///
    /// # Errors
    /// That of the call.
    pub fn launch(&self) -> Result<()> {
        let one = 1usize;
        // SAFETY: one dimension of one item; the argument is set.
        unsafe { self.queue.enqueue_nd_range_kernel(self.empty.get(), 1, null(), &raw const one, null(), &[]) }?;
        Ok(())
    }

    /// Records so many launches; none if the device has no command buffers.
    ///
    /// # Errors
    /// Those of the calls.
    pub(crate) fn record(&self, launches: usize) -> Result<Option<Recorded>> {
        let platform = Device::new(self.context.default_device()).platform()?;
        Recorded::new(platform, self.queue.get(), self.empty.get(), launches)
    }

    /// Waits for all.
    ///
    /// # Errors
    /// That of the call.
    pub fn finish(&self) -> Result<()> {
        Ok(self.queue.finish()?)
    }

    /// Maps for writing, copies the bytes in, and unmaps; then maps for reading, copies them out, and unmaps.
    ///
    /// # Errors
    /// Those of the calls.
    pub fn through_map(&self, buffer: &mut Bytes, bytes: &[u8], back: &mut [u8]) -> Result<()> {
        let at = self.map(buffer, CL_MAP_WRITE, bytes.len())?;
        // SAFETY: mapped for so many bytes, until it is unmapped.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len()) };
        self.unmap(buffer, at)?;
        let at = self.map(buffer, CL_MAP_READ, back.len())?;
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(at, back.as_mut_ptr(), back.len()) };
        self.unmap(buffer, at)?;
        self.finish()
    }

    fn map(&self, buffer: &mut Bytes, flags: cl_map_flags, len: usize) -> Result<*mut u8> {
        let mut at = std::ptr::null_mut();
        // SAFETY: what lies outside of the buffer is an error of the call.
        unsafe { self.queue.enqueue_map_buffer(buffer, CL_BLOCKING, flags, 0, len, &mut at, &[]) }?;
        Ok(at.cast())
    }

    fn unmap(&self, buffer: &Bytes, at: *mut u8) -> Result<()> {
        // SAFETY: what is no mapping is an error of the call; nobody looks at it any more.
        unsafe { self.queue.enqueue_unmap_mem_object(buffer.get(), at.cast(), &[]) }?;
        Ok(())
    }
}
