//! Bytes that stand in for a bitstream.
//!
//! A kernel's module has some kilobytes, a bitstream of a large FPGA a hundred megabytes. To load an image that behaves
//! like the latter, its part gets a custom section, which WebAssembly engines skip. The bytes look random, as those of
//! a compressed bitstream do, and are always the same.

use rackloom_image::{ImageBuilder, Layout, TARGET_MODEL, TARGET_RTL};

use crate::error::RolecError;
use crate::rtl;

/// Most bytes of a section before its contents: number, length, length of the name, name.
const SECTION_HEAD_MAX: usize = 1 + 5 + 1 + NAME.len();
const NAME: &[u8] = b"ballast";

/// Appends ballast to a module, so that it has exactly `pad_to` bytes.
pub fn pad_part(mut part: Vec<u8>, pad_to: usize) -> Result<Vec<u8>, RolecError> {
    let bytes = part.len();
    if pad_to == bytes {
        return Ok(part);
    }
    let fits = pad_to.checked_sub(bytes).filter(|room| *room >= SECTION_HEAD_MAX);
    let length = fits.map(|room| room - 6).and_then(|length| u32::try_from(length).ok());
    let Some(length) = length else {
        return Err(RolecError::Pad { bytes, pad_to, least: bytes + SECTION_HEAD_MAX });
    };
    part.reserve_exact(pad_to - bytes);
    part.push(0);
    // Always five bytes of LEB128, so that the length of the length does not depend on the length.
    part.extend((0..5).map(|n| ((u64::from(length) >> (7 * n)) & 0x7f) as u8 | if n < 4 { 0x80 } else { 0 }));
    part.push(NAME.len() as u8);
    part.extend_from_slice(NAME);
    let start = part.len();
    part.resize(pad_to, 0);
    blake3::Hasher::new().update(NAME).finalize_xof().fill(&mut part[start..]);
    Ok(part)
}

/// The image with its part for `target`, [`TARGET_MODEL`] or [`TARGET_RTL`], padded to `pad_to` bytes. Other parts, and
/// an image without that part, stay as they are.
pub fn pad_image(image: &[u8], target: &str, pad_to: usize) -> Result<Vec<u8>, RolecError> {
    let layout = Layout::parse(image)?;
    let mut builder = ImageBuilder::new(layout.manifest.clone()).shell(layout.shell);
    for part in &layout.parts {
        let body = layout.part(image, &part.target)?.to_vec();
        let body = match part.target.as_str() {
            tag if tag != target => body,
            TARGET_MODEL => pad_part(body, pad_to)?,
            TARGET_RTL => rtl::repad(&body, &layout.manifest, pad_to)?,
            _ => body,
        };
        builder = builder.part(&part.target, body);
    }
    Ok(builder.build()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &[u8] = b"\0asm\x01\0\0\0";

    #[test]
    fn a_padded_part_has_the_size_and_one_more_section() {
        for pad_to in [EMPTY.len() + SECTION_HEAD_MAX, 1000, 100_000, 3_000_000] {
            let part = pad_part(EMPTY.to_vec(), pad_to).unwrap();
            assert_eq!(part.len(), pad_to);
            assert_eq!(part[..8], *EMPTY);
            assert_eq!(part[8], 0);
            let length = part[9..14].iter().rev().fold(0usize, |sum, byte| sum << 7 | usize::from(byte & 0x7f));
            assert_eq!(14 + length, pad_to);
            assert_eq!(&part[14..22], b"\x07ballast");
        }
        let mut kinds = [false; 256];
        pad_part(EMPTY.to_vec(), 10_000).unwrap()[22..].iter().for_each(|b| kinds[usize::from(*b)] = true);
        assert_eq!(kinds, [true; 256], "every byte value occurs");
    }

    #[test]
    fn a_part_never_shrinks() {
        assert_eq!(pad_part(EMPTY.to_vec(), 8).unwrap(), EMPTY);
        for pad_to in [0, 7, 9, EMPTY.len() + SECTION_HEAD_MAX - 1] {
            assert!(matches!(pad_part(EMPTY.to_vec(), pad_to), Err(RolecError::Pad { bytes: 8, .. })), "{pad_to}");
        }
    }
}
