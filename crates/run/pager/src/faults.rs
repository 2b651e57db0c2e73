//! Faults of a region, as the kernel reports them and wants them answered: Linux's `userfaultfd`.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::io::Errno;
use rustix::mm::{UserfaultfdFlags, userfaultfd};

use crate::error::PagerError;
use crate::region::Region;

/// A fault: somebody waits for this page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Offset of the page in the region.
    pub(crate) offset: usize,
    pub(crate) kind: FaultKind,
}

/// What whoever waits wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// Read a page that is not there.
    Load,
    /// Write to a page that is not there.
    Store,
    /// Write to a page that is there, and protected.
    Protected,
}

/// The kernel's end of a region. It is gone before the region is.
#[derive(Debug)]
pub(crate) struct Faults {
    fd: OwnedFd,
    start: u64,
    page: usize,
}

impl Faults {
    /// Has the faults of `region` reported here.
    pub(crate) fn of(region: &Region, page: usize) -> Result<Self, PagerError> {
        let fd = open()?;
        let mut api = Api { api: API, features: FEATURE_POISON, ioctls: 0 };
        // A kernel that lacks a feature refuses.
        ask(&fd, request(READ_WRITE, 0x3f, size_of::<Api>()), &mut api).map_err(|e| match e {
            Errno::INVAL => PagerError::Unsupported,
            e => PagerError::io("agree with the kernel on page faults")(e),
        })?;
        let faults = Self { fd, start: region.start().addr() as u64, page };
        let mut register =
            Register { range: faults.range(0, region.bytes()), mode: REGISTER_MISSING | REGISTER_PROTECTED, ioctls: 0 };
        ask(&faults.fd, request(READ_WRITE, 0x00, size_of::<Register>()), &mut register)
            .map_err(PagerError::io("have page faults reported"))?;
        let needed = 1 << 0x03 | 1 << 0x06 | 1 << 0x08;
        if register.ioctls & needed != needed {
            return Err(PagerError::Unsupported);
        }
        Ok(faults)
    }

    /// Faults that nobody has looked at yet; without waiting.
    pub(crate) fn read(&self) -> io::Result<Vec<Fault>> {
        let mut buffer = [0u8; MESSAGE * FAULTS_MAX];
        let length = match rustix::io::read(&self.fd, &mut buffer) {
            Ok(length) => length,
            Err(Errno::AGAIN | Errno::INTR) => 0,
            Err(e) => return Err(e.into()),
        };
        let word = |message: &[u8], at: usize| u64::from_ne_bytes(message[at..at + 8].try_into().expect("8 bytes"));
        let faults = buffer[..length].chunks_exact(MESSAGE).filter(|message| message[0] == EVENT_PAGEFAULT);
        let faults = faults.map(|message| {
            let (flags, address) = (word(message, 8), word(message, 16));
            let kind = match flags {
                _ if flags & FLAG_PROTECTED != 0 => FaultKind::Protected,
                _ if flags & FLAG_WRITE != 0 => FaultKind::Store,
                _ => FaultKind::Load,
            };
            let offset = usize::try_from(address - self.start).expect("the fault is in the region");
            Fault { offset: offset / self.page * self.page, kind }
        });
        Ok(faults.collect())
    }

    /// Gives a page its contents and wakes whoever waits for it; false if it has some already.
    pub(crate) fn give(&self, offset: usize, contents: &[u8], protected: bool) -> io::Result<bool> {
        assert_eq!(contents.len(), self.page);
        let range = self.range(offset, self.page);
        loop {
            let mut copy = Copy {
                to: range.start,
                from: contents.as_ptr().addr() as u64,
                length: range.length,
                mode: if protected { COPY_PROTECTED } else { 0 },
                copied: 0,
            };
            // The kernel reads `contents`, a slice of one page, and writes to a page that had no contents.
            match ask(&self.fd, request(READ_WRITE, 0x03, size_of::<Copy>()), &mut copy) {
                Ok(()) => return Ok(true),
                // Addresses of the process are being changed by another thread.
                Err(Errno::AGAIN) => {}
                Err(Errno::EXIST) => return self.wake(offset).map(|()| false),
                Err(e) => return Err(e.into()),
            }
        }
    }

    /// Protects pages against writes, or no longer, and then wakes whoever waits for them.
    pub(crate) fn protect(&self, offset: usize, protected: bool) -> io::Result<()> {
        let mode = if protected { PROTECT } else { 0 };
        let mut what = Protect { range: self.range(offset, self.page), mode };
        self.repeat(request(READ_WRITE, 0x06, size_of::<Protect>()), &mut what)
    }

    /// Has whoever touches a page, or waits for it, killed by SIGBUS.
    pub(crate) fn poison(&self, offset: usize) -> io::Result<()> {
        let mut poison = Poison { range: self.range(offset, self.page), mode: 0, updated: 0 };
        match self.repeat(request(READ_WRITE, 0x08, size_of::<Poison>()), &mut poison) {
            // It has contents after all.
            Err(e) if e.raw_os_error() == Some(libc::EEXIST) => self.wake(offset),
            other => other,
        }
    }

