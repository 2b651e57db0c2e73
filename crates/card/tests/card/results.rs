//! Results: what is sent, sent again and forgotten.

use rackloom_card::{Config, Pace};
use rackloom_wire::{Counter, Done, FLAG_RESEND, Kind};

use crate::bench::{BASE, Bench, Out, Sent, config};
use crate::native::{COUNT, FILL};

const CHUNK: u64 = 1472;

/// A bench whose launch 1 has an output of so many chunks and a half.
fn with_output(chunks: u64, credit: u16) -> Bench {
    let mut bench = Bench::with_role();
    launch(&mut bench, 1, chunks, credit);
    bench
}

fn launch(bench: &mut Bench, seq: u32, chunks: u64, credit: u16) {
    let length = chunks * CHUNK + CHUNK / 2;
    let addr = BASE + (u64::from(seq) - 1) * (1 << 20);
    bench.launch_with(seq, FILL, &[addr, length, seq.into()], Out { addr, length, credit, ..Out::default() });
    bench.pass(rackloom_node::Duration::from_micros(10));
}

fn numbers(sent: &[Sent]) -> Vec<u64> {
    sent.iter().map(|s| s.head.addr / CHUNK).collect()
}

fn chunks(bench: &mut Bench) -> Vec<u64> {
    numbers(&bench.take_all(Kind::ResultData))
}

#[test]
fn an_output_arrives_whole() {
    let mut bench = with_output(4, 5);
    let done = bench.take_all(Kind::ResultDone);
    let body: Done = done[0].body();
    assert_eq!((body.chunk.get(), body.chunks.get(), done[0].head.flags), (1472, 5, 0));
    let data = bench.take_all(Kind::ResultData);
    assert_eq!(numbers(&data), [0, 1, 2, 3, 4]);
    assert!(data.iter().all(|d| d.head.seq == 1 && d.head.epoch == bench.epoch && d.head.flags == 0));
    let bytes: Vec<u8> = data.iter().flat_map(|d| d.payload.clone()).collect();
    let mut memory = vec![0; bytes.len()];
    bench.card.ddr().read(BASE, &mut memory).unwrap();
    assert_eq!((bytes.len() as u64, &bytes), (4 * CHUNK + CHUNK / 2, &memory));
    bench.clear();
    bench.ack(1, 5, 5, true, &[]);
    bench.pass_ms(1000);
    bench.expect_nothing();
    assert_eq!(bench.card.memory_in_use(), 0);
}

#[test]
fn credit_is_never_passed() {
    let mut bench = with_output(9, 2);
    assert_eq!(chunks(&mut bench), [0, 1]);
    bench.ack(1, 1, 3, true, &[]);
    assert_eq!(chunks(&mut bench), [2]);
    bench.ack(1, 3, 3, true, &[]);
    assert!(chunks(&mut bench).is_empty());
    // An older acknowledgement takes no credit back.
    bench.ack(1, 3, 6, true, &[]);
    bench.ack(1, 1, 2, true, &[]);
    assert_eq!(chunks(&mut bench), [3, 4, 5]);
    bench.ack(1, 6, u32::MAX, true, &[]);
    assert_eq!(chunks(&mut bench), [6, 7, 8, 9]);
}

#[test]
fn no_credit_at_all_asks_for_news() {
    let mut bench = with_output(3, 0);
    assert!(chunks(&mut bench).is_empty());
    bench.ack(1, 0, 0, true, &[]);
    bench.clear();
    bench.pass_ms(2);
    // The host's grant may have been lost: Done asks again.
    assert_eq!(bench.expect(Kind::ResultDone).head.flags, FLAG_RESEND);
    bench.ack(1, 0, 4, true, &[]);
    assert_eq!(chunks(&mut bench), [0, 1, 2, 3]);
}

#[test]
fn what_is_not_acknowledged_goes_out_again_ever_more_slowly() {
    let mut bench = with_output(2, 3);
    bench.clear();
    let began = bench.now;
    bench.pass_ms(2000);
    let done: Vec<_> = bench.take_all(Kind::ResultDone);
    assert!(done.iter().all(|d| d.head.flags == FLAG_RESEND));
    let at: Vec<_> = done.iter().map(|d| (d.at - began).as_millis()).collect();
    assert_eq!(at, [1, 5, 13, 29, 61, 125, 253, 509, 1009, 1509]);
    let data = bench.take_all(Kind::ResultData);
    assert_eq!(data.len(), 30);
    assert!(data.iter().all(|d| d.head.flags == FLAG_RESEND));
    assert_eq!((bench.count(Counter::ResultResends), bench.count(Counter::ResultChunks)), (40, 3));
    // What has arrived is left out; progress makes it quick again.
    bench.ack(1, 1, 3, true, &[2]);
    bench.clear();
    let began = bench.now;
    bench.pass_ms(5);
    let data = bench.take_all(Kind::ResultData);
    assert_eq!(numbers(&data), [1]);
    assert_eq!((data[0].at - began).as_millis(), 2);
    assert!(bench.take_all(Kind::ResultDone).is_empty());
}

