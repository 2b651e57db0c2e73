//! Results: what is sent, sent again and forgotten. The output is whatever the region holds when the kernel ends.

use rackloom_card::Config;
use rackloom_node::{Duration, Instant};
use rackloom_wire::{Counter, Done, FLAG_RESEND, IntoBytes, Kind, ResultAck};

use crate::Specimen;
use crate::bench::{BASE, Bench, HOST, Out, Sent, ack_body, config};
use crate::images::kernel::BUMP;

const CHUNK: u64 = 1472;
/// A word that no output has in it.
const CELL: u64 = BASE + (1 << 20) - 64;

/// A bench whose launch 1 has an output of so many chunks and a half.
fn with_output<S: Specimen>(chunks: u64, credit: u16) -> Bench<S> {
    let mut bench = Bench::with_role();
    fill(&mut bench, chunks);
    launch(&mut bench, 1, chunks, credit);
    bench
}

/// Puts bytes where the outputs will be, as another card would.
fn fill<S: Specimen>(bench: &mut Bench<S>, chunks: u64) {
    let bytes: Vec<u8> = (0..(chunks + 1) * CHUNK).map(|i| (i * 13 + i / 256) as u8).collect();
    bench.card.ddr().write(BASE, &bytes).expect("it is inside");
}

fn launch<S: Specimen>(bench: &mut Bench<S>, seq: u32, chunks: u64, credit: u16) {
    let length = chunks * CHUNK + CHUNK / 2;
    bench.launch_with(seq, BUMP, &[CELL, 10], Out { addr: BASE, length, credit, ..Out::default() });
    bench.pass(Duration::from_micros(10));
}

fn numbers(sent: &[Sent]) -> Vec<u64> {
    sent.iter().map(|s| s.head.addr / CHUNK).collect()
}

fn chunks<S: Specimen>(bench: &mut Bench<S>) -> Vec<u64> {
    numbers(&bench.take_all(Kind::ResultData))
}

/// Times in milliseconds, rounded: a timer may be late by some microseconds.
fn millis(sent: &[Sent], began: Instant) -> Vec<u128> {
    sent.iter().map(|s| ((s.at - began).as_micros() + 500) / 1000).collect()
}

/// Issue 17, fault 2: a card sent its own longest frames to a host whose interface drops them, for ever. What reaches
/// the host stands in its claim; 0 is what every interface takes.
pub fn output_frames_are_no_longer_than_the_claim_says<S: Specimen>() {
    for (nonce, (beats, chunk)) in (2..).zip([(2, 128), (0, 1472), (255, 1472), (1, 64)]) {
        let mut bench = Bench::<S>::with_role();
        bench.claim_with(HOST, nonce, beats);
        bench.clear();
        fill(&mut bench, 1);
        bench.launch_with(1, BUMP, &[CELL, 10], Out { addr: BASE, length: 1500, credit: 99, ..Out::default() });
        bench.pass(Duration::from_micros(30));
        let body: Done = bench.take_all(Kind::ResultDone)[0].body();
        assert_eq!((u64::from(body.chunk.get()), body.chunks.get()), (chunk, 1500_u64.div_ceil(chunk) as u32));
        let data = bench.take_all(Kind::ResultData);
        let lengths: Vec<_> = data.iter().map(|d| d.payload.len() as u64).collect();
        let mut wanted = vec![chunk; 1500 / chunk as usize];
        wanted.push(1500 % chunk);
        assert_eq!(lengths, wanted);
        let bytes: Vec<u8> = data.iter().flat_map(|d| d.payload.clone()).collect();
        assert!(bytes == bench.bytes(BASE, 1500));
    }
}

