//! What a client has under way over TCP: transfers in both directions, and memory for the next ones.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::error::Closed;
use crate::limits::Limits;
use crate::sys::map::Block;

/// Transfers are `T`.
#[derive(Debug)]
pub(super) struct Store<T> {
    /// Bytes held in transfers of both directions.
    pub(super) bytes: u64,
    pub(super) count: usize,
    /// Complete transfers from the client, until they are taken.
    pub(super) incoming: BTreeMap<u64, T>,
    /// Transfers to the client, until they are written.
    pub(super) outgoing: VecDeque<T>,
    /// Memory of past transfers, kept for the next ones: touching fresh pages costs more than the copy into them. It
    /// belongs to this client alone, so that no client sees what another has sent.
    spare: Vec<Arc<Block>>,
    pub(super) closed: Option<Closed>,
}

impl<T> Default for Store<T> {
    fn default() -> Self {
        let (incoming, outgoing) = (BTreeMap::new(), VecDeque::new());
        Self { bytes: 0, count: 0, incoming, outgoing, spare: Vec::new(), closed: None }
    }
}

impl<T> Store<T> {
    pub(super) fn has_room(&self, limits: &Limits, len: u64) -> bool {
        self.count < limits.bulk_count_max && len <= limits.bulk_bytes_max.saturating_sub(self.bytes)
    }

    /// Memory of at least `len` bytes, with this client's last contents.
    pub(super) fn block(&mut self, len: usize) -> std::io::Result<Arc<Block>> {
        let fits = |b: &Arc<Block>| b.len() >= len && b.len() / 2 <= len && Arc::strong_count(b) == 1;
        match self.spare.iter().position(fits) {
            Some(at) => Ok(self.spare.swap_remove(at)),
            None => Ok(Arc::new(Block::new(len)?)),
        }
    }

    /// Keeps the memory of a transfer that has ended, if there is not enough already.
    pub(super) fn keep(&mut self, block: &Arc<Block>) {
        let kept: usize = self.spare.iter().map(|b| b.len()).sum();
        if kept + block.len() <= SPARE_BYTES && self.spare.len() < SPARE_COUNT {
            self.spare.push(Arc::clone(block));
        }
    }

    pub(super) const fn add(&mut self, len: u64) {
        self.bytes += len;
        self.count += 1;
    }
}

/// Bytes of memory kept for a client's next transfers.
const SPARE_BYTES: usize = 64 << 20;
/// Most pieces of such memory.
const SPARE_COUNT: usize = 8;
