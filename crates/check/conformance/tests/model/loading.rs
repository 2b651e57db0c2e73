//! Loading: sandboxes that refuse, exact time, bounded work, and what staging holds.

use rackloom_card::{CardEvent, Config, FirmwareTimes, Pace, STAGE_FIFO};
use rackloom_conformance::bench::{BASE, CHUNK, HOST};
use rackloom_node::{Duration, Node};
use rackloom_wire::{Active, CardState, Counter, ErrorCode, Kind};

use crate::cards::{claimed, config, virtual_time, with_role};
use crate::native::{COUNT, image};

#[test]
fn a_sandbox_refuses_before_the_commit() {
    let mut bench = with_role(virtual_time());
    let digest = bench.card.active_digest();
    for (seq, part, code) in [(10, b"bad", ErrorCode::ImagePart), (11, b"big", ErrorCode::ImageMemory)] {
        let image = image(part, 0);
        bench.clear();
        bench.begin(seq, &image, CHUNK);
        bench.send_but(&image, |_| false);
        bench.pass_ms(1);
        bench.expect(Kind::ImageConfirmReady);
        let failed = bench.expect(Kind::ImageConfirmFailed);
        assert_eq!((failed.code(), failed.head.seq), (code, seq));
        let text = str::from_utf8(&failed.payload[8..]).unwrap();
        assert!(!text.is_empty() && text.len() <= 64);
        assert!(matches!(&bench.events[..], [CardEvent::LoadFailed { .. }]));
        // A commit does not make it better; the old role serves on.
        bench.commit(500 + seq);
        bench.pass_ms(1);
        assert_eq!(bench.expect(Kind::ImageConfirmFailed).head.seq, 500 + seq);
        assert_eq!((bench.card.active_digest(), bench.card.state()), (digest, CardState::Active));
        bench.launch(seq - 9, COUNT, &[BASE]);
        bench.pass_ms(1);
        assert_eq!(bench.word(BASE), u64::from(seq) - 9);
    }
    assert_eq!(bench.count(Counter::ImagesFailed), 2);
}

#[test]
fn configuration_takes_its_time_in_virtual_time() {
    let mut bench = with_role(Config { config_rate: 400_000_000, ..virtual_time() });
    let image = image(&[7; 40_000], 0);
    bench.begin(2, &image, CHUNK);
    bench.send_but(&image, |_| false);
    bench.pass_ms(1);
    bench.clear();
    let began = bench.now;
    bench.commit(50);
    bench.commit(51);
    bench.poll(1, 0);
    bench.pass(Duration::from_nanos(99_999));
    // One for the first commit, and one for the commit and the poll that came again.
    assert!(!bench.take_all(Kind::ImageConfirmCommitted).is_empty());
    bench.expect_nothing();
    bench.pass_ms(1);
    let active = bench.expect(Kind::ImageConfirmActive);
    // The port takes 100 us; the answer then has its jitter.
    let took = (active.at - began).as_nanos();
    assert!((100_000..100_100).contains(&took), "{took}");
    assert_eq!((active.head.seq, active.body::<Active>().configure_ns.get()), (50, 100_000));
}

#[test]
fn an_activation_that_fails_leaves_an_empty_card_that_can_be_loaded() {
    let late = image(b"late", 0);
    let mut bench = claimed(virtual_time());
    bench.begin(1, &late, CHUNK);
    bench.send_but(&late, |_| false);
    bench.pass_ms(1);
    bench.clear();
    bench.commit(5);
    bench.pass_ms(1);
    assert_eq!(bench.expect(Kind::ImageConfirmFailed).code(), ErrorCode::Busy);
    assert_eq!(bench.card.state(), CardState::Empty);
    bench.load(2, &image(b"good", 0));
}

#[test]
fn the_digest_follows_the_arrival_in_virtual_time() {
    // 1 MB/s: 64 KiB take 65.536 ms.
    let slow = Config { digest_rate: 1_000_000, ..virtual_time() };
    let image = image(b"role", 4 * 65_536);
    let mut bench = claimed(slow);
    bench.begin(1, &image, 64);
    bench.clear();
    let began = bench.now;
    // The last block of four and a bit comes first, the first one last: only that is left to do.
    for i in (0..image.len() / 64).rev() {
        if i % 1024 == 1023 {
            bench.pass_ms(100);
        }
        bench.chunk(&image, 64, i);
    }
    let last = bench.now;
    assert!((last - began).as_millis() >= 400);
    bench.expect_nothing();
    bench.pass_ms(1000);
    let tail = bench.expect(Kind::ImageConfirmStaged).at - last;
    assert!(tail >= Duration::from_nanos(65_536_000) && tail < Duration::from_nanos(65_537_000), "{tail:?}");
}

