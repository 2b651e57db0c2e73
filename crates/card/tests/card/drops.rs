//! Every way to be dropped, and that each is counted once.

use rackloom_wire::{CARDS, Counter, FLAG_AUTH, Head, IntoBytes, Kind, MacAddr, Read, Solicit, U32};

use crate::bench::{BASE, Bench, CARD, GROUP, HOST, Out, begin_body, launch_payload};
use crate::native;

/// Sends one frame, which must be dropped for this reason and no other.
fn dropped(bench: &mut Bench, why: Counter, frame: impl Into<bytes::Bytes>) {
    let (all, one) = (bench.card.counters().drops(), bench.count(why));
    bench.frame(frame.into());
    assert_eq!(bench.card.counters().drops(), all + 1);
    assert_eq!(bench.count(why), one + 1, "not counted as {why:?}");
    bench.expect_nothing();
}

#[test]
fn each_fault_has_its_counter() {
    let mut bench = Bench::claimed();
    let b = &mut bench;
    let good = b.head(Kind::SessionPing, 1, 0);
    let raw = |head: Head| head.frame(&[]).to_vec();
    let with = |at: usize, value: u8| {
        let mut frame = raw(good);
        frame[at] = value;
        frame
    };
    for dst in [MacAddr([2, 0, 0, 0, 0, 9]), MacAddr([1, 0, 0x5e, 0, 0, 1]), MacAddr::group(GROUP), MacAddr::ZERO] {
        dropped(b, Counter::DropForeign, raw(Head { dst, ..good }));
    }
    // From ourselves, from a group; unicast matters that went to many.
    for src in [CARD, CARDS] {
        dropped(b, Counter::DropForeign, raw(Head { src, ..good }));
    }
    for dst in [CARDS, MacAddr::BROADCAST] {
        dropped(b, Counter::DropForeign, raw(Head { dst, ..good }));
    }
    dropped(b, Counter::DropForeign, with(12, 8));
    for length in [0, 5, 11, 13, 31] {
        dropped(b, Counter::DropTruncated, raw(good)[..length].to_vec());
    }
    dropped(b, Counter::DropTruncated, with(17, 200));
    dropped(b, Counter::DropVersion, with(14, 0x20));
    dropped(b, Counter::DropKind, with(15, 77));
    dropped(b, Counter::DropAuth, raw(Head { flags: FLAG_AUTH, ..good }));
    dropped(b, Counter::DropMalformed, good.frame(&[&[0]]));
    assert_eq!(b.count(Counter::RxFrames), 1 + b.card.counters().drops());
}

#[test]
fn kinds_that_cards_send_are_not_taken() {
    let mut bench = Bench::claimed();
    for kind in Kind::ALL.into_iter().filter(|k| k.is_from_card()) {
        let head = bench.head(kind, 1, 0);
        dropped(&mut bench, Counter::DropKind, head.frame(&[&[0; 104]]));
    }
}

/// A payload that each kind takes.
fn good_payload(kind: Kind, image: &[u8]) -> Vec<u8> {
    let read = Read { length: U32::new(8), reserved: U32::ZERO };
    let window = Solicit { window_us: U32::ZERO, reserved: U32::ZERO };
    match kind {
        Kind::DiscoverySolicit | Kind::ImagePoll => window.as_bytes().to_vec(),
        Kind::SessionClaim => vec![0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 19, 136, 0, 0, 0, 0],
        Kind::SessionRelease => vec![0; 8],
        Kind::ImageBegin => begin_body(image, 1472).as_bytes().to_vec(),
        Kind::ImageData => image[..1472].to_vec(),
        Kind::InputRead => read.as_bytes().to_vec(),
        Kind::ExecLaunch => launch_payload(&[BASE], Out::default()),
        Kind::ExecResultAck => vec![0; 48],
        Kind::ImageConfirmMissing => rackloom_wire::missing_report(2, &[(0, 1), (2, 1)], 0),
        _ => Vec::new(),
    }
}

#[test]
fn a_payload_of_another_length_is_malformed() {
    let image = native::image(b"role", 10_000);
    let mut takers: Vec<_> = Kind::ALL.into_iter().filter(|k| !k.is_from_card()).collect();
    takers.push(Kind::ImageConfirmMissing);
    // Any payload up to the frame's end will do for a write.
    takers.retain(|&k| k != Kind::InputWrite);
    for kind in takers {
        let good = good_payload(kind, &image);
        let mut wrong: Vec<Vec<u8>> = (0..good.len()).map(|n| good[..n].to_vec()).collect();
        if kind != Kind::ImageConfirmMissing {
            wrong.push([&good[..], &[0]].concat());
        }
        if good.len() > 200 {
            wrong.retain(|w| w.len() % 97 == 0 || w.len().abs_diff(good.len()) == 1);
        }
        let mut bench = Bench::with_role();
        bench.begin(2, &image, 1472);
        bench.poll(1, u32::MAX);
        bench.launch(1, native::COUNT, &[BASE]);
        bench.pass_ms(1);
        let grouped = matches!(
            kind,
            Kind::ImageData | Kind::ImagePoll | Kind::ImageCommit | Kind::ImageAbort | Kind::ImageConfirmMissing
        );
        let mut head = if grouped { bench.group_head(kind, 1, 0) } else { bench.head(kind, 1, 0) };
        if kind == Kind::ImageConfirmMissing {
            head.src = MacAddr([2, 0, 0, 0, 0, 2]);
        }
        for payload in wrong {
            bench.clear();
            dropped(&mut bench, Counter::DropMalformed, head.frame(&[&payload]));
        }
        let drops = bench.count(Counter::DropMalformed);
        bench.frame(head.frame(&[&good]));
        assert_eq!(bench.count(Counter::DropMalformed), drops, "{}", kind.name());
    }
}

#[test]
fn launches_with_more_arguments_than_any_kernel_takes_are_malformed() {
    let mut bench = Bench::with_role();
    let payload = launch_payload(&[0; 33], Out::default());
    let head = bench.head(Kind::ExecLaunch, 1, 0);
    dropped(&mut bench, Counter::DropMalformed, head.frame(&[&payload]));
}

#[test]
fn every_frame_may_come_twice() {
    let image = native::image(b"role", 10_000);
    for kind in Kind::ALL.into_iter().filter(|k| !k.is_from_card()) {
        let state = |copies: usize| {
            let mut bench = Bench::with_role();
            bench.begin(2, &image, 1472);
            let group = matches!(kind, Kind::ImageData | Kind::ImagePoll | Kind::ImageCommit | Kind::ImageAbort);
            let head = if group { bench.group_head(kind, 1, 0) } else { bench.head(kind, 1, 0) };
            let addr = if matches!(kind, Kind::InputWrite | Kind::InputRead) { BASE } else { 0 };
            let payload = if kind == Kind::InputWrite { vec![3; 8] } else { good_payload(kind, &image) };
            for _ in 0..copies {
                bench.frame(Head { addr, ..head }.frame(&[&payload]));
            }
            bench.pass_ms(1);
            let card = &bench.card;
            let counts =
                [Counter::Writes, Counter::Launches, Counter::KernelsDone, Counter::Claims, Counter::ImageChunks];
            let counts = counts.map(|c| bench.count(c));
            (card.state(), card.epoch(), card.owner(), card.active_digest(), bench.word(BASE), counts)
        };
        assert_eq!(state(1), state(2), "{}", kind.name());
        assert_eq!(state(1), state(3), "{}", kind.name());
    }
    assert_eq!(HOST.to_string(), "02:00:00:00:09:09");
}
