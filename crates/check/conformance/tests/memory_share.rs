//! One memory for shell and role: a role that floods it by the rules costs the shell no more than its share.
//!
//! Of the memory's beats half go each way while both ways are wanted, 16 in a row, and turning the bus costs two
//! cycles of eighteen: a way has 16 beats in 36 cycles. A beat of the shell waits for 33 of the role at most, 17 for
//! its turn and 16 of a burst that is under way, and behind what waits at the memory before it. The shell has a window
//! of its own: so many beats that are not answered, and no more.

use rackloom_conformance::bench::{BASE, Bench, Out, launch_payload};
use rackloom_conformance::images::kernel::GREEDY;
use rackloom_node::{Frame, Node};
use rackloom_verilated::{Marks, RtlCard};
use rackloom_wire::{self as wire, BULK_STANDARD, IntoBytes, Kind, U32};

/// `rl_planted`: the role has the memory whenever it wants.
const NO_SHARES: u8 = 9;
const BYTES: usize = BULK_STANDARD as usize;
/// Beats of a frame's payload, one more for one that begins within a beat.
const BEATS: u64 = BYTES as u64 / 64 + 1;
/// Cycles in which so many beats go one way, while the other way is wanted as well.
const fn cycles(beats: u64) -> u64 {
    beats * 36 / 16
}
/// The memory's latency, and the way there and back.
const LATENCY: u64 = 30 + 12;
/// Cycles until a beat of the shell is in memory: 16 wait there to be written.
const WRITTEN: u64 = cycles(33 + 16) + LATENCY;
/// Beats that `rl_ddr_write` has under way.
const WRITES: u64 = 12;
/// Cycles until a beat that the shell asks for has come: 64 are asked for at a time.
const CAME: u64 = cycles(33 + 64) + LATENCY;
/// Beats that `rl_ddr_read` has under way.
const READS: u64 = 16;
/// Frames of a stream: as many as the card can keep without memory.
const FRAMES: u32 = 12;

/// A card whose role floods memory, or has nothing to do.
fn card(floods: bool) -> Bench<RtlCard> {
    let mut bench = Bench::<RtlCard>::with_role();
    if floods {
        let launch = bench.head(Kind::ExecLaunch, 1, GREEDY).frame(&[&launch_payload(&[], Out::default())]);
        run(&mut bench, vec![launch], 1);
    }
    bench
}

/// What these frames, back to back, bring about in so many slices of 4096 cycles. A card that never rests is not waited
/// for.
fn run(bench: &mut Bench<RtlCard>, frames: Vec<Frame>, slices: usize) -> Marks {
    bench.clear();
    bench.card.take_marks();
    for frame in frames {
        bench.hand(frame);
    }
    for _ in 0..slices {
        bench.card.handle_timeout(bench.now);
        bench.take();
    }
    bench.card.take_marks()
}

/// Where a write goes: not to the beginning of a beat.
fn place(seq: u32) -> u64 {
    BASE + 3 + u64::from(seq) * 1536
}

/// Writes at the rate of the wire: how many are in memory, and cycles from the first word to the last write.
fn writes(bench: &mut Bench<RtlCard>) -> (usize, u64) {
    let frame = |seq| bench.head(Kind::InputWrite, seq, place(seq)).frame(&[&[seq as u8; BYTES]]);
    let frames: Vec<_> = (1..=FRAMES).map(frame).collect();
    let marks = run(bench, frames, 3);
    let (first, _) = marks.received.expect("they have come");
    let took = marks.written.map_or(u64::MAX, |(_, written)| written - first);
    let stored = (1..=FRAMES).filter(|&seq| bench.bytes(place(seq), BYTES) == [seq as u8; BYTES]).count();
    (stored, took)
}

/// A read: cycles from its last word to the first of the answer.
fn read(bench: &mut Bench<RtlCard>) -> u64 {
    let body = wire::Read { length: U32::new(BYTES as u32), reserved: U32::ZERO };
    let frame = bench.head(Kind::InputRead, 1, place(1)).frame(&[body.as_bytes()]);
    let marks = run(bench, vec![frame], 2);
    let (_, last) = marks.received.expect("it has come");
    marks.sent.map_or(u64::MAX, |sent| sent - last)
}

#[test]
fn a_role_that_floods_costs_the_shell_its_share_at_most() {
    let mut quiet = card(false);
    let (stored, alone) = writes(&mut quiet);
    assert_eq!(stored, FRAMES as usize);
    let read_alone = read(&mut quiet);

    let mut bench = card(true);
    let (stored, took) = writes(&mut bench);
    let limit = alone + u64::from(FRAMES) * BEATS * WRITTEN / WRITES;
    println!("writes: {stored} of {FRAMES} in {took} cycles of {limit}, {alone} without the role");
    assert_eq!(stored, FRAMES as usize);
    assert!(took <= limit, "{took} of {limit}, {alone} without the role");

    let limit = read_alone + BEATS.div_ceil(READS) * CAME;
    let beside = read(&mut bench);
    println!("a read: {beside} cycles of {limit}, {read_alone} without the role");
    assert!(beside <= limit, "{beside} of {limit}, {read_alone} without the role");
    assert_eq!(bench.last(Kind::InputConfirmReadData).payload, [1; BYTES]);
}

#[test]
fn without_shares_it_costs_everything() {
    let mut bench = card(true);
    bench.card.plant(NO_SHARES);
    let (stored, _) = writes(&mut bench);
    assert_eq!(stored, 0);
}
