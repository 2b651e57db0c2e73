//! A card's memory as an anonymous mapping.
//!
//! It is reserved, not allocated: a card of 4 GiB costs the pages that were written. The same mapping is the linear
//! memory of the role's WebAssembly module, so data moves from frames to kernels and back without a copy in between,
//! and survives a change of the role.
//!
//! ```text
//! base            base + len               base + 4 GiB        + 32 MiB
//! | DDR, readable and writable | no access                | no access |
//! ```
//!
//! The rest of the 4 GiB and the guard behind it are address space only. They let compiled code leave out bounds
//! checks: a 32-bit address plus a constant offset beyond DDR hits a page without access, and the fault becomes a trap.
#![allow(unsafe_code)]

use core::fmt;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use rackloom_role::{BEAT_BYTES, MEMORY_BYTES_MAX, Memory, MemoryError, PAGE_BYTES};
use rackloom_sync::lock;
use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap_anonymous, mprotect, munmap};

/// A handle to a card's memory; clones refer to the same memory.
///
/// Every access holds a lock for its duration, and so does every slice of a kernel: handles may be used from several
/// threads. The lock is not reentrant: do not use any handle to the same memory inside [`Ddr::view`].
#[derive(Clone)]
pub struct Ddr(Arc<Mapping>);

struct Mapping {
    base: NonNull<u8>,
    len: usize,
    lock: Mutex<()>,
    /// First address of the beat that fails, or [`SOUND`].
    failing: AtomicU64,
    /// The card gets no answer. Whoever holds a [`Ddr`] itself still does: it may be what does not answer.
    silent: AtomicBool,
}

// SAFETY: `base` is an anonymous mapping that belongs to this value alone until `drop` and is tied to no thread.
unsafe impl Send for Mapping {}
// SAFETY: all accesses go through `lock`: those of `Ddr` here, those of compiled code by the guard that the
// sandbox holds while it runs.
unsafe impl Sync for Mapping {}

impl Ddr {
    /// Reserves `bytes` of memory, all zero: a multiple of 64 KiB, up to 4 GiB.
    ///
    /// # Errors
    /// [`MemoryError::Size`], and [`MemoryError::Os`] when there is no address space.
    pub fn new(bytes: u64) -> Result<Self, MemoryError> {
        if bytes == 0 || bytes > MEMORY_BYTES_MAX || !bytes.is_multiple_of(PAGE_BYTES) {
            return Err(MemoryError::Size { bytes });
        }
        let len = usize::try_from(bytes).expect("4 GiB fit into 64 bits");
        // SAFETY: a null hint lets the kernel choose an unused range, so no existing mapping changes.
        let base = unsafe {
            mmap_anonymous(
                core::ptr::null_mut(),
                RESERVED_BYTES + GUARD_BYTES,
                ProtFlags::empty(),
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )
        }
        .map_err(os)?;
        let base = NonNull::new(base.cast()).expect("mmap never returns null");
        let mapping =
            Mapping { base, len, lock: Mutex::new(()), failing: AtomicU64::new(SOUND), silent: AtomicBool::new(false) };
        // SAFETY: the range is the beginning of our own mapping, to which nothing refers yet.
        unsafe { mprotect(base.as_ptr().cast(), len, MprotectFlags::READ | MprotectFlags::WRITE) }.map_err(os)?;
        Ok(Self(Arc::new(mapping)))
    }

    /// The same memory as card and roles hold it.
    pub fn handle(&self) -> Arc<dyn Memory> {
        Arc::new(self.clone())
    }

    /// Bytes of memory.
    #[allow(clippy::len_without_is_empty)] // It never is.
    pub fn len(&self) -> u64 {
        self.0.len as u64
    }

    /// Copies `into.len()` bytes from `addr` on.
    pub fn read(&self, addr: u64, into: &mut [u8]) -> Result<(), MemoryError> {
        self.view(addr, into.len() as u64, |bytes| into.copy_from_slice(bytes))
    }

