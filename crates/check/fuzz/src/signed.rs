//! Signed images with a few bytes wrong, with tags and digests that cover up for it, and with parts in other places.

use arbitrary::{Result, Unstructured};
use bytes::Bytes;
use rackloom_image::{Image, lay_out};
use rackloom_sign::{SIGNATURE_BYTES, Signature, SignerKey, sign, signature_of, strip};

use crate::image::{break_one, cover_up, sound};

/// Target: whatever the file, reading its signature does not panic; and nothing counts as signed but what the signer
/// has signed, whoever makes its tags and digests fit.
///
/// # Errors
/// When `u` holds too few bytes.
///
/// # Panics
/// When the reader breaks one of these promises.
pub fn read_signature(u: &mut Unstructured<'_>) -> Result<()> {
    let plain = Image::parse(Bytes::from(sound(u)?)).expect("sound");
    let (key, version) = (SignerKey::new(&u.arbitrary()?), u.int_in_range(1..=u64::MAX)?);
    let right = sign(&plain, &key, version).expect("there is room").to_vec();
    let image = Image::parse(right.clone().into()).expect("sound");
    assert_eq!(strip(&image).expect("sound"), plain.bytes());
    let mut file = if u.arbitrary()? { with_another_part(u, &image)? } else { right.clone() };
    for _ in 0..u.int_in_range(0..=3)? {
        break_one(u, &mut file)?;
    }
    if u.arbitrary()? {
        fit_digest(&mut file);
        cover_up(&mut file);
    }
    match signature_of(&file) {
        Ok(Some(Signature { signer, version: v, .. })) => {
            assert!(file == right, "a changed image counts as signed");
            assert_eq!((signer, v), (key.id(), version));
        }
        Ok(None) => assert!(file != right),
        Err(error) => assert!(file != right && error.to_string().len() <= 64),
    }
    Ok(())
}

/// The image with any bytes, or most of its signature, in the place of its signature.
fn with_another_part(u: &mut Unstructured<'_>, image: &Image) -> Result<Vec<u8>> {
    let parts = image.parts().iter().map(|p| (p.target.clone(), image.part(&p.target).expect("sound").to_vec()));
    let mut parts: Vec<_> = parts.collect();
    let part = &mut parts.last_mut().expect("the signature's").1;
    part.resize(u.int_in_range(1..=2 * SIGNATURE_BYTES)?, 0);
    let at = u.choose_index(part.len())?;
    part[at] = u.arbitrary()?;
    Ok(lay_out(image.layout().shell, &image.manifest_json(), &parts).expect("its parts are those of an image"))
}

/// Makes the table's digest of the last part fit, if that is as long as a signature.
fn fit_digest(file: &mut [u8]) {
    let Some(count) = file.get(12..14).map(|b| usize::from(u16::from_be_bytes([b[0], b[1]]))) else { return };
    let Some(part) = file.len().checked_sub(SIGNATURE_BYTES) else { return };
    let digest = *blake3::hash(&file[part..]).as_bytes();
    if let Some(place) = file.get_mut((32 + 64 * count)..).and_then(|rest| rest.get_mut(..32)) {
        place.copy_from_slice(&digest);
    }
}
