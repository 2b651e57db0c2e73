//! Encryption of image data: what one sends to many is under a key that all of them have.
//!
//! A load's key comes from one that its host shares with one of the members, so nobody has to draw it: a host's core
//! has no random numbers but those of its seed. The others get it under their sessions. It is of the load's number and
//! of the image's digest, so under one key there is one image, and one text at each of its places: what is sent again,
//! or in other pieces, shows nothing.
//!
//! There is no tag. A member believes the image by its digest, which has come under a tag.

use core::fmt;

use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::sponge::{KEY_BYTES, Start, prf};

/// What a claim's keys of loads come from: the host's, and never sent.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct ImagesKey([u8; KEY_BYTES]);

/// What the data of one load is encrypted under.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct ImageKey([u8; KEY_BYTES]);

/// What names the step to a load's key.
const STEP_LOAD: u8 = 7;
/// Bytes of the digest that the key is of.
const DIGEST_BYTES: usize = 16;

impl ImagesKey {
    /// From the bytes that a step of keys has given.
    pub(crate) const fn new(bytes: [u8; KEY_BYTES]) -> Self {
        Self(bytes)
    }

    /// The key of the load with this number, of the image with this digest.
    pub fn load(&self, number: u32, digest: &[u8; 32]) -> ImageKey {
        let mut input = [STEP_LOAD; 1 + 4 + DIGEST_BYTES];
        input[1..5].copy_from_slice(&number.to_le_bytes());
        input[5..].copy_from_slice(&digest[..DIGEST_BYTES]);
        ImageKey(prf(&self.0, &input))
    }
}

impl ImageKey {
    /// From bytes that have come under a session's key.
    pub const fn new(bytes: [u8; KEY_BYTES]) -> Self {
        Self(bytes)
    }

    /// The bytes, to be sent under a session that is encrypted.
    pub const fn reveal(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }

    /// Encrypts the bytes of the image from this place on, where they stand; or decrypts them, which is the same.
    pub fn mask(&self, at: u64, bytes: &mut [u8]) {
        let mut absorber = Start::prf(&self.0).absorb();
        absorber.word(at);
        absorber.mask(bytes);
    }
}

impl PartialEq for ImageKey {
    /// In a time that does not depend on them.
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for ImageKey {}

impl fmt::Debug for ImagesKey {
    /// Not a byte of it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ImagesKey(..)")
    }
}

impl fmt::Debug for ImageKey {
    /// Not a byte of it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ImageKey(..)")
    }
}
