//! Writes, reads and their acknowledgements.

use rackloom_card::{CardEvent, Config, Pace};
use rackloom_node::Duration;
use rackloom_wire::{
    Ack, Counter, ErrorCode, FLAG_ACK_NOW, Head, IntoBytes, Kind, Read, Refusal, Sack, U32, WRITE_WINDOW,
};

use crate::bench::{BASE, Bench, MEMORY, RIVAL, Sent, config};

fn read(bench: &mut Bench, seq: u32, addr: u64, length: u32) {
    let body = Read { length: U32::new(length), reserved: U32::ZERO };
    bench.send(Kind::InputRead, seq, addr, body.as_bytes());
}

fn sack(sent: &Sent) -> Sack {
    Sack::from_wire(sent.head.seq, &sent.body::<Ack>().bitmap)
}

#[test]
fn writes_arrive_in_any_order_once() {
    let mut bench = Bench::claimed();
    for seq in [3, 1, 2, 2, 1, 3] {
        bench.write(seq, BASE + u64::from(seq) * 8, &u64::from(seq).to_le_bytes());
    }
    assert_eq!([1, 2, 3].map(|n| bench.word(BASE + n * 8)), [1, 2, 3]);
    assert_eq!((bench.count(Counter::Writes), bench.count(Counter::DropDuplicate)), (3, 3));
    assert_eq!(bench.take_all(Kind::InputConfirmWriteAck).pop().unwrap().head.seq, 4);
    let written = |e: &&CardEvent| matches!(e, CardEvent::Written { .. });
    assert_eq!(bench.events.iter().filter(written).count(), 3);
}

#[test]
fn acknowledgements_wait_for_company_or_time() {
    let mut bench = Bench::claimed();
    for seq in 1..=15 {
        bench.write(seq, BASE, &[1]);
    }
    bench.expect_nothing();
    bench.write(16, BASE, &[1]);
    assert_eq!(bench.expect(Kind::InputConfirmWriteAck).head.seq, 17);
    let sent_at = bench.now;
    bench.write(17, BASE, &[1]);
    bench.pass_ms(1);
    let ack = bench.expect(Kind::InputConfirmWriteAck);
    assert_eq!((ack.head.seq, ack.at - sent_at), (18, Duration::from_micros(20)));
    bench.expect_nothing();
}

#[test]
fn a_gap_a_copy_or_a_wish_is_acknowledged_at_once() {
    let mut bench = Bench::claimed();
    bench.write(2, BASE, &[1]);
    let ack = bench.expect(Kind::InputConfirmWriteAck);
    assert!(ack.head.seq == 1 && sack(&ack).has(2) && !sack(&ack).has(3));
    bench.write(2, BASE, &[1]);
    bench.expect(Kind::InputConfirmWriteAck);
    let head = Head { flags: FLAG_ACK_NOW, ..bench.head(Kind::InputWrite, 1, BASE) };
    bench.frame(head.frame(&[&[1]]));
    assert_eq!(bench.expect(Kind::InputConfirmWriteAck).head.seq, 3);
}

#[test]
fn what_lies_beyond_the_window_is_dropped() {
    let mut bench = Bench::claimed();
    bench.write(1 + WRITE_WINDOW, BASE, &[7]);
    assert_eq!((bench.word(BASE), bench.count(Counter::DropWindow)), (7, 0));
    bench.clear();
    bench.write(2 + WRITE_WINDOW, BASE, &[8]);
    assert_eq!((bench.word(BASE), bench.count(Counter::DropWindow)), (7, 1));
    assert_eq!(bench.expect(Kind::InputConfirmWriteAck).head.seq, 1);
}

#[test]
fn the_bounds_are_exact() {
    let mut bench = Bench::claimed();
    let mut seq = 0;
    let mut check = |addr: u64, len: usize, ok: bool| {
        seq += 1;
        bench.write(seq, addr, &vec![9; len]);
        read(&mut bench, seq, addr, len as u32);
        if !ok {
            for _ in 0..2 {
                let nak = bench.expect(Kind::InputConfirmNak);
                assert_eq!((nak.head.seq, nak.head.addr, nak.code()), (seq, addr, ErrorCode::BadAddress));
                assert_eq!(nak.body::<Refusal>().detail.get(), MEMORY);
            }
        } else {
            assert_eq!(bench.expect(Kind::InputConfirmReadData).payload, vec![9; len]);
        }
        bench.pass_ms(1);
        // A refused write counts as received.
        assert_eq!(bench.take_all(Kind::InputConfirmWriteAck).pop().unwrap().head.seq, seq + 1);
    };
    check(BASE, 1, true);
    check(MEMORY - 1472, 1472, true);
    check(BASE - 1, 1, false);
    check(0, 8, false);
    check(MEMORY - 8, 9, false);
    check(MEMORY, 1, false);
    check(u64::MAX, 2, false);
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
fn reads_repeat_and_echo_their_number() {
    let mut bench = Bench::claimed();
    bench.write(1, BASE + 3, b"rackloom");
    for _ in 0..2 {
        read(&mut bench, 77, BASE + 3, 8);
        let data = bench.expect(Kind::InputConfirmReadData);
        assert_eq!((data.head.seq, data.head.addr, &data.payload[..]), (77, BASE + 3, &b"rackloom"[..]));
    }
    assert_eq!((bench.count(Counter::Reads), bench.count(Counter::ReadBytes)), (2, 16));
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

#[test]
fn another_epoch_is_dropped_and_told() {
    let mut bench = Bench::claimed();
    let wrong_epoch = Head { epoch: bench.epoch.wrapping_add(1), ..bench.head(Kind::InputWrite, 1, BASE) };
    let wrong_source = Head { src: RIVAL, ..bench.head(Kind::InputWrite, 1, BASE) };
    for head in [wrong_epoch, wrong_source] {
        bench.frame(head.frame(&[&[1]]));
        let nak = bench.expect(Kind::InputConfirmNak);
        assert_eq!((nak.head.dst, nak.head.epoch, nak.code()), (head.src, head.epoch, ErrorCode::StaleEpoch));
        let body = Read { length: U32::new(8), reserved: U32::ZERO };
        bench.frame(Head { kind: Kind::InputRead, ..head }.frame(&[body.as_bytes()]));
        assert_eq!(bench.expect(Kind::InputConfirmNak).code(), ErrorCode::StaleEpoch);
    }
    assert_eq!((bench.word(BASE), bench.count(Counter::DropEpoch)), (0, 4));
}
