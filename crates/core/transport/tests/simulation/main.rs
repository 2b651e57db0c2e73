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
fn four_hundred_seeds_in_order_deliver_each_payload_once_and_in_its_turn() {
    let mut total = world::Stats::default();
    for seed in 1..=SEEDS {
        match run(&Plan::draw_in_order(seed), None) {
            Ok(stats) => total += stats,
            Err(why) => panic!("seed {seed}: {why}"),
        }
    }
    println!("{total:?}");
    assert!(total.delivered > 150_000, "{total:?}");
    assert!(total.resent > 20_000 && total.duplicates > 20_000, "{total:?}");
    // Nothing is sent again much more often than the network loses, repeats and overtakes.
    assert!(total.resent < 2 * total.delivered, "{total:?}");
    assert!(total.nacks > 2_000 && total.bitmaps > 2_000 && total.released > 2_000, "{total:?}");
    assert!(total.restarts > 200 && total.lost_to_restarts > 200, "{total:?}");
    // Every segment brings credit along, so that few have to be sent to ask for it.
    assert!(total.stale > 50 && total.blocked > 0 && total.wraps > 200, "{total:?}");
}

#[test]
fn a_node_has_sixty_four_peers_in_order() {
    for seed in 1..=12 {
        if let Err(why) = run(&Plan::draw_star(seed), None) {
            panic!("seed {seed}: {why}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for seed in 1000..1010 {
        let plan = Plan::draw(seed);
        assert_eq!(run(&plan, None), run(&plan, None), "seed {seed}");
        let plan = Plan::draw_in_order(seed);
        assert_eq!(run(&plan, None), run(&plan, None), "seed {seed} in order");
    }
    assert_ne!(run(&Plan::draw(1), None), run(&Plan::draw(2), None));
}
