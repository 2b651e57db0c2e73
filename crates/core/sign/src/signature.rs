//! The signature of an image: its bytes, what it covers, and whether it is right.

use core::ops::Range;

use ed25519_dalek::Signature as Bytes64;
use rackloom_image::{ENTRY_BYTES, HEADER_BYTES, Layout, TAG_AT, TARGET_SIGNATURE};

use crate::{SignerId, SignerKey};

/// A signature as it stands in an image's part.
///
/// ```text
///   0   8  magic `RLSIGNED`
///   8   2  form, 1
///  10   6  zero
///  16   8  version, 1 or more
///  24   8  zero
///  32  32  the signer's public key
///  64  64  Ed25519 over bytes 0 to 63 and the digest of what is covered
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Who signed.
    pub signer: SignerId,
    /// The image's version, as its signer counts.
    pub version: u64,
    bytes: [u8; 64],
}

/// Why a signature does not count, whoever made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The part is not of the form that [`Signature`] gives.
    #[error("its signature is malformed: {0}")]
    Malformed(&'static str),
    /// The part is not the last one, so that it does not cover the whole image.
    #[error("another part follows its signature")]
    NotLast,
    /// The key is no point of the curve, or one of small order.
    #[error("its signer's key is none that one signer alone can have")]
    Key,
    /// The signature is not of these bytes by this signer.
    #[error("its signature is not of this image")]
    Wrong,
}

/// An image's signature, and where what it covers is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// The signature. Nothing has been checked but its form.
    pub signature: Signature,
    /// How many bytes it covers, from the image's first on.
    pub covers: usize,
    /// Where the part table has the digest of the signature's part.
    entry_digest: Range<usize>,
}

/// Bytes of a signature's part.
pub const SIGNATURE_BYTES: usize = 128;
const MAGIC: [u8; 8] = *b"RLSIGNED";
const FORM: u16 = 1;
/// Bytes of the part that are signed.
const STATED: usize = 64;

impl Signature {
    /// Reads a part.
    ///
    /// # Errors
    /// If it has not this form.
    pub fn parse(part: &[u8]) -> Result<Self, SignatureError> {
        let wrong = |what| Err(SignatureError::Malformed(what));
        let Ok(part) = <&[u8; SIGNATURE_BYTES]>::try_from(part) else { return wrong("it has not 128 bytes") };
        let (stated, bytes) = part.split_at(STATED);
        let version = u64::from_be_bytes(stated[16..24].try_into().expect("8 bytes"));
        if stated[..8] != MAGIC || stated[8..10] != FORM.to_be_bytes() {
            return wrong("it is of no form known here");
        }
        if stated[10..16].iter().chain(&stated[24..32]).any(|b| *b != 0) {
            return wrong("a reserved byte is not zero");
        }
        if version == 0 {
            return wrong("version 0");
        }
        let signer = SignerId(stated[32..].try_into().expect("32 bytes"));
        Ok(Self { signer, version, bytes: bytes.try_into().expect("64 bytes") })
    }

    /// The part.
    pub fn to_bytes(&self) -> [u8; SIGNATURE_BYTES] {
        let mut part = [0; SIGNATURE_BYTES];
        part[..STATED].copy_from_slice(&stated(self.signer, self.version));
        part[STATED..].copy_from_slice(&self.bytes);
        part
    }

    /// Signs an image of which `digest` is the digest of what is covered.
    pub(crate) fn make(key: &SignerKey, version: u64, digest: &[u8; 32]) -> Self {
        let signer = key.id();
        Self { signer, version, bytes: key.sign(&message(signer, version, digest)) }
    }

    /// Checks that its signer has signed an image of which `digest` is the digest of what is covered.
    ///
    /// The strict rules apply: of one signature there is one form, and keys of small order are refused.
    ///
    /// # Errors
    /// [`SignatureError::Key`] and [`SignatureError::Wrong`].
    pub fn verify(&self, digest: &[u8; 32]) -> Result<(), SignatureError> {
        let key = self.signer.key().ok_or(SignatureError::Key)?;
        let message = message(self.signer, self.version, digest);
        key.verify_strict(&message, &Bytes64::from_bytes(&self.bytes)).map_err(|_| SignatureError::Wrong)
    }
}

impl Signed {
    /// The signature of the image that is laid out so; `None` if it has none. `read` fetches ranges of the image.
    ///
    /// # Errors
    /// The part is not the last one, or not of a signature's form.
    pub fn find(layout: &Layout, read: impl FnOnce(Range<usize>) -> Vec<u8>) -> Result<Option<Self>, SignatureError> {
        let Some(index) = layout.parts.iter().position(|p| p.target == TARGET_SIGNATURE) else { return Ok(None) };
        if index + 1 != layout.parts.len() {
            return Err(SignatureError::NotLast);
        }
        let place = layout.parts[index].range.clone();
        if place.len() != SIGNATURE_BYTES {
            return Err(SignatureError::Malformed("it has not 128 bytes"));
        }
        let entry_end = HEADER_BYTES + (index + 1) * ENTRY_BYTES;
        let covers = place.start;
        let signature = Signature::parse(&read(place))?;
        Ok(Some(Self { signature, covers, entry_digest: entry_end - 32..entry_end }))
    }

    /// Sets to zero what of the image's first bytes depends on the signature. `first` holds at least the part table.
    pub fn blank(&self, first: &mut [u8]) {
        first[TAG_AT..HEADER_BYTES].fill(0);
        first[self.entry_digest.clone()].fill(0);
    }

    /// The digest of what the signature covers. `image` is the whole image.
    pub fn digest(&self, image: &[u8]) -> [u8; 32] {
        let (head, rest) = image[..self.covers].split_at(self.entry_digest.end);
        let mut head = head.to_vec();
        self.blank(&mut head);
        *blake3::Hasher::new().update(&head).update(rest).finalize().as_bytes()
    }
}

fn stated(signer: SignerId, version: u64) -> [u8; STATED] {
    let mut stated = [0; STATED];
    stated[..8].copy_from_slice(&MAGIC);
    stated[8..10].copy_from_slice(&FORM.to_be_bytes());
    stated[16..24].copy_from_slice(&version.to_be_bytes());
    stated[32..].copy_from_slice(&signer.0);
    stated
}

fn message(signer: SignerId, version: u64, digest: &[u8; 32]) -> [u8; STATED + 32] {
    let mut message = [0; STATED + 32];
    message[..STATED].copy_from_slice(&stated(signer, version));
    message[STATED..].copy_from_slice(digest);
    message
}
