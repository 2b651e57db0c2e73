//! The gateware's pace, in cycles: how long after a frame its effect comes, and whether frames back to back hold it up.

use rackloom_verilated::{Marks, RtlCard};
use rackloom_wire::{CARDS, Counter, FLAG_ACK_NOW, IntoBytes, Kind, Solicit, U32};

use crate::bench::{BASE, Bench, Out, launch_payload};
use crate::images::kernel::{BUMP, TRAP};

/// A distance in cycles, and how many it may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Latency {
    /// From where to where.
    pub what: String,
    /// Cycles of the network's clock, the first one not counted.
    pub cycles: u64,
    /// Most cycles.
    pub limit: u64,
}

/// What frames back to back, a word in each cycle, do to a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    /// Bytes of each payload.
    pub payload: usize,
    /// Frames that came.
    pub frames: u64,
    /// Cycles from the first word to the last one.
    pub cycles: u64,
    /// Words that the card has counted in them.
    pub words: u64,
    /// Frames that it has counted as written.
    pub writes: u64,
    /// Cycles from the last word to the last write into memory.
    pub behind: u64,
}

/// The latencies of a card that has nothing else to do.
pub fn latencies() -> Vec<Latency> {
    let mut out = Vec::new();
    let mut bench = Bench::<RtlCard>::with_role();
    for (seq, kernel, args) in [(1, TRAP, &[][..]), (2, BUMP, &[BASE, 1])] {
        let frame = bench.head(Kind::ExecLaunch, seq, kernel).frame(&[&launch_payload(args, Out::default())]);
        let marks = marks(&mut bench, &[frame]);
        let (first, _) = marks.received.expect("it has come");
        let what = format!("launch with {} arguments: first word in, start out", args.len());
        out.push(Latency { what, cycles: marks.started.expect("it was started") - first, limit: 24 });
    }
    for (seq, length) in (1..).zip([1, 8, 64, 1472]) {
        let frame = bench.head(Kind::InputWrite, seq, BASE + 3).frame(&[&vec![1; length]]);
        let marks = marks(&mut bench, &[frame]);
        let (_, last) = marks.received.expect("it has come");
        let (first, _) = marks.written.expect("it was written");
        let what = format!("write of {length} bytes: last word in, first AXI write");
        out.push(Latency { what, cycles: first - last, limit: 24 });
    }
    let solicit = Solicit { window_us: U32::ZERO, reserved: U32::ZERO };
    let head = rackloom_wire::Head { dst: CARDS, ..bench.head(Kind::DiscoverySolicit, 1, 0) };
    let marks = marks(&mut bench, &[head.frame(&[solicit.as_bytes()])]);
    let (_, last) = marks.received.expect("it has come");
    let cycles = marks.sent.expect("it was answered") - last;
    out.push(Latency { what: "solicitation: last word in, first word of the answer".into(), cycles, limit: 64 });
    out
}

/// Writes back to back, with payloads of so many bytes.
pub fn stream(payload: usize, frames: u32) -> Stream {
    let mut bench = Bench::<RtlCard>::claimed();
    let before = bench.counters();
    let all: Vec<_> = (1..=frames)
        .map(|seq| {
            let addr = BASE + u64::from(seq) * 1496 % (1 << 20);
            let flags = if seq == frames { FLAG_ACK_NOW } else { 0 };
            let head = rackloom_wire::Head { flags, ..bench.head(Kind::InputWrite, seq, addr) };
            head.frame(&[&vec![1; payload]])
        })
        .collect();
    let marks = marks(&mut bench, &all);
    let after = bench.counters();
    let counted = |counter: Counter| after[counter as usize] - before[counter as usize];
    let (first, last) = marks.received.expect("they have come");
    let (_, written) = marks.written.expect("they were written");
    // Each of the two requests for the counters took words, too.
    let own = counted(Counter::RxFrames) - u64::from(frames);
    Stream {
        payload,
        frames: frames.into(),
        cycles: last - first + 1,
        words: counted(Counter::RxWords) - own * COUNTERS_GET_WORDS,
        writes: counted(Counter::Writes),
        behind: written - last,
    }
}

/// Hands these frames to a card at rest, back to back, and waits until it is at rest again.
fn marks(bench: &mut Bench<RtlCard>, frames: &[rackloom_node::Frame]) -> Marks {
    bench.pass_ms(1);
    bench.settle();
    bench.card.take_marks();
    for frame in frames {
        bench.hand(frame.clone());
    }
    bench.settle();
    let marks = bench.card.take_marks();
    bench.clear();
    marks
}

/// Words of a frame that asks for counters: the shortest there is.
const COUNTERS_GET_WORDS: u64 = 8;
