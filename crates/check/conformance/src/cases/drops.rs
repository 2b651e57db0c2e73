//! Every way to be dropped, and that each is counted once.

use rackloom_wire::{CARDS, Counter, FLAG_AUTH, Head, IntoBytes, Kind, MacAddr, Read, Solicit, U32};

use crate::bench::{ASKING, BASE, Bench, CARD, CHUNK, DROPS, GROUP, Out, begin_body, launch_payload};
use crate::images::kernel::BUMP;
use crate::{Specimen, images};

/// Sends one frame, which must be dropped for this reason and no other.
fn dropped<S: Specimen>(bench: &mut Bench<S>, why: Counter, frame: impl Into<bytes::Bytes>) {
    let before = bench.counters();
    bench.frame(frame.into());
    let after = bench.counters();
    for counter in DROPS {
        let n = after[counter as usize] - before[counter as usize];
        assert_eq!(n, u64::from(counter == why), "{counter:?}, where it should be {why:?}");
    }
    assert_eq!(after[0] - before[0], 1 + ASKING.0);
    bench.expect_nothing();
}

/// Faults of a head.
pub fn each_fault_has_its_counter<S: Specimen>() {
    let mut bench = Bench::<S>::claimed();
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
    for length in [1, 5, 8, 11, 13, 16, 24, 31] {
        dropped(b, Counter::DropTruncated, raw(good)[..length].to_vec());
    }
    dropped(b, Counter::DropTruncated, with(17, 200));
    dropped(b, Counter::DropTruncated, with(16, 1));
    dropped(b, Counter::DropVersion, with(14, 0x20));
    dropped(b, Counter::DropKind, with(15, 77));
    dropped(b, Counter::DropAuth, raw(Head { flags: FLAG_AUTH, ..good }));
    dropped(b, Counter::DropMalformed, good.frame(&[&[0]]));
}

/// What cards say is for hosts.
pub fn kinds_that_cards_send_are_not_taken<S: Specimen>() {
    let mut bench = Bench::<S>::claimed();
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
        Kind::SessionWindowSet => vec![0; 24],
        Kind::SessionRouteSet => vec![0; 8],
        Kind::ImageBegin => begin_body(image, CHUNK).as_bytes().to_vec(),
        Kind::ImageData => image[..CHUNK.into()].to_vec(),
        Kind::InputRead => read.as_bytes().to_vec(),
        Kind::ExecLaunch => launch_payload(&[BASE, 1], Out::default()),
        Kind::ExecResultAck => vec![0; 48],
        Kind::ImageConfirmMissing => rackloom_wire::missing_report(2, &[(0, 1), (2, 1)], 0),
        _ => Vec::new(),
    }
}

const fn is_grouped(kind: Kind) -> bool {
    use Kind::{ImageAbort, ImageCommit, ImageConfirmMissing, ImageData, ImagePoll};
    matches!(kind, ImageData | ImagePoll | ImageCommit | ImageAbort | ImageConfirmMissing)
}

/// A payload is exactly what its kind requires, or nothing is done.
pub fn a_payload_of_another_length_is_malformed<S: Specimen>() {
    let image = images::probe(2, 10_000);
    let mut takers: Vec<_> = Kind::ALL.into_iter().filter(|k| !k.is_from_card()).collect();
    takers.push(Kind::ImageConfirmMissing);
    // Any payload up to the frame's end will do for a write.
    takers.retain(|&k| k != Kind::InputWrite);
    let mut bench = Bench::<S>::with_role();
    bench.begin(2, &image, CHUNK);
    bench.poll(1, u32::MAX);
    bench.launch_with(1, BUMP, &[BASE, 1], Out { go: 1, ..Out::default() });
    bench.clear();
    for kind in takers {
        let good = good_payload(kind, &image);
        let mut wrong: Vec<Vec<u8>> = (0..good.len()).map(|n| good[..n].to_vec()).collect();
        if kind != Kind::ImageConfirmMissing {
            wrong.push([&good[..], &[0]].concat());
        }
        // Around the ends of words and of the payload itself.
        wrong.retain(|w| w.len() <= 9 || w.len() % 97 == 0 || w.len().abs_diff(good.len()) == 1);
        let mut head = if is_grouped(kind) { bench.group_head(kind, 1, 0) } else { bench.head(kind, 1, 0) };
        if kind == Kind::ImageConfirmMissing {
            head.src = MacAddr([2, 0, 0, 0, 0, 2]);
        }
        let before = bench.counters();
        let count = wrong.len() as u64;
        for payload in wrong {
            bench.frame(head.frame(&[&payload]));
        }
        let after = bench.counters();
        for counter in DROPS {
            let wanted = if counter == Counter::DropMalformed { count } else { 0 };
            assert_eq!(after[counter as usize] - before[counter as usize], wanted, "{counter:?} of {}", kind.name());
        }
        bench.expect_nothing();
    }
}

/// And what is exactly that is taken.
pub fn a_payload_of_the_right_length_is_not_malformed<S: Specimen>() {
    let image = images::probe(2, 10_000);
    for kind in Kind::ALL.into_iter().filter(|k| !k.is_from_card()) {
        let mut bench = Bench::<S>::claimed();
        bench.begin(2, &image, CHUNK);
        let head = if is_grouped(kind) { bench.group_head(kind, 1, 0) } else { bench.head(kind, 1, 0) };
        bench.frame(head.frame(&[&good_payload(kind, &image)]));
        assert_eq!(bench.count(Counter::DropMalformed), 0, "{}", kind.name());
    }
}

/// The protocol's most arguments are 32.
pub fn launches_with_more_arguments_than_any_kernel_takes_are_malformed<S: Specimen>() {
    let mut bench = Bench::<S>::with_role();
    let payload = launch_payload(&[0; 33], Out::default());
    let head = bench.head(Kind::ExecLaunch, 1, 0);
    dropped(&mut bench, Counter::DropMalformed, head.frame(&[&payload]));
}

/// A network repeats frames: what was done once is not done again.
pub fn every_frame_may_come_twice<S: Specimen>() {
    let image = images::probe(2, 10_000);
    for kind in Kind::ALL.into_iter().filter(|k| !k.is_from_card()) {
        let state = |copies: usize| {
            let mut bench = Bench::<S>::with_role();
            bench.begin(2, &image, CHUNK);
            let head = if is_grouped(kind) { bench.group_head(kind, 1, 0) } else { bench.head(kind, 1, 0) };
            let addr = if matches!(kind, Kind::InputWrite | Kind::InputRead) { BASE } else { 0 };
            let payload = if kind == Kind::InputWrite { vec![3; 8] } else { good_payload(kind, &image) };
            for _ in 0..copies {
                bench.frame(Head { addr, ..head }.frame(&[&payload]));
            }
            bench.pass_ms(1);
            let counters = bench.counters();
            use Counter::{Claims, ImageChunks, KernelsDone, Launches, Writes};
            let counts = [Writes, Launches, KernelsDone, Claims, ImageChunks].map(|c| counters[c as usize]);
            let facts = bench.facts();
            (facts.state, facts.owner, facts.digest, bench.word(BASE), counts)
        };
        assert_eq!(state(1), state(2), "{}", kind.name());
    }
}
