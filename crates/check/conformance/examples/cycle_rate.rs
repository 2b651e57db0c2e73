//! How many cycles of a Verilated card a second of processor time computes: of a card that is awake and has nothing to
//! do, of one that takes writes at line rate, of one that runs a kernel, and of one whose role sends back what comes at
//! line rate on two ports. `--json` for programs; a number is how often each is measured, and the median is printed;
//! names of cases, for these alone. `rack`: of twenty cards one takes writes.
//!
//! Processor time and not the wall's: the machine may have other work.

use std::fs;

use rackloom_card::{Config, PortConfig, PortService};
use rackloom_conformance::bench::{BASE, Bench, CHUNK, config};
use rackloom_node::{Duration, Frame, Node};
use rackloom_verilated::RtlCard;
use rackloom_wire::{Counter, Kind, MacAddr};

fn main() {
    let (mut json, mut rounds, mut wanted) = (false, 5, Vec::new());
    for word in std::env::args().skip(1) {
        match (word.as_str(), word.parse()) {
            ("--json", _) => json = true,
            ("rack", _) => {
                return println!("{CARDS} cards of which one talks: {:.1} times as fast as all awake", rack());
            }
            (_, Ok(number)) if number > 0 => rounds = number,
            (name, _) if CASES.iter().any(|(case, _)| *case == name) => wanted.push(word),
            _ => return eprintln!("cycle_rate [--json] [ROUNDS] [CASE]... | rack: what is {word}?"),
        }
    }
    let cases = CASES.iter().filter(|(case, _)| wanted.is_empty() || wanted.iter().any(|name| name == case));
    let rates = cases.map(|(name, run)| {
        let mut all: Vec<f64> = (0..rounds).map(|_| run()).collect();
        all.sort_by(f64::total_cmp);
        (name, all[rounds / 2])
    });
    if json {
        let fields: Vec<_> = rates.map(|(name, rate)| format!("\"{name}\":{rate:.0}")).collect();
        return println!("{{{}}}", fields.join(","));
    }
    println!("| card | cycles per second of processor time |\n|---|---|");
    for (name, rate) in rates {
        println!("| {name} | {rate:.0} |");
    }
}

/// Runs a card and yields cycles per second of this thread's processor time.
fn measure(bench: &mut Bench<RtlCard>, run: impl FnOnce(&mut Bench<RtlCard>)) -> f64 {
    let (cycles, began) = (bench.card.cycles(), processor_ns());
    run(bench);
    (bench.card.cycles() - cycles) as f64 * 1e9 / (processor_ns() - began) as f64
}

/// Claimed, and kept awake by a frame of two words in some forty cycles, which is nobody's.
fn idle() -> f64 {
    let mut bench = Bench::<RtlCard>::claimed_with(config());
    measure(&mut bench, |bench| {
        for _ in 0..5000 {
            bench.hand(Frame::from_static(&[0x5a; 14]));
            bench.drain();
        }
    })
}

/// Words of writes in each cycle.
fn writes() -> f64 {
    const WRITES: u32 = 1000;
    let mut bench = Bench::<RtlCard>::claimed_with(config());
    let rate = measure(&mut bench, |bench| {
        for seq in 1..=WRITES {
            let frame = bench.head(Kind::InputWrite, seq, BASE).frame(&[&vec![1; CHUNK.into()]]);
            bench.hand(frame);
            if seq % 50 == 0 {
                bench.drain();
            }
        }
        bench.settle();
    });
    assert_eq!(bench.count(Counter::Writes), u64::from(WRITES), "each write was performed");
    rate
}

/// A role that reads and writes memory all the time.
fn ptrans() -> f64 {
    const SIDE: u64 = 256;
    const MATRIX: u64 = 4 * SIDE * SIDE;
    let mut bench = Bench::<RtlCard>::claimed_with(config());
    bench.load(1, rackloom_builtin_roles::image("ptrans").expect("it is built in"));
    let rate = measure(&mut bench, |bench| {
        bench.launch(1, 0, &[BASE, BASE + MATRIX, BASE + 2 * MATRIX, SIDE, SIDE]);
        bench.settle();
        bench.pass(Duration::from_millis(1));
    });
    assert_eq!(bench.count(Counter::KernelsDone), 1, "it has come to its end");
    rate
}

/// Frames back to back on both ports beside port 0, which a role sends back.
fn streams() -> f64 {
    const FRAMES: usize = 200;
    let ports = (0..).zip(OTHERS).map(|(stream, mac)| PortConfig::new(mac, PortService::Stream(stream)));
    let mut bench = Bench::<RtlCard>::claimed_with(Config { ports: ports.collect(), ..config() });
    bench.ports = 3;
    bench.load(1, rackloom_builtin_roles::image("echo").expect("it is built in"));
    let rate = measure(&mut bench, |bench| {
        for _ in 0..FRAMES {
            for (port, mac) in (1..).zip(OTHERS) {
                let frame = [&mac.0[..], &[2; 6], &[0x88, 0xb5], &[1; 1472]].concat();
                bench.card.handle_frame(bench.now, port, frame.into());
            }
        }
        bench.settle();
        bench.pass(Duration::from_millis(1));
    });
    assert_eq!(bench.others.len(), 2 * FRAMES, "each has come back");
    rate
}

/// A rack in which one card takes writes and the others have nothing to do: how many times as fast it is as one whose
/// other cards are kept awake for as many cycles. A card at rest is not computed.
fn rack() -> f64 {
    let [all, one] = [true, false].map(|awake| {
        let mut cards: Vec<_> = (0..CARDS).map(|_| Bench::<RtlCard>::claimed_with(config())).collect();
        let (talks, others) = cards.split_first_mut().expect("there are some");
        let began = processor_ns();
        for seq in 1..=100 {
            let before = talks.card.cycles();
            talks.frame(talks.head(Kind::InputWrite, seq, BASE).frame(&[&vec![1; CHUNK.into()]]));
            let cycles = talks.card.cycles() - before;
            for other in &mut *others {
                let before = other.card.cycles();
                other.drain();
                while awake && other.card.cycles() - before < cycles {
                    other.frame(Frame::from_static(&[0x5a; 14]));
                }
            }
        }
        (processor_ns() - began) as f64
    });
    all / one
}

/// Nanoseconds for which this thread has had a processor.
fn processor_ns() -> u64 {
    let told = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux says it");
    told.split(' ').next().and_then(|first| first.parse().ok()).expect("the first number")
}

/// Addresses of the ports beside port 0.
const OTHERS: [MacAddr; 2] = [MacAddr([6, 0, 0, 0, 0, 1]), MacAddr([10, 0, 0, 0, 0, 1])];
/// Of a rack.
const CARDS: usize = 20;

/// What is measured, and its name.
type Case = (&'static str, fn() -> f64);

const CASES: [Case; 4] = [("idle", idle), ("writes", writes), ("ptrans", ptrans), ("streams", streams)];
