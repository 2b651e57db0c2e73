//! Memory of past transfers over TCP, kept for the next ones: touching fresh pages costs more than the copy into them.

use std::io;
use std::sync::Arc;

use crate::sys::map::Block;

/// It belongs to one channel alone, so that nobody sees what another has sent.
#[derive(Debug, Default)]
pub(crate) struct Spare(Vec<Arc<Block>>);

/// Bytes that are kept at most.
const BYTES: usize = 64 << 20;
/// Most pieces.
const COUNT: usize = 8;

impl Spare {
    /// Memory of at least `len` bytes, with this channel's last contents.
    pub(crate) fn take(&mut self, len: usize) -> io::Result<Arc<Block>> {
        // A transfer that was forgotten on its way may still have a piece.
        let fits = |b: &Arc<Block>| b.len() >= len && b.len() / 2 <= len && Arc::strong_count(b) == 1;
        match self.0.iter().position(fits) {
            Some(at) => Ok(self.0.swap_remove(at)),
            None => Ok(Arc::new(Block::new(len)?)),
        }
    }

    /// Keeps the memory of a transfer that has ended, in place of older ones if it fits at all.
    pub(crate) fn keep(&mut self, block: &Arc<Block>) {
        if block.len() > BYTES {
            return;
        }
        let mut kept: usize = self.0.iter().map(|b| b.len()).sum();
        while self.0.len() == COUNT || kept + block.len() > BYTES {
            kept -= self.0.remove(0).len();
        }
        self.0.push(Arc::clone(block));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_unless_somebody_still_has_it() {
        let mut spare = Spare::default();
        let block = spare.take(5000).unwrap();
        let at = block.at(0, 1);
        spare.keep(&block);
        assert_ne!(spare.take(5000).unwrap().at(0, 1), at, "it is in use");
        drop(block);
        assert_ne!(spare.take(2000).unwrap().at(0, 1), at, "it is more than twice as long");
        assert_eq!(spare.take(4000).unwrap().at(0, 1), at);
        assert_ne!(spare.take(4000).unwrap().at(0, 1), at, "it is given out once");
    }

    #[test]
    fn what_is_kept_has_a_bound_and_the_newest_stays() {
        let mut spare = Spare::default();
        for len in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10 << 20] {
            spare.keep(&Arc::new(Block::new(len).unwrap()));
        }
        assert!(spare.0.len() == COUNT && spare.0[0].len() == 3);
        spare.keep(&Arc::new(Block::new(60 << 20).unwrap()));
        assert!(spare.0.len() == 1 && spare.0[0].len() == 60 << 20);
        spare.keep(&Arc::new(Block::new(BYTES + 1).unwrap()));
        assert_eq!(spare.0.len(), 1);
    }
}
