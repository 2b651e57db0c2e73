//! Signing an image, and reading who signed one.

use bytes::Bytes;
use rackloom_image::{Image, ImageError, Layout, TARGET_SIGNATURE, lay_out};

use crate::SignerKey;
use crate::signature::{SIGNATURE_BYTES, Signature, SignatureError, Signed};

/// Why an image cannot be signed.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SignError {
    /// The parts are damaged, or there is no room for one more.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// Versions begin with 1.
    #[error("a signed image's version is 1 or more")]
    Version,
}

/// The image with this signature in place of any that it had. The same input gives the same bytes.
///
/// # Errors
/// If a part is damaged, if there are 16 besides the signature's, or for version 0.
pub fn sign(image: &Image, key: &SignerKey, version: u64) -> Result<Bytes, SignError> {
    if version == 0 {
        return Err(SignError::Version);
    }
    let mut parts = parts(image)?;
    // What is covered does not depend on the signature's bytes, only on their number.
    let stand_in = Signature::make(key, version, &[0; 32]);
    parts.push((TARGET_SIGNATURE.into(), stand_in.to_bytes().to_vec()));
    let laid_out = lay(image, &parts)?;
    let layout = Layout::parse(&laid_out)?;
    let signed =
        Signed::find(&layout, |range| laid_out[range].to_vec()).expect("it is of its form").expect("it is there");
    let signature = Signature::make(key, version, &signed.digest(&laid_out));
    parts.last_mut().expect("the signature's").1 = signature.to_bytes().to_vec();
    assert_eq!(signature.to_bytes().len(), SIGNATURE_BYTES);
    Ok(lay(image, &parts)?)
}

/// The image without its signature: what was signed, byte for byte.
///
/// # Errors
/// If a part is damaged.
pub fn strip(image: &Image) -> Result<Bytes, ImageError> {
    lay(image, &parts(image)?)
}

/// Who signed an image, and which version, once the signature is known to be right; `None` if nobody did, also of bytes
/// that are no image.
///
/// # Errors
/// There is a signature, and it is not right.
pub fn signature_of(image: &[u8]) -> Result<Option<Signature>, SignatureError> {
    let Ok(layout) = Layout::parse(image) else { return Ok(None) };
    let Some(signed) = Signed::find(&layout, |range| image[range].to_vec())? else { return Ok(None) };
    signed.signature.verify(&signed.digest(image))?;
    Ok(Some(signed.signature))
}

/// The parts but the signature.
fn parts(image: &Image) -> Result<Vec<(String, Vec<u8>)>, ImageError> {
    let kept = image.parts().iter().filter(|p| p.target != TARGET_SIGNATURE);
    kept.map(|p| Ok((p.target.clone(), image.part(&p.target)?.to_vec()))).collect()
}

fn lay(image: &Image, parts: &[(String, Vec<u8>)]) -> Result<Bytes, ImageError> {
    lay_out(image.layout().shell, &image.manifest_json(), parts).map(Bytes::from)
}