/// The whole output, in order, once.
pub fn an_output_arrives_whole<S: Specimen>() {
    let mut bench = with_output::<S>(4, 5);
    let done = bench.take_all(Kind::ResultDone);
    let body: Done = done[0].body();
    assert_eq!((body.chunk.get(), body.chunks.get(), done[0].head.flags), (1472, 5, 0));
    let data = bench.take_all(Kind::ResultData);
    assert_eq!(numbers(&data), [0, 1, 2, 3, 4]);
    assert!(data.iter().all(|d| d.head.seq == 1 && d.head.epoch == bench.epoch && d.head.flags == 0));
    let bytes: Vec<u8> = data.iter().flat_map(|d| d.payload.clone()).collect();
    assert_eq!(bytes.len() as u64, 4 * CHUNK + CHUNK / 2);
    assert!(bytes == bench.bytes(BASE, bytes.len()) && bytes.iter().any(|&b| b != 0));
    bench.clear();
    bench.ack(1, 5, 5, &[]);
    bench.pass_ms(1000);
    bench.expect_nothing();
}

/// A host is sent no more than it has room for.
pub fn credit_is_never_passed<S: Specimen>() {
    let mut bench = with_output::<S>(9, 2);
    assert_eq!(chunks(&mut bench), [0, 1]);
    bench.ack(1, 1, 3, &[]);
    assert_eq!(chunks(&mut bench), [2]);
    bench.ack(1, 3, 3, &[]);
    assert!(chunks(&mut bench).is_empty());
    // An older acknowledgement takes no credit back.
    bench.ack(1, 3, 6, &[]);
    bench.ack(1, 1, 2, &[]);
    assert_eq!(chunks(&mut bench), [3, 4, 5]);
    bench.ack(1, 6, u32::MAX, &[]);
    assert_eq!(chunks(&mut bench), [6, 7, 8, 9]);
}

/// The host's grant may have been lost: the card asks again.
pub fn no_credit_at_all_asks_for_news<S: Specimen>() {
    let mut bench = with_output::<S>(3, 0);
    assert!(chunks(&mut bench).is_empty());
    bench.ack(1, 0, 0, &[]);
    bench.clear();
    bench.pass_ms(3);
    assert_eq!(bench.expect(Kind::ResultDone).head.flags, FLAG_RESEND);
    bench.ack(1, 0, 4, &[]);
    assert_eq!(chunks(&mut bench), [0, 1, 2, 3]);
}

/// A host that is away is asked ever less often.
pub fn what_is_not_acknowledged_goes_out_again_ever_more_slowly<S: Specimen>() {
    let mut bench = with_output::<S>(2, 3);
    bench.clear();
    let began = bench.now;
    bench.pass_ms(2000);
    let done: Vec<_> = bench.take_all(Kind::ResultDone);
    assert!(done.iter().all(|d| d.head.flags == FLAG_RESEND));
    assert_eq!(millis(&done, began), [2, 6, 14, 30, 62, 126, 254, 510, 1010, 1510]);
    let data = bench.take_all(Kind::ResultData);
    assert_eq!(data.len(), 30);
    assert!(data.iter().all(|d| d.head.flags == FLAG_RESEND));
    assert_eq!((bench.count(Counter::ResultResends), bench.count(Counter::ResultChunks)), (40, 3));
    // What has arrived is left out; progress makes it quick again.
    bench.ack(1, 1, 3, &[2]);
    bench.clear();
    let began = bench.now;
    bench.pass_ms(5);
    let data = bench.take_all(Kind::ResultData);
    assert_eq!((numbers(&data), millis(&data, began)), (vec![1], vec![2]));
    assert!(bench.take_all(Kind::ResultDone).is_empty());
}

/// What later chunks have overtaken is sent again once, without waiting.
pub fn a_gap_is_mended_at_once_and_once<S: Specimen>() {
    let mut bench = with_output::<S>(19, 20);
    bench.clear();
    bench.ack(1, 2, 20, &[4, 5, 8]);
    assert_eq!(chunks(&mut bench), [2, 3, 6, 7]);
    bench.ack(1, 2, 20, &[4, 5, 8, 9]);
    assert!(chunks(&mut bench).is_empty());
    bench.ack(1, 2, 20, &[4, 5, 8, 9, 12]);
    assert_eq!(chunks(&mut bench), [10, 11]);
    // Lost again: the timer's turn.
    bench.pass_ms(3);
    assert_eq!(chunks(&mut bench), [2, 3, 6, 7, 10, 11, 13, 14, 15, 16, 17, 18, 19]);
}

