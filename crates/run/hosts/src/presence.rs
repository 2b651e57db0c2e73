//! Which ranks still run. Each has locked a byte of the shared memory's file, and the kernel unlocks it when the
//! process ends, whatever ends it. A number of a process says less: it may be another's by now.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

fn range(kind: libc::c_int, rank: usize) -> libc::flock {
    // SAFETY: zeros are a lock of nothing, and the fields that count are set below.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = rank as libc::off_t;
    lock.l_len = 1;
    lock
}

/// Says that this process is the rank, for as long as it lives and has the file.
pub(crate) fn appear(file: BorrowedFd<'_>, rank: usize) -> io::Result<()> {
    let lock = range(libc::F_WRLCK, rank);
    // SAFETY: the file is open and the lock lives during the call.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLK, &raw const lock) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Whether a process is stopped, by a signal or a debugger. Where the system does not say so, none is.
pub(crate) fn is_stopped(process: u32) -> bool {
    // What stands before is its name, which may have parentheses of its own.
    let state = |stat: String| stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    let state = std::fs::read_to_string(format!("/proc/{process}/stat")).ok().and_then(state);
    matches!(state, Some('T' | 't'))
}

/// Whether the process of another rank lives.
pub(crate) fn is_there(file: BorrowedFd<'_>, rank: usize) -> bool {
    let mut lock = range(libc::F_WRLCK, rank);
    // SAFETY: as above; the kernel writes to the lock.
    let asked = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETLK, &raw mut lock) };
    // Where the kernel does not answer, nobody is called dead: then times bound the operation.
    asked != 0 || lock.l_type != libc::F_UNLCK as libc::c_short
}
