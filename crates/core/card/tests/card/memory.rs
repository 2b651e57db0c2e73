//! Writes, reads and their acknowledgements.

use rackloom_card::{Config, Pace};
use rackloom_node::Duration;
use rackloom_wire::{Counter, ErrorCode, IntoBytes, Kind, Read, Refusal, U32};

use crate::bench::{BASE, Bench, config};

fn read(bench: &mut Bench, seq: u32, addr: u64, length: u32) {
    let body = Read { length: U32::new(length), reserved: U32::ZERO };
    bench.send(Kind::InputRead, seq, addr, body.as_bytes());
}

#[test]
fn a_frame_larger_than_the_card_takes_is_refused() {
    let mut bench = Bench::claimed();
    bench.write(1, BASE, &[9; 1473]);
    assert_eq!(bench.expect(Kind::InputConfirmNak).code(), ErrorCode::BadRequest);
    assert_eq!(bench.word(BASE), 0);
    for length in [0, 1473, u32::MAX] {
        read(&mut bench, 5, BASE, length);
        let nak = bench.expect(Kind::InputConfirmNak);
        assert_eq!((nak.code(), nak.body::<Refusal>().detail.get()), (ErrorCode::BadRequest, 1472));
    }
    let mut jumbo = Bench::claimed_with(Config { bulk: 8960, ..config(Pace::Virtual) });
    jumbo.write(1, BASE, &[9; 8960]);
    read(&mut jumbo, 1, BASE, 8960);
    jumbo.pass_ms(1);
    assert_eq!(jumbo.take_all(Kind::InputConfirmReadData).pop().unwrap().payload, [9; 8960]);
}

#[test]
fn in_virtual_time_ddr_takes_its_time() {
    let latency = Duration::from_nanos(300);
    let mut bench = Bench::claimed_with(Config { ddr_latency: latency, ..config(Pace::Virtual) });
    let asked = bench.now;
    read(&mut bench, 1, BASE, 8);
    bench.expect_nothing();
    bench.pass_ms(1);
    assert_eq!(bench.expect(Kind::InputConfirmReadData).at, asked + latency);
}

#[test]
fn reads_that_pile_up_are_dropped_and_counted() {
    let mut bench = Bench::claimed();
    let body = Read { length: U32::new(8), reserved: U32::ZERO };
    for seq in 0..1030 {
        // The driver's wire is full: it does not poll.
        let frame = bench.head(Kind::InputRead, seq, BASE).frame(&[body.as_bytes()]);
        rackloom_node::Node::handle_frame(&mut bench.card, bench.now, 0, frame);
        bench.card.check_invariants();
    }
    assert_eq!(bench.count(Counter::DropQueue), 6);
    bench.drain();
    assert_eq!(bench.take_all(Kind::InputConfirmReadData).len(), 1024);
}

#[test]
fn answers_that_pile_up_are_dropped_and_counted() {
    let mut bench = Bench::claimed();
    for seq in 0..300 {
        let frame = bench.head(Kind::SessionPing, seq, 0).frame(&[]);
        rackloom_node::Node::handle_frame(&mut bench.card, bench.now, 0, frame);
    }
    assert_eq!(bench.count(Counter::DropQueue), 300 - 256);
    assert_eq!(bench.card.memory_in_use(), 256 * 60);
    bench.drain();
    assert_eq!(bench.take_all(Kind::SessionPong).len(), 256);
    assert_eq!(bench.card.memory_in_use(), 0);
}
