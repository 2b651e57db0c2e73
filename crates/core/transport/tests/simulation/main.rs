//! The transport under seeded faults, in virtual time.

mod goodput;
mod peers;
mod plan;
#[cfg(feature = "planted-bugs")]
mod planted;
mod world;

use plan::Plan;
use world::run;

/// Seeds in the size of continuous integration.
const SEEDS: u64 = 400;

#[test]
fn four_hundred_seeds_deliver_each_payload_once() {
    let mut total = world::Stats::default();
    for seed in 1..=SEEDS {
        match run(&Plan::draw(seed), None) {
            Ok(stats) => total += stats,
            Err(why) => panic!("seed {seed}: {why}"),
        }
    }
    println!("{total:?}");
    // Runs in which little happens would prove little.
    assert!(total.delivered > 150_000, "{total:?}");
    assert!(total.resent > 20_000 && total.duplicates > 20_000, "{total:?}");
    assert!(total.restarts > 200 && total.lost_to_restarts > 200, "{total:?}");
    assert!(total.stale > 50 && total.blocked > 50 && total.wraps > 200, "{total:?}");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for seed in 1000..1010 {
        let plan = Plan::draw(seed);
        assert_eq!(run(&plan, None), run(&plan, None), "seed {seed}");
    }
    assert_ne!(run(&Plan::draw(1), None), run(&Plan::draw(2), None));
}
