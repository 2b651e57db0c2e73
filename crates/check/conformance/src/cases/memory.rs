//! Writes, reads and their acknowledgements.

use rackloom_node::Duration;
use rackloom_transport::Sack;
use rackloom_wire::{Ack, Counter, ErrorCode, FLAG_ACK_NOW, Head, IntoBytes, Kind, Read, Refusal, U32, WRITE_WINDOW};

use crate::Specimen;
use crate::bench::{BASE, Bench, MEMORY, RIVAL, Sent};

fn sack(sent: &Sent) -> Sack {
    Sack::from_bitmap(sent.head.seq, &sent.body::<Ack>().bitmap)
}

/// The order of writes does not matter, nor do copies.
pub fn writes_arrive_in_any_order_once<S: Specimen>() {
    let mut bench = Bench::<S>::claimed();
    for seq in [3, 1, 2, 2, 1, 3] {
        bench.write(seq, BASE + u64::from(seq) * 8, &u64::from(seq).to_le_bytes());
    }
    assert_eq!([1, 2, 3].map(|n| bench.word(BASE + n * 8)), [1, 2, 3]);
    assert_eq!((bench.count(Counter::Writes), bench.count(Counter::DropDuplicate)), (3, 3));
    assert_eq!(bench.count(Counter::WriteBytes), 24);
    assert_eq!(bench.last(Kind::InputConfirmWriteAck).head.seq, 4);
}

/// A copy of a write with other bytes changes nothing: the first one counts.
pub fn a_copy_of_a_write_is_not_looked_at<S: Specimen>() {
    let mut bench = Bench::<S>::claimed();
    bench.write(1, BASE, &[1; 8]);
    bench.write(1, BASE, &[2; 8]);
    assert_eq!(bench.bytes(BASE, 8), [1; 8]);
}

/// Any bytes go anywhere, whatever the beat of the memory.
pub fn any_length_goes_to_any_address<S: Specimen>() {
    let mut bench = Bench::<S>::claimed();
    let mut wanted = vec![0; 8192];
    let mut seq = 0;
    for (at, length) in
        [(0, 1472), (1, 1), (63, 2), (127, 130), (500, 0), (641, 63), (1000, 1471), (4095, 1001), (3, 64)]
    {
        seq += 1;
        let bytes: Vec<u8> = (0..length).map(|i| (i * 7 + seq as usize) as u8).collect();
        wanted[at..at + length].copy_from_slice(&bytes);
        bench.write(seq, BASE + at as u64, &bytes);
        assert!(bench.bytes(BASE, wanted.len()) == wanted, "after {length} bytes at {at}");
        bench.clear();
        if length > 0 {
            bench.read(seq, BASE + at as u64, length as u32);
            assert_eq!(bench.last(Kind::InputConfirmReadData).payload, bytes);
        }
    }
    assert_eq!(bench.count(Counter::Writes), u64::from(seq));
}

/// A write is acknowledged together with others, or after a while.
pub fn acknowledgements_wait_for_company_or_time<S: Specimen>() {
    let mut bench = Bench::<S>::claimed();
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
    assert_eq!(ack.head.seq, 18);
    assert!((20..25).contains(&(ack.at - sent_at).as_micros()), "{:?}", ack.at - sent_at);
    bench.expect_nothing();
}

/// What a sender wants to know soon it learns at once.
pub fn a_gap_a_copy_or_a_wish_is_acknowledged_at_once<S: Specimen>() {
    let mut bench = Bench::<S>::claimed();
    bench.write(2, BASE, &[1]);
    let ack = bench.expect(Kind::InputConfirmWriteAck);
    assert!(ack.head.seq == 1 && sack(&ack).has(2) && !sack(&ack).has(3));
    bench.write(2, BASE, &[1]);
    bench.expect(Kind::InputConfirmWriteAck);
    let head = Head { flags: FLAG_ACK_NOW, ..bench.head(Kind::InputWrite, 1, BASE) };
    bench.frame(head.frame(&[&[1]]));
    assert_eq!(bench.expect(Kind::InputConfirmWriteAck).head.seq, 3);
}

