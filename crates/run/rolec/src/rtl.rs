//! The `rtl` part of an image: the stream from which a card configures its role region.
//!
//! Big-endian words of 64 bits: the magic number; role id, number of kernels, flags; clock and length; how many
//! arguments each of 64 kernels takes, a byte each; data of any kind; and in the last word the CRC-32 of all before it.
//! On a device with partial reconfiguration the data is the vendor's bitstream. Where roles are built in, in the
//! Verilated card and on boards without partial reconfiguration, the id says which one is meant.

use rackloom_image::{IMAGE_BYTES_MAX, KERNELS_MAX, Manifest};
use serde::Deserialize;

use crate::error::RolecError;

/// First bytes of the part.
pub const RTL_MAGIC: [u8; 8] = *b"RLRTL\0\0\x01";
/// Bytes of a part with the least data, four bytes.
pub const RTL_BYTES_MIN: usize = 8 * 12;
/// Bytes before the data, and of the CRC-32 behind it.
const HEAD_BYTES: usize = 24 + KERNELS_MAX;
const CHECK_BYTES: usize = 4;

/// What `role.toml` says of the role in gateware, in its table `rtl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Rtl {
    /// Number of the role, 1 to 65535.
    pub id: u16,
    /// Its clock, kHz.
    #[serde(default = "clock_default")]
    pub clock_khz: u32,
}

/// The part for a role, padded with ballast to `pad_to` bytes.
///
/// # Errors
/// If `pad_to` is less than the part needs, or no multiple of 8.
pub fn rtl_part(rtl: Rtl, manifest: &Manifest, pad_to: Option<usize>) -> Result<Vec<u8>, RolecError> {
    rtl_part_of(rtl, &args(manifest), pad_to)
}

/// How many arguments each kernel takes.
pub(crate) fn args(manifest: &Manifest) -> Vec<u8> {
    manifest.kernels.iter().map(|k| k.args.len() as u8).collect()
}

/// The same for a role whose kernels take this many arguments each.
///
/// # Errors
/// Those of [`rtl_part`].
///
/// # Panics
/// If there are more than [`KERNELS_MAX`] kernels.
pub fn rtl_part_of(rtl: Rtl, args: &[u8], pad_to: Option<usize>) -> Result<Vec<u8>, RolecError> {
    let bytes = pad_to.unwrap_or(RTL_BYTES_MIN);
    if bytes < RTL_BYTES_MIN || !bytes.is_multiple_of(8) || u32::try_from(bytes / 8).is_err() {
        return Err(RolecError::PadRtl { pad_to: bytes, least: RTL_BYTES_MIN });
    }
    let mut data = vec![0; bytes - HEAD_BYTES - CHECK_BYTES];
    let ballast = data.len() - CHECK_BYTES;
    blake3::Hasher::new().update(b"ballast").finalize_xof().fill(&mut data[..ballast]);
    Ok(with_data(rtl, args, &data))
}

/// The part whose data is this bitstream. Behind it come bytes `ff`, of which devices take no notice.
///
/// # Errors
/// If the bitstream is empty or larger than any image.
///
/// # Panics
/// If there are more than [`KERNELS_MAX`] kernels.
pub fn rtl_part_with(rtl: Rtl, args: &[u8], bitstream: &[u8]) -> Result<Vec<u8>, RolecError> {
    if bitstream.is_empty() || bitstream.len() > IMAGE_BYTES_MAX {
        return Err(RolecError::Bitstream { bytes: bitstream.len() });
    }
    let mut data = bitstream.to_vec();
    while !(HEAD_BYTES + data.len() + CHECK_BYTES).is_multiple_of(8) {
        data.push(0xff);
    }
    Ok(with_data(rtl, args, &data))
}

