//! The published vectors of Ascon-MAC and Ascon-PRF, all of them, and how the layers above use the two.

use rackloom_auth::{Bound, Direction, SessionKey, mac, prf};

const MAC: &str = include_str!("vectors/ascon_mac.txt");
const PRF: &str = include_str!("vectors/ascon_prf.txt");

/// The key of all vectors.
const KEY: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

fn message(length: usize) -> Vec<u8> {
    (0x10u8..=0xff).chain(0..0x10).cycle().take(length).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn check(vectors: &str, function: fn(&[u8; 16], &[u8]) -> [u8; 16]) {
    let mut count = 0;
    for (length, wanted) in vectors.lines().filter(|line| !line.starts_with('#')).enumerate() {
        assert_eq!(hex(&function(&KEY, &message(length))), wanted, "{length} bytes");
        count += 1;
    }
    assert_eq!(count, 1025, "messages of 0 to 1024 bytes");
}

#[test]
fn tags_are_those_of_the_published_vectors() {
    check(MAC, mac);
}

#[test]
fn keys_are_those_of_the_published_vectors() {
    check(PRF, prf);
}

/// The layout of what is tagged, written out once more and in another way: it is what other implementations read.
#[test]
fn a_tag_is_the_mac_of_the_frame_and_sixteen_bytes() {
    for length in [0, 1, 7, 8, 9, 31, 32, 33, 1500] {
        let frame = message(length);
        for (direction, byte) in [(Direction::ToCard, 0), (Direction::ToHost, 1)] {
            let mut tagged = frame.clone();
            tagged.resize(length.next_multiple_of(8), 0);
            tagged.extend(0x1122_3344u32.to_le_bytes());
            tagged.extend([byte, 0]);
            tagged.extend((length as u16).to_le_bytes());
            tagged.extend(0x0102_0304_0506_0708u64.to_le_bytes());
            let bound = Bound { frame: &frame, boot: 0x1122_3344, direction, counter: 0x0102_0304_0506_0708 };
            let tag = SessionKey::new(&KEY).tag(&bound).expect("it is short");
            assert_eq!(tag.0, mac(&KEY, &tagged), "{length} bytes {direction:?}");
        }
    }
}
