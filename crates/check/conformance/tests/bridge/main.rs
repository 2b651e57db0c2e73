//! The bridge of a card: nodes use its memory as far as the owner opens it, by the same frames whatever runs the card.

mod lab;
mod remote;
mod shares;
mod streams;

use bytes::Bytes;
use lab::{BASE, LENGTH, Lab, node};
use rackloom_bridge::{Atomic, Failure, Rights};
use rackloom_conformance::images::kernel::BUMP;
use rackloom_host::Outcome;
use rackloom_node::{Duration, Rng};
use rackloom_rack::{AnyCard, Kind};
use rackloom_sim::{Faults, Span};
use rackloom_wire::bridge::BridgeStatus;
use rackloom_wire::{Counter, ErrorCode, MacAddr};

/// What a request came to.
type Ended = Result<Bytes, Failure>;

const ALL: Rights = Rights::from_bits(7).unwrap();

fn refused(status: BridgeStatus) -> Ended {
    Err(Failure::Refused(status))
}

fn done() -> Ended {
    Ok(Bytes::new())
}

pub(crate) fn lossy() -> Faults {
    Faults {
        duplicate: 0.05,
        reorder: 0.02,
        delay: Some(Span::new(Duration::from_micros(1), Duration::from_micros(40))),
        ..Faults::loss(0.03)
    }
}

/// Reads, writes, atomic operations and batches, many at once, beside a copy of what memory must be.
fn uses_memory(kind: Kind, faults: Faults, rounds: usize) -> Vec<u8> {
    let mut lab = Lab::new(kind, 1, faults);
    assert_eq!(lab.window(3, node(0), BASE, LENGTH, ALL), ErrorCode::Ok);
    let mut rng = Rng::new(11);
    let mut copy = vec![0u8; LENGTH as usize];
    for round in 0..rounds {
        let mut wanted = Vec::new();
        for _ in 0..8 {
            let most = if rng.chance(0.3) { 1408 } else { 80 };
            let length = 1 + rng.below(most) as usize;
            let at = rng.below(LENGTH - length as u64) as usize;
            let addr = BASE + at as u64;
            let eight = at / 8 * 8;
            let was = u64::from_be_bytes(copy[eight..eight + 8].try_into().unwrap());
            let old = Bytes::copy_from_slice(&was.to_be_bytes());
            let ticket = match rng.below(6) {
                0 | 1 => {
                    let bytes: Vec<u8> = (0..length).map(|i| (round + i * 7) as u8).collect();
                    copy[at..at + length].copy_from_slice(&bytes);
                    let ticket = lab.ask(0, |node, now| node.write(now, lab::CARD, addr, bytes.into()));
                    (ticket, Bytes::new())
                }
                2 | 3 => {
                    let there = Bytes::copy_from_slice(&copy[at..at + length]);
                    (lab.ask(0, |node, now| node.read(now, lab::CARD, addr, length as u32)), there)
                }
                4 => {
                    let (new, more) = (was.wrapping_add(u64::MAX - 5), Atomic::FetchAdd(u64::MAX - 5));
                    copy[eight..eight + 8].copy_from_slice(&new.to_be_bytes());
                    (lab.ask(0, |node, now| node.atomic(now, lab::CARD, BASE + eight as u64, more)), old)
                }
                _ => {
                    let hits = rng.chance(0.5);
                    let swap = Atomic::CompareSwap { expected: if hits { was } else { !was }, new: 42 };
                    if hits {
                        copy[eight..eight + 8].copy_from_slice(&42u64.to_be_bytes());
                    }
                    (lab.ask(0, |node, now| node.atomic(now, lab::CARD, BASE + eight as u64, swap)), old)
                }
            };
            wanted.push((ticket.0.expect("there is room"), ticket.1));
        }
        for (ticket, bytes) in wanted {
            assert_eq!(lab.answer(ticket), Ok(bytes), "round {round}");
        }
    }
    let records = [(BASE + 8, &b"first"[..]), (BASE + 8192, b"second"), (BASE + 9, b"w")];
    assert_eq!(lab.result(0, |node, now| node.write_batch(now, lab::CARD, &records)), done());
    copy[8..13].copy_from_slice(b"fwrst");
    copy[8192..8198].copy_from_slice(b"second");
    assert!(lab.bytes(BASE, copy.len()) == copy, "memory is not what was written");
    if !faults.any() {
        assert_eq!(lab.counter(Counter::DropForeign), 0, "the bridge's frames are not foreign");
        assert_eq!(lab.counter(Counter::BridgeDenied), 0);
        assert_eq!(lab.counter(Counter::BridgeResent), 0);
        assert!(lab.counter(Counter::BridgeRx) >= rounds as u64 && lab.counter(Counter::BridgeTx) >= rounds as u64);
    } else {
        assert!(lab.counter(Counter::BridgeDropDuplicate) > 0, "nothing came twice");
        assert!(lab.counter(Counter::BridgeResent) > 0, "nothing was sent again");
    }
    copy
}

