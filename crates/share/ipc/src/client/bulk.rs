//! A client's bulk: memory that the server sees, or a buffer that is streamed; the same calls for both.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use rackloom_sync::lock;

use super::core::{Core, Link};
use super::dispatch::in_handler;
use super::spans::{Span, rounded};
use crate::bulkref::BulkRef;
use crate::control;
use crate::error::ChannelError;
use crate::limits::ARENA_MIN;
use crate::sys::map::{Block, Memory};

/// Bulk memory of a client; freed when dropped. Keep it until the server has reported that it is done with it.
///
/// On one node it is a part of an arena, which the server has mapped: what is put is there with one copy, and what is
/// written through [`Self::as_ptr`] with none. Between nodes it is streamed, and takes memory here only if results are
/// expected or the pointer is used.
pub struct Bulk {
    core: Arc<Core>,
    len: u64,
    place: Place,
}

enum Place {
    Nothing,
    Span(Span),
    Remote {
        block: OnceLock<Arc<Block>>,
        /// The references still valid, oldest first.
        transfers: Mutex<Vec<u64>>,
    },
}

/// Most references of one [`Bulk`] in use at a time over TCP; the oldest makes room for the next.
const REFERENCES_MAX: usize = 64;

impl fmt::Debug for Bulk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match &self.place {
            Place::Nothing => "nothing",
            Place::Span(_) => "shared",
            Place::Remote { .. } => "remote",
        };
        f.debug_struct("Bulk").field("len", &self.len).field("place", &place).finish_non_exhaustive()
    }
}

impl Bulk {
    pub(super) fn new(core: &Arc<Core>, len: u64) -> Result<Self, ChannelError> {
        core.check()?;
        let place = match &core.link {
            _ if len == 0 => Place::Nothing,
            Link::Shm(_) => Place::Span(span(core, len)?),
            Link::Tcp(link) => {
                link.reserve(len)?;
                Place::Remote { block: OnceLock::new(), transfers: Mutex::default() }
            }
        };
        Ok(Self { core: Arc::clone(core), len, place })
    }

    /// Its length in bytes.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether it is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Memory of `len()` bytes for the program's own use, aligned to 128 bytes, at an address that is valid until this
    /// is dropped. Zero if it was never used; otherwise with its last contents. The program must access it only through
    /// the pointer, and must expect that the server changes it meanwhile.
    ///
    /// # Errors
    /// Over TCP, the system is out of memory.
    pub fn as_ptr(&self) -> Result<*mut u8, ChannelError> {
        Ok(match &self.place {
            Place::Nothing => std::ptr::without_provenance_mut(128),
            _ => self.memory()?.0.at(self.memory()?.1, self.len as usize),
        })
    }

    /// Makes `bytes` visible to the server as the part at `offset`. Over TCP this waits until the system has taken
    /// them, which takes as long as the connection needs. The reference is good for one
    /// [`Peer::take`](crate::Peer::take).
    ///
    /// # Errors
    /// The channel is closed.
    ///
    /// # Panics
    /// If the part lies outside.
    pub fn put(&self, offset: u64, bytes: &[u8]) -> Result<BulkRef, ChannelError> {
        let len = bytes.len() as u64;
        self.assert_within(offset, len);
        self.core.check()?;
        match &self.place {
            _ if len == 0 => Ok(BulkRef::EMPTY),
            Place::Remote { .. } => self.stream(bytes),
            _ => {
                let (memory, start) = self.memory()?;
                memory.write(start + offset as usize, bytes);
                self.reference(offset, len)
            }
        }
    }

    /// Makes the memory of [`Self::as_ptr`] visible to the server; otherwise like [`Self::put`].
    ///
    /// # Errors
    /// The channel is closed.
    ///
    /// # Panics
    /// If the part lies outside.
    pub fn publish(&self, offset: u64, len: u64) -> Result<BulkRef, ChannelError> {
        self.assert_within(offset, len);
        self.core.check()?;
        match &self.place {
            _ if len == 0 => Ok(BulkRef::EMPTY),
            Place::Remote { .. } => self.block()?.with(offset as usize, len as usize, |bytes| self.stream(bytes)),
            _ => self.reference(offset, len),
        }
    }

    /// Prepares a part for the server's bytes. The reference is good for one [`Peer::give`](crate::Peer::give).
    ///
    /// # Errors
    /// The channel is closed; over TCP, the system is out of memory.
    ///
    /// # Panics
    /// If the part lies outside.
    pub fn expect(&self, offset: u64, len: u64) -> Result<BulkRef, ChannelError> {
        self.assert_within(offset, len);
        self.core.check()?;
        match (&self.core.link, &self.place) {
            _ if len == 0 => Ok(BulkRef::EMPTY),
            (Link::Tcp(link), Place::Remote { .. }) => {
                let id = link.expect(self.block()?, offset, len);
                self.remember(id);
                Ok(BulkRef { id, offset: 0, len })
            }
            _ => self.reference(offset, len),
        }
    }

    /// Waits until the server's bytes are in the memory of [`Self::as_ptr`]; call it when a message has reported that
    /// the server is done. On one node they are there already.
    ///
    /// # Errors
    /// The channel is closed; or `what` is not a reference of this bulk, or too old.
    pub fn settle(&self, what: &BulkRef) -> Result<(), ChannelError> {
        self.find(what).map(|_| ())
    }

