//! Results: their exact order, what is kept of them, and patience when live.

use rackloom_card::Pace;
use rackloom_conformance::bench::{BASE, CHUNK, Out, ack_body};
use rackloom_node::Duration;
use rackloom_wire::{IntoBytes, Kind};

use crate::cards::{Bench, config, virtual_time, with_role};
use crate::native::{COUNT, FILL};

/// Launches a kernel with an output of so many chunks and a half, and lets it end.
fn launch(bench: &mut Bench, seq: u32, chunks: u64, credit: u16) {
    let length = chunks * u64::from(CHUNK) + u64::from(CHUNK) / 2;
    bench.launch_with(seq, FILL, &[BASE, length, 1], Out { addr: BASE, length, credit, ..Out::default() });
    bench.pass(Duration::from_micros(10));
}

#[test]
fn an_acknowledged_result_takes_no_memory() {
    let mut bench = with_role(virtual_time());
    launch(&mut bench, 1, 4, 5);
    assert_eq!(bench.take_all(Kind::ResultData).len(), 5);
    assert!(bench.card.memory_in_use() > 0);
    bench.ack(1, 5, 5, &[]);
    assert_eq!(bench.card.memory_in_use(), 0);
}

#[test]
fn outputs_take_turns() {
    let mut bench = with_role(virtual_time());
    launch(&mut bench, 1, 5, 0);
    launch(&mut bench, 2, 2, 0);
    for seq in [1, 2] {
        bench.hand(bench.head(Kind::ExecResultAck, seq, 0).frame(&[ack_body(0, 99, &[]).as_bytes()]));
    }
    bench.clear();
    bench.drain();
    let chunk = |addr| addr / u64::from(CHUNK);
    let order: Vec<_> = bench.take_all(Kind::ResultData).iter().map(|s| (s.head.seq, chunk(s.head.addr))).collect();
    assert_eq!(order, [(1, 0), (2, 0), (1, 1), (2, 1), (1, 2), (2, 2), (1, 3), (1, 4), (1, 5)]);
}

#[test]
fn live_patience_is_longer() {
    let mut bench = with_role(config(Pace::Live));
    bench.launch(1, COUNT, &[BASE]);
    bench.pass_ms(19);
    bench.clear();
    bench.pass_ms(2);
    assert_eq!(bench.take_all(Kind::ResultDone).len(), 1);
}