#[test]
fn a_node_uses_memory() {
    assert_eq!(uses_memory(Kind::Rtl, Faults::NONE, 20), uses_memory(Kind::Model, Faults::NONE, 20));
}

#[test]
fn a_node_uses_memory_over_a_bad_cable() {
    assert_eq!(uses_memory(Kind::Rtl, lossy(), 25), uses_memory(Kind::Model, lossy(), 25));
}

/// What nodes get that keep to no bounds, step by step.
fn hostile(kind: Kind) -> Vec<Ended> {
    let mut lab = Lab::new(kind, 2, Faults::NONE);
    let rw = Rights::READ | Rights::WRITE;
    let mut got = Vec::new();
    let mut expect = |what: &str, is: Ended, should: Ended| {
        assert_eq!(is, should, "{kind:?}: {what}");
        got.push(is);
    };
    let no = || refused(BridgeStatus::NoWindow);
    expect("nothing is open", lab.read(0, BASE, 8), Err(Failure::Unreachable));
    assert_eq!(lab.window(0, node(0), BASE, 4096, rw), ErrorCode::Ok);
    assert_eq!(lab.window(1, node(0), BASE + 8192, 64, Rights::READ), ErrorCode::Ok);
    expect("inside", lab.write(0, BASE + 4088, b"together"), done());
    expect("the same", lab.read(0, BASE + 4088, 8), Ok(Bytes::from_static(b"together")));
    expect("over the end", lab.write(0, BASE + 4089, b"together"), no());
    expect("before the beginning", lab.read(0, BASE - 1, 2), no());
    expect("between windows", lab.read(0, BASE + 4096, 1), no());
    expect("far off", lab.read(0, u64::MAX - 7, 8), no());
    expect("beyond 2^64", lab.read(0, u64::MAX, 8), no());
    expect("the role's own memory", lab.write(0, 0, b"x"), no());
    expect("a write where reads are", lab.write(0, BASE + 8192, b"x"), refused(BridgeStatus::Denied));
    let add =
        |addr| move |node: &mut rackloom_bridge::Endpoint, now| node.atomic(now, lab::CARD, addr, Atomic::FetchAdd(1));
    expect("no atomic right", lab.result(0, add(BASE)), refused(BridgeStatus::Denied));
    expect("an atomic outside", lab.result(0, add(BASE + 4096)), no());
    let torn = [(BASE, &b"this"[..]), (BASE + 8190, b"over")];
    expect("a batch half outside", lab.result(0, |node, now| node.write_batch(now, lab::CARD, &torn)), no());
    expect("of which nothing is written", lab.read(0, BASE, 4), Ok(Bytes::from_static(&[0; 4])));
    expect("a stranger", lab.read(1, BASE, 8), Err(Failure::Unreachable));
    assert_eq!(lab.window(2, node(1), BASE + 0x4000, 64, rw), ErrorCode::Ok);
    expect("another's window", lab.read(1, BASE, 8), no());
    expect("one's own", lab.write(1, BASE + 0x4000, b"mine"), done());
    assert_eq!(lab.window(0, node(0), BASE, 4096, Rights::NONE), ErrorCode::Ok);
    expect("without any right", lab.read(0, BASE, 8), refused(BridgeStatus::Denied));
    assert_eq!(lab.window(0, node(0), 0, 0, Rights::NONE), ErrorCode::Ok);
    expect("a closed window", lab.read(0, BASE, 8), no());
    assert_eq!(lab.window(1, node(1), BASE + 8192, 64, Rights::READ), ErrorCode::Ok);
    expect("one that is another's now", lab.read(0, BASE + 8192, 8), no());
    lab.release();
    expect("after the claim", lab.read(0, BASE + 8192, 8), Err(Failure::Unreachable));
    expect("for the other", lab.write(1, BASE + 0x4000, b"late"), Err(Failure::Unreachable));
    lab.claim();
    expect("of another claim", lab.write(1, BASE + 0x4000, b"late"), Err(Failure::Unreachable));
    assert_eq!(lab.window(5, node(1), BASE + 0x4000, 8, Rights::READ), ErrorCode::Ok);
    expect("what was written is there", lab.read(1, BASE + 0x4000, 4), Ok(Bytes::from_static(b"mine")));
    assert!(lab.counter(Counter::BridgeDenied) > 10);
    got
}

