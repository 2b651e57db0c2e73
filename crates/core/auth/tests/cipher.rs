//! Sessions that are encrypted: what is seen of a frame, what of it can be changed, and that no nonce comes twice.

use std::collections::BTreeSet;

use ascon_aead::AsconAead128;
use ascon_aead::aead::{Aead, KeyInit, Payload};
use rackloom_auth::{Agreement, Direction, Opener, PairKey, Refused, Replay, Sealer, Tag, prf};

const BOOT: u32 = 0x1122_3344;
const AGREED: Agreement = Agreement { host_nonce: 5, card_nonce: 6, boot: BOOT, epoch: 7 };
/// Bytes of a frame that stay as they are.
const HEAD: usize = 32;

fn pair_key() -> PairKey {
    PairKey::new(*b"of card and host")
}

fn ends(direction: Direction) -> (Sealer, Opener) {
    let key = pair_key().cipher(&AGREED);
    (Sealer::new(key.clone(), BOOT, direction), Opener::new(key, BOOT, direction))
}

/// A frame with so many bytes of payload.
fn frame(payload: usize) -> Vec<u8> {
    (0..HEAD + payload).map(|at| at as u8 ^ 0x5a).collect()
}

/// The frame as it leaves.
fn sealed(sealer: &mut Sealer, frame: &[u8]) -> (Vec<u8>, u64, Tag) {
    let mut frame = frame.to_vec();
    let (counter, tag) = sealer.seal(&mut frame, HEAD).expect("it is short");
    (frame, counter, tag)
}

/// Key, nonce and associated data written out once more: it is what other implementations read.
#[test]
fn a_frame_is_encrypted_by_a_key_of_its_claim_with_its_head_beside_it() {
    let mut of_key = vec![5];
    of_key.extend(AGREED.host_nonce.to_le_bytes());
    of_key.extend(AGREED.card_nonce.to_le_bytes());
    of_key.extend(BOOT.to_le_bytes());
    of_key.extend(AGREED.epoch.to_le_bytes());
    let cipher = AsconAead128::new(&prf(pair_key().reveal(), &of_key).into());
    for (direction, byte) in [(Direction::ToCard, 0), (Direction::ToHost, 1)] {
        let (mut sealer, _) = ends(direction);
        for counter in 1..5u64 {
            let plain = frame(counter as usize * 11);
            let mut nonce = [0; 16];
            nonce[..4].copy_from_slice(&BOOT.to_le_bytes());
            nonce[4] = byte;
            nonce[8..].copy_from_slice(&counter.to_le_bytes());
            let payload = Payload { msg: &plain[HEAD..], aad: &plain[..HEAD] };
            let wanted = cipher.encrypt(&nonce.into(), payload).unwrap();
            let (made, counted, tag) = sealed(&mut sealer, &plain);
            assert_eq!((&made[..HEAD], counted), (&plain[..HEAD], counter));
            assert_eq!([&made[HEAD..], &tag.0].concat(), wanted);
        }
    }
}

#[test]
fn what_is_sealed_is_opened_once_and_says_what_it_said() {
    let (mut sealer, mut opener) = ends(Direction::ToHost);
    for length in [1, 7, 8, 15, 16, 17, 1408, 8896] {
        let plain = frame(length);
        let (frame, counter, tag) = sealed(&mut sealer, &plain);
        assert_eq!(opener.open(&frame, HEAD, counter, &tag), Ok(Some(plain[HEAD..].to_vec())));
        assert_eq!(opener.open(&frame, HEAD, counter, &tag), Err(Refused::Replay(Replay::Seen(counter))));
    }
    let (frame, counter, tag) = sealed(&mut sealer, &frame(0));
    assert_eq!(opener.open(&frame, HEAD, counter, &tag), Ok(None), "there was nothing to encrypt");
}

/// What may be read by anybody is under the tag nevertheless.
#[test]
fn a_frame_that_stays_open_cannot_be_changed() {
    let (mut sealer, mut opener) = ends(Direction::ToHost);
    let plain = frame(40);
    let mut said = plain.clone();
    let (counter, tag) = sealer.seal(&mut said, plain.len()).unwrap();
    assert_eq!(said, plain);
    for at in 0..said.len() {
        said[at] ^= 1;
        assert_eq!(opener.open(&said, said.len(), counter, &tag), Err(Refused::Tag), "byte {at}");
        said[at] ^= 1;
    }
    // Nor can it be taken for ciphertext.
    assert_eq!(opener.open(&said, HEAD, counter, &tag), Err(Refused::Tag));
    assert_eq!(opener.open(&said, said.len(), counter, &tag), Ok(None));
}

