//! A window of a peer's memory as memory of this process.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use rackloom_pager::{Access, Pages, Source, Span};
use rackloom_wire::MacAddr;
use rackloom_wire::bridge::BatchRecord;

use super::Rma;
use crate::Error;

/// A window of a peer's memory that loads and stores of this process reach: pages are fetched when they are touched.
///
/// A page that was fetched stays as it was until [`invalidate`](Self::invalidate); what was stored is the peer's with
/// [`sync`](Self::sync), and then word by word: of two programs that change different aligned words of 8 bytes neither
/// takes back what the other did. There is no order among the words of one `sync`, nor any other coherence: a program
/// that shares the memory with others decides when to do which, and uses [`Rma::fetch_add`] or messages to agree.
///
/// If a page cannot be fetched, because the peer is gone or the window is, whoever touches it gets SIGBUS, after the
/// node's patience of 2 s at most. Child processes do not have the mapping.
pub struct Mapping {
    pages: Pages<Remote>,
}

impl Rma {
    /// Maps `length` bytes of `peer`'s memory from `addr` on. The window has to permit reads, and writes if `access`
    /// does. The node lives for as long as the mapping.
    ///
    /// # Errors
    /// The peer refuses, or is gone; the system does not let programs serve page faults ([`Error::Map`]).
    pub fn map(&self, peer: MacAddr, addr: u64, length: u64, access: Access) -> Result<Mapping, Error> {
        // A window that is not there is an error here rather than a signal later.
        if length > 0 {
            self.read(peer, addr, 1).wait()?;
            self.read(peer, addr.saturating_add(length - 1), 1).wait()?;
        }
        let node = Self { driver: Arc::clone(&self.driver), mac: self.mac, longest: self.longest };
        let remote = Remote { node, peer, base: addr };
        Ok(Mapping { pages: Pages::new(remote, length, access)? })
    }
}

impl Mapping {
    /// The first address; valid for [`len`](Self::len) bytes and as long as this value lives. It may be read, and
    /// written if the mapping is for that.
    #[must_use]
    pub fn as_ptr(&self) -> *mut u8 {
        self.pages.as_ptr()
    }

    /// Bytes of memory.
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // It never is.
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// Writes back what was stored, and waits until the peer has it.
    ///
    /// # Errors
    /// The peer refuses or is gone. What may not have been written is written with the next call.
    pub fn sync(&self) -> Result<(), Error> {
        self.pages.sync()
    }

    /// Forgets the pages that hold no changes: the next access fetches them anew, also where one has failed before.
    pub fn invalidate(&self) {
        self.pages.invalidate();
    }

    /// Why a page could not be fetched, if one could not since the last call.
    pub fn failure(&self) -> Option<Error> {
        self.pages.failure()
    }
}

impl fmt::Debug for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mapping").field("pages", &self.pages).finish()
    }
}

/// The window, as where pages come from.
struct Remote {
    node: Rma,
    peer: MacAddr,
    base: u64,
}

impl Source for Remote {
    type Error = Error;

    fn fetch(&self, spans: &[Span]) -> Vec<Result<Vec<u8>, Error>> {
        let read = |span: &Span| self.node.read(self.peer, self.base + span.offset, span.length as u64);
        let under_way: Vec<_> = spans.iter().map(read).collect();
        under_way.into_iter().map(|read| read.wait().map(Vec::from)).collect()
    }

    fn store(&self, writes: Vec<(u64, Vec<u8>)>) -> Result<(), Error> {
        let mut under_way = Vec::new();
        let mut batch: Vec<(u64, Bytes)> = Vec::new();
        let mut room = self.node.longest;
        for (offset, bytes) in writes {
            let addr = self.base + offset;
            let record = size_of::<BatchRecord>() + bytes.len().next_multiple_of(8);
            if record > self.node.longest / 2 {
                under_way.push(self.node.write(self.peer, addr, bytes.into()));
                continue;
            }
            if record > room {
                under_way.push(self.node.write_batch(self.peer, std::mem::take(&mut batch)));
                room = self.node.longest;
            }
            room -= record;
            batch.push((addr, bytes.into()));
        }
        if !batch.is_empty() {
            under_way.push(self.node.write_batch(self.peer, batch));
        }
        // All have to end, whatever becomes of the first.
        let ended: Vec<_> = under_way.into_iter().map(crate::Pending::wait).collect();
        ended.into_iter().collect()
    }
}
