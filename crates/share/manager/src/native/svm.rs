//! Shared virtual memory: memory of the board at an address that kernels and the client have in common, so that
//! pointers in it mean the same to both (OpenCL 2.0, section 5.6).
//!
//! The runtime chooses the address, and the library finds room there in the program, or asks again. To the manager it
//! is a buffer as well, so all that moves bytes is as for one.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use opencl_sys::{
    CL_INVALID_OPERATION, CL_INVALID_VALUE, CL_KERNEL_EXEC_INFO_SVM_PTRS, CL_MEM_OBJECT_ALLOCATION_FAILURE,
    CL_MEM_USE_HOST_PTR,
};
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

impl Svm {
    fn new(space: &NativeSpace, flags: u64, size: u64) -> Result<Self, Code> {
        let (table, context) = (space.table, space.context.raw());
        let (Some(alloc), true) = (table.clSVMAlloc, size > 0) else { return Err(Code(CL_INVALID_OPERATION)) };
        // Whole pages, and one more for those before the first.
        let room = size.checked_next_multiple_of(PAGE).and_then(|room| room.checked_add(PAGE));
        let room = room.ok_or(Code(CL_INVALID_VALUE))?;
        call!(table, clRetainContext(context))?;
        let context = Context::new(table, context);
        // SAFETY: the context lives.
        let base = unsafe { alloc(context.raw(), flags, room as usize, 0) };
        if base.is_null() {
            return Err(Code(CL_MEM_OBJECT_ALLOCATION_FAILURE));
        }
        let address = (base.addr() as u64).next_multiple_of(PAGE);
        Ok(Self { base, address, table, context })
    }

    /// The address of a byte.
    pub(super) fn at(&self, offset: u64) -> *const c_void {
        std::ptr::with_exposed_provenance((self.address + offset) as usize)
    }
}

impl Drop for Svm {
    fn drop(&mut self) {
        if let Some(free) = self.table.clSVMFree {
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
    charge: Charge,
) -> Result<(NativeBuffer, u64), Code> {
    let svm = Svm::new(space, flags, size)?;
    let (address, at) = (svm.address, svm.at(0).cast_mut());
    let flags = flags | CL_MEM_USE_HOST_PTR;
    let memory = make!(space.table, clCreateBuffer(space.context.raw(), flags, size as usize, at))?;
    let memory = Memory::new(space.table, memory);
    let unscrubbed = AtomicBool::new(!space.has_own_memory);
    let (svm, backing, mirror, parent, image) = (Some(svm), None, None, None, None);
    Ok((NativeBuffer { memory, svm, backing, mirror, parent, size, image, unscrubbed, _charge: charge }, address))
}

/// Says which memory a kernel reaches by pointers, if that changes.
pub(super) fn reach(table: Table, kernel: &NativeKernel, memories: Option<&[Arc<NativeBuffer>]>) -> Result<(), Code> {
    let Some(memories) = memories else { return Ok(()) };
    let addresses: Option<Vec<_>> = memories.iter().map(|memory| Some(memory.svm.as_ref()?.at(0))).collect();
    let addresses = addresses.filter(|all| !all.is_empty()).ok_or(Code(CL_INVALID_VALUE))?;
    let (name, size, at) = (CL_KERNEL_EXEC_INFO_SVM_PTRS, size_of_val(&addresses[..]), addresses.as_ptr().cast());
    call!(table, clSetKernelExecInfo(kernel.kernel.raw(), name, size, at))?;
    *lock(&kernel.reaches) = memories.to_vec();
    Ok(())
}