    /// Copies `bytes` to `addr`.
    pub fn write(&self, addr: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        let start = self.check(addr, bytes.len() as u64)?;
        let _guard = self.lock();
        // SAFETY: `check` found the range inside the accessible mapping; the lock keeps all others out; `bytes` cannot
        // overlap it, for a reference into the mapping exists only inside `view`, which holds the lock.
        unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), self.0.base.as_ptr().add(start), bytes.len()) };
        Ok(())
    }

    /// Lets `f` look at memory in place. It must not use this memory's handles: it would wait for itself.
    pub fn view<R>(&self, addr: u64, length: u64, f: impl FnOnce(&[u8]) -> R) -> Result<R, MemoryError> {
        let start = self.check(addr, length)?;
        let _guard = self.lock();
        // SAFETY: `check` found the range inside the accessible mapping, which the kernel zeroed; while the lock is
        // held nobody writes, and the reference cannot leave `f`.
        let bytes = unsafe {
            core::slice::from_raw_parts(
                self.0.base.as_ptr().add(start),
                usize::try_from(length).expect("the range is inside the mapping"),
            )
        };
        Ok(f(bytes))
    }

    /// From now on every access to the beat that includes `addr` fails; `None`: no access does.
    pub fn fail(&self, addr: Option<u64>) {
        let failing = addr.map_or(SOUND, |addr| addr / BEAT_BYTES * BEAT_BYTES);
        self.0.failing.store(failing, Ordering::Relaxed);
    }

    /// Makes all memory zero and gives its pages back.
    pub fn zero(&self) -> Result<(), MemoryError> {
        self.check(0, self.len())?;
        let _guard = self.lock();
        self.discard(self.0.len)
    }

    /// Bytes of the host's memory that this memory takes now.
    pub fn resident_bytes(&self) -> Result<u64, MemoryError> {
        let page = rustix::param::page_size();
        let mut pages = vec![0u8; self.0.len.div_ceil(page)];
        // SAFETY: the range is our mapping, and `pages` has one byte for each of its pages.
        let result = unsafe { libc::mincore(self.0.base.as_ptr().cast(), self.0.len, pages.as_mut_ptr()) };
        if result != 0 {
            return Err(MemoryError::Os(io::Error::last_os_error()));
        }
        Ok(pages.iter().filter(|&&p| p & 1 == 1).count() as u64 * page as u64)
    }

    /// Makes the first `length` bytes zero, a multiple of 64 KiB; the caller holds the lock.
    pub fn discard(&self, length: usize) -> Result<(), MemoryError> {
        assert!(length <= self.0.len && (length as u64).is_multiple_of(PAGE_BYTES));
        // SAFETY: the range is whole pages of our own private anonymous mapping, which read as zero afterwards; the
        // caller holds the lock, so nobody refers to them.
        unsafe { madvise(self.0.base.as_ptr().cast(), length, Advice::LinuxDontNeed) }.map_err(os)
    }

    /// Keeps all others out until the guard is dropped.
    pub fn lock(&self) -> MutexGuard<'_, ()> {
        // A panic inside `view` leaves bytes, which have no invariant that could be broken.
        lock(&self.0.lock)
    }

    /// First byte of the mapping.
    pub fn base(&self) -> NonNull<u8> {
        self.0.base
    }

    /// Whether both handles refer to the same memory.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether the card gets answers.
    pub fn answers(&self) -> bool {
        !self.0.silent.load(Ordering::Relaxed)
    }

    fn heard(&self) -> Result<(), MemoryError> {
        if self.answers() { Ok(()) } else { Err(MemoryError::Silent) }
    }

    fn check(&self, addr: u64, length: u64) -> Result<usize, MemoryError> {
        let size = self.len();
        match addr.checked_add(length) {
            Some(end) if end <= size => {
                let failing = self.0.failing.load(Ordering::Relaxed);
                if failing < end && failing.saturating_add(BEAT_BYTES) > addr {
                    return Err(MemoryError::Failed { addr, length });
                }
                Ok(usize::try_from(addr).expect("at most 4 GiB"))
            }
            _ => Err(MemoryError::OutOfBounds { addr, length, size }),
        }
    }
}

impl Memory for Ddr {
    fn len(&self) -> u64 {
        self.len()
    }

    fn read(&self, addr: u64, into: &mut [u8]) -> Result<(), MemoryError> {
        self.heard()?;
        self.read(addr, into)
    }

    fn write(&self, addr: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        self.heard()?;
        self.write(addr, bytes)
    }

    fn with_bytes(&self, addr: u64, length: u64, f: &mut dyn FnMut(&[u8])) -> Result<(), MemoryError> {
        self.heard()?;
        self.view(addr, length, f)
    }

    fn fail(&self, addr: Option<u64>) {
        self.fail(addr);
    }

    fn silence(&self, on: bool) {
        self.0.silent.store(on, Ordering::Relaxed);
    }

    fn answers(&self) -> bool {
        self.answers()
    }

    fn zero(&self) -> Result<(), MemoryError> {
        self.heard()?;
        self.zero()
    }
}

impl fmt::Debug for Ddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ddr({} KiB)", self.0.len >> 10)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is what `Ddr::new` mapped; no handle is left, and instances of roles hold handles.
        let result = unsafe { munmap(self.base.as_ptr().cast(), RESERVED_BYTES + GUARD_BYTES) };
        debug_assert!(result.is_ok());
    }
}

