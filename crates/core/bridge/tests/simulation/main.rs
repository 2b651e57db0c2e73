//! Nodes of the bridge under seeded faults, in virtual time.

mod ledger;
mod messages;
mod plan;
#[cfg(feature = "planted-bugs")]
mod planted;
mod regressions;
mod stats;
mod work;
mod world;

use plan::Plan;
use stats::Stats;
use world::run;

fn all(seeds: core::ops::RangeInclusive<u64>, draw: fn(u64) -> Plan) -> Stats {
    let mut total = Stats::default();
    for seed in seeds {
        match run(&draw(seed), None) {
            Ok(stats) => total += stats,
            Err(why) => panic!("seed {seed}: {why}"),
        }
    }
    println!("{total:?}");
    total
}

#[test]
fn a_few_nodes_carry_out_each_request_once() {
    let total = all(1..=200, Plan::draw);
    // Runs in which little happens would prove little.
    assert!(total.done > 80_000 && total.refused > 10_000, "{total:?}");
    assert!(total.restarted > 1_000 && total.unreachable > 1_000 && total.unknown > 500, "{total:?}");
    assert!(total.taken > 3_000 && total.losses > 100, "{total:?}");
    assert!(total.duplicates > 50_000 && total.stale > 5_000 && total.rotten > 500, "{total:?}");
}

#[test]
fn messages_arrive_whole_once_and_in_order() {
    let total = all(1..=40, Plan::draw_streams);
    assert!(total.taken > 1_500 && total.losses > 30 && total.restarts > 40, "{total:?}");
}

#[test]
fn racks_of_up_to_sixty_four_nodes_carry_out_each_request_once() {
    let total = all(1..=80, Plan::draw_rack);
    assert!(total.done > 50_000 && total.restarted > 100 && total.taken > 2_000, "{total:?}");
}

#[test]
fn a_node_serves_sixty_three_peers() {
    let total = all(1..=20, Plan::draw_star);
    assert!(total.done > 15_000 && total.restarted > 500 && total.taken > 800, "{total:?}");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for seed in 1000..1010 {
        let plan = Plan::draw(seed);
        assert_eq!(run(&plan, None), run(&plan, None), "seed {seed}");
    }
    assert_ne!(run(&Plan::draw(1), None).unwrap().hash, run(&Plan::draw(2), None).unwrap().hash);
}
