//! The gateware beside the model: ten thousand frames, and no difference. A million: `cargo run --release -p
//! rackloom-conformance --example differential`.

use rackloom_conformance::fuzz::model_and_gateware;

const FRAMES: u64 = 10_000;
const SEEDS: u64 = 8;

fn same(seeds: impl Iterator<Item = u64>) {
    for seed in seeds {
        let found = model_and_gateware(seed, 0).run(FRAMES / SEEDS);
        found.unwrap_or_else(|difference| panic!("{difference}"));
    }
}

// Two tests, for two threads.
#[test]
fn the_gateware_does_what_the_model_does() {
    same((0..SEEDS).step_by(2));
}

#[test]
fn the_gateware_does_what_the_model_does_with_other_seeds() {
    same((1..SEEDS).step_by(2));
}
/// See `rl_planted`.
#[test]
fn each_planted_bug_is_found() {
    for planted in 1..=PLANTED {
        let found = (0..SEEDS).find_map(|seed| model_and_gateware(seed, planted).run(FRAMES / SEEDS).err());
        let difference = found.unwrap_or_else(|| panic!("bug {planted} was not found"));
        println!("bug {planted}: seed {}, after {} frames: {}", difference.seed, difference.frames, difference.what);
    }
}

const PLANTED: u8 = 5;
