//! How fast a host makes tags, on one core, by the functions that were compared:
//!
//! ```sh
//! cargo run --release -p rackloom-auth --example rates          # or: rates MILLISECONDS for each figure, 300
//! ```
//!
//! What is measured is tags of one message in memory, one after the other; one line encrypts as well. A figure is that
//! of the fastest 32 tags in a row: what else the machine does meanwhile makes others slower. AES, ChaCha20, Poly1305
//! and BLAKE3 use what the processor has for them if their crates find it; Ascon uses plain 64-bit words.

use std::hint::black_box;
use std::time::{Duration, Instant};

use aes_gcm::aead::{AeadInOut, KeyInit};
use rackloom_auth::{Bound, Direction, SessionKey};

/// Bytes of a message: a small frame, a standard one and a jumbo one.
const LENGTHS: [usize; 3] = [64, 1500, 9000];
/// Bytes of a frame that are not encrypted.
const HEAD: usize = 32;
const KEY: [u8; 32] = [7; 32];
const BATCH: u64 = 32;

fn main() {
    let time = std::env::args().nth(1).map_or(300, |text| text.parse().expect("a number of milliseconds"));
    let time = Duration::from_millis(time);
    println!("{:28} {:>18} {:>18} {:>18}", "GB/s (ns a tag)", "64 bytes", "1500 bytes", "9000 bytes");

    let ascon = SessionKey::new(&[7; 16]);
    row("Ascon-MAC (rackloom-auth)", time, |frame, counter| {
        let bound = Bound { frame, boot: 1, direction: Direction::ToCard, counter };
        u128::from_le_bytes(ascon.tag(&bound).expect("it is short").0)
    });
    let aead = ascon_aead::AsconAead128::new(&[7; 16].into());
    row("Ascon-AEAD128", time, |frame, counter| tag_by::<_, 16>(&aead, frame, counter));
    row("the same, encrypting", time, |frame, counter| encrypt_by(&aead, frame, counter));
    let aead = chacha20poly1305::ChaCha20Poly1305::new(&KEY.into());
    row("ChaCha20-Poly1305", time, |frame, counter| tag_by::<_, 12>(&aead, frame, counter));
    let aead = aes_gcm::Aes128Gcm::new(&[7; 16].into());
    row("AES-128-GCM", time, |frame, counter| tag_by::<_, 12>(&aead, frame, counter));
    row("BLAKE3 with a key", time, |frame, counter| {
        let mut hasher = blake3::Hasher::new_keyed(&KEY);
        hasher.update(frame).update(&counter.to_le_bytes());
        u128::from_le_bytes(hasher.finalize().as_bytes()[..16].try_into().expect("16 bytes"))
    });
}

/// The tag of a message that is not encrypted.
fn tag_by<A: AeadInOut, const NONCE: usize>(aead: &A, frame: &[u8], counter: u64) -> u128 {
    let mut nonce = [0; NONCE];
    nonce[..8].copy_from_slice(&counter.to_le_bytes());
    let nonce = nonce.as_slice().try_into().expect("the length of its nonces");
    let tag = aead.encrypt_inout_detached(&nonce, frame, (&mut [][..]).into()).expect("it is short");
    u128::from_le_bytes(tag.as_slice().try_into().expect("tags of 16 bytes"))
}

/// The tag of a message but for its head, which is encrypted in a copy: a host keeps what it may have to send again.
fn encrypt_by(aead: &ascon_aead::AsconAead128, frame: &[u8], counter: u64) -> u128 {
    let mut nonce = [0; 16];
    nonce[8..].copy_from_slice(&counter.to_le_bytes());
    let mut copy = frame.to_vec();
    let (head, payload) = copy.split_at_mut(HEAD);
    let tag = aead.encrypt_inout_detached(&nonce.into(), head, payload.into()).expect("it is short");
    black_box(&copy);
    u128::from_le_bytes(tag.into())
}

/// Measures a function and prints its line.
fn row(name: &str, time: Duration, tag: impl Fn(&[u8], u64) -> u128) {
    print!("{name:28}");
    for length in LENGTHS {
        let message = vec![0x5a; length];
        let (mut tags, mut counter, mut best) = (0, 0u64, Duration::MAX);
        let start = Instant::now();
        while start.elapsed() < time {
            let batch = Instant::now();
            for _ in 0..BATCH {
                counter += 1;
                tags ^= tag(black_box(&message), counter);
            }
            best = best.min(batch.elapsed());
        }
        let each = best.as_secs_f64() / BATCH as f64;
        black_box(tags);
        print!(" {:>18}", format!("{:.2} ({:.0})", length as f64 / each / 1e9, each * 1e9));
    }
    println!();
}