    /// Has whoever waits for a page try again.
    pub(crate) fn wake(&self, offset: usize) -> io::Result<()> {
        let mut range = self.range(offset, self.page);
        self.repeat(request(READ, 0x02, size_of::<Range>()), &mut range)
    }

    fn repeat<T>(&self, request: libc::c_ulong, what: &mut T) -> io::Result<()> {
        loop {
            match ask(&self.fd, request, what) {
                Err(Errno::AGAIN) => {}
                other => return Ok(other?),
            }
        }
    }

    const fn range(&self, offset: usize, length: usize) -> Range {
        Range { start: self.start + offset as u64, length: length as u64 }
    }
}

impl AsFd for Faults {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// With the right to serve faults of the kernel's own accesses if this process has it, so that a page can be handed to
/// a system call before it was touched; else without.
fn open() -> Result<OwnedFd, PagerError> {
    let flags = UserfaultfdFlags::CLOEXEC | UserfaultfdFlags::NONBLOCK;
    // SAFETY: making the descriptor affects no memory; what it is registered for later is a region of ours.
    match unsafe { userfaultfd(flags) } {
        Ok(fd) => return Ok(fd),
        Err(Errno::NOSYS) => return Err(PagerError::Unsupported),
        Err(Errno::PERM) => {}
        Err(e) => return Err(PagerError::io("have page faults reported")(e)),
    }
    if let Ok(device) = File::options().read(true).write(true).open("/dev/userfaultfd") {
        // SAFETY: this request takes flags and returns a fresh descriptor or an error.
        let fd = unsafe { libc::ioctl(device.as_raw_fd(), 0xaa00, libc::O_CLOEXEC | libc::O_NONBLOCK) };
        if fd >= 0 {
            // SAFETY: the kernel has just made it for us.
            return Ok(unsafe { OwnedFd::from_raw_fd(fd) });
        }
    }
    // SAFETY: as above.
    match unsafe { userfaultfd(flags | UserfaultfdFlags::from_bits_retain(USER_MODE_ONLY)) } {
        Ok(fd) => Ok(fd),
        Err(Errno::PERM) => Err(PagerError::NotPermitted),
        Err(e) => Err(PagerError::io("have page faults reported")(e)),
    }
}

fn ask<T>(fd: &OwnedFd, request: libc::c_ulong, what: &mut T) -> Result<(), Errno> {
    // SAFETY: `request` bears the size of `T`, one of the structs below, which outlives the call. What it asks for
    // concerns pages of the region that the descriptor is registered for; no reference of Rust points there.
    match unsafe { libc::ioctl(fd.as_raw_fd(), request as libc::Ioctl, std::ptr::from_mut(what)) } {
        0 => Ok(()),
        _ => Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)),
    }
}

/// The number of a request, as most processors' kernels form it.
const fn request(direction: libc::c_ulong, number: libc::c_ulong, size: usize) -> libc::c_ulong {
    direction << 30 | (size as libc::c_ulong) << 16 | 0xaa << 8 | number
}

/// Directions of a request.
const READ: libc::c_ulong = 2;
const READ_WRITE: libc::c_ulong = 3;

/// The kernel's `struct uffdio_api`; the others likewise.
#[repr(C)]
struct Api {
    api: u64,
    features: u64,
    ioctls: u64,
}

#[repr(C)]
struct Range {
    start: u64,
    length: u64,
}

#[repr(C)]
struct Register {
    range: Range,
    mode: u64,
    ioctls: u64,
}

#[repr(C)]
struct Copy {
    to: u64,
    from: u64,
    length: u64,
    mode: u64,
    copied: i64,
}

#[repr(C)]
struct Protect {
    range: Range,
    mode: u64,
}

#[repr(C)]
struct Poison {
    range: Range,
    mode: u64,
    updated: i64,
}

const API: u64 = 0xaa;
const FEATURE_POISON: u64 = 1 << 14;
const REGISTER_MISSING: u64 = 1 << 0;
const REGISTER_PROTECTED: u64 = 1 << 1;
const COPY_PROTECTED: u64 = 1 << 1;
const PROTECT: u64 = 1 << 0;
const EVENT_PAGEFAULT: u8 = 0x12;
const FLAG_WRITE: u64 = 1 << 0;
const FLAG_PROTECTED: u64 = 1 << 1;
/// Faults of this process's own instructions only; its system calls fail with EFAULT.
const USER_MODE_ONLY: u32 = 1;
/// Bytes of a report.
const MESSAGE: usize = 32;
/// Most faults served together: as many threads wait, and their pages are fetched at the same time.
const FAULTS_MAX: usize = 16;
