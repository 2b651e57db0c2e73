//! Whatever happens to an image's bytes, the reader names it and never panics.

use bytes::Bytes;
use proptest::prelude::*;
use rackloom_image::{Image, ImageBuilder, ImageError, Layout, Manifest};

fn manifest() -> Manifest {
    Manifest::from_json(
        br#"{"name":"vadd","version":"1.0","kernels":[{"name":"vadd","args":["a","b","c","i"],"arrays":[
        {"name":"a","dtype":"f32","index":"i","dir":"in"},{"name":"b","dtype":"f32","index":"i","dir":"in"},
        {"name":"c","dtype":"f32","index":"i","dir":"out"}],"tile":{"i":65536}}]}"#,
    )
    .unwrap()
}

fn image() -> Vec<u8> {
    let model = (0..777u32).flat_map(u32::to_le_bytes).collect();
    ImageBuilder::new(manifest()).part("model", model).part("ecp5-85f", vec![7; 64]).build().unwrap()
}

/// Everything a reader looks at.
fn read(bytes: &[u8]) -> Result<(), ImageError> {
    Image::parse(Bytes::copy_from_slice(bytes))?.verify()
}

fn with(change: impl FnOnce(&mut Vec<u8>)) -> ImageError {
    let mut bytes = image();
    change(&mut bytes);
    read(&bytes).unwrap_err()
}

#[test]
fn what_was_built_is_read() {
    let image = Image::parse(image().into()).unwrap();
    assert_eq!(image.manifest(), &manifest());
    assert_eq!(image.part("ecp5-85f").unwrap(), vec![7; 64]);
    assert_eq!(image.part("model").unwrap().len(), 777 * 4);
    assert_eq!(Manifest::from_json(&image.manifest_json()).unwrap(), manifest());
    assert_eq!(image.digest(), *blake3::hash(image.bytes()).as_bytes());
    assert!(image.parts().iter().all(|p| p.range.start % 64 == 0));
    image.verify().unwrap();
}

/// The bytes that gateware relies on, from the format's description.
#[test]
fn header_is_as_documented() {
    let image = image();
    assert_eq!(&image[..16], b"RLIMAGE\0\0\x01\0\x01\0\x02\0\0");
    assert_eq!(u64::from_be_bytes(image[24..32].try_into().unwrap()), image.len() as u64);
    assert_eq!(u64::from_be_bytes(image[32..40].try_into().unwrap()), 64 + 2 * 64);
    assert_eq!(&image[64..80], b"model\0\0\0\0\0\0\0\0\0\0\0");
    assert_eq!(image[192], b'{');
    let length = usize::try_from(u64::from_be_bytes(image[40..48].try_into().unwrap())).unwrap();
    let mut head = image[..48].to_vec();
    head.extend_from_slice(&image[64..192 + length]);
    assert_eq!(image[48..64], blake3::hash(&head).as_bytes()[..16]);
}

#[test]
fn every_truncation_is_named() {
    let image = image();
    for length in 0..image.len() {
        let error = read(&image[..length]).unwrap_err();
        assert!(matches!(error, ImageError::Truncated { .. }), "{length}: {error}");
    }
}

#[test]
fn damage_has_its_name() {
    assert_eq!(with(|b| b.extend_from_slice(&[0; 64])), ImageError::Trailing { extra: 64 });
    assert_eq!(with(|b| b[0] = b'x'), ImageError::Magic);
    assert_eq!(read(b"#!/bin/sh").unwrap_err(), ImageError::Magic);
    assert_eq!(with(|b| b[9] = 2), ImageError::Format { found: 2 });
    assert_eq!(with(|b| b[9] = 2).code_name(), "image-version");
    assert_eq!(with(|b| b[19] = 9), ImageError::Field { found: 9 });
    assert_eq!(with(|b| b[15] = 1), ImageError::Reserved { offset: 15 });
    assert_eq!(with(|b| b[13] = 0), ImageError::PartCount { count: 0 });
    assert_eq!(with(|b| b[13] = 17), ImageError::PartCount { count: 17 });
    assert!(matches!(with(|b| b[24] = 1), ImageError::TooLarge { .. }));
    assert!(matches!(with(|b| b[45] = 2), ImageError::ManifestTooLarge { .. }));
    assert!(matches!(with(|b| b[38] = 9), ImageError::Misplaced { .. }));
    assert_eq!(with(|b| b[193] ^= 1), ImageError::HeadTag);
    assert_eq!(with(|b| b[64] ^= 1), ImageError::HeadTag);
    let model = Image::parse(image().into()).unwrap().parts()[0].range.clone();
    assert_eq!(with(|b| b[model.start] ^= 1), ImageError::PartDigest { target: "model".into() });
    assert_eq!(with(|b| b[model.end] = 1), ImageError::Reserved { offset: model.end });
}

