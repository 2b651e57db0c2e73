//! Keys: each of what a key is for changes it, and none is printed.

use std::collections::HashSet;

use rackloom_auth::{Agreement, Bound, CardKey, Direction, PairKey, RackKey, SessionKey};
use zeroize::ZeroizeOnDrop;

const MAC: [u8; 6] = [2, 0x52, 0x4c, 0, 0, 7];
const AGREED: Agreement = Agreement { host_nonce: 0x11, card_nonce: 0x22, boot: 0x33, epoch: 0x44 };

fn rack() -> RackKey {
    RackKey::new(*b"a rack's key, 16")
}

/// Something of a session's key that may be shown.
fn print_of(key: &SessionKey) -> [u8; 16] {
    let bound = Bound { frame: b"frame", boot: 1, direction: Direction::ToCard, counter: 1 };
    key.tag(&bound).expect("it is short").0
}

#[test]
fn keys_of_other_cards_hosts_and_generations_are_others() {
    let cards = [rack().card(MAC, 0), rack().card(MAC, 1), rack().card([2, 0x52, 0x4c, 0, 0, 8], 0)];
    let mut seen: HashSet<[u8; 16]> = [*rack().reveal()].into();
    for card in &cards {
        assert!(seen.insert(*card.reveal()), "two cards have a key");
        for (host, generation) in [(1, 0), (1, 1), (2, 0), (1 << 32, 0)] {
            assert!(seen.insert(*card.host(host, generation).reveal()), "two hosts have a key");
        }
    }
}

#[test]
fn each_field_of_an_agreement_changes_the_session() {
    let pair = rack().card(MAC, 0).host(1, 0);
    let others = [
        AGREED,
        Agreement { host_nonce: 0x12, ..AGREED },
        Agreement { card_nonce: 0x23, ..AGREED },
        Agreement { boot: 0x34, ..AGREED },
        Agreement { epoch: 0x45, ..AGREED },
        // The two nonces are not one number.
        Agreement { host_nonce: 0x22, card_nonce: 0x11, ..AGREED },
    ];
    let mut seen: HashSet<[u8; 16]> = others.iter().map(|agreed| print_of(&pair.session(agreed))).collect();
    assert_eq!(seen.len(), others.len());
    assert!(seen.insert(print_of(&pair.claims())), "a session has the key of claims");
    assert!(seen.insert(print_of(&SessionKey::new(pair.reveal()))), "a pair's key tags by itself");
}

/// So that a card and a host of other builds agree. These came from another implementation, in Python.
#[test]
fn the_derivation_stays_as_it_is() {
    let card = rack().card(MAC, 0);
    let pair = card.host(1, 0);
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert_eq!(hex(card.reveal()), "26bc7a7fc1de918609b357d099c575de");
    assert_eq!(hex(pair.reveal()), "d65cfe393e52194523ba0dc9352db455");
    assert_eq!(hex(&print_of(&pair.claims())), "db2bd9873a534cc7fd32accdf992903c");
    assert_eq!(hex(&print_of(&pair.session(&AGREED))), "badec9b4e3d2e0a2ce5fe85e447d5386");
}

#[test]
fn no_key_is_printed() {
    let card = CardKey::new([0xab; 16]);
    let pair = PairKey::new([0xab; 16]);
    let texts = [format!("{:?}", rack()), format!("{card:?}"), format!("{pair:?}"), format!("{:?}", pair.claims())];
    assert_eq!(texts, ["RackKey(..)", "CardKey(..)", "PairKey(..)", "SessionKey(..)"]);
}

#[test]
fn keys_are_overwritten_when_they_are_dropped() {
    const fn is<K: ZeroizeOnDrop>() {}
    const { (is::<RackKey>(), is::<CardKey>(), is::<PairKey>(), is::<SessionKey>()) };
}
