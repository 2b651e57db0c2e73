//! Seeds in the size of continuous integration; `rackloom-swarm --seeds 20000` is the nightly form.

use std::time::Duration;

use rackloom_sim::Faults;
use rackloom_swarm::{Plan, Starvation, Summary, run, run_job};

#[test]
fn four_hundred_seeds_hold() {
    let (mut total, mut starved, mut failed, mut rebooted) = ((0, 0, 0), 0, 0, 0);
    for seed in 1..=400 {
        match run(&Plan::draw(seed), None, None) {
            Ok(s) => {
                total = (total.0 + s.done, total.1 + s.kernels, total.2 + s.loads);
                starved += s.starved;
                failed += s.memory_failed;
                rebooted += s.rebooted;
            }
            Err(failure) => panic!("{failure}\nsee it again: cargo run -p rackloom-swarm -- --seed {seed:#x}"),
        }
    }
    // Runs in which little happens would prove little.
    assert!(total.0 > 40_000 && total.1 > 2_000 && total.2 > 2_000, "{total:?}");
    assert!(starved > 1_000, "{starved} stretches without a processor");
    assert!(failed > 200, "memory failed {failed} times");
    assert!(rebooted > 500, "{rebooted} restarts from flash");
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

/// Beside all other faults a stranger attacks, and every byte is compared.
#[test]
fn three_hundred_seeds_hold_against_a_stranger() {
    let (mut done, mut kernels, mut loads, mut attacks) = (0, 0, 0, 0);
    let mut failed = Vec::new();
    for seed in 1..=300 {
        match run(&attacked(seed), None, None) {
            Ok(s) => {
                (done, kernels) = (done + s.done, kernels + s.kernels);
                (loads, attacks) = (loads + s.loads, attacks + s.attacks);
            }
            Err(failure) => failed.push(failure.to_string()),
        }
    }
    assert!(failed.is_empty(), "{} seeds failed, such as {}", failed.len(), failed[..failed.len().min(3)].join("\n"));
    println!("{done} operations, {kernels} kernels, {loads} loads, {attacks} frames of strangers");
    assert!(done > 20_000 && kernels > 1_000 && loads > 1_000 && attacks > 20_000);
    // A short job may be over before the stranger has heard anything that he answers.
    let attacks_on = |seed| match run_job(&attacked(seed)) {
        Ok(s) => s.attacks,
        Err(failure) => panic!("as a job: {failure}"),
    };
    let unharmed: Vec<_> = (1..=20).filter(|seed| attacks_on(*seed) == 0).collect();
    assert!(unharmed.len() <= 2, "nobody attacks the jobs of the seeds {unharmed:?}");
}

/// A short script under attack.
fn attacked(seed: u64) -> Plan {
    let plan = Plan::draw(seed).with_stranger();
    Plan { actions: plan.actions / 3, ..plan }
}

/// Who takes frames whatever their tags is found out, or the silence of the others proves nothing.
#[cfg(feature = "planted-bugs")]
#[test]
fn a_card_or_host_that_ignores_tags_is_found() {
    use rackloom_swarm::PlantedBug::{Card, Host};
    for bug in [Card(rackloom_card::PlantedBug::IgnoreTag), Host(rackloom_host::PlantedBug::IgnoreTag)] {
        let found = (1..=100).find(|seed| run(&attacked(*seed), Some(bug), None).is_err());
        println!("{bug:?}: seed {found:?}");
        assert!(found.is_some(), "{bug:?} was not found in 100 seeds");
    }
}

/// Beside all other faults a host offers what must not run: nothing of it ever does, and what may run is taken.
#[test]
fn three_hundred_seeds_hold_with_images_that_must_not_run() {
    let (mut done, mut loads, mut refused, mut rebooted) = (0, 0, 0, 0);
    for seed in 1..=300 {
        match run(&signed(seed), None, None) {
            Ok(s) => {
                (done, loads) = (done + s.done, loads + s.loads);
                (refused, rebooted) = (refused + s.unsigned, rebooted + s.rebooted);
            }
            Err(failure) => panic!("{failure}"),
        }
    }
    println!("{done} operations, {loads} loads, {refused} refusals, {rebooted} restarts from flash");
    assert!(done > 20_000 && loads > 1_000 && refused > 150 && rebooted > 100);
    for seed in 1..=20 {
        run_job(&signed(seed)).unwrap_or_else(|failure| panic!("as a job: {failure}"));
    }
}

/// The same for cards that ask for signatures, with a host that offers what they must not run.
fn signed(seed: u64) -> Plan {
    let plan = Plan::draw(seed);
    Plan { actions: plan.actions / 2, signed: true, ..plan }
}

#[cfg(feature = "planted-bugs")]
#[test]
fn a_card_that_checks_no_signature_or_forgets_a_version_is_found() {
    for bug in [rackloom_card::PlantedBug::SkipSignature, rackloom_card::PlantedBug::ForgetVersion] {
        let planted = Some(rackloom_swarm::PlantedBug::Card(bug));
        let found = (1..=100).find(|seed| run(&signed(*seed), planted, None).is_err());
        println!("{bug:?}: seed {found:?}");
        assert!(found.is_some(), "{bug:?} was not found in 100 seeds");
    }
}

/// Racks without a fault but this: nodes wait for a processor, hosts and cards for at most so many milliseconds.
fn starved(host_max: u64, card_max: u64, one_machine: bool) -> Summary {
    let mut total = Summary::default();
    for seed in 1..=20 {
        let starvation = Starvation {
            pause: Duration::from_millis(100),
            host_max: Duration::from_millis(host_max),
            card_max: Duration::from_millis(card_max),
            one_machine,
        };
        let plan = Plan {
            hosts: 1,
            faults: Faults::NONE,
            mangled: 0.0,
            pace: Duration::from_millis(30),
            crashes: false,
            pulls: false,
            host_crashes: false,
            cancels: false,
            // Else each card would announce itself while its host waits: the host would find that unread, and have no
            // silence to judge.
            announce_interval: Duration::from_secs(60),
            starvation: Some(starvation),
            memory_faults: false,
            flash: false,
            hostile: None,
            signed: false,
            ..Plan::draw(seed)
        };
        let summary = run(&plan, None, None).unwrap_or_else(|failure| panic!("{failure}"));
        total.done += summary.done;
        total.starved += summary.starved;
        total.silent += summary.silent;
        total.expired += summary.expired;
    }
    // Most stretches must have something to spoil.
    assert!(total.starved > 40 && total.done > 1_000, "{total:?}");
    total
}

/// Its owner's pings wait for it, and count when it reads them.
#[test]
fn a_card_that_waits_for_a_processor_loses_neither_host_nor_claim() {
    let total = starved(0, 700, false);
    assert_eq!((total.silent, total.expired), (0, 0));
}

/// Its driver tells the host why the card is silent.
#[test]
fn on_one_machine_a_card_may_wait_for_longer_than_a_silent_one_has() {
    let total = starved(0, 3_000, true);
    assert_eq!((total.silent, total.expired), (0, 0));
}

#[test]
fn a_host_that_waits_for_a_processor_gives_no_card_up() {
    assert_eq!(starved(3_000, 0, false).silent, 0);
}

/// On a machine of its own nobody can tell such a card from a dead one: the end of each run proves that it is back.
#[test]
fn a_card_that_was_given_up_while_it_waited_comes_back() {
    assert!(starved(300, 3_000, false).silent > 10);
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
    for bug in rackloom_card::PlantedBug::ALL {
        let planted = Some(rackloom_swarm::PlantedBug::Card(bug));
        // Of signatures there is a test of its own.
        let plan = |seed| Plan { signed: false, ..Plan::draw(seed) };
        let found = (1..=100).find(|seed| run(&plan(*seed), planted, None).is_err());
        println!("{bug:?}: seed {found:?}");
        assert!(found.is_some(), "{bug:?} was not found in 100 seeds");
    }
}
