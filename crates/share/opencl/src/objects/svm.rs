//! Shared virtual memory: addresses at which the program and the board each have memory.
//!
//! The board's runtime chooses an address, and the program gets memory there as well. What one side writes the other
//! sees once it is mapped or unmapped, as for a buffer whose memory is the program's (OpenCL 3.0, section 5.6.2,
//! coarse-grained). Where the board works in memory that both processes have, they have the same pages there, and see
//! what is written at once (fine-grained).

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex};

use opencl_sys::{
    CL_DEVICE_SVM_COARSE_GRAIN_BUFFER, CL_DEVICE_SVM_FINE_GRAIN_BUFFER, CL_INVALID_OPERATION,
    CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_MEM_SVM_ATOMICS, CL_MEM_SVM_FINE_GRAIN_BUFFER,
};
use rackloom_ipc::Bulk;
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
use crate::svm_region::SvmRegion;

/// Addresses are multiples of this.
const PAGE: u64 = 4096;

/// How many addresses of the board's are tried: each is free here but for a chance of a thousandth a GiB that the
/// program has.
const TRIES: usize = 16;

/// All that the program has, by address. It keeps them, for the program frees them by address.
static LIVE: PerProcess<Mutex<BTreeMap<usize, Ref<Buffer>>>> = PerProcess::new();

/// Whole pages of memory that both the program and the board see.
struct Pages {
    bulk: Arc<Bulk>,
    at: *mut u8,
    offset: u64,
    len: u64,
}

impl Pages {
    /// As many as `size` bytes take; `None` if the manager does not grant them.
    fn new(board: &Board, size: u64) -> Result<Option<Self>> {
        let len = size.checked_next_multiple_of(PAGE).filter(|len| *len < u64::MAX - PAGE);
        let len = len.ok_or(Error(CL_MEM_OBJECT_ALLOCATION_FAILURE))?;
        let Some(bulk) = board.memory_for_both(len + PAGE)? else { return Ok(None) };
        let start = bulk.as_ptr()?;
        let offset = (start.addr() as u64).next_multiple_of(PAGE) - start.addr() as u64;
        Ok(Some(Self { at: start.wrapping_add(offset as usize), bulk, offset, len }))
    }

    fn place(&self) -> Result<wire::Place> {
        Ok(self.bulk.publish(self.offset, self.len)?.into())
    }
}

/// Makes shared virtual memory of a context's only device.
///
/// # Errors
/// The context has several devices, or one without such memory as `flags` ask for; a quota is used up; none of the
/// board's addresses is free here.
pub fn allocate(context: &Ref<Context>, flags: u64, size: usize) -> Result<*mut c_void> {
    let device = context.single().ok_or(Error(CL_INVALID_OPERATION))?;
    let (can, board) = (device.svm(), device.board());
    let is_fine = flags & (CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS) != 0;
    let wanted = if is_fine { CL_DEVICE_SVM_FINE_GRAIN_BUFFER } else { CL_DEVICE_SVM_COARSE_GRAIN_BUFFER };
    ensure(can & wanted != 0, CL_INVALID_OPERATION)?;
    let pages = if can & CL_DEVICE_SVM_FINE_GRAIN_BUFFER == 0 { None } else { Pages::new(board, size as u64)? };
    ensure(pages.is_some() || !is_fine, CL_MEM_OBJECT_ALLOCATION_FAILURE)?;
    // Kept until one fits, or the board would give the same again.
    let mut refused = Vec::new();
    while refused.len() < TRIES {
        let (remote, address) = ask(board, flags, size as u64, pages.as_ref())?;
        let region = SvmRegion::at(address, pages.as_ref().map_or(size, |pages| pages.len as usize));
        let region = match &pages {
            Some(pages) => region.and_then(|region| region.showing(&pages.bulk, pages.at)),
            None => region,
        };
        let Some(region) = region else {
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

fn ask(board: &Arc<Board>, flags: u64, size: u64, pages: Option<&Pages>) -> Result<(Remote, u64)> {
    let mut remote = Remote::reserve(board, ObjectTable::Buffers(size))?;
    let (buffer, backing) = (remote.id, pages.map(Pages::place).transpose()?);
    let make = |request| wire::Command::CreateSvm { request, buffer, flags, size, backing };
    // The manager has it by this number from now on, even if it could not be made.
    let asked = board.session.ask(None, &[], make);
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
