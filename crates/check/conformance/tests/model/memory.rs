//! Memory: jumbo frames, exact time, and queues that overflow.

use rackloom_card::Config;
use rackloom_conformance::bench::BASE;
use rackloom_node::Duration;
use rackloom_wire::{BULK_JUMBO, Counter, IntoBytes, Kind, Read, U32};

use crate::cards::{claimed, virtual_time};

#[test]
fn a_card_of_jumbo_frames_takes_and_sends_them() {
    let mut bench = claimed(Config { bulk: BULK_JUMBO, ..virtual_time() });
    bench.write(1, BASE, &[9; BULK_JUMBO as usize]);
    bench.read(1, BASE, BULK_JUMBO.into());
    bench.pass_ms(1);
    assert_eq!(bench.last(Kind::InputConfirmReadData).payload, [9; BULK_JUMBO as usize]);
}

#[test]
fn in_virtual_time_ddr_takes_its_time() {
    let latency = Duration::from_nanos(300);
    let mut bench = claimed(Config { ddr_latency: latency, ..virtual_time() });
    let asked = bench.now;
    bench.read(1, BASE, 8);
    bench.expect_nothing();
    bench.pass_ms(1);
    assert_eq!(bench.expect(Kind::InputConfirmReadData).at, asked + latency);
}

#[test]
fn reads_that_pile_up_are_dropped_and_counted() {
    let mut bench = claimed(virtual_time());
    let body = Read { length: U32::new(8), reserved: U32::ZERO };
    for seq in 0..1030 {
        // The driver's wire is full: it does not poll.
        bench.hand(bench.head(Kind::InputRead, seq, BASE).frame(&[body.as_bytes()]));
        bench.card.check_invariants();
    }
    assert_eq!(bench.card.counters().get(Counter::DropQueue), 6);
    bench.drain();
    assert_eq!(bench.take_all(Kind::InputConfirmReadData).len(), 1024);
}

#[test]
fn answers_that_pile_up_are_dropped_and_counted() {
    let mut bench = claimed(virtual_time());
    for seq in 0..300 {
        bench.hand(bench.head(Kind::SessionPing, seq, 0).frame(&[]));
    }
    assert_eq!(bench.card.counters().get(Counter::DropQueue), 300 - 256);
    assert_eq!(bench.card.memory_in_use(), 256 * 60);
    bench.drain();
    assert_eq!(bench.take_all(Kind::SessionPong).len(), 256);
    assert_eq!(bench.card.memory_in_use(), 0);
}
