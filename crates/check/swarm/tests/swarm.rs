//! Seeds in the size of continuous integration; `rackloom-swarm --seeds 20000` is the nightly form.

use rackloom_swarm::{Plan, run, run_job};

#[test]
fn four_hundred_seeds_hold() {
    let mut total = (0, 0, 0);
    for seed in 1..=400 {
        match run(&Plan::draw(seed), None, None) {
            Ok(s) => total = (total.0 + s.done, total.1 + s.kernels, total.2 + s.loads),
            Err(failure) => panic!("{failure}\nsee it again: cargo run -p rackloom-swarm -- --seed {seed:#x}"),
        }
    }
    // Runs in which little happens would prove little.
    assert!(total.0 > 40_000 && total.1 > 2_000 && total.2 > 2_000, "{total:?}");
}

#[test]
fn jobs_lose_nothing() {
    let (mut joined, mut left) = (0, 0);
    for seed in 1..=60 {
        match run_job(&Plan::draw(seed)) {
            Ok(s) => (joined, left) = (joined + s.joined, left + s.left),
            Err(failure) => panic!("{failure}"),
        }
    }
    // Without cards that come and go the test would prove little.
    assert!(joined > 200 && left > 50, "{joined} joined, {left} left");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for seed in 1000..1020 {
        let plan = Plan::draw(seed);
        let (a, b) = (run(&plan, None, None), run(&plan, None, None));
        assert_eq!(a.expect("holds"), b.expect("holds"), "seed {seed}");
    }
    let hash = |seed| run(&Plan::draw(seed), None, None).expect("holds").hash;
    assert_ne!(hash(1), hash(2));
}

/// Each planted bug is found within a hundred seeds, or the silence of the others proves nothing.
#[cfg(feature = "planted-bugs")]
#[test]
fn planted_bugs_are_found() {
    for bug in rackloom_swarm::PlantedBug::ALL {
        let found = (1..=100).find(|seed| run(&Plan::draw(*seed), Some(bug), None).is_err());
        println!("{bug:?}: seed {found:?}");
        assert!(found.is_some(), "{bug:?} was not found in 100 seeds");
    }
}
