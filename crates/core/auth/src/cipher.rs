//! Encryption of frames: Ascon-AEAD128 of NIST SP 800-232, whose tag takes the place of the MAC's.
//!
//! Two frames under one key and one nonce would show how they differ, and who knows one would read the other. So a
//! nonce is made here alone, of a counter that a [`crate::Sealer`] counts up and that nothing sets back; and a key is
//! of one claim, by nonces that both sides have drawn for it.

use alloc::vec::Vec;
use core::fmt;

use ascon_aead::AsconAead128;
use ascon_aead::aead::{AeadInOut, KeyInit};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::sponge::KEY_BYTES;
use crate::tag::{Direction, Tag};

/// Bytes of a nonce.
const NONCE_BYTES: usize = 16;

/// A key that encrypts and tags frames.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct CipherKey([u8; KEY_BYTES]);

/// What no two frames of a key have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn {
    /// The card's boot number.
    pub(crate) boot: u32,
    /// Where the frame goes.
    pub(crate) direction: Direction,
    /// Of the frame, among those of its direction.
    pub(crate) counter: u64,
}

impl Turn {
    /// Boot number, direction, three zeros and counter: numbers are little-endian.
    fn nonce(self) -> [u8; NONCE_BYTES] {
        let mut nonce = [0; NONCE_BYTES];
        nonce[..4].copy_from_slice(&self.boot.to_le_bytes());
        nonce[4] = u8::from(self.direction == Direction::ToHost);
        nonce[8..].copy_from_slice(&self.counter.to_le_bytes());
        nonce
    }
}

impl CipherKey {
    /// From the bytes that a step of keys has given.
    pub(crate) const fn new(bytes: [u8; KEY_BYTES]) -> Self {
        Self(bytes)
    }

    /// Encrypts `secret` where it stands; the tag binds `open` as well. `None` if it is longer than any frame.
    pub(crate) fn encrypt(&self, turn: Turn, open: &[u8], secret: &mut [u8]) -> Option<Tag> {
        let cipher = AsconAead128::new(&self.0.into());
        let tag = cipher.encrypt_inout_detached(&turn.nonce().into(), open, secret.into()).ok()?;
        Some(Tag(tag.into()))
    }

    /// What was encrypted, if tag, nonce and `open` are those of its sender.
    pub(crate) fn decrypt(&self, turn: Turn, open: &[u8], secret: &[u8], tag: &Tag) -> Option<Vec<u8>> {
        let cipher = AsconAead128::new(&self.0.into());
        let mut plain = secret.to_vec();
        // Nothing of it is to be seen unless its tag is right: what is wrong is gone with the buffer.
        cipher
            .decrypt_inout_detached(&turn.nonce().into(), open, plain.as_mut_slice().into(), &tag.0.into())
            .is_ok()
            .then_some(plain)
    }
}

impl fmt::Debug for CipherKey {
    /// Not a byte of it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CipherKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;

    use super::*;

    const VECTORS: &str = include_str!("../tests/vectors/ascon_aead128.txt");

    /// So many bytes that count up from the first one, as the vectors have them.
    fn count<const N: usize>(first: u8) -> [u8; N] {
        core::array::from_fn(|at| first + at as u8)
    }

    /// Their nonce is none that a turn gives: this is the function below.
    #[test]
    fn ciphertexts_are_those_of_the_published_vectors() {
        let (key, nonce): ([u8; KEY_BYTES], [u8; NONCE_BYTES]) = (count(0), count(0x10));
        let (texts, beside): ([u8; 32], [u8; 32]) = (count(0x20), count(0x30));
        let cipher = AsconAead128::new(&key.into());
        let mut vectors = VECTORS.lines().filter(|line| !line.starts_with('#'));
        for text in 0..=texts.len() {
            for open in 0..=beside.len() {
                let mut secret = texts[..text].to_vec();
                let tag = cipher
                    .encrypt_inout_detached(&nonce.into(), &beside[..open], secret.as_mut_slice().into())
                    .unwrap();
                let made: String = secret.iter().chain(tag.iter()).map(|byte| format!("{byte:02x}")).collect();
                assert_eq!(vectors.next(), Some(&*made), "{text} bytes, {open} open");
            }
        }
        assert_eq!(vectors.next(), None);
    }

    #[test]
    fn a_turn_is_a_nonce_of_its_own() {
        let turn = Turn { boot: 0x0403_0201, direction: Direction::ToHost, counter: 0x0807_0605_0403_0201 };
        assert_eq!(turn.nonce(), [1, 2, 3, 4, 1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
        for other in
            [Turn { boot: 1, ..turn }, Turn { direction: Direction::ToCard, ..turn }, Turn { counter: 1, ..turn }]
        {
            assert_ne!(other.nonce(), turn.nonce());
        }
    }
}