#[test]
fn no_bit_can_be_changed_and_whoever_tries_changes_nothing() {
    let (mut sealer, mut opener) = ends(Direction::ToCard);
    let (mut frame, counter, tag) = sealed(&mut sealer, &frame(100));
    for bit in 0..8 * frame.len() {
        frame[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(opener.open(&frame, HEAD, counter, &tag), Err(Refused::Tag), "bit {bit}");
        frame[bit / 8] ^= 1 << (bit % 8);
    }
    for bit in 0..128 {
        let mut wrong = tag;
        wrong.0[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(opener.open(&frame, HEAD, counter, &wrong), Err(Refused::Tag), "bit {bit}");
    }
    for other in [2, 3, u64::MAX] {
        assert_eq!(opener.open(&frame, HEAD, other, &tag), Err(Refused::Tag));
    }
    for end in HEAD..frame.len() {
        assert_eq!(opener.open(&frame[..end], HEAD, counter, &tag), Err(Refused::Tag), "cut short");
    }
    assert_eq!(opener.open(&frame[..HEAD - 1], HEAD, counter, &tag), Err(Refused::Tag), "shorter than its head");
    assert_eq!(opener.window().newest(), 0);
    assert!(opener.open(&frame, HEAD, counter, &tag).is_ok());
}

#[test]
fn what_is_of_another_claim_boot_direction_or_protection_is_refused() {
    let (_, mut opener) = ends(Direction::ToCard);
    let (card_nonce, host_nonce) = (Agreement { card_nonce: 60, ..AGREED }, Agreement { host_nonce: 50, ..AGREED });
    let key = |agreed: &Agreement| pair_key().cipher(agreed);
    for mut sealer in [
        Sealer::new(key(&card_nonce), BOOT, Direction::ToCard),
        Sealer::new(key(&host_nonce), BOOT, Direction::ToCard),
        Sealer::new(key(&Agreement { epoch: 8, ..AGREED }), BOOT, Direction::ToCard),
        Sealer::new(key(&AGREED), BOOT + 1, Direction::ToCard),
        Sealer::new(key(&AGREED), BOOT, Direction::ToHost),
        Sealer::new(pair_key().session(&AGREED), BOOT, Direction::ToCard),
    ] {
        let (frame, counter, tag) = sealed(&mut sealer, &frame(64));
        assert_eq!(opener.open(&frame, HEAD, counter, &tag), Err(Refused::Tag));
    }
    let (mut sealer, _) = ends(Direction::ToCard);
    let mut opener = Opener::new(pair_key().session(&AGREED), BOOT, Direction::ToCard);
    let (frame, counter, tag) = sealed(&mut sealer, &frame(64));
    assert_eq!(opener.open(&frame, HEAD, counter, &tag), Err(Refused::Tag), "a card that does not encrypt");
}

/// A frame that is sent again, and one that could not be sealed: both use a counter of their own.
#[test]
fn no_counter_comes_twice_whatever_is_sealed() {
    let (mut sealer, mut opener) = ends(Direction::ToCard);
    let plain = frame(64);
    let (mut counters, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for _ in 0..100 {
        assert!(sealer.seal(&mut vec![0; 65536], HEAD).is_none(), "no frame is so long");
        assert!(sealer.seal(&mut [0; HEAD - 1], HEAD).is_none(), "nor so short");
        let (frame, counter, tag) = sealed(&mut sealer, &plain);
        assert!(counters.insert(counter));
        assert!(seen.insert(frame[HEAD..].to_vec()), "the same bytes are other bytes each time");
        assert_eq!(opener.open(&frame, HEAD, counter, &tag), Ok(Some(plain[HEAD..].to_vec())));
    }
    assert_eq!(counters.into_iter().collect::<Vec<_>>(), (1..=100).map(|n| 3 * n).collect::<Vec<_>>());
}
