//! Bytes of another process, read where they lie: one copy, where rings take two. The kernel lets a process do so that
//! could also debug the other; where it does not, among any two ranks of a start, all use rings.
#![allow(unsafe_code)]

use std::io;

/// Reads bytes of a process.
///
/// # Safety
/// There is room for `len` bytes at `to`, which only this call uses.
pub(crate) unsafe fn read(process: u32, from: u64, to: *mut u8, len: usize) -> io::Result<()> {
    let mut at = 0;
    while at < len {
        let here = libc::iovec { iov_base: to.wrapping_add(at).cast(), iov_len: len - at };
        let there = libc::iovec { iov_base: std::ptr::without_provenance_mut(from as usize + at), iov_len: len - at };
        // SAFETY: the caller has the room. What the other process has at its address is the kernel's to check.
        match unsafe { libc::process_vm_readv(process as libc::pid_t, &raw const here, 1, &raw const there, 1, 0) } {
            -1 => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            bytes => at += bytes as usize,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_and_what_is_not_there_is_an_error() {
        let from: Vec<u8> = (0..100_000_u32).map(|i| i as u8).collect();
        let mut to = vec![0; from.len()];
        let here = std::process::id();
        // SAFETY: there is room for as many.
        unsafe { read(here, from.as_ptr().expose_provenance() as u64, to.as_mut_ptr(), to.len()) }.unwrap();
        assert_eq!(from, to);
        // SAFETY: as above.
        assert!(unsafe { read(here, 8, to.as_mut_ptr(), 64) }.is_err(), "nobody has memory there");
    }
}
