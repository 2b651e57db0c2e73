//! Signatures: what is signed stays what it was, and nothing else counts as signed.

use bytes::Bytes;
use ed25519_dalek::{Verifier as _, VerifyingKey};
use rackloom_image::{Image, ImageBuilder, Layout, Manifest, lay_out};
use rackloom_sign::{
    SIGNATURE_BYTES, SignError, Signature, SignatureError, Signed, SignerKey, sign, signature_of, strip,
};

const MANIFEST: &str = r#"{"name":"role","version":"1","kernels":[{"name":"k","args":[],"arrays":[]}]}"#;
/// The order of the curve's group, least byte first.
const ORDER: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

fn key(n: u8) -> SignerKey {
    SignerKey::new(&[n; 32])
}

fn image(part: &[u8]) -> Image {
    let manifest = Manifest::from_json(MANIFEST.as_bytes()).unwrap();
    let bytes = ImageBuilder::new(manifest).part("model", part.to_vec()).part("rtl", vec![7; 100]).build().unwrap();
    Image::parse(bytes.into()).unwrap()
}

fn signed(part: &[u8]) -> Vec<u8> {
    sign(&image(part), &key(1), 5).unwrap().to_vec()
}

/// The image with another signature's part, its head made to fit.
fn with_part(image: &Image, part: Vec<u8>) -> Vec<u8> {
    let mut parts: Vec<_> =
        image.parts().iter().map(|p| (p.target.clone(), image.part(&p.target).unwrap().to_vec())).collect();
    parts.retain(|(target, _)| target != "signature");
    parts.push(("signature".into(), part));
    lay_out(image.layout().shell, &image.manifest_json(), &parts).unwrap()
}

fn part_of(image: &[u8]) -> Vec<u8> {
    Image::parse(image.to_vec().into()).unwrap().part("signature").unwrap().to_vec()
}

/// Makes the head's tag, and the digest of the signature's part, fit what the bytes now say.
fn cover_up(image: &mut [u8]) {
    let parts = usize::from(u16::from_be_bytes([image[12], image[13]]));
    let digest = *blake3::hash(&image[image.len() - SIGNATURE_BYTES..]).as_bytes();
    let entry_end = 64 + 64 * parts;
    image[entry_end - 32..entry_end].copy_from_slice(&digest);
    let length = usize::try_from(u64::from_be_bytes(image[40..48].try_into().unwrap())).unwrap();
    let mut head = image[..48].to_vec();
    head.extend_from_slice(&image[64..image.len().min(entry_end.saturating_add(length))]);
    image[48..64].copy_from_slice(&blake3::hash(&head).as_bytes()[..16]);
}

#[test]
fn a_signature_can_be_put_on_taken_off_and_put_on_again() {
    let plain = image(&[3; 1000]);
    let once = sign(&plain, &key(1), 5).unwrap();
    assert_eq!(once.len(), plain.bytes().len() + 64 + SIGNATURE_BYTES);
    let Some(Signature { signer, version, .. }) = signature_of(&once).unwrap() else { panic!("it is signed") };
    assert_eq!((signer, version), (key(1).id(), 5));
    let once = Image::parse(once).unwrap();
    once.verify().unwrap();
    assert_eq!(once.part("model").unwrap(), plain.part("model").unwrap());
    assert_eq!(strip(&once).unwrap(), plain.bytes());
    // The newest signature takes the place of the one before, and the same key and version give the same bytes.
    let again = Image::parse(sign(&once, &key(2), u64::MAX).unwrap()).unwrap();
    let Some(Signature { signer, version, .. }) = signature_of(again.bytes()).unwrap() else { panic!("it is signed") };
    assert_eq!((signer, version), (key(2).id(), u64::MAX));
    assert_eq!(sign(&again, &key(1), 5).unwrap(), once.bytes());
    assert_eq!(signature_of(plain.bytes()), Ok(None));
    assert_eq!(sign(&plain, &key(1), 0), Err(SignError::Version));
}

