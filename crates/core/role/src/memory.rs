//! A card's memory, as the shell and the roles share it.

use core::any::Any;
use core::fmt;
use std::io;

/// A card's DDR. Handles are shared; each access is atomic with respect to all others.
///
/// How the bytes are kept is the implementation's: a [`Sandbox`](crate::Sandbox) makes the memory that its roles can
/// run in.
#[allow(clippy::len_without_is_empty, reason = "it is never empty")]
pub trait Memory: fmt::Debug + Send + Sync + Any {
    /// Bytes of memory; never 0.
    fn len(&self) -> u64;

    /// Copies `into.len()` bytes from `addr` on.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`], [`MemoryError::Failed`] and [`MemoryError::Silent`].
    fn read(&self, addr: u64, into: &mut [u8]) -> Result<(), MemoryError>;

    /// Copies `bytes` to `addr`.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`]; then nothing is written. [`MemoryError::Failed`] and [`MemoryError::Silent`].
    fn write(&self, addr: u64, bytes: &[u8]) -> Result<(), MemoryError>;

    /// Calls `f` once with `length` bytes from `addr` on, in place. It must not use this memory: it would wait for
    /// itself.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`], [`MemoryError::Failed`] and [`MemoryError::Silent`].
    fn with_bytes(&self, addr: u64, length: u64, f: &mut dyn FnMut(&[u8])) -> Result<(), MemoryError>;

    /// From now on every access to the [`BEAT_BYTES`](crate::BEAT_BYTES) that include `addr` fails, as in a chip that
    /// is broken there; `None`: no access does. What it holds stays. Roles that run in the same memory do not notice.
    fn fail(&self, addr: Option<u64>);

    /// From now on no access is answered, or each is again. What it holds stays, and roles do not notice.
    fn silence(&self, on: bool);

    /// Whether accesses are answered.
    fn answers(&self) -> bool;

    /// Makes all memory zero and gives its pages back.
    ///
    /// # Errors
    /// [`MemoryError::Failed`], [`MemoryError::Silent`] and [`MemoryError::Os`].
    fn zero(&self) -> Result<(), MemoryError>;
}

impl dyn Memory {
    /// What `f` makes of `length` bytes from `addr` on, in place. It must not use this memory: it would wait for
    /// itself.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`], [`MemoryError::Failed`] and [`MemoryError::Silent`].
    pub fn view<R>(&self, addr: u64, length: u64, f: impl FnOnce(&[u8]) -> R) -> Result<R, MemoryError> {
        let mut f = Some(f);
        let mut result = None;
        self.with_bytes(addr, length, &mut |bytes| result = f.take().map(|f| f(bytes)))?;
        Ok(result.expect("with_bytes calls once"))
    }
}

/// Why memory cannot be reserved or accessed.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The size is not a multiple of 64 KiB from 64 KiB to 4 GiB.
    #[error("invalid memory size of {bytes} bytes: expected a multiple of 64 KiB, at most 4 GiB")]
    Size {
        /// The size asked for.
        bytes: u64,
    },
    /// The range is not inside the memory.
    #[error("{length} bytes at {addr:#x} are not inside a memory of {size:#x} bytes")]
    OutOfBounds {
        /// First address.
        addr: u64,
        /// Length in bytes.
        length: u64,
        /// Size of the memory in bytes.
        size: u64,
    },
    /// The memory itself is at fault: what it holds there is not certain.
    #[error("memory failed within {length} bytes at {addr:#x}")]
    Failed {
        /// First address of the access.
        addr: u64,
        /// Its length in bytes.
        length: u64,
    },
    /// The memory has not answered.
    #[error("memory does not answer")]
    Silent,
    /// The operating system refuses.
    #[error("the operating system refuses the memory")]
    Os(#[source] io::Error),
}

/// Bytes that memory reads or writes at once, the protocol's `BEAT`.
pub const BEAT_BYTES: u64 = 64;
/// Memory sizes are multiples of this many bytes: a page of WebAssembly.
pub const PAGE_BYTES: u64 = 64 << 10;
/// Most bytes of a card's memory: what a 32-bit role can address.
pub const MEMORY_BYTES_MAX: u64 = 4 << 30;