#[test]
fn a_gap_is_mended_at_once_and_once() {
    let mut bench = with_output(19, 20);
    bench.clear();
    bench.ack(1, 2, 20, true, &[4, 5, 8]);
    assert_eq!(chunks(&mut bench), [2, 3, 6, 7]);
    bench.ack(1, 2, 20, true, &[4, 5, 8, 9]);
    assert!(chunks(&mut bench).is_empty());
    bench.ack(1, 2, 20, true, &[4, 5, 8, 9, 12]);
    assert_eq!(chunks(&mut bench), [10, 11]);
    // Lost again: the timer's turn.
    bench.pass_ms(3);
    assert_eq!(chunks(&mut bench), [2, 3, 6, 7, 10, 11, 13, 14, 15, 16, 17, 18, 19]);
}

#[test]
fn the_host_can_always_tell_what_is_missing() {
    // Never more than the bitmap's 256 beyond the first missing one.
    let mut bench = with_output(600, u16::MAX);
    assert_eq!(chunks(&mut bench), (0..256).collect::<Vec<_>>());
    bench.ack(1, 100, 601, true, &[]);
    assert_eq!(chunks(&mut bench), (256..356).collect::<Vec<_>>());
}

#[test]
fn several_outputs_share_the_wire() {
    let mut bench = Bench::with_role();
    launch(&mut bench, 1, 5, 0);
    launch(&mut bench, 2, 2, 0);
    for seq in [1, 2] {
        let grant =
            rackloom_wire::ResultAck { next: 0.into(), limit: 99.into(), done: 1, reserved: [0; 7], bitmap: [0; 32] };
        let frame = bench.head(Kind::ExecResultAck, seq, 0).frame(&[rackloom_wire::IntoBytes::as_bytes(&grant)]);
        rackloom_node::Node::handle_frame(&mut bench.card, bench.now, 0, frame);
    }
    bench.clear();
    bench.drain();
    let order: Vec<_> = bench.take_all(Kind::ResultData).iter().map(|s| (s.head.seq, s.head.addr / CHUNK)).collect();
    assert_eq!(order, [(1, 0), (2, 0), (1, 1), (2, 1), (1, 2), (2, 2), (1, 3), (1, 4), (1, 5)]);
    // The first may be finished before or after the second.
    bench.ack(2, 3, 3, true, &[]);
    bench.ack(1, 6, 6, true, &[]);
    bench.pass_ms(1000);
    assert!(bench.take_all(Kind::ResultData).is_empty());
}

#[test]
fn acknowledgements_of_nothing_do_no_harm() {
    let mut bench = with_output(2, 3);
    bench.clear();
    bench.ack(7, 0, 0, true, &[]);
    assert_eq!(bench.count(Counter::DropDuplicate), 1);
    bench.ack(1, 4, 4, true, &[]);
    assert_eq!(bench.count(Counter::DropMalformed), 1);
    // Of chunks that were never sent.
    bench.launch_with(2, FILL, &[BASE, 9 * CHUNK, 1], Out { addr: BASE, length: 9 * CHUNK, ..Out::default() });
    bench.pass_ms(1);
    bench.ack(2, 5, 9, false, &[7]);
    bench.take_all(Kind::ResultAccepted);
    assert_eq!(chunks(&mut bench), [5, 6, 8]);
    bench.card.check_invariants();
}

#[test]
fn results_end_with_the_claim() {
    let mut bench = with_output(5, 6);
    bench.claim(crate::bench::HOST, 2);
    bench.clear();
    bench.pass_ms(3000);
    bench.expect_nothing();
}

#[test]
fn live_patience_is_longer() {
    let mut bench = Bench::with_role_and(Config { ..config(Pace::Live) });
    bench.launch(1, COUNT, &[BASE]);
    bench.pass_ms(19);
    bench.clear();
    bench.pass_ms(2);
    assert_eq!(bench.take_all(Kind::ResultDone).len(), 1);
}
