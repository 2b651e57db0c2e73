//! Memory that two processes share: sealed memfds and their maps.
#![allow(unsafe_code)]

use std::any::Any;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};

/// A map of shared memory; unmapped when dropped. The other side may write any of it at any time: nothing here hands
/// out references to its bytes, only copies and pointers.
pub(crate) struct Mapping {
    start: NonNull<u8>,
    len: usize,
    /// Bytes that were moved from or to it.
    moved: AtomicU64,
    /// What its user keeps with it; dropped before the memory is unmapped.
    kept: OnceLock<Option<Kept>>,
    /// Dropped when the memory is unmapped.
    _receipt: Option<Box<dyn Any + Send + Sync>>,
}

/// Something that must not outlive memory.
pub type Kept = Box<dyn Any + Send + Sync>;

impl fmt::Debug for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mapping").field("start", &self.start).field("len", &self.len).finish_non_exhaustive()
    }
}

// SAFETY: the map belongs to no thread; its bytes are only copied, or used as atomics.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

/// Neither end can change the size, and so make the other fault by truncating it; nor can the seals be changed.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

/// Creates zeroed memory of `len` bytes, sealed against changes of its size.
pub(crate) fn create(len: usize) -> io::Result<OwnedFd> {
    let file = rustix::fs::memfd_create("rackloom-ipc", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    rustix::fs::ftruncate(&file, len as u64)?;
    rustix::fs::fcntl_add_seals(&file, SEALS)?;
    Ok(file)
}

impl Mapping {
    /// Maps all `len` bytes of `file`, whose size must be sealed.
    ///
    /// # Errors
    /// The file has another size, or its size is not sealed; or the system is out of memory.
    pub(crate) fn new(file: impl AsFd, len: usize) -> io::Result<Self> {
        let size = rustix::fs::fstat(&file)?.st_size;
        let seals = rustix::fs::fcntl_get_seals(&file)?;
        if size != len as i64 || len == 0 || !seals.contains(SealFlags::SHRINK) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "shared memory of another size, or not sealed"));
        }
        // SAFETY: a new map at an address of the kernel's choice touches nothing that exists. The file cannot shrink,
        // so that access within `len` does not fault.
        let start = unsafe {
            rustix::mm::mmap(null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, file, 0)
        }?;
        let start = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("a map at address 0"))?;
        Ok(Self { start, len, moved: AtomicU64::new(0), kept: OnceLock::new(), _receipt: None })
    }

    /// Counts bytes that are about to be moved from or to it; how many there were before.
    pub(crate) fn count(&self, bytes: u64) -> u64 {
        self.moved.fetch_add(bytes, Ordering::Relaxed)
    }

    /// Keeps what `make` gives until the memory is unmapped; called once, even if it gives nothing. Whether there is
    /// something.
    pub(crate) fn keep(&self, make: impl FnOnce() -> Option<Kept>) -> bool {
        self.kept.get_or_init(make).is_some()
    }

    /// Keeps a receipt while it is mapped.
    pub(crate) fn with(mut self, receipt: Box<dyn Any + Send + Sync>) -> Self {
        self._receipt = Some(receipt);
        self
    }

    /// Length in bytes.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// The address of the byte at `offset`.
    ///
    /// # Panics
    /// If `offset..offset + len` is not within the map: callers check the peers' values first.
    pub(crate) fn at(&self, offset: usize, len: usize) -> *mut u8 {
        assert!(offset <= self.len && len <= self.len - offset, "{len} bytes at {offset} of {}", self.len);
        // SAFETY: within the map, or just behind its end.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// The word at `offset`, which must be a multiple of 4.
    pub(crate) fn word(&self, offset: usize) -> &AtomicU32 {
        let at = self.at(offset, 4);
        assert!(offset.is_multiple_of(4));
        // SAFETY: within the map, which lives as long as `self`, and aligned, since maps begin at a page. The other
        // process uses it as an atomic, too, or is hostile, which the machine allows it to be.
        unsafe { &*at.cast::<AtomicU32>() }
    }

    /// Copies bytes into the map.
    pub(crate) fn write(&self, offset: usize, bytes: &[u8]) {
        let to = self.at(offset, bytes.len());
        // SAFETY: `at` has checked the range; a slice of ours does not overlap a map that nobody has a slice of. A peer
        // that reads or writes the range meanwhile gets or leaves nonsense there; it cannot harm us, for we look at the
        // bytes of such memory only after copying them out.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
    }

    /// Copies bytes out of the map.
    pub(crate) fn read(&self, offset: usize, out: &mut [u8]) {
        let from = self.at(offset, out.len());
        // SAFETY: as in `write`. A race with a hostile peer gives unspecified bytes, each of which is a valid `u8`. The
        // language calls such a race undefined; compilers treat this call as a call of memcpy, and no crate does
        // better.
        unsafe { std::ptr::copy_nonoverlapping(from, out.as_mut_ptr(), out.len()) };
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        drop(self.kept.take());
        // SAFETY: the map was made in `new`, and nobody has a pointer into it that may outlive `self`.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// Private memory at a fixed address, for the bulk of the other transport. It is only copied, too.
#[derive(Debug)]
pub(crate) struct Block {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the block belongs to no thread; its bytes are only copied.
unsafe impl Send for Block {}
// SAFETY: as above; who copies in and out at the same time has said, by the interface, that one follows the other.
unsafe impl Sync for Block {}

impl Block {
    /// Zeroed memory; the system provides pages when they are touched.
    pub(crate) fn new(len: usize) -> io::Result<Self> {
        // SAFETY: a new anonymous map at an address of the kernel's choice touches nothing that exists.
        let start = unsafe {
            let flags = MapFlags::PRIVATE;
            rustix::mm::mmap_anonymous(null_mut(), len.max(1), ProtFlags::READ | ProtFlags::WRITE, flags)
        }?;
        let start = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("a map at address 0"))?;
        Ok(Self { start, len })
    }

    /// Length in bytes.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// The address of the byte at `offset`; panics outside.
    pub(crate) fn at(&self, offset: usize, len: usize) -> *mut u8 {
        assert!(offset <= self.len && len <= self.len - offset, "{len} bytes at {offset} of {}", self.len);
        // SAFETY: within the map, or just behind its end.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// Passes a part to `act`, which moves it from or to a socket and must not call back.
    pub(crate) fn with<T>(&self, offset: usize, len: usize, act: impl FnOnce(&mut [u8]) -> T) -> T {
        let at = self.at(offset, len);
        // SAFETY: `at` has checked the range. Others have pointers to it at most, whose documentation says that a
        // transfer and their own access follow one another.
        act(unsafe { std::slice::from_raw_parts_mut(at, len) })
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the map was made in `new`, and nobody has a pointer into it that may outlive `self`.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.len.max(1)) };
    }
}

/// Memory for bulk: shared by both sides, or private.
#[derive(Debug, Clone)]
pub(crate) enum Memory {
    /// Shared, on one node.
    Shared(Arc<Mapping>),
    /// Private, moved through a socket.
    Own(Arc<Block>),
}

impl Memory {
    /// The address of the byte at `offset`; panics if the range is outside.
    pub(crate) fn at(&self, offset: usize, len: usize) -> *mut u8 {
        match self {
            Self::Shared(map) => map.at(offset, len),
            Self::Own(block) => block.at(offset, len),
        }
    }

    /// Copies out.
    pub(crate) fn read(&self, offset: usize, out: &mut [u8]) {
        match self {
            Self::Shared(map) => map.read(offset, out),
            Self::Own(block) => block.with(offset, out.len(), |from| out.copy_from_slice(from)),
        }
    }

    /// Copies in.
    pub(crate) fn write(&self, offset: usize, bytes: &[u8]) {
        match self {
            Self::Shared(map) => map.write(offset, bytes),
            Self::Own(block) => block.with(offset, bytes.len(), |to| to.copy_from_slice(bytes)),
        }
    }
}
