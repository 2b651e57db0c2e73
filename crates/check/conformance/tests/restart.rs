//! A card whose firmware or memory fails in the middle of everything: its role floods memory, writes come in, an image
//! is loaded. It is another card afterwards, and a sound one.

use rackloom_card::{Config, Pace};
use rackloom_conformance::bench::{BASE, Bench, CHUNK, HOST, MEMORY, Out, Sent, config, launch_payload};
use rackloom_conformance::images::kernel::{BUMP, FLOOD};
use rackloom_node::Duration;
use rackloom_rack::Kind as CardKind;
use rackloom_verilated::{DdrTiming, RtlCard};
use rackloom_wire::{Announce, AnnounceReason, CardState, Done, ErrorCode, FLAG_ACK_NOW, Head, Kind};

/// `rl_planted`: the firmware runs in a circle.
const CIRCLE: u8 = 7;

/// The bench's time stands still while the gateware computes: it takes as many calls as the watchdog is patient.
fn until_restarted(bench: &mut Bench<RtlCard>) {
    let mut calls = 0;
    while bench.card.restarts() == 0 {
        bench.pass_ms(1);
        calls += 1;
        assert!(calls < 2000, "it has not noticed");
    }
    bench.clear();
}

#[test]
fn in_the_middle_of_everything() {
    let mut bench = Bench::<RtlCard>::with_role();
    let boot = bench.facts().boot.get();
    let kept: Vec<u8> = (0..1024).map(|n| n as u8).collect();
    bench.write(1, BASE + 4096, &kept);
    bench.pass_ms(1);
    bench.clear();

    bench.card.plant(CIRCLE);
    let write = |seq| bench.head(Kind::InputWrite, seq, BASE + 8192).frame(&[&kept]);
    let frames: Vec<_> = (2..200).map(write).collect();
    bench.hand(bench.head(Kind::ExecLaunch, 1, FLOOD).frame(&[&launch_payload(&[], Out::default())]));
    for frame in frames {
        bench.hand(frame);
    }
    until_restarted(&mut bench);
    bench.clear();

    let facts = bench.facts();
    assert_eq!((facts.boot.get(), facts.state), (boot + 1, u8::from(CardState::Empty)));
    assert_eq!(bench.owner(), None);
    // Memory stays, and all works: a claim, reads and writes, a load, a launch.
    bench.claim(HOST, 77);
    bench.clear();
    bench.read(1, BASE + 4096, 1024);
    bench.pass_ms(1);
    assert_eq!(bench.expect(Kind::InputConfirmReadData).payload, kept);
    bench.write(1, BASE, &[0; 64]);
    let image = rackloom_conformance::images::probe(1, 0);
    bench.load(1, &image);
    bench.clear();
    bench.launch(1, BUMP, &[BASE, 10]);
    bench.pass_ms(1);
    let done = bench.last(Kind::ResultDone);
    assert_eq!((done.code(), done.body::<Done>().value.get()), (ErrorCode::Ok, 1));
}

/// Why it says that it has started again.
fn reason(bench: &mut Bench<RtlCard>) -> u8 {
    let mut calls = 0;
    while bench.card.restarts() == 0 {
        bench.pass_ms(1);
        calls += 1;
        assert!(calls < 2000, "it has not noticed");
    }
    bench.pass_ms(1);
    bench.last(Kind::DiscoveryAnnounce).body::<Announce>().reason
}

#[test]
fn a_role_that_meets_broken_memory_has_no_result() {
    let mut bench = Bench::<RtlCard>::with_role();
    bench.card.ddr().fail(Some(BASE + 4096));
    bench.launch(1, BUMP, &[BASE + 4096, 10]);
    assert_eq!(reason(&mut bench), u8::from(AnnounceReason::MemoryFailed));
    assert!(bench.take_all(Kind::ResultDone).is_empty());
}