#[test]
fn nobody_goes_beyond_what_is_open() {
    assert_eq!(hostile(Kind::Rtl), hostile(Kind::Model));
}

#[test]
fn windows_are_within_the_card() {
    for kind in [Kind::Model, Kind::Rtl] {
        let mut lab = Lab::new(kind, 0, Faults::NONE);
        let (first, end) = (rackloom_conformance::bench::BASE, rackloom_conformance::bench::MEMORY);
        for (number, base, length, is) in [
            (15, first, end - first, ErrorCode::Ok),
            (16, first, 1, ErrorCode::BadRequest),
            (0, first - 1, 1, ErrorCode::BadAddress),
            (0, first, end - first + 1, ErrorCode::BadAddress),
            (0, u64::MAX, 2, ErrorCode::BadAddress),
            (16, 0, 0, ErrorCode::BadRequest),
            (15, 0, 0, ErrorCode::Ok),
        ] {
            assert_eq!(lab.window(number, node(0), base, length, Rights::READ), is, "{kind:?} {number} {base:#x}");
        }
        for peer in [MacAddr::BROADCAST, lab::CARD] {
            assert_eq!(lab.window(0, peer, first, 64, Rights::READ), ErrorCode::Ok, "it is of no use to anybody");
        }
    }
}

#[test]
fn loads_and_launches_go_on_beside_it() {
    for kind in [Kind::Model, Kind::Rtl] {
        let mut lab = Lab::new(kind, 1, Faults::NONE);
        assert_eq!(lab.window(0, node(0), BASE, LENGTH, ALL), ErrorCode::Ok);
        let load = lab.load();
        let mut kept = Vec::new();
        for round in 0..60u8 {
            let at = BASE + u64::from(round) * 1024;
            let ticket = lab.ask(0, |node, now| node.write(now, lab::CARD, at, vec![round; 1024].into()));
            kept.push(ticket.expect("there is room"));
        }
        for ticket in kept {
            assert_eq!(lab.answer(ticket), done());
        }
        assert!(matches!(lab.end(load), Ok(Outcome::Loaded(report)) if report.fault().is_none()), "{kind:?}");
        let bumped = rackloom_conformance::bench::BASE;
        for turn in 0..3u64 {
            let launch = lab.launch(BUMP, &[bumped, 10]);
            for round in 0..30u8 {
                let at = BASE + u64::from(round) * 1024;
                assert_eq!(lab.read(0, at, 1024), Ok(vec![round; 1024].into()));
            }
            assert!(
                matches!(lab.end(launch), Ok(Outcome::Launched(report)) if report.value == turn + 1),
                "{kind:?} {turn}"
            );
        }
        // Nothing of either was lost or met the other.
        assert_eq!(lab.read(0, BASE + 59 * 1024, 1024), Ok(vec![59; 1024].into()));
    }
}

