//! How fast Verilated cards are on this machine: cycles, and frames of writes with the least and the most bytes, a
//! second; for one card and for four, each on a thread of its own. Only the time in which frames come is counted.

use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use rackloom_conformance::bench::{BASE, Bench, CHUNK, config};
use rackloom_node::Duration;
use rackloom_verilated::RtlCard;
use rackloom_wire::{Counter, Kind};

fn main() {
    println!("| cards | payload bytes | cycles/s | frames/s |\n|---|---|---|---|");
    for cards in [1, 4] {
        for length in [8, usize::from(CHUNK)] {
            let ready = Barrier::new(cards + 1);
            let (cycles, seconds) = thread::scope(|scope| {
                let all: Vec<_> = (0..cards).map(|_| scope.spawn(|| cycles_of_writes(length, &ready))).collect();
                ready.wait();
                let began = Instant::now();
                let cycles: u64 = all.into_iter().map(|card| card.join().expect("a card works")).sum();
                (cycles, began.elapsed().as_secs_f64())
            });
            let (cycles, frames) = (cycles as f64 / seconds, (WRITES as usize * cards) as f64 / seconds);
            println!("| {cards} | {length} | {cycles:.0} | {frames:.0} |");
        }
    }
}

/// A card is claimed and then written to, once all are ready; the cycles that the writes took.
fn cycles_of_writes(length: usize, ready: &Barrier) -> u64 {
    let mut bench = Bench::<RtlCard>::claimed_with(config());
    let before = bench.card.cycles();
    ready.wait();
    for seq in 1..=WRITES {
        let frame = bench.head(Kind::InputWrite, seq, BASE).frame(&[&vec![1; length]]);
        bench.hand(frame);
        // Half of what the receive FIFO holds.
        if seq % 5 == 0 {
            bench.drain();
        }
    }
    bench.pass(Duration::from_millis(1));
    let cycles = bench.card.cycles() - before;
    assert_eq!(bench.count(Counter::Writes), u64::from(WRITES), "each write was performed");
    cycles
}

const WRITES: u32 = 2000;
