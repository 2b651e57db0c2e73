//! BLAKE3 of an image whose chunks come in any order.
//!
//! BLAKE3 is a tree: each aligned block of 64 KiB has a chaining value of its own, and the root is made of these. So
//! the digest follows the arrival of blocks, not of a contiguous prefix, and after the last frame only the last block
//! is left to do, also when frames before it had to be repaired. In gateware: one counter and one 32-byte value for
//! each block.

use std::collections::VecDeque;

use blake3::Hasher;
use blake3::hazmat::{ChainingValue, HasherExt, Mode, left_subtree_len, merge_subtrees_non_root, merge_subtrees_root};
use bytes::Bytes;

use crate::gather::gather;

/// The digest of one image under way.
#[derive(Debug)]
pub(crate) struct TreeDigest {
    length: u64,
    chunk: u64,
    /// Chunks that each block still waits for.
    waits: Vec<u16>,
    /// Blocks that are whole and not yet taken in.
    whole: VecDeque<u32>,
    values: Vec<ChainingValue>,
    /// Blocks taken in.
    done: usize,
    root: Option<[u8; 32]>,
}

impl TreeDigest {
    pub(crate) fn new(length: u64, chunk: u64) -> Self {
        let blocks = length.div_ceil(BLOCK);
        let chunks_of = |block: u64| (block_end(block, length) - 1) / chunk - block * BLOCK / chunk + 1;
        let waits: Vec<u16> =
            (0..blocks).map(|b| u16::try_from(chunks_of(b)).expect("at most 1024 chunks of 64 bytes")).collect();
        let values = vec![[0; 32]; waits.len()];
        Self { length, chunk, waits, whole: VecDeque::new(), values, done: 0, root: None }
    }

    /// A chunk has arrived, for the first time. Yields the bytes of the blocks that became whole by it.
    pub(crate) fn arrived(&mut self, index: u32) -> u64 {
        let from = u64::from(index) * self.chunk;
        let last = (from + self.chunk).min(self.length) - 1;
        let mut bytes = 0;
        for block in from / BLOCK..=last / BLOCK {
            let waits = &mut self.waits[block as usize];
            *waits -= 1;
            if *waits == 0 {
                self.whole.push_back(u32::try_from(block).expect("at most 4096 blocks"));
                bytes += block_end(block, self.length) - block * BLOCK;
            }
        }
        bytes
    }

    pub(crate) fn is_behind(&self) -> bool {
        !self.whole.is_empty()
    }

    /// Takes one whole block in; false if there is none.
    pub(crate) fn hash_block(&mut self, slots: &[Bytes]) -> bool {
        let Some(block) = self.whole.pop_front() else { return false };
        let from = u64::from(block) * BLOCK;
        let to = block_end(block.into(), self.length);
        // One piece: the hasher uses all lanes of the processor only on long ones.
        let mut piece = Vec::with_capacity(BLOCK as usize);
        gather(slots, self.chunk as usize, from as usize..to as usize, &mut piece);
        self.done += 1;
        if self.values.len() == 1 {
            self.root = Some(*blake3::hash(&piece).as_bytes());
            return true;
        }
        self.values[block as usize] = Hasher::new().set_input_offset(from).update(&piece).finalize_non_root();
        if self.done == self.values.len() {
            self.root = Some(root(&self.values, self.length));
        }
        true
    }

    /// The digest of the first `length` bytes, with those of the first block as `change` leaves them, once all blocks
    /// are taken in: all values but the first and the last are there already.
    ///
    /// # Panics
    /// If a block is still missing, or `length` is 0 or beyond the end.
    pub(crate) fn of_first(&self, slots: &[Bytes], length: u64, change: impl FnOnce(&mut [u8])) -> [u8; 32] {
        assert!(self.root.is_some() && (1..=self.length).contains(&length));
        let piece = |block: u64| {
            let mut piece = Vec::with_capacity(BLOCK as usize);
            gather(slots, self.chunk as usize, (block * BLOCK) as usize..block_end(block, length) as usize, &mut piece);
            piece
        };
        let mut first = piece(0);
        change(&mut first);
        let last = length.div_ceil(BLOCK) - 1;
        if last == 0 {
            return *blake3::hash(&first).as_bytes();
        }
        let mut values = self.values[..=last as usize].to_vec();
        values[0] = Hasher::new().update(&first).finalize_non_root();
        values[last as usize] = Hasher::new().set_input_offset(last * BLOCK).update(&piece(last)).finalize_non_root();
        root(&values, length)
    }

    pub(crate) const fn root(&self) -> Option<[u8; 32]> {
        self.root
    }

    pub(crate) fn bytes(&self) -> usize {
        self.values.len() * 32 + self.waits.len() * 2 + self.whole.len() * 4
    }
}

/// The root over the values of two blocks or more, `length` bytes.
fn root(values: &[ChainingValue], length: u64) -> [u8; 32] {
    let left = left_blocks(length);
    let (l, r) = values.split_at(left);
    let split = left as u64 * BLOCK;
    *merge_subtrees_root(&subtree(l, split), &subtree(r, length - split), Mode::Hash).as_bytes()
}

/// The chaining value of a subtree of these blocks, `length` bytes.
fn subtree(values: &[ChainingValue], length: u64) -> ChainingValue {
    if let [value] = values {
        return *value;
    }
    let left = left_blocks(length);
    let (l, r) = values.split_at(left);
    let split = left as u64 * BLOCK;
    merge_subtrees_non_root(&subtree(l, split), &subtree(r, length - split), Mode::Hash)
}

/// Blocks in the left half of a tree of more than one block: whole, and a power of two.
fn left_blocks(length: u64) -> usize {
    (left_subtree_len(length) / BLOCK) as usize
}

fn block_end(block: u64, length: u64) -> u64 {
    length.min((block + 1) * BLOCK)
}

/// Bytes of a block: a power of two, long enough for all lanes of a processor, short enough to do between two frames.
const BLOCK: u64 = 64 << 10;