/// A known answer: whoever writes another signer or card can compare.
#[test]
fn the_layout_is_that_of_the_reference() {
    let bytes = signed(b"known");
    let part = part_of(&bytes);
    assert_eq!(&part[..16], b"RLSIGNED\0\x01\0\0\0\0\0\0");
    assert_eq!((&part[16..24], &part[24..32]), (&5u64.to_be_bytes()[..], &[0; 8][..]));
    let covers = bytes.len() - SIGNATURE_BYTES;
    let mut covered = bytes[..covers].to_vec();
    covered[48..64].fill(0);
    covered[64 + 3 * 64 - 32..64 + 3 * 64].fill(0);
    let message = [&part[..64], blake3::hash(&covered).as_bytes()].concat();
    let public = VerifyingKey::from_bytes(&part[32..64].try_into().unwrap()).unwrap();
    public.verify_strict(&message, &part[64..].try_into().unwrap()).unwrap();
    // RFC 8032, 7.1, test 1.
    let secret = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
    let secret: Vec<u8> = (0..32).map(|i| u8::from_str_radix(&secret[2 * i..2 * i + 2], 16).unwrap()).collect();
    let id = SignerKey::new(&secret.try_into().unwrap()).id();
    assert_eq!(id.to_string(), "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
}

/// Whoever changes a byte can also make digests and tags fit, but not the signature.
#[test]
fn no_changed_byte_counts_as_signed() {
    let right = signed(b"a part");
    for at in 0..right.len() {
        for bit in [1, 0x80] {
            let mut changed = right.clone();
            changed[at] ^= bit;
            assert!(!matches!(signature_of(&changed), Ok(Some(_))), "byte {at}");
            let tag = (48..64).contains(&at) || (64 + 3 * 64 - 32..64 + 3 * 64).contains(&at);
            if at >= 16 && !tag {
                cover_up(&mut changed);
                assert!(!matches!(signature_of(&changed), Ok(Some(_))), "byte {at}, covered up");
            }
        }
    }
    let mut same = right.clone();
    cover_up(&mut same);
    assert_eq!(same, right, "covering up what fits already changes nothing");
    for length in 0..right.len() {
        assert!(!matches!(signature_of(&right[..length]), Ok(Some(_))), "{length} bytes");
    }
}

#[test]
fn a_signature_of_another_image_is_wrong_here() {
    let (one, other) = (signed(b"one"), image(b"two"));
    assert_eq!(signature_of(&with_part(&other, part_of(&one))), Err(SignatureError::Wrong));
    let own = Image::parse(one.clone().into()).unwrap();
    assert_eq!(with_part(&own, part_of(&one)), one);
    // Another version under the same signature, and another signer.
    let mut part = part_of(&one);
    part[23] = 6;
    assert_eq!(signature_of(&with_part(&own, part)), Err(SignatureError::Wrong));
    let mut part = part_of(&one);
    part[32..64].copy_from_slice(&key(2).id().0);
    assert_eq!(signature_of(&with_part(&own, part)), Err(SignatureError::Wrong));
}

#[test]
fn a_malformed_signature_has_its_name() {
    let image = image(b"part");
    let right = part_of(&signed(b"part"));
    let malformed = |part: Vec<u8>| match signature_of(&with_part(&image, part)) {
        Err(SignatureError::Malformed(what)) => what,
        other => panic!("{other:?}"),
    };
    let changed = |at: usize, to: u8| {
        let mut part = right.clone();
        part[at] = to;
        part
    };
    for length in [1, 64, 127] {
        assert_eq!(malformed(right[..length].to_vec()), "it has not 128 bytes");
    }
    assert_eq!(malformed([&right[..], &[0]].concat()), "it has not 128 bytes");
    assert_eq!(malformed([&right[..], &right[..]].concat()), "it has not 128 bytes");
    assert_eq!(malformed(changed(0, b'X')), "it is of no form known here");
    assert_eq!(malformed(changed(9, 2)), "it is of no form known here");
    for at in [10, 15, 24, 31] {
        assert_eq!(malformed(changed(at, 1)), "a reserved byte is not zero");
    }
    assert_eq!(malformed(changed(23, 0)), "version 0");
}

#[test]
fn a_second_signature_or_a_part_behind_one_is_refused() {
    let image = Image::parse(signed(b"part").into()).unwrap();
    let part = |target: &str| (target.to_owned(), image.part(target).unwrap().to_vec());
    let lay = |parts: &[(String, Vec<u8>)]| lay_out(1, &image.manifest_json(), parts);
    // The writer does not make them.
    assert!(lay(&[part("signature"), part("model")]).is_err());
    assert!(lay(&[part("model"), part("signature"), part("signature")]).is_err());
    // Made by hand from an image whose second part has a name of the same length.
    let mut late = lay(&[part("model"), ("signaturf".into(), part("signature").1), part("rtl")]).unwrap();
    late[64 + 64 + 8] = b'e';
    retag(&mut late);
    let layout = Layout::parse(&late).unwrap();
    assert_eq!(Signed::find(&layout, |range| late[range].to_vec()), Err(SignatureError::NotLast));
    assert_eq!(signature_of(&late), Err(SignatureError::NotLast));
    let mut twice = lay(&[part("model"), ("signaturf".into(), part("signature").1), part("signature")]).unwrap();
    twice[64 + 64 + 8] = b'e';
    retag(&mut twice);
    // It is no image, so nobody has signed one.
    assert!(Layout::parse(&twice).is_err());
    assert_eq!(signature_of(&twice), Ok(None));
}

/// Makes the head's tag fit.
fn retag(image: &mut [u8]) {
    let parts = usize::from(u16::from_be_bytes([image[12], image[13]]));
    let length = usize::try_from(u64::from_be_bytes(image[40..48].try_into().unwrap())).unwrap();
    let mut head = image[..48].to_vec();
    head.extend_from_slice(&image[64..64 + 64 * parts + length]);
    image[48..64].copy_from_slice(&blake3::hash(&head).as_bytes()[..16]);
}

/// S and S + L are the same number of the group: only one of them may count, or whoever has one signed image makes
/// another with a digest of its own.
#[test]
fn of_a_signature_there_is_one_form() {
    let bytes = signed(b"part");
    let mut part = part_of(&bytes);
    let mut carry = 0;
    for (byte, order) in part[96..].iter_mut().zip(ORDER) {
        let sum = u16::from(*byte) + u16::from(order) + carry;
        (*byte, carry) = (sum as u8, sum >> 8);
    }
    assert_eq!(carry, 0);
    let image = Image::parse(bytes.into()).unwrap();
    assert_eq!(signature_of(&with_part(&image, part)), Err(SignatureError::Wrong));
}

/// Under a key of small order a signature of nothing is right for each message, as far as the loose rule goes.
#[test]
fn a_key_of_small_order_signs_nothing() {
    let mut neutral = [0; 32];
    neutral[0] = 1;
    let mut part = part_of(&signed(b"part"));
    part[32..64].copy_from_slice(&neutral);
    part[64..96].copy_from_slice(&neutral);
    part[96..].fill(0);
    let loose = VerifyingKey::from_bytes(&neutral).unwrap();
    loose.verify(b"anything", &part[64..].try_into().unwrap()).expect("that is why it has to be refused");
    assert_eq!(signature_of(&with_part(&image(b"part"), part)), Err(SignatureError::Key));
    assert!(
        "0100000000000000000000000000000000000000000000000000000000000000".parse::<rackloom_sign::SignerId>().is_err()
    );
}

#[test]
fn an_image_of_sixteen_parts_has_no_room_for_a_signature() {
    let full = |count: usize| {
        let builder = ImageBuilder::new(Manifest::from_json(MANIFEST.as_bytes()).unwrap());
        let parts = (0..count).map(|n| format!("part-{n}"));
        let bytes = parts.fold(builder, |b, name| b.part(&name, vec![1])).build().unwrap();
        sign(&Image::parse(Bytes::from(bytes)).unwrap(), &key(1), 1)
    };
    assert!(full(15).is_ok());
    assert!(matches!(full(16), Err(SignError::Image(_))));
}
