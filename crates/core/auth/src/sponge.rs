//! Ascon-MAC and Ascon-PRF on the permutation of the `ascon` crate.
//!
//! Both are by Ascon's authors (Dobraunig, Eichlseder, Mendel, Schläffer: "Ascon PRF, MAC, and Short-Input MAC"), here
//! with the byte order of NIST SP 800-232. No crate that we know has them; what is ours is how words are absorbed, and
//! the published vectors check that. Neither branches nor looks anything up by a key or by what is tagged.

use zeroize::{Zeroize, ZeroizeOnDrop};

/// Bytes of a key.
pub const KEY_BYTES: usize = 16;
/// Bytes of a tag.
pub const TAG_BYTES: usize = 16;

const IV_MAC: u64 = 0x0010_2000_80cc_0005;
const IV_PRF: u64 = 0x0010_2000_00cc_0006;
/// What the last word is changed by before the last permutation.
const ENDS: u64 = 1 << 63;
/// Words that are absorbed before each permutation.
const BLOCK: usize = 4;

/// A key's state after its first permutation: as secret as the key, and what messages begin with.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Start([u64; 5]);

impl Start {
    /// For tags.
    pub(crate) fn mac(key: &[u8; KEY_BYTES]) -> Self {
        Self::of(IV_MAC, key)
    }

    /// For keys.
    pub(crate) fn prf(key: &[u8; KEY_BYTES]) -> Self {
        Self::of(IV_PRF, key)
    }

    fn of(iv: u64, key: &[u8; KEY_BYTES]) -> Self {
        let mut state = [iv, word(&key[..8]), word(&key[8..]), 0, 0];
        ascon::permute12(&mut state);
        Self(state)
    }

    pub(crate) fn absorb(&self) -> Absorber {
        Absorber { state: self.0, at: 0 }
    }
}

/// A message under way: whole words so far.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Absorber {
    state: [u64; 5],
    /// Where the next word goes; below [`BLOCK`].
    at: usize,
}

impl Absorber {
    pub(crate) fn word(&mut self, word: u64) {
        self.state[self.at] ^= word;
        self.at += 1;
        if self.at == BLOCK {
            ascon::permute12(&mut self.state);
            self.at = 0;
        }
    }

    /// These bytes, and zeros up to a whole word.
    pub(crate) fn padded(&mut self, bytes: &[u8]) {
        let rest = self.words(bytes);
        if !rest.is_empty() {
            self.word(word(rest));
        }
    }

    /// The words of these bytes; gives the rest, fewer than 8.
    fn words<'a>(&mut self, mut bytes: &'a [u8]) -> &'a [u8] {
        // A block at a time where one begins: on a host this is most of the work.
        while self.at == 0 && bytes.len() >= 8 * BLOCK {
            let (block, after) = bytes.split_at(8 * BLOCK);
            for (to, from) in self.state.iter_mut().zip(block.chunks_exact(8)) {
                *to ^= word(from);
            }
            ascon::permute12(&mut self.state);
            bytes = after;
        }
        let (words, rest) = bytes.as_chunks::<8>();
        for bytes in words {
            self.word(u64::from_le_bytes(*bytes));
        }
        rest
    }

    /// The message ends with these bytes, fewer than 8.
    fn end(&mut self, rest: &[u8]) {
        self.state[self.at] ^= word(rest) ^ 1 << (8 * rest.len());
        self.state[4] ^= ENDS;
        ascon::permute12(&mut self.state);
    }

    /// What is to be seen of the state once the message has ended.
    fn shown(&self) -> [u8; TAG_BYTES] {
        let mut out = [0; TAG_BYTES];
        out[..8].copy_from_slice(&self.state[0].to_le_bytes());
        out[8..].copy_from_slice(&self.state[1].to_le_bytes());
        out
    }

    /// The message ends with these bytes, fewer than 8.
    pub(crate) fn finish(mut self, rest: &[u8]) -> [u8; TAG_BYTES] {
        self.end(rest);
        self.shown()
    }

    /// The message has ended: as much of the output as there are bytes is added to them, bit by bit.
    pub(crate) fn mask(mut self, bytes: &mut [u8]) {
        self.end(&[]);
        let mut blocks = bytes.chunks_mut(TAG_BYTES).peekable();
        while let Some(block) = blocks.next() {
            block.iter_mut().zip(self.shown()).for_each(|(byte, mask)| *byte ^= mask);
            if blocks.peek().is_some() {
                ascon::permute12(&mut self.state);
            }
        }
    }
}

/// Up to 8 bytes as a word, the first one lowest.
fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// Ascon-MAC of a message of any bytes.
pub fn mac(key: &[u8; KEY_BYTES], message: &[u8]) -> [u8; TAG_BYTES] {
    whole(&Start::mac(key), message)
}

/// The first 16 bytes of Ascon-PRF: a key that nobody who lacks `key` can tell from a random one.
pub fn prf(key: &[u8; KEY_BYTES], input: &[u8]) -> [u8; KEY_BYTES] {
    whole(&Start::prf(key), input)
}

fn whole(start: &Start, message: &[u8]) -> [u8; TAG_BYTES] {
    let mut absorber = start.absorb();
    let rest = absorber.words(message);
    absorber.finish(rest)
}