/// Never more than the bitmap's 256 beyond the first missing one.
pub fn the_host_can_always_tell_what_is_missing<S: Specimen>() {
    let mut bench = with_output::<S>(600, u16::MAX);
    assert_eq!(chunks(&mut bench), (0..256).collect::<Vec<_>>());
    bench.ack(1, 100, 601, &[]);
    assert_eq!(chunks(&mut bench), (256..356).collect::<Vec<_>>());
}

/// A long output does not hold a short one up, and either may be finished first.
pub fn several_outputs_share_the_wire<S: Specimen>() {
    let mut bench = Bench::<S>::with_role();
    fill(&mut bench, 5);
    launch(&mut bench, 1, 5, 0);
    launch(&mut bench, 2, 2, 0);
    for seq in [1, 2] {
        let frame = bench.head(Kind::ExecResultAck, seq, 0).frame(&[ack_body(0, 99, &[]).as_bytes()]);
        bench.hand(frame);
    }
    bench.clear();
    bench.drain();
    let mut order: Vec<_> =
        bench.take_all(Kind::ResultData).iter().map(|s| (s.head.seq, s.head.addr / CHUNK)).collect();
    let of = |seq| order.iter().filter(|o| o.0 == seq).map(|o| o.1).collect::<Vec<_>>();
    assert_eq!((of(1), of(2)), ((0..6).collect(), (0..3).collect()));
    // Whichever began, the last is of the long one.
    assert_eq!(order.pop(), Some((1, 5)));
    bench.ack(2, 3, 3, &[]);
    bench.ack(1, 6, 6, &[]);
    bench.pass_ms(1000);
    assert!(bench.take_all(Kind::ResultData).is_empty());
}

/// Acknowledgements that cannot be.
pub fn acknowledgements_of_nothing_do_no_harm<S: Specimen>() {
    let mut bench = with_output::<S>(2, 3);
    bench.clear();
    bench.ack(7, 0, 0, &[]);
    assert_eq!(bench.count(Counter::DropDuplicate), 1);
    bench.ack(1, 4, 4, &[]);
    assert_eq!(bench.count(Counter::DropMalformed), 1);
    // Of chunks that were never sent.
    bench.launch_with(2, BUMP, &[CELL, 1], Out { addr: BASE, length: 9 * CHUNK, ..Out::default() });
    bench.pass_ms(1);
    let no_end = ResultAck { done: 0, ..ack_body(5, 9, &[7]) };
    bench.send(Kind::ExecResultAck, 2, 0, no_end.as_bytes());
    let second: Vec<_> = bench.take_all(Kind::ResultData).into_iter().filter(|d| d.head.seq == 2).collect();
    assert_eq!(numbers(&second), [5, 6, 8]);
}

/// Nothing of an old claim is sent to a new one.
pub fn results_end_with_the_claim<S: Specimen>() {
    let mut bench = with_output::<S>(5, 6);
    bench.claim(HOST, 2);
    bench.clear();
    bench.pass_ms(3000);
    bench.expect_nothing();
}

/// How long a card waits for an acknowledgement is its configuration.
pub fn patience_is_configured<S: Specimen>() {
    let resend_after = Duration::from_millis(20);
    let mut bench = Bench::<S>::with_role_and(Config { resend_after, ..config() });
    bench.launch(1, BUMP, &[CELL, 1]);
    bench.pass_ms(19);
    bench.clear();
    bench.pass_ms(2);
    assert_eq!(bench.take_all(Kind::ResultDone).len(), 1);
}