#[test]
fn an_image_in_broken_memory_is_not_staged() {
    let image = rackloom_conformance::images::probe(1, 100_000);
    // Behind what hosts may touch are two places for images, of which the second is taken first, and then the digest's
    // values.
    let staging = config().staging_max;
    for broken in [MEMORY + staging + 50_000, MEMORY + 2 * staging] {
        let mut bench = Bench::<RtlCard>::claimed();
        bench.card.ddr().fail(Some(broken));
        bench.begin(1, &image, CHUNK);
        bench.send_but(&image, |_| false);
        assert_eq!(reason(&mut bench), u8::from(AnnounceReason::MemoryFailed));
        assert!(bench.take_all(Kind::ImageConfirmStaged).is_empty());
        bench.card.ddr().fail(None);
        bench.claim(HOST, 7);
        bench.load(2, &image);
    }
}

/// What is acknowledged is in memory, however long memory takes.
#[test]
fn an_acknowledgement_waits_for_slow_memory() {
    for fails in [false, true] {
        let card = Config { kind: CardKind::Rtl.announced(), pace: Pace::Live, ..config() };
        let around = rackloom_verilated::Config::new(card.mac, card.pace);
        let slow = DdrTiming { latency: 20_000, ..around.ddr };
        let card = RtlCard::new(rackloom_verilated::Config { card, ddr: slow, ..around }).unwrap();
        let mut bench = Bench::of(card);
        bench.claim(HOST, 1);
        bench.clear();
        bench.card.ddr().fail(fails.then_some(BASE));
        let head = Head { flags: FLAG_ACK_NOW, ..bench.head(Kind::InputWrite, 1, BASE) };
        bench.frame(head.frame(&[&[1; 64]]));
        while bench.sent.is_empty() {
            bench.pass_ms(1);
        }
        if fails {
            assert_eq!(bench.last(Kind::DiscoveryAnnounce).body::<Announce>().boot.get(), config().boot + 1);
        } else {
            assert_eq!(bench.bytes(BASE, 64), [1; 64]);
            assert_eq!(bench.expect(Kind::InputConfirmWriteAck).head.seq, 2);
        }
    }
}

/// What it sends of a kind, when it sends it.
fn awaited(bench: &mut Bench<RtlCard>, kind: Kind) -> Sent {
    for _ in 0..10_000 {
        if let Some(at) = bench.sent.iter().position(|sent| sent.head.kind == kind) {
            return bench.sent.remove(at).expect("it is there");
        }
        bench.pass(Duration::from_micros(1));
    }
    panic!("no {kind:?}");
}

/// What was asked of memory before a restart comes to nobody after it, however long memory takes.
#[test]
fn a_restart_waits_for_slow_memory() {
    let around = rackloom_verilated::Config::new(config().mac, Pace::Virtual);
    let slow = DdrTiming { latency: 60_000, ..around.ddr };
    let card = RtlCard::new(rackloom_verilated::Config { card: config(), ddr: slow, ..around }).unwrap();
    let mut bench = Bench::of(card);
    let claim = |bench: &mut Bench<RtlCard>, nonce| {
        bench.clear();
        bench.hand(Bench::<RtlCard>::claim_frame(HOST, nonce, 0));
        bench.epoch = awaited(bench, Kind::SessionGrant).head.epoch;
    };
    claim(&mut bench, 1);
    let [broken, before, after] = [BASE, BASE + 4096, BASE + 8192];
    bench.card.ddr().write(before, &[1; 64]).unwrap();
    bench.card.ddr().write(after, &[2; 64]).unwrap();
    bench.card.ddr().fail(Some(broken));
    bench.read(1, broken, 64);
    bench.pass(Duration::from_micros(350));
    bench.read(2, before, 64);
    while bench.card.restarts() == 0 {
        bench.pass(Duration::from_micros(1));
    }
    bench.card.ddr().fail(None);
    claim(&mut bench, 2);
    bench.read(1, after, 64);
    assert_eq!(awaited(&mut bench, Kind::InputConfirmReadData).payload, [2; 64]);
}
