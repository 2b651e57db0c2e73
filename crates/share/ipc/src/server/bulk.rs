//! The server's view of bulk: a part of a client's arena, or a buffer that was or will be streamed.

use std::sync::{Arc, Weak};

use super::tcp::TcpPeer;
use crate::error::ChannelError;
use crate::sys::map::{Block, Kept, Mapping, Memory};

/// Bytes from a client. On one node the client may change them at any time: copy them before validating them, and pass
/// the pointer only to code that does not depend on their values.
#[derive(Debug)]
pub struct Taken(Option<Part>);

/// A place for bytes to a client. On one node the client sees, and may change, each byte at once.
#[derive(Debug)]
pub struct Given(Option<Part>);

#[derive(Debug)]
struct Part {
    memory: Memory,
    offset: usize,
    len: usize,
    remote: Option<Remote>,
}

/// The arena that a part lies in: memory of one client that this process maps, always at the same address.
#[derive(Debug)]
pub struct Arena<'a>(&'a Mapping);

impl Arena<'_> {
    /// Address of the first byte.
    #[must_use]
    pub fn as_mut_ptr(&self) -> *mut u8 {
        self.0.at(0, self.0.len())
    }

    /// Its length in bytes.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it is empty; none is.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Counts bytes that are about to be moved from or to it; how many there were before.
    #[must_use]
    pub fn count(&self, bytes: u64) -> u64 {
        self.0.count(bytes)
    }

    /// Keeps what `make` gives for as long as the arena is mapped: it is dropped before the memory goes. `make` is
    /// called once in the arena's life, even if it gives nothing. Whether there is something.
    pub fn keep(&self, make: impl FnOnce() -> Option<Kept>) -> bool {
        self.0.keep(make)
    }
}

/// The quota that a buffer over TCP counts against, and its destination.
#[derive(Debug)]
pub(super) struct Remote {
    pub(super) peer: Weak<TcpPeer>,
    pub(super) id: u64,
    pub(super) len: u64,
    /// The memory, for the next transfer of this client.
    pub(super) block: Arc<Block>,
}

impl Drop for Remote {
    fn drop(&mut self) {
        if let Some(peer) = self.peer.upgrade() {
            peer.release(self.len, &self.block);
        }
    }
}

impl Part {
    fn shared((map, offset, len): (Arc<Mapping>, usize, usize)) -> Self {
        Self { memory: Memory::Shared(map), offset, len, remote: None }
    }

    fn remote(remote: Remote) -> Self {
        let (memory, len) = (Memory::Own(Arc::clone(&remote.block)), remote.len as usize);
        Self { memory, offset: 0, len, remote: Some(remote) }
    }

    fn at(this: Option<&Self>) -> *mut u8 {
        this.map_or(std::ptr::without_provenance_mut(128), |p| p.memory.at(p.offset, p.len))
    }

    fn arena(this: Option<&Self>) -> Option<Arena<'_>> {
        match &this?.memory {
            Memory::Shared(map) => Some(Arena(map)),
            Memory::Own(_) => None,
        }
    }

    fn check(this: Option<&Self>, offset: usize, len: usize) {
        let have = this.map_or(0, |p| p.len);
        assert!(offset <= have && len <= have - offset, "{len} bytes at {offset} of {have}");
    }
}

impl Taken {
    pub(super) const fn empty() -> Self {
        Self(None)
    }

    pub(super) fn shared(part: (Arc<Mapping>, usize, usize)) -> Self {
        Self(Some(Part::shared(part)))
    }

    pub(super) fn remote(remote: Remote) -> Self {
        Self(Some(Part::remote(remote)))
    }

    /// Its length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |p| p.len)
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The arena that the bytes lie in, on one node.
    #[must_use]
    pub fn arena(&self) -> Option<Arena<'_>> {
        Part::arena(self.0.as_ref())
    }

    /// The address of the bytes while this is held; for reading only.
    #[must_use]
    pub fn as_ptr(&self) -> *const u8 {
        Part::at(self.0.as_ref())
    }

    /// Copies bytes out, from `offset` on.
    ///
    /// # Panics
    /// If they exceed the length.
    pub fn read(&self, offset: usize, out: &mut [u8]) {
        Part::check(self.0.as_ref(), offset, out.len());
        if let Some(part) = &self.0 {
            part.memory.read(part.offset + offset, out);
        }
    }
}

impl Given {
    pub(super) const fn empty() -> Self {
        Self(None)
    }

    pub(super) fn shared(part: (Arc<Mapping>, usize, usize)) -> Self {
        Self(Some(Part::shared(part)))
    }

    pub(super) fn remote(remote: Remote) -> Self {
        Self(Some(Part::remote(remote)))
    }

    /// Its length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |p| p.len)
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The arena that the place lies in, on one node.
    #[must_use]
    pub fn arena(&self) -> Option<Arena<'_>> {
        Part::arena(self.0.as_ref())
    }

    /// The address to write the bytes to while this is held.
    #[must_use]
    pub fn as_mut_ptr(&self) -> *mut u8 {
        Part::at(self.0.as_ref())
    }

    /// Copies bytes in, from `offset` on.
    ///
    /// # Panics
    /// If they exceed the length.
    pub fn write(&self, offset: usize, bytes: &[u8]) {
        Part::check(self.0.as_ref(), offset, bytes.len());
        if let Some(part) = &self.0 {
            part.memory.write(part.offset + offset, bytes);
        }
    }

    /// Copies bytes out, from `offset` on: of a place that the client writes to as well.
    ///
    /// # Panics
    /// If they exceed the length.
    pub fn read(&self, offset: usize, out: &mut [u8]) {
        Part::check(self.0.as_ref(), offset, out.len());
        if let Some(part) = &self.0 {
            part.memory.read(part.offset + offset, out);
        }
    }

    /// Sends the complete bytes, without waiting. Call it before sending the message that announces them.
    ///
    /// # Errors
    /// The channel is closed.
    pub fn finish(self) -> Result<(), ChannelError> {
        let Some(Part { remote: Some(remote), .. }) = self.0 else { return Ok(()) };
        match remote.peer.upgrade() {
            Some(peer) => peer.push(remote),
            None => Err(crate::error::Closed::Here.into()),
        }
    }
}
