//! Results: what is sent, sent again and forgotten.

use rackloom_card::{Config, Pace};
use rackloom_wire::{Done, Kind};

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
fn live_patience_is_longer() {
    let mut bench = Bench::with_role_and(Config { ..config(Pace::Live) });
    bench.launch(1, COUNT, &[BASE]);
    bench.pass_ms(19);
    bench.clear();
    bench.pass_ms(2);
    assert_eq!(bench.take_all(Kind::ResultDone).len(), 1);
}
