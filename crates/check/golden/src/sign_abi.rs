//! The functions of signatures as C sees them: the rules are those of [`abi`](crate::abi).
#![allow(unsafe_code)]
#![allow(clippy::missing_safety_doc)] // It is the same for all, there.

use rackloom_image::Image;
use rackloom_sign::{SIGNATURE_BYTES, Signature, SignatureError, SignerKey, sign};

use crate::Fault;
use crate::abi::answer;
use crate::buffers::{bytes, put, value};

/// Whether a signature's part is right for what is covered, of which this is the digest: 0; 1 if its key is none that
/// one signer alone can have; 2 if it is not of that digest. A part that is malformed is refused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_signature(part: *const [u8; SIGNATURE_BYTES], digest: *const [u8; 32]) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for both.
        let (part, digest) = unsafe { (value(part)?, value(digest)?) };
        let signature = Signature::parse(part).map_err(|_| Fault::Refused)?;
        match signature.verify(digest) {
            Ok(()) => Ok(0),
            Err(SignatureError::Key) => Ok(1),
            Err(_) => Ok(2),
        }
    })
}

/// The public key of a signer, of 32 bytes, by the secret one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_signer(secret: *const [u8; 32], out: *mut u8, room: usize) -> i64 {
    // SAFETY: the caller vouches for both buffers.
    answer(|| unsafe { put(&SignerKey::new(value(secret)?).id().0, out, room) })
}

/// The image with this signer's signature. Bytes that are no image are refused, and so is version 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_sign(
    secret: *const [u8; 32],
    version: u64,
    image: *const u8,
    len: usize,
    out: *mut u8,
    room: usize,
) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the key and both buffers.
        unsafe {
            let image = Image::parse(bytes(image, len)?.to_vec().into()).map_err(|_| Fault::Refused)?;
            put(&sign(&image, &SignerKey::new(value(secret)?), version).map_err(|_| Fault::Refused)?, out, room)
        }
    })
}