fn os(error: rustix::io::Errno) -> MemoryError {
    MemoryError::Os(error.into())
}

/// No address: no beat fails.
const SOUND: u64 = u64::MAX;
/// Address space for the linear memory: all that a 32-bit address can reach.
pub const RESERVED_BYTES: usize = 4 << 30;
/// Address space behind it, for constant offsets that compiled code adds to an address.
pub const GUARD_BYTES: usize = 32 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_whole_pages_up_to_4_gib() {
        for bytes in [0, 1, PAGE_BYTES + 1, MEMORY_BYTES_MAX + PAGE_BYTES, u64::MAX] {
            assert!(matches!(Ddr::new(bytes), Err(MemoryError::Size { .. })), "{bytes}");
        }
        assert_eq!(Ddr::new(MEMORY_BYTES_MAX).unwrap().len(), MEMORY_BYTES_MAX);
    }

    #[test]
    fn accesses_stay_inside() {
        let ddr = Ddr::new(PAGE_BYTES).unwrap();
        ddr.write(PAGE_BYTES - 3, b"end").unwrap();
        ddr.write(PAGE_BYTES, b"").unwrap();
        for (addr, length) in [(PAGE_BYTES - 3, 4), (PAGE_BYTES, 1), (u64::MAX, 2), (PAGE_BYTES + 1, 0)] {
            assert!(matches!(ddr.write(addr, &vec![1; length]), Err(MemoryError::OutOfBounds { .. })));
            assert!(matches!(ddr.read(addr, &mut vec![1; length]), Err(MemoryError::OutOfBounds { .. })));
        }
        assert!(ddr.view(0, u64::MAX, |_| ()).is_err());
        let mut end = [0; 3];
        ddr.read(PAGE_BYTES - 3, &mut end).unwrap();
        assert_eq!(&end, b"end");
    }

    #[test]
    fn a_beat_fails_and_no_other() {
        let ddr = Ddr::new(PAGE_BYTES).unwrap();
        ddr.fail(Some(4096 + 63));
        for (addr, length) in [(4096, 1), (4095, 2), (4159, 9), (0, PAGE_BYTES)] {
            assert!(matches!(ddr.view(addr, length, |_| ()), Err(MemoryError::Failed { .. })), "{addr}");
        }
        assert!(matches!(ddr.write(4100, &[1]), Err(MemoryError::Failed { addr: 4100, length: 1 })));
        assert!(matches!(ddr.zero(), Err(MemoryError::Failed { .. })));
        for (addr, length) in [(4095, 1), (4160, 64), (0, 4096)] {
            ddr.view(addr, length, |_| ()).unwrap();
        }
        ddr.fail(None);
        ddr.write(4100, &[1]).unwrap();
        ddr.zero().unwrap();
    }

    #[test]
    fn a_silent_memory_answers_nobody() {
        let ddr = Ddr::new(PAGE_BYTES).unwrap();
        let card = ddr.handle();
        card.write(64, &[1]).unwrap();
        card.silence(true);
        assert!(!card.answers());
        assert!(matches!(card.write(64, &[2]), Err(MemoryError::Silent)));
        assert!(matches!(card.view(64, 1, |_| ()), Err(MemoryError::Silent)));
        assert!(matches!(card.zero(), Err(MemoryError::Silent)));
        card.silence(false);
        assert_eq!(card.view(64, 1, |b| b[0]).unwrap(), 1);
    }

    #[test]
    fn a_card_costs_what_was_touched() {
        let ddr = Ddr::new(MEMORY_BYTES_MAX).unwrap();
        assert_eq!(ddr.resident_bytes().unwrap(), 0);
        for addr in [0, 1 << 30, MEMORY_BYTES_MAX - 1] {
            ddr.write(addr, &[1]).unwrap();
        }
        // Three pages; with transparent huge pages, three of 2 MiB.
        let resident = ddr.resident_bytes().unwrap();
        assert!((3 * 4096..=3 * (2 << 20)).contains(&resident), "{resident}");
        ddr.zero().unwrap();
        assert_eq!(ddr.resident_bytes().unwrap(), 0);
        assert_eq!(ddr.view(1 << 30, 1, |b| b[0]).unwrap(), 0);
    }

    #[test]
    fn handles_share_memory_across_threads() {
        let ddr = Ddr::new(PAGE_BYTES).unwrap();
        let other = ddr.clone();
        std::thread::spawn(move || other.write(7, &[42]).unwrap()).join().unwrap();
        assert_eq!(ddr.view(7, 1, |b| b[0]).unwrap(), 42);
        assert!(ddr.is_same(&ddr.clone()) && !ddr.is_same(&Ddr::new(PAGE_BYTES).unwrap()));
    }
}