#[test]
fn memory_that_fails_gives_no_data_and_the_card_starts_anew() {
    for kind in [Kind::Model, Kind::Rtl] {
        let mut lab = Lab::new(kind, 1, Faults::NONE);
        assert_eq!(lab.window(0, node(0), BASE, 4096, ALL), ErrorCode::Ok);
        assert_eq!(lab.write(0, BASE, b"sound"), done());
        lab.rack.card(lab.card).ddr().fail(Some(BASE));
        assert_eq!(lab.read(0, BASE, 5), Err(Failure::Unreachable), "{kind:?}");
        if let AnyCard::Rtl(card) = lab.rack.card(lab.card) {
            assert_eq!(card.restarts(), 1);
        }
        lab.rack.card(lab.card).ddr().fail(None);
        lab.pass(Duration::from_millis(20));
        lab.claim();
        assert_eq!(lab.read(0, BASE, 5), Err(Failure::Unreachable), "the windows are gone");
        assert_eq!(lab.window(0, node(0), BASE, 4096, ALL), ErrorCode::Ok);
        assert_eq!(lab.read(0, BASE, 5), Ok(Bytes::from_static(b"sound")), "{kind:?}");
    }
}

#[test]
fn gateware_knows_eight_nodes() {
    let mut lab = Lab::new(Kind::Rtl, 10, Faults::NONE);
    for number in 0..8 {
        assert_eq!(lab.window(number.into(), node(number), BASE, 64, ALL), ErrorCode::Ok);
    }
    assert_eq!(lab.window(9, node(8), BASE, 64, ALL), ErrorCode::Busy);
    assert_eq!(lab.window(9, node(3), BASE + 64, 64, ALL), ErrorCode::Ok, "it is one of them");
    assert_eq!(lab.write(7, BASE, b"seventh"), done());
    // The window's own node may go, and the others stay.
    assert_eq!(lab.window(7, node(8), BASE, 64, ALL), ErrorCode::Ok);
    assert_eq!(lab.read(8, BASE, 7), Ok(Bytes::from_static(b"seventh")));
    assert_eq!(lab.read(0, BASE, 7), Ok(Bytes::from_static(b"seventh")));
    assert_eq!(lab.read(7, BASE, 7), Err(Failure::Unreachable), "it is not known any more");
    assert_eq!(lab.window(0, node(9), BASE, 64, ALL), ErrorCode::Ok);
    assert_eq!(lab.read(9, BASE, 7), Ok(Bytes::from_static(b"seventh")));
    // What it cannot do, it says.
    assert_eq!(lab.window(1, MacAddr::ZERO, BASE, 64, ALL), ErrorCode::Unsupported);
    assert_eq!(lab.read(1, BASE, 7), Ok(Bytes::from_static(b"seventh")), "its window is as it was");
}

#[test]
fn a_node_that_dies_keeps_no_card_awake() {
    // A short time-out, and with it a short patience.
    let mut lab = Lab::with(Kind::Rtl, 1, |config| config.resend_after = Duration::from_micros(100));
    assert_eq!(lab.window(0, node(0), BASE, 4096, ALL), ErrorCode::Ok);
    assert_eq!(lab.write(0, BASE, b"before"), done());
    let link = lab.link(0);
    lab.ask(0, |node, now| node.read(now, lab::CARD, BASE, 1024)).unwrap();
    // The request has come, and the answer finds nobody.
    lab.pass(Duration::from_micros(3));
    lab.rack.net.down(link);
    lab.pass(Duration::from_millis(40));
    let cycles = |lab: &Lab| match lab.rack.card(lab.card) {
        AnyCard::Rtl(card) => card.cycles(),
        AnyCard::Model(_) => 0,
    };
    let before = cycles(&lab);
    lab.pass(Duration::from_millis(100));
    assert!(cycles(&lab) - before < 200_000, "it says the same again and again");
}