/// The window has an end.
pub fn what_lies_beyond_the_window_is_dropped<S: Specimen>() {
    let mut bench = Bench::<S>::claimed();
    bench.write(1 + WRITE_WINDOW, BASE, &[7]);
    assert_eq!((bench.word(BASE), bench.count(Counter::DropWindow)), (7, 0));
    bench.clear();
    bench.write(2 + WRITE_WINDOW, BASE, &[8]);
    assert_eq!((bench.word(BASE), bench.count(Counter::DropWindow)), (7, 1));
    assert_eq!(bench.expect(Kind::InputConfirmWriteAck).head.seq, 1);
}

/// The window moves over whatever was there beyond its first number.
pub fn the_window_moves_on<S: Specimen>() {
    let mut bench = Bench::<S>::claimed();
    let all = 1..=700u32;
    let order: Vec<u32> = all.clone().collect::<Vec<_>>().chunks(100).flat_map(|c| c.iter().rev().copied()).collect();
    for seq in order {
        let head = bench.head(Kind::InputWrite, seq, BASE + u64::from(seq) * 4);
        bench.hand(head.frame(&[&seq.to_le_bytes()]));
        if seq % 4 == 0 {
            bench.drain();
        }
    }
    bench.pass_ms(1);
    let ack = bench.last(Kind::InputConfirmWriteAck);
    assert_eq!((ack.head.seq, ack.body::<Ack>().bitmap), (701, [0; 32]));
    let wanted: Vec<u8> = all.flat_map(u32::to_le_bytes).collect();
    assert!(bench.bytes(BASE + 4, wanted.len()) == wanted);
    assert_eq!((bench.count(Counter::Writes), bench.count(Counter::DropDuplicate)), (700, 0));
}

/// What a host may touch, to the byte.
pub fn the_bounds_are_exact<S: Specimen>() {
    let mut bench = Bench::<S>::claimed();
    let mut seq = 0;
    let mut check = |addr: u64, len: usize, ok: bool| {
        seq += 1;
        bench.write(seq, addr, &vec![9; len]);
        bench.read(seq, addr, len as u32);
        let data = bench.take_all(Kind::InputConfirmReadData);
        let naks = bench.take_all(Kind::InputConfirmNak);
        if ok {
            assert_eq!((data.len(), naks.len()), (1, 0));
            assert_eq!(data[0].payload, vec![9; len]);
        } else {
            assert_eq!((data.len(), naks.len()), (0, 2));
            for nak in naks {
                assert_eq!((nak.head.seq, nak.head.addr, nak.code()), (seq, addr, ErrorCode::BadAddress));
                assert_eq!(nak.body::<Refusal>().detail.get(), MEMORY);
            }
        }
        bench.pass_ms(1);
        // A refused write counts as received.
        assert_eq!(bench.last(Kind::InputConfirmWriteAck).head.seq, seq + 1);
    };
    check(BASE, 1, true);
    check(MEMORY - 1472, 1472, true);
    check(BASE - 1, 1, false);
    check(0, 8, false);
    check(MEMORY - 8, 9, false);
    check(MEMORY, 1, false);
    check(1 << 40, 1, false);
    check(BASE | 1 << 63, 1, false);
    check(u64::MAX, 2, false);
}

/// What does not fit in a frame of the card is neither taken nor sent.
pub fn a_frame_larger_than_the_card_takes_is_refused<S: Specimen>() {
    let mut bench = Bench::<S>::claimed();
    bench.write(1, BASE, &[9; 1473]);
    assert_eq!(bench.expect(Kind::InputConfirmNak).code(), ErrorCode::BadRequest);
    bench.write(2, BASE, &[9; 8960]);
    assert_eq!(bench.take_all(Kind::InputConfirmNak).len(), 1);
    assert_eq!(bench.word(BASE), 0);
    bench.pass_ms(1);
    bench.clear();
    for length in [0, 1473, u32::MAX] {
        bench.read(5, BASE, length);
        let nak = bench.expect(Kind::InputConfirmNak);
        assert_eq!((nak.code(), nak.body::<Refusal>().detail.get()), (ErrorCode::BadRequest, 1472));
    }
}

