//! Shared virtual memory: memory of the board at an address that kernels and the client have in common, so that
//! pointers in it mean the same to both (OpenCL 2.0, section 5.6).
//!
//! The runtime chooses the address, and the library finds room there in the program, or asks again. To the manager it
//! is a buffer as well, so all that moves bytes is as for one. Where the board works right in clients' memory, pages of
//! the client's take the place of the runtime's, and both sides see each other's bytes at once.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr::null;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use opencl_sys::{
    CL_INVALID_OPERATION, CL_INVALID_VALUE, CL_KERNEL_EXEC_INFO_SVM_PTRS, CL_MEM_OBJECT_ALLOCATION_FAILURE,
    CL_MEM_USE_HOST_PTR,
};
use rackloom_ipc::Given;
use rackloom_sync::lock;

use super::handles::{Context, Memory};
use super::objects::{NativeBuffer, NativeKernel, NativeSpace};
use super::runtime::{Table, call, make};
use crate::code::Code;
use crate::quota::Charge;

/// Addresses are multiples of this, or the library could not have memory there.
pub(super) const PAGE: u64 = 4096;

/// Memory of the runtime, freed when dropped.
pub(super) struct Svm {
    /// As the runtime gave it.
    base: *mut c_void,
    /// The first page of it.
    address: u64,
    /// The client's memory that stands there.
    shown: Option<Given>,
    table: Table,
    context: Context,
}

// SAFETY: nobody follows the addresses here, and the runtime's functions may be called by any thread.
unsafe impl Send for Svm {}
// SAFETY: as above.
unsafe impl Sync for Svm {}

impl std::fmt::Debug for Svm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Svm({:#x})", self.address)
    }
}

/// Bytes that are asked of the runtime for so many: whole pages, and one more for those before the first.
pub(super) const fn room(size: u64) -> Option<u64> {
    let Some(pages) = size.checked_next_multiple_of(PAGE) else { return None };
    pages.checked_add(PAGE)
}

impl Svm {
    fn new(space: &NativeSpace, flags: u64, size: u64) -> Result<Self, Code> {
        let (table, context) = (space.table, space.context.raw());
        let (Some(alloc), true) = (table.clSVMAlloc, size > 0) else { return Err(Code(CL_INVALID_OPERATION)) };
        let room = room(size).ok_or(Code(CL_INVALID_VALUE))?;
        call!(table, clRetainContext(context))?;
        let context = Context::new(table, context);
        // SAFETY: the context lives.
        let base = unsafe { alloc(context.raw(), flags, room as usize, 0) };
        if base.is_null() {
            return Err(Code(CL_MEM_OBJECT_ALLOCATION_FAILURE));
        }
        let address = (base.addr() as u64).next_multiple_of(PAGE);
        Ok(Self { base, address, shown: None, table, context })
    }

    /// Puts the client's memory in the place of the pages that `size` bytes take.
    fn show(&mut self, space: &NativeSpace, size: u64, backing: Given) -> Result<(), Code> {
        let from = backing.as_mut_ptr();
        let fits = size.checked_next_multiple_of(PAGE) == Some(backing.len() as u64);
        // That it begins with a page the system checks.
        if !space.shares_memory || backing.arena().is_none() || !fits {
            return Err(Code(CL_INVALID_VALUE));
        }
        let (len, to) = (backing.len(), self.at(0).cast_mut());
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        // SAFETY: an old length of 0 maps shared pages a second time; what they replace are whole pages of ours, which
        // nobody uses yet.
        let at = unsafe { libc::mremap(from.cast(), 0, len, flags, to) };
        if at == libc::MAP_FAILED {
            return Err(Code(CL_MEM_OBJECT_ALLOCATION_FAILURE));
        }
        self.shown = Some(backing);
        Ok(())
    }

    /// Gives the runtime pages back in the place of the client's; whether that could be done.
    fn hide(&self) -> bool {
        let Some(shown) = &self.shown else { return true };
        let (at, access) = (self.at(0).cast_mut(), libc::PROT_READ | libc::PROT_WRITE);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        // SAFETY: the very pages that `show` has put there.
        unsafe { libc::mmap(at, shown.len(), access, flags, -1, 0) != libc::MAP_FAILED }
    }

    /// The address of a byte.
    pub(super) fn at(&self, offset: u64) -> *const c_void {
        std::ptr::with_exposed_provenance((self.address + offset) as usize)
    }
}

impl Drop for Svm {
    fn drop(&mut self) {
        // Else it stays with the process: the runtime would use pages that are the client's.
        if let Some(free) = self.table.clSVMFree
            && self.hide()
        {
            // SAFETY: the context lives, the memory is ours, and nothing uses it any more.
            unsafe { free(self.context.raw(), self.base) };
        }
    }
}

/// Makes shared virtual memory. Gives its address, too.
pub(super) fn create(
    space: &NativeSpace,
    flags: u64,
    size: u64,
    backing: Option<Given>,
    charge: Charge,
) -> Result<(NativeBuffer, u64), Code> {
    let mut svm = Svm::new(space, flags, size)?;
    // The client's own memory needs no scrubbing.
    let unscrubbed = AtomicBool::new(backing.is_none() && !space.has_own_memory);
    if let Some(backing) = backing {
        svm.show(space, size, backing)?;
    }
    let (address, at) = (svm.address, svm.at(0).cast_mut());
    let flags = flags | CL_MEM_USE_HOST_PTR;
    let memory = make!(space.table, clCreateBuffer(space.context.raw(), flags, size as usize, at))?;
    let memory = Memory::new(space.table, memory);
    let (svm, backing, mirror, parent, image) = (Some(svm), None, None, None, None);
    Ok((NativeBuffer { memory, svm, backing, mirror, parent, size, image, unscrubbed, _charge: charge }, address))
}

/// Says which memory a kernel reaches by pointers, if that changes.
pub(super) fn reach(table: Table, kernel: &NativeKernel, memories: Option<&[Arc<NativeBuffer>]>) -> Result<(), Code> {
    let Some(memories) = memories else { return Ok(()) };
    let addresses: Option<Vec<_>> = memories.iter().map(|memory| Some(memory.svm.as_ref()?.at(0))).collect();
    let addresses = addresses.ok_or(Code(CL_INVALID_VALUE))?;
    let at = if addresses.is_empty() { null() } else { addresses.as_ptr().cast() };
    let (name, size) = (CL_KERNEL_EXEC_INFO_SVM_PTRS, size_of_val(&addresses[..]));
    let said = call!(table, clSetKernelExecInfo(kernel.kernel.raw(), name, size, at));
    // Runtimes that cannot be told so go on with memory that the kernel no longer asks for.
    if !addresses.is_empty() {
        said?;
    }
    *lock(&kernel.reaches) = memories.to_vec();
    Ok(())
}
