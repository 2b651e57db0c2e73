//! Received messages, in one buffer that is reused.

use crate::control::RESERVED;

/// Messages in the order they were sent. Reuse a batch: receiving into it soon stops allocating.
#[derive(Debug, Default)]
pub struct Batch {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    kind: u32,
    start: usize,
    len: usize,
}

impl Batch {
    /// An empty batch.
    #[must_use]
    pub const fn new() -> Self {
        Self { bytes: Vec::new(), entries: Vec::new() }
    }

    /// Number of messages; at most 256 after one `recv`.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Kind and body of the message at `index`.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<(u32, &[u8])> {
        self.entries.get(index).map(|e| (e.kind, &self.bytes[e.start..e.start + e.len]))
    }

    /// Kinds and bodies of all messages, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[u8])> {
        self.entries.iter().map(|e| (e.kind, &self.bytes[e.start..e.start + e.len]))
    }

    /// Removes all messages and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
    }

    /// Adds a message of `len` bytes, whose body `fill` writes.
    pub(crate) fn push_with(&mut self, kind: u32, len: usize, fill: impl FnOnce(&mut [u8])) {
        let start = self.bytes.len();
        self.bytes.resize(start + len, 0);
        fill(&mut self.bytes[start..]);
        self.entries.push(Entry { kind, start, len });
    }

    /// Removes messages of reserved kinds and passes each to `control`, until that fails.
    pub(crate) fn split_control<E>(&mut self, mut control: impl FnMut(u32, &[u8]) -> Result<(), E>) -> Result<(), E> {
        if self.entries.iter().all(|e| e.kind < RESERVED) {
            return Ok(());
        }
        let bytes = &self.bytes;
        let mut result = Ok(());
        self.entries.retain(|e| {
            if e.kind < RESERVED {
                return true;
            }
            if result.is_ok() {
                result = control(e.kind, &bytes[e.start..e.start + e.len]);
            }
            false
        });
        result
    }
}

/// Most messages of one batch.
pub(crate) const BATCH_MAX: usize = 256;

/// A batch ends with the message that reaches this many bytes.
pub(crate) const BATCH_BYTES: usize = 128 * 1024;