    /// Copies the server's bytes out, from `skip` on; waits as [`Self::settle`] does.
    ///
    /// # Errors
    /// As for [`Self::settle`].
    ///
    /// # Panics
    /// If `out` is longer than the part.
    pub fn get(&self, what: &BulkRef, skip: u64, out: &mut [u8]) -> Result<(), ChannelError> {
        assert!(skip.checked_add(out.len() as u64).is_some_and(|end| end <= what.len), "beyond the reference");
        if out.is_empty() {
            return self.core.check();
        }
        let at = self.find(what)?;
        self.memory()?.0.read((at + skip) as usize, out);
        Ok(())
    }

    /// The place of a reference's bytes in the memory, once they have arrived.
    fn find(&self, what: &BulkRef) -> Result<u64, ChannelError> {
        self.core.check()?;
        let bad = ChannelError::BadReference { id: what.id, offset: what.offset, len: what.len };
        match (&self.core.link, &self.place) {
            _ if what.is_empty() => Ok(0),
            (Link::Tcp(link), Place::Remote { .. }) => {
                if in_handler() {
                    return Err(ChannelError::Reentrant);
                }
                link.settle(&self.core, what.id)?.ok_or(bad)
            }
            (_, Place::Span(span)) if what.id == u64::from(span.arena.id) => Ok(what.offset),
            _ => Err(bad),
        }
    }

    fn assert_within(&self, offset: u64, len: u64) {
        let right = offset.checked_add(len).is_some_and(|end| end <= self.len);
        assert!(right, "{len} bytes at {offset} of {}", self.len);
    }

    fn block(&self) -> Result<&Arc<Block>, ChannelError> {
        let Place::Remote { block, .. } = &self.place else { unreachable!("only asked of remote places") };
        if let Some(block) = block.get() {
            return Ok(block);
        }
        let Link::Tcp(link) = &self.core.link else { unreachable!("remote places are of TCP") };
        let spare = link.block(self.len).map_err(ChannelError::io("get memory for bulk"))?;
        Ok(block.get_or_init(|| spare))
    }

    fn memory(&self) -> Result<(Memory, usize), ChannelError> {
        Ok(match &self.place {
            Place::Span(span) => (Memory::Shared(Arc::clone(&span.arena.map)), span.offset as usize),
            _ => (Memory::Own(Arc::clone(self.block()?)), 0),
        })
    }

    fn reference(&self, offset: u64, len: u64) -> Result<BulkRef, ChannelError> {
        let Place::Span(span) = &self.place else { unreachable!("only asked of spans") };
        Ok(BulkRef { id: span.arena.id.into(), offset: span.offset + offset, len })
    }

    fn stream(&self, bytes: &[u8]) -> Result<BulkRef, ChannelError> {
        let Link::Tcp(link) = &self.core.link else { unreachable!("remote places are of TCP") };
        match link.put(&self.core, bytes) {
            Ok(id) => {
                self.remember(id);
                Ok(BulkRef { id, offset: 0, len: bytes.len() as u64 })
            }
            Err(why) => {
                self.core.close(why);
                Err(self.core.closed().unwrap_or(why).into())
            }
        }
    }

    fn remember(&self, id: u64) {
        let (Link::Tcp(link), Place::Remote { transfers, .. }) = (&self.core.link, &self.place) else { return };
        let oldest = {
            let mut transfers = lock(transfers);
            transfers.push(id);
            (transfers.len() > REFERENCES_MAX).then(|| transfers.remove(0))
        };
        if let Some(oldest) = oldest {
            link.forget(&self.core, &[oldest]);
        }
    }
}

impl Drop for Bulk {
    fn drop(&mut self) {
        if !self.core.is_ours() {
            return;
        }
        match (&self.core.link, &self.place) {
            (Link::Shm(link), Place::Span(span)) => {
                let arena = lock(&link.spans).put(span);
                if let Some(id) = arena {
                    let _ = self.core.send_any(control::ARENA_FREE, &id.to_le_bytes());
                }
            }
            (Link::Tcp(link), Place::Remote { block, transfers }) => {
                link.release(&self.core, self.len, block.get(), &lock(transfers));
            }
            _ => {}
        }
    }
}

/// A span of an existing arena, or of a new one.
fn span(core: &Core, len: u64) -> Result<Span, ChannelError> {
    let Link::Shm(link) = &core.link else { unreachable!("only asked of shared memory") };
    if let Some(span) = lock(&link.spans).take(len) {
        return Ok(span);
    }
    if in_handler() {
        return Err(ChannelError::Reentrant);
    }
    let quota = ChannelError::Quota { asked: len };
    let page = rounded(len).and_then(|len| len.checked_next_multiple_of(4096)).ok_or_else(|| quota.clone())?;
    // First an arena with room for more; then one just for this, in place of empty ones.
    let mut ask = page.max(ARENA_MIN);
    loop {
        if let Some(arena) = link.ask_arena(core, ask)? {
            let mut spans = lock(&link.spans);
            spans.add(arena);
            if let Some(span) = spans.take(len) {
                return Ok(span);
            }
            continue; // Another thread was faster.
        }
        if ask > page {
            ask = page;
            continue;
        }
        let spare = lock(&link.spans).spare();
        let Some(id) = spare else { return Err(quota) };
        core.send_any(control::ARENA_FREE, &id.to_le_bytes())?;
    }
}
