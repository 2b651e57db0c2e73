//! Memory of the program's at an address that a board has chosen.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::sync::Arc;

use rackloom_ipc::Bulk;

/// Memory of the program's at an address that it did not choose.
pub struct SvmRegion {
    at: *mut u8,
    len: usize,
    /// The memory that it shows, which is the board's, too.
    shared: Option<Arc<Bulk>>,
}

// SAFETY: it is plain memory; who reads and writes it when is ruled by the commands that use it.
unsafe impl Send for SvmRegion {}
// SAFETY: as above.
unsafe impl Sync for SvmRegion {}

/// Below this nobody has memory, so that null pointers are found: Linux refuses it to all but root.
const LOWEST: u64 = 64 << 10;

impl SvmRegion {
    /// Memory at an address, which reads as zeros; `None` if the program has something there, or no memory, or nobody
    /// has any there.
    pub fn at(address: u64, len: usize) -> Option<Self> {
        if address < LOWEST {
            return None;
        }
        let wanted = std::ptr::without_provenance_mut::<c_void>(usize::try_from(address).ok()?);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE | libc::MAP_NORESERVE;
        // SAFETY: it replaces no mapping of the program's.
        let at = unsafe { libc::mmap(wanted, len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if at == libc::MAP_FAILED {
            return None;
        }
        let this = Self { at: at.cast(), len, shared: None };
        // Kernels before Linux 4.17 take the address for a hint.
        (at == wanted).then_some(this)
    }

    /// Shows as many pages of `bulk` from an address on in the place of its own.
    pub fn showing(mut self, bulk: &Arc<Bulk>, from: *mut u8) -> Option<Self> {
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        // SAFETY: an old length of 0 maps shared pages a second time, over pages that are ours alone.
        let at = unsafe { libc::mremap(from.cast(), 0, self.len, flags, self.at) };
        self.shared = Some(Arc::clone(bulk));
        (at == self.at.cast()).then_some(self)
    }

    /// Whether it is the board's memory, too.
    pub const fn is_shared(&self) -> bool {
        self.shared.is_some()
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
        assert!([0, 4096, u64::MAX, u64::MAX - 4095].iter().all(|at| SvmRegion::at(*at, 1).is_none()), "none is there");
        drop(free);
        let again = SvmRegion::at(0x5a00_0000_1000, 1).unwrap();
        // SAFETY: its own byte.
        assert_eq!(unsafe { again.as_ptr().read() }, 0);
    }
}
