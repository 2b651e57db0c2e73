//! What both transports need to leave a connection to another process.

use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, TryLockError};

use crate::error::ChannelError;

/// Where another process continues in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Positions {
    /// How far the ring to the server is read.
    pub(super) read: u32,
    /// How far the ring to the client is written.
    pub(super) written: u32,
    /// How far the client was seen to have read it.
    pub(super) freed: u32,
    /// The number of the newest arena.
    pub(super) arena: u32,
}

/// Most files of a connection.
pub(super) const FILES_MAX: usize = 3;

/// The lock of the receiving side, which is taken for as long as a thread waits for messages.
pub(super) fn idle<T>(rx: &Mutex<T>) -> Result<MutexGuard<'_, T>, ChannelError> {
    match rx.try_lock() {
        Ok(rx) => Ok(rx),
        Err(TryLockError::Poisoned(rx)) => Ok(rx.into_inner()),
        Err(TryLockError::WouldBlock) => Err(ChannelError::Busy("a thread receives from it")),
    }
}

/// Duplicates of file descriptors.
pub(super) fn copy(files: [Option<&OwnedFd>; FILES_MAX]) -> Result<Vec<OwnedFd>, ChannelError> {
    let copies: std::io::Result<_> = files.into_iter().flatten().map(OwnedFd::try_clone).collect();
    copies.map_err(ChannelError::io("copy the connection's files"))
}
