//! Nodes that get no processor for a while.

mod common;

use std::time::Duration;

use common::*;
use rackloom_node::Instant;
use rackloom_sim::{Cable, Net, NodeId};

/// Everything that nodes tell until `end`, with its time.
fn seen_until(net: &mut Net<Probe>, end: Instant) -> Vec<(Instant, NodeId, Seen)> {
    std::iter::from_fn(|| net.run_until(end)).collect()
}

fn ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn numbers(seen: &[(Instant, NodeId, Seen)]) -> Vec<u32> {
    let frame = |seen: &Seen| if let Seen::Frame(_, frame) = seen { Some(number(frame)) } else { None };
    seen.iter().filter_map(|(_, _, seen)| frame(seen)).collect()
}

#[test]
fn frames_and_deadlines_wait_and_what_the_nic_has_is_sent() {
    let (mut net, a, b, _) = pair(1, Cable::TEN_GIGABIT);
    net.with(b, |probe, _| {
        probe.deadline = Some(ms(2));
        probe.send(frame(1, 2, 60, 7));
    });
    net.starve(b, ms(5));
    assert!(net.is_starved(b) && !net.is_starved(a));
    // Asked for while it has no processor: sent when it has one.
    net.with(b, |probe, _| probe.send(frame(1, 2, 60, 8)));
    net.with(a, |probe, _| (0..3).for_each(|n| probe.send(frame(2, 1, 60, n))));
    assert_eq!(numbers(&seen_until(&mut net, ms(4))), [7]);
    let seen = seen_until(&mut net, ms(10));
    assert!(!net.is_starved(b));
    let at_b: Vec<_> = seen.iter().filter(|(_, id, _)| *id == b).cloned().collect();
    assert!(at_b.iter().all(|(at, ..)| *at == ms(5)), "{at_b:?}");
    assert_eq!(numbers(&at_b), [0, 1, 2]);
    assert_eq!(at_b.last().unwrap().2, Seen::Timeout, "frames that have come go before the deadline");
    assert_eq!(numbers(&seen).last(), Some(&8));
    assert_eq!((net.node_stats(b).waited, net.node_stats(b).unread_lost), (3, 0));
    net.check_invariants();
}

#[test]
fn a_deadline_is_served_after_a_batch_and_the_backlog_is_bounded() {
    let (mut net, a, b, _) = pair(1, Cable::TEN_GIGABIT);
    net.with(b, |probe, _| probe.deadline = Some(ms(2)));
    net.starve(b, ms(5));
    net.with(a, |probe, _| (0..1100).for_each(|n| probe.send(frame(2, 1, 60, n))));
    let seen = seen_until(&mut net, ms(10));
    assert_eq!(numbers(&seen), (0..1024).collect::<Vec<_>>());
    assert_eq!(seen.iter().position(|(_, _, seen)| *seen == Seen::Timeout), Some(256));
    assert_eq!((net.node_stats(b).waited, net.node_stats(b).unread_lost), (1100, 1100 - 1024));
}

#[test]
fn a_starvation_lasts_until_the_later_end_or_the_calm() {
    let (mut net, a, b, _) = pair(1, Cable::TEN_GIGABIT);
    net.starve(b, ms(5));
    net.starve(b, ms(3));
    net.starve(a, ms(3));
    net.starve(a, ms(5));
    assert_eq!(seen_until(&mut net, ms(4)).len(), 0);
    assert!(net.is_starved(a) && net.is_starved(b));
    net.calm();
    assert_eq!(seen_until(&mut net, ms(4)).len(), 0);
    assert!(!net.is_starved(a) && !net.is_starved(b));
}

#[test]
fn a_node_that_is_replaced_has_a_processor_and_reads_nothing_of_before() {
    let (mut net, a, b, _) = pair(1, Cable::TEN_GIGABIT);
    net.starve(b, ms(5));
    net.with(a, |probe, _| probe.send(frame(2, 1, 60, 0)));
    assert_eq!(seen_until(&mut net, ms(1)).len(), 0);
    net.take(b);
    net.put(b, Probe::new(2));
    net.with(a, |probe, _| probe.send(frame(2, 1, 60, 1)));
    assert_eq!(numbers(&seen_until(&mut net, ms(10))), [1]);
}

#[test]
fn on_one_machine_a_node_is_notified_that_another_leaves_frames_unread() {
    for one_machine in [false, true] {
        let (mut net, _, probes) = star(1, 3, Cable::TEN_GIGABIT);
        let [a, b, c] = [0, 1, 2].map(|i| probes[i].0);
        if one_machine {
            net.share_machine();
        }
        net.starve(b, ms(1000));
        net.starve(c, ms(1000));
        let mut told_at = Vec::new();
        net.with(a, |probe, _| probe.send(frame(2, 1, 60, 0)));
        for at in [50, 99, 101, 999, 1001] {
            net.with(a, |probe, _| probe.deadline = Some(ms(at)));
            let seen = seen_until(&mut net, ms(at));
            if seen.iter().any(|(_, id, seen)| *id == a && *seen == Seen::Starvation) {
                told_at.push(at);
            }
            assert_eq!(seen.last().map(|(_, id, seen)| (*id, seen.clone())), Some((a, Seen::Timeout)));
        }
        assert_eq!(told_at, if one_machine { vec![101, 999] } else { vec![] });
    }
}

#[test]
fn the_same_calls_give_the_same_run() {
    let run = |length: Duration| {
        let (mut net, _, probes) = star(3, 4, Cable::TEN_GIGABIT);
        for (id, _) in &probes {
            net.with(*id, |probe, _| (0..20).for_each(|n| probe.send(frame(ALL, probe.mac, 60, n))));
        }
        net.starve(probes[1].0, net.now() + length);
        seen_until(&mut net, ms(10));
        net.event_hash()
    };
    assert_eq!(run(Duration::from_millis(2)), run(Duration::from_millis(2)));
    assert_ne!(run(Duration::from_millis(2)), run(Duration::from_millis(3)));
}
