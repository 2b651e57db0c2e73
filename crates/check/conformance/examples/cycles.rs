//! The gateware's pace in cycles, as docs/src/internals/shell.md has it.

use rackloom_conformance::pace::{latencies, stream};

fn main() {
    println!("| from, to | cycles | at most |\n|---|---|---|");
    for latency in latencies() {
        println!("| {} | {} | {} |", latency.what, latency.cycles, latency.limit);
    }
    println!("\n| payload bytes | frames | cycles | words counted | writes counted | last write, cycles after |");
    println!("|---|---|---|---|---|---|");
    for (payload, frames) in [(8, 2000), (28, 2000), (1472, 200)] {
        let s = stream(payload, frames);
        println!("| {} | {} | {} | {} | {} | {} |", s.payload, s.frames, s.cycles, s.words, s.writes, s.behind);
    }
}
