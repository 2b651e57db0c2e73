//! One bit for each chunk.

/// A fixed number of bits, all 0 at first.
#[derive(Debug, Clone)]
pub(crate) struct Bitmap {
    words: Vec<u64>,
    len: u32,
}

impl Bitmap {
    pub(crate) fn new(len: u32) -> Self {
        Self { words: vec![0; len.div_ceil(64) as usize], len }
    }

    pub(crate) fn get(&self, at: u32) -> bool {
        assert!(at < self.len);
        self.words[(at / 64) as usize] >> (at % 64) & 1 == 1
    }

    pub(crate) fn set(&mut self, at: u32) {
        assert!(at < self.len);
        self.words[(at / 64) as usize] |= 1 << (at % 64);
    }

    /// Sets `n` bits from `first` on, word by word.
    pub(crate) fn set_range(&mut self, first: u32, n: u32) {
        let end = first + n;
        assert!(end <= self.len);
        let mut at = first;
        while at < end {
            let in_word = (64 - at % 64).min(end - at);
            let mask = if in_word == 64 { u64::MAX } else { (1 << in_word) - 1 };
            self.words[(at / 64) as usize] |= mask << (at % 64);
            at += in_word;
        }
    }

    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// The bits of a word that stand for something.
    pub(crate) const fn valid(&self, word: usize) -> u64 {
        let rest = self.len - word as u32 * 64;
        if rest >= 64 { u64::MAX } else { (1 << rest) - 1 }
    }

    pub(crate) fn count(&self) -> u32 {
        self.words.iter().map(|w| w.count_ones()).sum()
    }

    pub(crate) const fn bytes(&self) -> usize {
        self.words.len() * 8
    }
}
