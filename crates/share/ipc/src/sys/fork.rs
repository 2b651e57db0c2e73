//! Whether this process is still the one that made a connection: a forked child must not use it.
#![allow(unsafe_code)]

use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::mm::{Advice, MapFlags, ProtFlags};

/// The process that made something. Checking costs one load: the number is in a page that the kernel zeroes in a forked
/// child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner(u32);

/// Counts processes along a chain of forks; the child inherits it, so that it gets a new number.
static GENERATION: AtomicU32 = AtomicU32::new(0);
static PAGE: OnceLock<Option<usize>> = OnceLock::new();

impl Owner {
    /// This process.
    pub(crate) fn here() -> Self {
        let Some(word) = word() else { return Self(std::process::id()) };
        let mut now = word.load(Ordering::Relaxed);
        if now == 0 {
            let fresh = GENERATION.fetch_add(1, Ordering::Relaxed) + 1;
            // Another thread may have been faster: its number is as good.
            now = word.compare_exchange(0, fresh, Ordering::Relaxed, Ordering::Relaxed).map_or_else(|n| n, |_| fresh);
        }
        Self(now)
    }

    /// Whether that process is this one.
    pub(crate) fn is_here(self) -> bool {
        word().map_or_else(std::process::id, |w| w.load(Ordering::Relaxed)) == self.0
    }
}

/// The word in the page, or `None` if the kernel lacks such pages; then the process ID serves, at the cost of a system
/// call for each check.
fn word() -> Option<&'static AtomicU32> {
    let address = (*PAGE.get_or_init(|| {
        // SAFETY: a new anonymous page at an address of the kernel's choice touches nothing that exists. It is never
        // unmapped.
        let page = unsafe {
            rustix::mm::mmap_anonymous(null_mut(), 4096, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        };
        let page = page.ok()?;
        // SAFETY: the page is ours alone, and its contents are zero in either case.
        let advised = unsafe { rustix::mm::madvise(page, 4096, Advice::LinuxWipeOnFork) };
        advised.ok().map(|()| page as usize)
    }))?;
    // SAFETY: the page is mapped for as long as the process lives, aligned, and only used as this atomic.
    Some(unsafe { &*(address as *const AtomicU32) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_of_a_fork_is_not_its_parent() {
        let owner = Owner::here();
        assert!(owner.is_here());
        assert_eq!(owner, Owner::here());
        // SAFETY: the child calls nothing but loads, stores and _exit.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let code = i32::from(owner.is_here()) + 2 * i32::from(Owner::here() == owner);
            // SAFETY: ends the child at once, as it must after a fork of a process with threads.
            unsafe { libc::_exit(code) };
        }
        let mut status = 0;
        // SAFETY: waits for the child just made; `status` outlives the call.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0, "the child took itself for its parent");
    }
}
