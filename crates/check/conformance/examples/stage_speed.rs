//! How fast cards on one core take in, hash and activate an image:
//! `cargo run --release -p rackloom-conformance --example stage_speed [cards] [megabytes] [chunk]`.
//! No switch and no host in between: the upper bound for a live rack.
#![allow(clippy::print_stdout)]

use std::sync::Arc;
use std::time::Instant as Clock;

use rackloom_card::{Card, Config, Pace};
use rackloom_node::{Frame, Instant, Node, Output};
use rackloom_rack::Maker;
use rackloom_wire::{self as wire, Head, IntoBytes, Kind, MacAddr};

const HOST: MacAddr = MacAddr([2, 0, 0, 0, 0xff, 1]);
const GROUP: u16 = 7;

fn main() {
    let numbers: Vec<u64> = std::env::args().skip(1).map(|a| a.parse().expect("a number")).collect();
    let cards = numbers.first().copied().unwrap_or(20) as u8;
    let megabytes = numbers.get(1).copied().unwrap_or(97);
    let chunk = numbers.get(2).map_or(wire::BULK_STANDARD, |&n| u16::try_from(n).expect("a chunk"));
    let image = rackloom_builtin_roles::padded("ptrans", megabytes as usize * 1_000_000);
    let sandbox = Arc::clone(Maker::shared().sandbox());
    let mut rack: Vec<Card> = (0..cards)
        .map(|i| {
            let mac = MacAddr([2, 0, 0, 0, 0, i]);
            Card::new(Config { bulk: chunk, ..Config::new(mac, Pace::Live) }, sandbox.clone()).expect("a card")
        })
        .collect();
    let begin = wire::ImageBegin {
        length: (image.len() as u64).into(),
        chunk: chunk.into(),
        group: GROUP.into(),
        members: u32::from(cards).into(),
        digest: *blake3::hash(&image).as_bytes(),
    };
    let claim = wire::Claim { nonce: 1.into(), lease_ms: 60_000.into(), group: 0.into(), scrub: 0, beats: 0 };
    for card in &mut rack {
        let dst = card.config().mac;
        let head = Head { dst, src: HOST, kind: Kind::SessionClaim, flags: 0, epoch: 0, seq: 1, addr: 0 };
        give(card, &head.frame(&[claim.as_bytes()]));
        let epoch = card.epoch().expect("claimed");
        give(card, &Head { kind: Kind::ImageBegin, epoch, ..head }.frame(&[begin.as_bytes()]));
    }
    let (dst, src) = (MacAddr::group(GROUP), HOST);
    let head = Head { dst, src, kind: Kind::ImageData, flags: 0, epoch: GROUP, seq: 0, addr: 0 };
    let frames: Vec<Frame> = image
        .chunks(chunk.into())
        .enumerate()
        .map(|(i, piece)| Head { addr: i as u64 * u64::from(chunk), ..head }.frame(&[piece]))
        .collect();

    let copied = Clock::now();
    let copies: Vec<Vec<u8>> = (0..3).map(|_| image.clone()).collect();
    let copy = copied.elapsed() / 3;
    assert!(copies.iter().all(|c| c.len() == image.len()));
    drop(copies);

    let (last, most) = frames.split_last().expect("an image has chunks");
    let began = Clock::now();
    for frame in most {
        for card in &mut rack {
            give(card, frame);
        }
    }
    let arrived = began.elapsed();
    for card in &mut rack {
        give(card, last);
        // Blocks that the last frames made whole, the check of the image, and the compilation, once.
        for _ in 0..4 {
            card.handle_timeout(Instant::ZERO);
        }
    }
    let staged = began.elapsed();
    for card in &mut rack {
        give(card, &Head { kind: Kind::ImageCommit, ..head }.frame(&[]));
        assert_eq!(card.active_digest(), Some(begin.digest));
    }
    let active = began.elapsed();
    println!("{cards} cards, {} bytes in chunks of {chunk}", image.len());
    for (what, time) in [("taken in and hashed", arrived), ("checked and prepared", staged), ("active", active)] {
        let seconds = time.as_secs_f64();
        let gigabits = image.len() as f64 * f64::from(cards) * 8.0 / seconds / 1e9;
        println!("{what:<21} {seconds:8.3} s  {gigabits:6.1} Gb/s summed");
    }
    println!("one copy of the image {:8.3} s", copy.as_secs_f64());
}

fn give(card: &mut Card, frame: &Frame) {
    card.handle_frame(Instant::ZERO, 0, frame.clone());
    while let Some(output) = card.poll(Instant::ZERO) {
        drop::<Output<_>>(output);
    }
}
