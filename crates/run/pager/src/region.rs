//! A range of addresses of this process.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ops::Range;
use std::ptr::NonNull;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use crate::error::PagerError;

/// Anonymous pages; those that were never given have no contents.
#[derive(Debug)]
pub(crate) struct Region {
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping is this value's alone until `drop`, and tied to no thread.
unsafe impl Send for Region {}
// SAFETY: no method gives out a reference to the memory; those that read or drop pages say what their callers see to.
unsafe impl Sync for Region {}

impl Region {
    /// Maps `bytes`, a multiple of the page size. Children of this process do not have it: their accesses to it would
    /// find zeros that nobody has written.
    pub(crate) fn new(bytes: usize, writable: bool) -> Result<Self, PagerError> {
        let rights = if writable { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        // SAFETY: a null hint lets the kernel choose an unused range, so no existing mapping changes.
        let base =
            unsafe { mmap_anonymous(std::ptr::null_mut(), bytes, rights, MapFlags::PRIVATE | MapFlags::NORESERVE) };
        let base = base.map_err(PagerError::io("reserve addresses"))?;
        let base = NonNull::new(base.cast()).expect("mmap never returns null");
        let region = Self { base, bytes };
        for (advice, what) in [
            (Advice::LinuxDontFork, "keep the memory from child processes"),
            (Advice::LinuxNoHugepage, "have the memory in small pages"),
        ] {
            // SAFETY: the range is our own mapping, and neither advice changes what it holds.
            let advised = unsafe { madvise(base.as_ptr().cast(), bytes, advice) };
            match advised {
                // A kernel without huge pages does not know the advice, nor need it.
                Err(rustix::io::Errno::INVAL) if matches!(advice, Advice::LinuxNoHugepage) => {}
                other => other.map_err(PagerError::io(what))?,
            }
        }
        Ok(region)
    }

    pub(crate) const fn start(&self) -> *mut u8 {
        self.base.as_ptr()
    }

    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Copies bytes that are in pages which have contents and are protected against writes: the caller sees to both,
    /// and that neither changes meanwhile.
    pub(crate) fn copy_out(&self, range: Range<usize>) -> Vec<u8> {
        assert!(range.start <= range.end && range.end <= self.bytes);
        let mut bytes = vec![0; range.len()];
        // SAFETY: the range is inside our mapping; its pages are present and nobody can write to them, as the caller
        // sees to; `bytes` is fresh memory of the same length.
        unsafe {
            std::ptr::copy_nonoverlapping(self.start().add(range.start), bytes.as_mut_ptr(), range.len());
        }
        bytes
    }

    /// Drops the contents of pages, and their poison: the next access is a fault again.
    pub(crate) fn drop_pages(&self, range: Range<usize>) -> rustix::io::Result<()> {
        assert!(range.start <= range.end && range.end <= self.bytes);
        // SAFETY: whole pages inside our own mapping, to which no reference of Rust exists. Whoever holds its address
        // knows that contents come and go.
        unsafe { madvise(self.start().add(range.start).cast::<c_void>(), range.len(), Advice::LinuxDontNeed) }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and who has its address has promised not to use it any longer.
        let unmapped = unsafe { munmap(self.base.as_ptr().cast(), self.bytes) };
        debug_assert!(unmapped.is_ok(), "{unmapped:?}");
    }
}
