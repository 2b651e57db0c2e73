//! The gateware beside the model: five thousand frames at either width of its datapath, and no difference. A million:
//! `cargo run --release -p rackloom-conformance --example differential`.

use rackloom_conformance::fuzz::model_and_gateware;
use rackloom_verilated::Width;

const FRAMES: u64 = 5_040;
const SEEDS: u64 = 8;

fn same(width: Width, seeds: impl Iterator<Item = u64>) {
    for seed in seeds {
        let found = model_and_gateware(seed, width, 0).run(FRAMES / SEEDS);
        found.unwrap_or_else(|difference| panic!("{difference}"));
    }
}

// Two tests for each width, for two threads.
#[test]
fn the_gateware_does_what_the_model_does() {
    same(Width::Bits64, (0..SEEDS).step_by(2));
}

#[test]
fn the_gateware_does_what_the_model_does_with_other_seeds() {
    same(Width::Bits64, (1..SEEDS).step_by(2));
}

#[test]
fn wide_gateware_does_what_the_model_does() {
    same(Width::Bits128, (0..SEEDS).step_by(2));
}

#[test]
fn wide_gateware_does_what_the_model_does_with_other_seeds() {
    same(Width::Bits128, (1..SEEDS).step_by(2));
}

/// See `rl_planted`. What is the same at both widths is planted in one. Each bug with the seed that found it last: the
/// others come after it, so that a changed generator costs time and finds it all the same.
const PLANTED: [(Width, u8, u64); 7] = [
    (Width::Bits64, 1, 0),
    (Width::Bits64, 2, 4),
    (Width::Bits64, 3, 2),
    (Width::Bits64, 4, 0),
    (Width::Bits64, 5, 1),
    (Width::Bits128, 1, 0),
    (Width::Bits128, 4, 0),
];

const FRAMES_TO_FIND: u64 = 1_250;

#[test]
fn each_planted_bug_is_found() {
    for (width, planted, first) in PLANTED {
        let mut seeds = (first..SEEDS).chain(0..first);
        let found = seeds.find_map(|seed| model_and_gateware(seed, width, planted).run(FRAMES_TO_FIND).err());
        let difference = found.unwrap_or_else(|| panic!("bug {planted} was not found at {width:?}"));
        let (seed, frames) = (difference.seed, difference.frames);
        println!("bug {planted} at {width:?}: seed {seed}, after {frames} frames: {}", difference.what);
    }
}
