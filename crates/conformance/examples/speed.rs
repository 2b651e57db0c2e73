//! How fast Verilated cards are on this machine: cycles, and writes of the least and the most bytes, a second; for one
//! card and for four, each on a thread of its own.

use std::thread;
use std::time::Instant;

use rackloom_conformance::bench::{BASE, Bench, CHUNK, config};
use rackloom_node::Duration;
use rackloom_rtl::RtlCard;
use rackloom_wire::Kind;

fn main() {
    println!("| cards | payload bytes | cycles/s | frames/s |\n|---|---|---|---|");
    for cards in [1, 4] {
        for length in [8, usize::from(CHUNK)] {
            let began = Instant::now();
            let cycles: u64 = thread::scope(|scope| {
                let all: Vec<_> = (0..cards).map(|_| scope.spawn(move || cycles_of_writes(length))).collect();
                all.into_iter().map(|card| card.join().expect("a card works")).sum()
            });
            let per_second = |n: f64| n / began.elapsed().as_secs_f64();
            let (frames, cycles) = (per_second((WRITES * cards) as f64), per_second(cycles as f64));
            println!("| {cards} | {length} | {cycles:.0} | {frames:.0} |");
        }
    }
}

/// A card is claimed and written to; the cycles that it took.
fn cycles_of_writes(length: usize) -> u64 {
    let mut bench = Bench::<RtlCard>::claimed_with(config());
    for seq in 1..=WRITES {
        let frame = bench.head(Kind::InputWrite, seq as u32, BASE).frame(&[&vec![1; length]]);
        bench.hand(frame);
        // Half of what the receive FIFO holds.
        if seq % 5 == 0 {
            bench.drain();
        }
    }
    bench.pass(Duration::from_millis(1));
    bench.card.cycles()
}

const WRITES: usize = 2000;