#[test]
fn a_missing_target_and_an_old_shell_are_named() {
    let bytes = ImageBuilder::new(manifest()).shell(3).part("rtl", vec![1]).build().unwrap();
    let layout = Layout::parse(&bytes).unwrap();
    let error = layout.part(&bytes, "model").unwrap_err();
    assert_eq!(error.to_string(), "image has no part for target `model`; it has rtl");
    assert_eq!(error.code_name(), "image-target");
    assert_eq!(layout.check_shell(2), Err(ImageError::Shell { needs: 3, has: 2 }));
    assert_eq!(layout.check_shell(3), Ok(()));
}

#[test]
fn the_builder_refuses_what_a_reader_would() {
    let build = |parts: &[(&str, usize)]| {
        let start = ImageBuilder::new(manifest());
        parts.iter().fold(start, |b, (target, bytes)| b.part(target, vec![0; *bytes])).build().unwrap_err()
    };
    assert_eq!(build(&[]), ImageError::PartCount { count: 0 });
    assert_eq!(build(&[("model", 1), ("model", 1)]), ImageError::Tag { index: 1 });
    assert_eq!(build(&[("Model", 1)]), ImageError::Tag { index: 0 });
    assert_eq!(build(&[("a-tag-of-17-bytes", 1)]), ImageError::Tag { index: 0 });
    assert_eq!(build(&[("signature", 1)]), ImageError::Tag { index: 0 });
    assert!(matches!(build(&[("model", 0)]), ImageError::Misplaced { .. }));
    assert!(matches!(build(&[("model", 256 << 20)]), ImageError::TooLarge { .. }));
    let mut nameless = manifest();
    nameless.name.clear();
    assert!(matches!(ImageBuilder::new(nameless).part("model", vec![1]).build(), Err(ImageError::Manifest(_))));
}

/// Entries that contradict one another get past the tag only if their author made the tag too.
#[test]
fn a_forged_table_is_refused() {
    let forge = |change: &dyn Fn(&mut [u8])| {
        let mut bytes = image();
        change(&mut bytes);
        let manifest_end = 192 + usize::try_from(u64::from_be_bytes(bytes[40..48].try_into().unwrap())).unwrap();
        let mut head = bytes[..48].to_vec();
        head.extend_from_slice(&bytes[64..manifest_end]);
        bytes[48..64].copy_from_slice(&blake3::hash(&head).as_bytes()[..16]);
        read(&bytes).unwrap_err()
    };
    // Overlap: the second part where the first is; far away; a length that overflows; the same tag twice.
    assert!(matches!(forge(&|b| b.copy_within(80..88, 144)), ImageError::Misplaced { .. }));
    assert!(matches!(forge(&|b| b[144..152].fill(0xff)), ImageError::Misplaced { .. }));
    assert!(matches!(forge(&|b| b[152..160].fill(0xff)), ImageError::Truncated { .. }));
    assert!(matches!(forge(&|b| b.copy_within(64..80, 128)), ImageError::Tag { index: 1 }));
    assert!(matches!(forge(&|b| b[70] = b'x'), ImageError::Tag { index: 0 }));
    assert!(matches!(forge(&|b| b[192] = b'['), ImageError::Manifest(_)));
}

proptest! {
    #[test]
    fn any_flipped_bit_is_noticed(at in any::<prop::sample::Index>(), bit in 0..8u32) {
        let mut bytes = image();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        prop_assert!(read(&bytes).is_err());
    }

    #[test]
    fn arbitrary_bytes_never_panic(tail in prop::collection::vec(any::<u8>(), 0..512), keep in 0..400usize) {
        let mut bytes = image();
        bytes.truncate(keep);
        bytes.extend_from_slice(&tail);
        prop_assert!(read(&bytes).is_err());
    }

    #[test]
    fn arbitrary_manifests_never_panic(json in "[\\[\\]{}\":,a-z0-9 ]{0,200}") {
        let _ = Manifest::from_json(json.as_bytes());
    }
}
