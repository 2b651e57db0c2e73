//! The same seed gives the same run.

mod common;

use common::*;
use rackloom_node::Rng;
use rackloom_sim::{Cable, Capture, Faults, Tap};

/// A rack under faults with pulled cables and restarts; returns the event hash, the log and the capture.
fn run(seed: u64, faults_seed: u64) -> (u64, Vec<String>, Vec<u8>) {
    let (mut net, _, probes) = star(seed, 8, Cable::TEN_GIGABIT);
    let mut rng = Rng::new(faults_seed);
    net.capture(Capture::whole(), &[Tap::Sent]);
    for (_, link) in &probes {
        net.set_faults(*link, Faults::swarm(&mut rng));
    }
    let mut log = Vec::new();
    for round in 0..50u8 {
        let (id, link) = probes[usize::from(round) % 8];
        net.node_mut(id).echo = round % 3 == 0;
        for n in 0..20 {
            let to = if n % 4 == 0 { ALL } else { n % 8 + 1 };
            net.with(id, |p, _| p.send(frame(to, round % 8 + 1, 300, u32::from(n))));
        }
        match round % 10 {
            4 => net.down(link),
            5 => net.calm(),
            7 => {
                net.take(id);
                net.put(id, Probe::new(round % 8 + 1));
            }
            _ => {}
        }
        while let Some((at, id, seen)) = net.run_until(us(50 * (u64::from(round) + 1))) {
            log.push(format!("{at:?} {id} {seen:?}"));
        }
    }
    let mut pcap = Vec::new();
    net.end_capture().unwrap().write_to(&mut pcap).unwrap();
    (net.event_hash().unwrap(), log, pcap)
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_seed_another() {
    let first = run(7, 1);
    assert!(first.1.len() > 1000, "{} events", first.1.len());
    assert_eq!(run(7, 1), first);
    assert_ne!(run(8, 1).0, first.0, "the network's seed counts");
    assert_ne!(run(7, 2).0, first.0, "the faults count");
}

#[test]
fn a_byte_in_a_frame_changes_the_hash_and_hashing_changes_nothing_else() {
    let run = |mark: u32, hash: bool| {
        let (mut net, _, probes) = star(1, 3, Cable::TEN_GIGABIT);
        if !hash {
            net.hash_off();
        }
        net.set_faults(probes[1].1, Faults::loss(0.5));
        for n in 0..100 {
            net.with(probes[0].0, |p, _| p.send(frame(ALL, 1, 60, mark + n)));
        }
        let got = frames_until(&mut net, us(1000)).into_iter().map(|(at, id, _)| (at, id)).collect::<Vec<_>>();
        (net.event_hash(), got)
    };
    let (plain, other, silent) = (run(0, true), run(1, true), run(0, false));
    assert_ne!(plain.0, other.0);
    assert_eq!(plain.1, other.1);
    assert_eq!(silent, (None, plain.1));
}

#[test]
fn a_timeout_that_nobody_hears_of_counts() {
    let run = |deadline| {
        let (mut net, a, _, _) = pair(1, Cable::TEN_GIGABIT);
        net.node_mut(a).lazy = true;
        net.node_mut(a).deadline = deadline;
        assert_eq!(net.run_until(us(100)), None);
        net.event_hash()
    };
    assert_ne!(run(Some(us(50))), run(None));
    assert_ne!(run(Some(us(50))), run(Some(us(51))));
}

#[test]
fn traffic_elsewhere_does_not_change_the_faults_of_a_cable() {
    let run = |busy: bool| {
        let (mut net, _, probes) = star(1, 4, Cable::TEN_GIGABIT);
        for (_, link) in &probes {
            net.set_faults(*link, Faults::loss(0.3));
        }
        for n in 0..200 {
            net.with(probes[0].0, |p, _| p.send(frame(2, 1, 60, n)));
            if busy {
                net.with(probes[2].0, |p, _| p.send(frame(4, 3, 60, n)));
            }
            let next = net.now() + std::time::Duration::from_micros(10);
            frames_until(&mut net, next);
        }
        net.link_stats(probes[0].1, rackloom_sim::Way::Forth)
    };
    assert_eq!(run(false), run(true));
}
