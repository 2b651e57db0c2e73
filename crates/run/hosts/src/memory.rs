//! Memory that ranks share: a sealed memfd and its map.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::AtomicU64;

use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};

/// Nobody can change the size, and so make another fault by truncating it; nor can the seals be changed.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

/// A map of shared memory, unmapped when dropped, and its file. Other processes write to it at any time: it hands out
/// atomics and pointers, no references to bytes.
#[derive(Debug)]
pub(crate) struct Memory {
    start: NonNull<u8>,
    len: usize,
    file: OwnedFd,
}

// SAFETY: the map belongs to no thread; it is used by atomics, and by pointers whose users say why they may.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// Zeroed memory; pages cost something when they are touched.
    pub(crate) fn create(len: usize) -> io::Result<Self> {
        let file = rustix::fs::memfd_create("rackloom-hosts", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        rustix::fs::ftruncate(&file, len as u64)?;
        rustix::fs::fcntl_add_seals(&file, SEALS)?;
        Self::open(file, len)
    }

    /// What another process has created.
    pub(crate) fn open(file: OwnedFd, len: usize) -> io::Result<Self> {
        let size = rustix::fs::fstat(&file)?.st_size;
        let seals = rustix::fs::fcntl_get_seals(&file)?;
        if size != len as i64 || len == 0 || !seals.contains(SealFlags::SHRINK) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "memory of another size, or not sealed"));
        }
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::NORESERVE);
        // SAFETY: a new map at an address of the kernel's choice touches nothing that exists. The file cannot shrink,
        // so that access within `len` does not fault.
        let start = unsafe { rustix::mm::mmap(null_mut(), len, protection, flags, &file, 0) }?;
        let start = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("a map at address 0"))?;
        Ok(Self { start, len, file })
    }

    pub(crate) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// The address of the bytes at `offset`.
    ///
    /// # Panics
    /// If they are not within the map.
    pub(crate) fn at(&self, offset: usize, len: usize) -> *mut u8 {
        assert!(offset <= self.len && len <= self.len - offset);
        // SAFETY: within the map, or just behind its end.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// The word at `offset`, a multiple of 8.
    pub(crate) fn word(&self, offset: usize) -> &AtomicU64 {
        let at = self.at(offset, 8);
        assert!(offset.is_multiple_of(8));
        // SAFETY: within the map, which lives as long as `self`, and aligned, since maps begin at a page. All
        // processes use it as an atomic.
        unsafe { &*at.cast::<AtomicU64>() }
    }

    /// Gives the pages of a range back to the system; they are zero when they are touched again.
    pub(crate) fn clear(&self, offset: usize, len: usize) -> io::Result<()> {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        Ok(rustix::fs::fallocate(&self.file, flags, offset as u64, len as u64)?)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the map was made in `open`, and nobody has a pointer into it that outlives `self`.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.len) };
    }
}
