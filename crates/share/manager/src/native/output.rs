//! What kernels print. A runtime writes it to the standard output of its process; here that is a file in memory, which
//! is read when a launch has ended.
//!
//! The file cannot grow: a kernel that prints for ever finds it full, and neither waits for anybody nor takes memory. A
//! kernel that writes to the file by itself, or moves about in it, confuses its own program only.
#![allow(unsafe_code)]

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::FileExt as _;
use std::sync::Mutex;

use rackloom_opencl_wire::{INLINE_MAX, PRINTED_MAX};
use rackloom_sync::lock;
use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags, SeekFrom};

use crate::board::Printed;

/// The standard output of this process, as its kernels' only place to print to.
#[derive(Debug)]
pub(crate) struct Output {
    file: File,
    /// Bytes that were read since the task began.
    read: Mutex<u64>,
}

impl Output {
    /// Takes the standard output of this process.
    ///
    /// # Errors
    /// The system has no file for it.
    pub(crate) fn take() -> io::Result<Self> {
        let output = Self::new()?;
        rustix::stdio::dup2_stdout(&output.file)?;
        Ok(output)
    }

    fn new() -> io::Result<Self> {
        let made = rustix::fs::memfd_create("rackloom-output", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        rustix::fs::ftruncate(&made, PRINTED_MAX)?;
        rustix::fs::fcntl_add_seals(&made, SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
        // Opened anew, it is a file like others, where each write has a place of its own: two threads of a runtime that
        // write at the same time would write over each other's text in the one that was made.
        let file = OpenOptions::new().read(true).write(true).open(format!("/proc/self/fd/{}", made.as_raw_fd()))?;
        Ok(Self { file, read: Mutex::new(0) })
    }

    /// A task begins, and no kernel runs: the file is empty again.
    pub(crate) fn begin(&self) {
        let mut read = lock(&self.read);
        if *read > 0 {
            // Should either fail, the task has less room.
            let _ = rustix::fs::fallocate(&self.file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, 0, *read);
            *read = rustix::fs::seek(&self.file, SeekFrom::Start(0)).unwrap_or(*read);
        }
    }

    /// Whether the task has printed.
    pub(crate) fn is_used(&self) -> bool {
        *lock(&self.read) > 0
    }

    /// Passes on what was printed since the last call, in pieces of at most [`INLINE_MAX`] bytes.
    pub(crate) fn pass(&self, to: &mut dyn FnMut(Printed<'_>)) {
        flush();
        let Ok(written) = rustix::fs::tell(&self.file).map(|at| at.min(PRINTED_MAX)) else { return };
        let mut read = lock(&self.read);
        if written <= *read {
            return; // As for most kernels: not even the place for a piece is cleared.
        }
        let was_full = *read == PRINTED_MAX;
        let mut piece = [0; INLINE_MAX];
        while *read < written {
            let len = (written - *read).min(INLINE_MAX as u64) as usize;
            let Ok(len) = self.file.read_at(&mut piece[..len], *read) else { return };
            if len == 0 {
                return;
            }
            to(Printed::Text(&piece[..len]));
            *read += len as u64;
        }
        if *read == PRINTED_MAX && !was_full {
            to(Printed::Lost); // As far as can be known.
        }
    }
}

/// Writes what the C library still holds of the standard output, which some runtimes print through.
fn flush() {
    unsafe extern "C" {
        static stdout: *mut libc::FILE;
    }
    // SAFETY: the C library's own stream, which nobody here closes.
    unsafe { libc::fflush(stdout) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(output: &Output) -> (Vec<u8>, bool) {
        let (mut text, mut is_cut) = (Vec::new(), false);
        output.pass(&mut |printed| match printed {
            Printed::Text(piece) => text.extend_from_slice(piece),
            Printed::Lost => is_cut = true,
        });
        (text, is_cut)
    }

    #[test]
    fn text_is_passed_once_and_a_task_has_the_whole_file() {
        let output = Output::new().unwrap();
        let write = |bytes: &[u8]| rustix::io::write(&output.file, bytes);
        assert_eq!(passed(&output), (Vec::new(), false));
        write(b"one").unwrap();
        write(b"two").unwrap();
        assert_eq!(passed(&output), (b"onetwo".to_vec(), false));
        assert_eq!(passed(&output), (Vec::new(), false));
        for _ in 0..2 {
            output.begin();
            let all = vec![b'x'; PRINTED_MAX as usize + 1];
            assert_eq!(write(&all), Ok(PRINTED_MAX as usize));
            assert!(write(&all).is_err(), "it is full");
            assert_eq!(passed(&output), (all[1..].to_vec(), true));
            assert_eq!(passed(&output), (Vec::new(), false), "it was said");
        }
        output.begin();
        assert_eq!(rustix::fs::fstat(&output.file).unwrap().st_blocks, 0, "the memory is free");
    }

    #[test]
    fn threads_do_not_write_over_each_other() {
        let output = Output::new().unwrap();
        let text = [b'x'; 1 << 20];
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert_eq!(rustix::io::write(&output.file, &text), Ok(text.len())));
            }
        });
        assert_eq!(passed(&output).0.len(), 8 << 20);
    }

    #[test]
    fn who_moves_about_in_the_file_gets_what_is_there() {
        let output = Output::new().unwrap();
        rustix::fs::seek(&output.file, SeekFrom::Start(u64::MAX >> 1)).unwrap();
        assert_eq!(passed(&output).0.len() as u64, PRINTED_MAX);
        rustix::fs::seek(&output.file, SeekFrom::Start(5)).unwrap();
        assert_eq!(passed(&output), (Vec::new(), false), "it was read");
    }
}
