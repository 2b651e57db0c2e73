//! Shared virtual memory: addresses at which the program and the board each have memory.
//!
//! The board's runtime chooses an address, and the program gets memory there as well. What one side writes the other
//! sees once it is mapped or unmapped, as for a buffer whose memory is the program's (OpenCL 3.0, section 5.6.2,
//! coarse-grained).
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::Mutex;

use opencl_sys::{CL_DEVICE_SVM_COARSE_GRAIN_BUFFER, CL_INVALID_OPERATION, CL_MEM_OBJECT_ALLOCATION_FAILURE};
use rackloom_opencl_wire::{self as wire, Answer};
use rackloom_sync::lock;

use crate::config::log;
use crate::error::{Error, Result, ensure, fail};
use crate::handle::{Object, Ref};
use crate::objects::context::Context;
use crate::objects::memory::Buffer;
use crate::process::PerProcess;
use crate::session::board::Board;
use crate::session::log_unexpected;
use crate::session::numbers::ObjectTable;
use crate::session::remote::Remote;

/// What the library supports of the board's capabilities.
pub const CAPABILITIES: u64 = CL_DEVICE_SVM_COARSE_GRAIN_BUFFER;

/// How many addresses of the board's are tried: each is free here but for a chance of a thousandth a GiB that the
/// program has.
const TRIES: usize = 16;

/// All that the program has, by address. It keeps them, for the program frees them by address.
static LIVE: PerProcess<Mutex<BTreeMap<usize, Ref<Buffer>>>> = PerProcess::new();

/// Memory of the program's at an address that it did not choose.
pub struct SvmRegion {
    at: *mut u8,
    len: usize,
}

// SAFETY: it is plain memory; who reads and writes it when is ruled by the commands that use it.
unsafe impl Send for SvmRegion {}
// SAFETY: as above.
unsafe impl Sync for SvmRegion {}

impl SvmRegion {
    /// Memory at an address, which reads as zeros; `None` if the program has something there, or no memory.
    fn at(address: u64, len: usize) -> Option<Self> {
        let wanted = std::ptr::without_provenance_mut::<c_void>(usize::try_from(address).ok()?);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE | libc::MAP_NORESERVE;
        // SAFETY: it replaces no mapping of the program's.
        let at = unsafe { libc::mmap(wanted, len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if at == libc::MAP_FAILED {
            return None;
        }
        let this = Self { at: at.cast(), len };
        // Kernels before Linux 4.17 take the address for a hint.
        (at == wanted).then_some(this)
    }

    /// Where it begins.
    pub const fn as_ptr(&self) -> *mut u8 {
        self.at
    }
}

impl Drop for SvmRegion {
    fn drop(&mut self) {
        // SAFETY: mapped so in `at`, and no command uses it any more.
        unsafe { libc::munmap(self.at.cast(), self.len) };
    }
}

/// Makes shared virtual memory of a context's only device.
///
/// # Errors
/// The context has several devices, or one without such memory; a quota is used up; none of the board's addresses is
/// free here.
pub fn allocate(context: &Ref<Context>, flags: u64, size: usize) -> Result<*mut c_void> {
    let device = context.single().ok_or(Error(CL_INVALID_OPERATION))?;
    ensure(device.svm() & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER != 0, CL_INVALID_OPERATION)?;
    // Kept until one fits, or the board would give the same again.
    let mut refused = Vec::new();
    while refused.len() < TRIES {
        let (remote, address) = ask(device.board(), flags, size as u64)?;
        let Some(region) = SvmRegion::at(address, size) else {
            refused.push(remote);
            continue;
        };
        let at = region.as_ptr();
        let buffer = Buffer::svm(context.clone(), flags, size as u64, region, remote);
        lock(LIVE.get()).insert(at.addr(), Object::new(context.table(), buffer));
        return Ok(at.cast());
    }
    log(|| format!("shared virtual memory of {size} bytes: {TRIES} of the board's addresses are in use here"));
    fail(CL_MEM_OBJECT_ALLOCATION_FAILURE)
}

fn ask(board: &std::sync::Arc<Board>, flags: u64, size: u64) -> Result<(Remote, u64)> {
    let mut remote = Remote::reserve(board, ObjectTable::Buffers(size))?;
    let buffer = remote.id;
    // The manager has it by this number from now on, even if it could not be made.
    let asked = board.session.ask(None, &[], |request| wire::Command::CreateSvm { request, buffer, flags, size });
    remote.announced();
    match asked? {
        Answer::Svm { address } => Ok((remote, address)),
        other => {
            log_unexpected("Svm", &other);
            fail(CL_MEM_OBJECT_ALLOCATION_FAILURE)
        }
    }
}

/// The memory in which `len` bytes from an address on lie, and the first one's place in it.
pub fn find(context: &Ref<Context>, pointer: *const c_void, len: usize) -> Option<(Ref<Buffer>, u64)> {
    let live = lock(LIVE.get());
    let (start, buffer) = live.range(..=pointer.addr()).next_back()?;
    let offset = (pointer.addr() - start) as u64;
    let is_within = offset < buffer.size && len as u64 <= buffer.size - offset;
    (is_within && buffer.context.handle() == context.handle()).then(|| (buffer.clone(), offset))
}

/// Forgets memory that the program frees. It goes when the last command that uses it has ended.
pub fn free(context: &Ref<Context>, pointer: *const c_void) -> Option<Ref<Buffer>> {
    let mut live = lock(LIVE.get());
    let is_own = live.get(&pointer.addr()).is_some_and(|buffer| buffer.context.handle() == context.handle());
    if is_own { live.remove(&pointer.addr()) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_where_it_was_wanted_and_replaces_nothing() {
        let free = SvmRegion::at(0x5a00_0000_0000, 10_000).unwrap();
        assert_eq!(free.as_ptr().addr(), 0x5a00_0000_0000);
        // SAFETY: its own bytes.
        unsafe { free.as_ptr().add(9_999).write(7) };
        assert!(SvmRegion::at(0x5a00_0000_1000, 1).is_none(), "it is in use");
        assert!(SvmRegion::at(0x5a00_0000_0001, 1).is_none(), "no page begins there");
        drop(free);
        let again = SvmRegion::at(0x5a00_0000_1000, 1).unwrap();
        // SAFETY: its own byte.
        assert_eq!(unsafe { again.as_ptr().read() }, 0);
    }
}
