//! Which chunks of an image are still to be sent.

/// The chunks of an image that one pass of a load sends.
#[derive(Debug)]
pub(crate) struct Chunks {
    bits: Vec<u64>,
    chunks: u32,
    pub(crate) left: u32,
    cursor: usize,
}

impl Chunks {
    /// All of an image of so many chunks.
    pub(crate) fn all(chunks: u32) -> Self {
        let mut t = Self { bits: vec![0; chunks.div_ceil(64) as usize], chunks, left: 0, cursor: 0 };
        t.add(0, chunks);
        t
    }

    /// Adds chunks; what lies beyond the image is a card's mistake and is left out.
    pub(crate) fn add(&mut self, first: u32, count: u32) {
        for c in first..first.saturating_add(count).min(self.chunks) {
            let (word, bit) = (c as usize / 64, 1 << (c % 64));
            self.left += u32::from(self.bits[word] & bit == 0);
            self.bits[word] |= bit;
        }
        self.cursor = 0;
    }

    /// Takes the first that is left.
    pub(crate) fn take(&mut self) -> Option<u32> {
        while self.cursor < self.bits.len() {
            let word = self.bits[self.cursor];
            if word == 0 {
                self.cursor += 1;
                continue;
            }
            let bit = word.trailing_zeros();
            self.bits[self.cursor] &= word - 1;
            self.left -= 1;
            return Some((self.cursor as u32) * 64 + bit);
        }
        None
    }
}