fn with_data(rtl: Rtl, args: &[u8], data: &[u8]) -> Vec<u8> {
    assert!(args.len() <= KERNELS_MAX);
    let bytes = HEAD_BYTES + data.len() + CHECK_BYTES;
    let words = u32::try_from(bytes / 8).expect("the caller has checked it");
    let mut part = Vec::with_capacity(bytes);
    part.extend_from_slice(&RTL_MAGIC);
    part.extend_from_slice(&u32::from(rtl.id).to_be_bytes());
    part.extend_from_slice(&(args.len() as u16).to_be_bytes());
    part.extend_from_slice(&[0; 2]);
    part.extend_from_slice(&rtl.clock_khz.to_be_bytes());
    part.extend_from_slice(&words.to_be_bytes());
    part.extend_from_slice(args);
    part.resize(HEAD_BYTES, 0);
    part.extend_from_slice(data);
    let check = crc32fast::hash(&part);
    part.extend_from_slice(&check.to_be_bytes());
    assert_eq!(part.len(), bytes);
    part
}

/// The part again, padded to `pad_to` bytes.
pub(crate) fn repad(part: &[u8], manifest: &Manifest, pad_to: usize) -> Result<Vec<u8>, RolecError> {
    let word = |at: usize| u32::from_be_bytes(part[at..at + 4].try_into().expect("four bytes"));
    if part.len() < RTL_BYTES_MIN || part[..8] != RTL_MAGIC {
        return Err(RolecError::PadRtl { pad_to, least: RTL_BYTES_MIN });
    }
    let id = u16::try_from(word(8)).map_err(|_| RolecError::PadRtl { pad_to, least: RTL_BYTES_MIN })?;
    rtl_part(Rtl { id, clock_khz: word(16) }, manifest, Some(pad_to))
}

/// 156.25 MHz: a word of 64 bits a cycle is 10 Gb/s.
const fn clock_default() -> u32 {
    156_250
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_these_bytes() {
        let json = br#"{"name": "x", "version": "1", "kernels": [{"name": "f", "args": ["n", "m"], "scalars":
            [{"name": "n", "dtype": "u64"}, {"name": "m", "dtype": "u64"}]}, {"name": "g", "args": []}]}"#;
        let manifest = Manifest::from_json(json).unwrap();
        let part = rtl_part(Rtl { id: 3, clock_khz: 156_250 }, &manifest, None).unwrap();
        assert_eq!(part[..8], *b"RLRTL\0\0\x01");
        assert_eq!(part[8..24], [0, 0, 0, 3, 0, 2, 0, 0, 0, 2, 0x62, 0x5a, 0, 0, 0, 12]);
        assert_eq!(part[24..28], [2, 0, 0, 0]);
        // The check value of CRC-32 over all but itself.
        assert_eq!(crc32fast::hash(&part[..92]).to_be_bytes(), part[92..]);
        let large = repad(&part, &manifest, 8000).unwrap();
        assert_eq!((large.len(), &large[..20], &large[24..88]), (8000, &part[..20], &part[24..88]));
        let bitstream = [7; 21];
        let loaded = rtl_part_with(Rtl { id: 3, clock_khz: 156_250 }, &[2, 0], &bitstream).unwrap();
        assert_eq!((loaded.len(), &loaded[..20], &loaded[24..88]), (120, &part[..20], &part[24..88]));
        assert_eq!((loaded[20..24].to_vec(), &loaded[88..109]), (vec![0, 0, 0, 15], &bitstream[..]));
        assert_eq!(loaded[109..116], [0xff; 7]);
        assert_eq!(crc32fast::hash(&loaded[..116]).to_be_bytes(), loaded[116..]);
        assert!(matches!(
            rtl_part_with(Rtl { id: 3, clock_khz: 1 }, &[], &[]),
            Err(RolecError::Bitstream { bytes: 0 })
        ));
        for pad_to in [0, 88, 97] {
            assert!(matches!(repad(&part, &manifest, pad_to), Err(RolecError::PadRtl { .. })));
        }
    }
}