/// A read may be asked again, and its answer says which it answers.
pub fn reads_repeat_and_echo_their_number<S: Specimen>() {
    let mut bench = Bench::<S>::claimed();
    bench.write(1, BASE + 3, b"rackloom");
    for _ in 0..2 {
        bench.read(77, BASE + 3, 8);
        let data = bench.expect(Kind::InputConfirmReadData);
        assert_eq!((data.head.seq, data.head.addr, &data.payload[..]), (77, BASE + 3, &b"rackloom"[..]));
    }
    assert_eq!((bench.count(Counter::Reads), bench.count(Counter::ReadBytes)), (2, 16));
}

/// A read on the heels of writes sees them.
pub fn a_read_sees_what_was_written_before_it<S: Specimen>() {
    let mut bench = Bench::<S>::claimed();
    for round in 0..20u32 {
        let bytes: Vec<u8> = (0..256).map(|i| (i + round * 3) as u8).collect();
        for (i, piece) in (0..).zip(bytes.chunks(32)) {
            let head = bench.head(Kind::InputWrite, round * 8 + i + 1, BASE + 100 + u64::from(i) * 32);
            bench.hand(head.frame(&[piece]));
        }
        let body = Read { length: U32::new(256), reserved: U32::ZERO };
        bench.hand(bench.head(Kind::InputRead, round, BASE + 100).frame(&[body.as_bytes()]));
        bench.drain();
        assert_eq!(bench.last(Kind::InputConfirmReadData).payload, bytes, "in round {round}");
    }
}

/// Writes that close a long gap, then one that waits for its turn meanwhile, and a read on its heels.
pub fn a_read_sees_what_waits_for_a_gap_to_close<S: Specimen>() {
    let mut bench = Bench::<S>::claimed();
    let number = WRITE_WINDOW - 8;
    for seq in 2..number {
        bench.write(seq, BASE, &[1]);
    }
    for (seq, bytes) in [(1, [1]), (number, [2])] {
        bench.hand(bench.head(Kind::InputWrite, seq, BASE + 100).frame(&[&bytes]));
    }
    let body = Read { length: U32::new(1), reserved: U32::ZERO };
    bench.hand(bench.head(Kind::InputRead, 1, BASE + 100).frame(&[body.as_bytes()]));
    bench.drain();
    assert_eq!(bench.last(Kind::InputConfirmReadData).payload, [2]);
}

/// A host that has lost its claim learns it from whatever it asks.
pub fn another_epoch_is_dropped_and_told<S: Specimen>() {
    let mut bench = Bench::<S>::claimed();
    let wrong_epoch = Head { epoch: bench.epoch.wrapping_add(1), ..bench.head(Kind::InputWrite, 1, BASE) };
    let wrong_source = Head { src: RIVAL, ..bench.head(Kind::InputWrite, 1, BASE) };
    for head in [wrong_epoch, wrong_source] {
        bench.frame(head.frame(&[&[1]]));
        let nak = bench.expect(Kind::InputConfirmNak);
        assert_eq!((nak.head.dst, nak.head.epoch, nak.code()), (head.src, head.epoch, ErrorCode::StaleEpoch));
        assert_eq!(nak.body::<Refusal>().detail.get(), u64::from(bench.epoch));
        let body = Read { length: U32::new(8), reserved: U32::ZERO };
        bench.frame(Head { kind: Kind::InputRead, ..head }.frame(&[body.as_bytes()]));
        assert_eq!(bench.expect(Kind::InputConfirmNak).code(), ErrorCode::StaleEpoch);
    }
    bench.pass(Duration::from_millis(1));
    assert_eq!((bench.word(BASE), bench.count(Counter::DropEpoch)), (0, 4));
}
