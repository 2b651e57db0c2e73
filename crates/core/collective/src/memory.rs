//! The memory that programs work on.

/// A card's memory, as its sequencer uses it.
pub trait Memory {
    /// Whether a program may touch these bytes.
    fn allows(&self, addr: u64, length: u64) -> bool;

    /// Copies bytes from `addr` on, which it allows.
    ///
    /// # Errors
    /// [`MemoryFailed`]: what it holds there is not certain.
    fn read(&mut self, addr: u64, into: &mut [u8]) -> Result<(), MemoryFailed>;

    /// Copies `bytes` to `addr`, which it allows.
    ///
    /// # Errors
    /// [`MemoryFailed`]: whether they are there is not certain.
    fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), MemoryFailed>;
}

/// The memory itself is at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the memory failed")]
pub struct MemoryFailed;
