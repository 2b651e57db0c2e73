//! Encryption of image data: which masks there are, and what keys of loads are of.
#![allow(missing_docs)]

use rackloom_auth::{Agreement, CardKey, ImageKey, ImagesKey, prf};

const AGREED: Agreement = Agreement { host_nonce: 1, card_nonce: 2, boot: 3, epoch: 4 };
/// Bytes of a chunk.
const CHUNK: usize = 1472;

fn images(agreed: &Agreement) -> ImagesKey {
    CardKey::new([5; 16]).host(7, 0).images(agreed)
}

fn key() -> ImageKey {
    images(&AGREED).load(7, &[9; 32])
}

/// What is added to these bytes.
fn mask(at: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    key().mask(at, &mut bytes);
    bytes
}

#[test]
fn each_place_has_a_mask_of_its_own_that_begins_as_the_published_function() {
    assert_eq!(mask(64, 16), prf(key().reveal(), &64_u64.to_le_bytes()));
    // What is shorter is the beginning of what is longer: an image in other pieces has the same text under it.
    assert_eq!(mask(64, 21), mask(64, CHUNK)[..21]);
    assert!(mask(0, 0).is_empty());
    let masks: Vec<_> = (0..8).map(|chunk| mask(chunk * CHUNK as u64, CHUNK)).collect();
    let mut blocks: Vec<&[u8]> = masks.iter().flat_map(|mask| mask.chunks(16)).collect();
    let count = blocks.len();
    blocks.sort_unstable();
    blocks.dedup();
    assert_eq!((count, blocks.len()), (8 * 92, 8 * 92), "no block comes twice");
}

/// By the card in Python, which has its own implementation: `docs/examples/card/ascon.py`.
#[test]
fn the_second_implementation_has_the_same_key_and_mask() {
    assert_eq!(hex(key().reveal()), "c0247b6a62f7a0789fcfa8d3b6184f6a");
    assert_eq!(
        hex(&mask(0x1_0000_0040, 40)),
        "1fcef2278a5d910409b3c8b50399426ed8e53b02079f095423d051492d6f90d8d45cd50096baabfc"
    );
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn twice_is_as_it_was() {
    let mut text = *b"an image is a secret of some kind, with an end of its own";
    let before = text;
    key().mask(128, &mut text);
    assert!(text.iter().zip(before).filter(|(a, b)| **a == *b).count() < 6);
    key().mask(128, &mut text);
    assert_eq!(text, before);
}

#[test]
fn another_number_digest_or_claim_gives_another_key() {
    assert_eq!(key(), images(&AGREED).load(7, &[9; 32]));
    let mut digest = [9; 32];
    digest[15] ^= 1;
    let others = [
        images(&AGREED).load(8, &[9; 32]),
        images(&AGREED).load(7, &digest),
        images(&Agreement { card_nonce: 3, ..AGREED }).load(7, &[9; 32]),
        CardKey::new([6; 16]).host(7, 0).images(&AGREED).load(7, &[9; 32]),
    ];
    for other in others {
        assert_ne!(other, key());
    }
}

#[test]
fn nothing_shows_a_key() {
    assert_eq!(format!("{:?} {:?}", key(), images(&AGREED)), "ImageKey(..) ImagesKey(..)");
}
