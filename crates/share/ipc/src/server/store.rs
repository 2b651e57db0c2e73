//! What a client has under way over TCP: transfers in both directions, and memory for the next ones.

use std::collections::{BTreeMap, VecDeque};

use crate::error::Closed;
use crate::limits::Limits;
use crate::spare::Spare;

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
    /// Memory of past transfers of this client.
    pub(super) spare: Spare,
    pub(super) closed: Option<Closed>,
}

impl<T> Default for Store<T> {
    fn default() -> Self {
        let (incoming, outgoing) = (BTreeMap::new(), VecDeque::new());
        Self { bytes: 0, count: 0, incoming, outgoing, spare: Spare::default(), closed: None }
    }
}

impl<T> Store<T> {
    pub(super) fn has_room(&self, limits: &Limits, len: u64) -> bool {
        self.count < limits.bulk_count_max && len <= limits.bulk_bytes_max.saturating_sub(self.bytes)
    }

    pub(super) const fn add(&mut self, len: u64) {
        self.bytes += len;
        self.count += 1;
    }
}