/// The shell's processor takes its time for what is rare; a begin that is repeated meanwhile is one begin.
#[test]
fn firmware_takes_its_time_in_virtual_time() {
    let us = Duration::from_micros;
    let firmware = FirmwareTimes { begin: us(70), check: us(300), activate: us(90) };
    let mut bench = claimed(Config { firmware, config_rate: 1_000_000, ..virtual_time() });
    let part = vec![3; 1000];
    let image = image(&part, 0);
    let began = bench.now;
    bench.begin(1, &image, CHUNK);
    bench.begin(1, &image, CHUNK);
    bench.expect_nothing();
    bench.pass_ms(1);
    assert_eq!(bench.expect(Kind::ImageConfirmReady).at - began, us(70));
    bench.begin(1, &image, CHUNK);
    let again = bench.expect(Kind::ImageConfirmReady);
    assert_eq!(again.at, bench.now, "there is nothing left to set up");
    let sent = bench.now;
    bench.send_but(&image, |_| false);
    bench.pass_ms(1);
    // An answer comes within 100 ns for each member.
    let checked = bench.expect(Kind::ImageConfirmStaged).at - sent;
    assert!(checked >= us(300) && checked < us(301), "{checked:?}");
    let committed = bench.now;
    bench.commit(5);
    bench.pass_ms(3);
    bench.expect(Kind::ImageConfirmCommitted);
    let active = bench.expect(Kind::ImageConfirmActive).at - committed;
    assert!(active >= us(1090) && active < us(1091), "{active:?}");
}

#[test]
fn live_work_on_a_digest_is_bounded_and_goes_on_between_frames() {
    let image = image(b"role", 1 << 20);
    let mut bench = claimed(config(Pace::Live));
    bench.begin(1, &image, CHUNK);
    // All blocks wait for their first chunks; then these come at once.
    let firsts = |i: usize| (i * 1472) % 65_536 < 1472;
    bench.send_but(&image, firsts);
    bench.clear();
    for i in (0..image.len().div_ceil(1472)).filter(|&i| firsts(i)) {
        bench.chunk(&image, CHUNK, i);
    }
    bench.poll(1, 0);
    bench.pass_ms(1);
    bench.expect(Kind::ImageConfirmStaged);
    // A frame's own work is one block: the rest was done on timeouts.
    let image = crate::native::image(b"role", 3 << 20);
    bench.begin(2, &image, CHUNK);
    bench.clear();
    bench.send_but(&image, |_| false);
    bench.pass_ms(1);
    bench.expect(Kind::ImageConfirmStaged);
}

#[test]
fn what_comes_faster_than_it_can_be_staged_is_dropped() {
    let rate = 100_000_000;
    let mut bench = claimed(Config { stage_rate: rate, ..virtual_time() });
    let image = image(b"role", 1 << 20);
    bench.begin(1, &image, CHUNK);
    bench.send_but(&image, |_| false);
    let chunks = image.len().div_ceil(CHUNK.into()) as u64;
    let taken = bench.count(Counter::ImageChunks);
    assert_eq!(taken + bench.count(Counter::DropQueue), chunks);
    assert!((STAGE_FIFO..STAGE_FIFO + 2 * 1472).contains(&(taken * 1472)), "{taken}");
    // At its rate, all of it is taken.
    bench.begin(2, &image, CHUNK);
    bench.clear();
    let before = bench.count(Counter::DropQueue);
    for i in 0..chunks as usize {
        bench.chunk(&image, CHUNK, i);
        bench.pass(Duration::from_nanos(14_720));
    }
    assert_eq!(bench.count(Counter::DropQueue), before);
    bench.pass_ms(10);
    bench.expect(Kind::ImageConfirmStaged);
}

#[test]
fn the_staging_area_is_given_back() {
    let image = image(b"role", 1 << 20);
    let mut bench = claimed(virtual_time());
    bench.begin(1, &image, CHUNK);
    bench.send_but(&image, |i| i == 0);
    let held = bench.card.memory_in_use();
    assert!((image.len()..image.len() + image.len() / 16).contains(&held), "{held}");
    // The card keeps slices of the frames, no copies: with the claim gone they are freed.
    bench.pass_ms(6000);
    assert_eq!((bench.card.owner(), bench.card.memory_in_use()), (None, 0));
    assert!(bench.card.next_deadline().is_some());
    // What is staged the sandbox has.
    bench.claim(HOST, 2);
    bench.begin(1, &image, CHUNK);
    bench.send_but(&image, |_| false);
    bench.pass_ms(1);
    bench.last(Kind::ImageConfirmStaged);
    assert_eq!(bench.card.memory_in_use(), 0);
    bench.clear();
    // A port that takes no time: the first answer is the last.
    bench.commit(20);
    bench.pass_ms(1);
    bench.expect(Kind::ImageConfirmActive);
}
