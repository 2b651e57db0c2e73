//! Each kind of fault happens, at its rate, and nowhere else.

mod common;

use std::time::Duration;

use common::*;
use rackloom_node::Rng;
use rackloom_sim::{Burst, Cable, DropReason, Faults, LinkStats, Outage, Span, Spells, Way};

const FRAMES: u32 = 20_000;
const EVERY: Duration = Duration::from_micros(1);

/// Sends [`FRAMES`] frames of 100 bytes over a cable with these faults; returns what arrived and what was counted.
fn send_all(seed: u64, faults: Faults) -> (Vec<(rackloom_node::Instant, rackloom_node::Frame)>, LinkStats) {
    let (mut net, a, _, link) = pair(seed, Cable::TEN_GIGABIT);
    net.set_faults_way(link, Way::Forth, faults);
    let got = trickle(&mut net, a, (0..FRAMES).map(|n| frame(2, 1, 100, n)), EVERY);
    let stats = net.link_stats(link, Way::Forth);
    assert_eq!(got.len() as u64, stats.delivered);
    assert_eq!(stats.in_flight, 0);
    (got, stats)
}

/// Panics unless `count` of [`FRAMES`] is what `probability` gives, within five standard deviations.
#[track_caller]
fn about(count: u64, probability: f64) {
    let n = f64::from(FRAMES);
    let (mean, deviation) = (n * probability, (n * probability * (1.0 - probability)).sqrt());
    assert!((count as f64 - mean).abs() <= 5.0 * deviation, "{count}, expected {mean:.0} +- {deviation:.0}");
}

#[test]
fn without_faults_all_arrive_whole_and_in_order() {
    let (got, stats) = send_all(1, Faults::NONE);
    assert!(got.iter().map(|g| &g.1).eq(&(0..FRAMES).map(|n| frame(2, 1, 100, n)).collect::<Vec<_>>()));
    assert_eq!(stats.drops.total(), 0);
}

#[test]
fn loss() {
    let (got, stats) = send_all(2, Faults::loss(0.1));
    about(stats.drops[DropReason::Lost], 0.1);
    assert_eq!(got.len() as u64 + stats.drops.total(), u64::from(FRAMES));
    assert!(got.iter().all(|(_, f)| *f == frame(2, 1, 100, number(f))));
}

#[test]
fn bursts_lose_their_share_in_runs() {
    let burst = Burst { enter: 0.01, leave: 0.2, loss: 1.0 };
    let (got, stats) = send_all(3, Faults { burst: Some(burst), ..Faults::NONE });
    let lost = stats.drops[DropReason::Lost];
    let share = lost as f64 / f64::from(FRAMES);
    assert!((share - burst.mean_loss()).abs() < 0.012, "{share} and {}", burst.mean_loss());
    // Runs of lost frames are 1 / leave = 5 long on average; independent loss of the same share would give 1.05.
    let gaps = got.windows(2).filter(|w| number(&w[1].1) > number(&w[0].1) + 1).count();
    let mean = lost as f64 / gaps as f64;
    assert!((4.0..6.0).contains(&mean), "{mean}");
}

#[test]
fn corruption_is_dropped_and_counted() {
    let (got, stats) = send_all(4, Faults { corrupt: 0.05, ..Faults::NONE });
    about(stats.drops[DropReason::Corrupt], 0.05);
    assert!(got.iter().all(|(_, f)| *f == frame(2, 1, 100, number(f))), "none of it is delivered");
}

#[test]
fn flips_are_delivered() {
    let (got, stats) = send_all(5, Faults { flip: 0.02, ..Faults::NONE });
    about(stats.flipped, 0.02);
    assert_eq!(got.len(), FRAMES as usize);
    let wrong = got.iter().zip(0..).filter(|((_, f), n)| *f != frame(2, 1, 100, *n)).count();
    assert_eq!(wrong as u64, stats.flipped);
    assert!(got.iter().all(|(_, f)| f.len() == 100));
}

#[test]
fn truncation_and_padding_change_the_length() {
    let (got, stats) = send_all(6, Faults { truncate: 0.05, ..Faults::NONE });
    about(stats.truncated, 0.05);
    assert_eq!(got.iter().filter(|(_, f)| (1..100).contains(&f.len())).count() as u64, stats.truncated);
    let (got, stats) = send_all(7, Faults { pad: 0.05, ..Faults::NONE });
    about(stats.padded, 0.05);
    assert_eq!(got.iter().filter(|(_, f)| (101..=164).contains(&f.len())).count() as u64, stats.padded);
    assert!(got.iter().zip(0..).all(|((_, f), n)| f[..100] == frame(2, 1, 100, n)));
}

#[test]
fn duplicates_arrive_twice() {
    let (got, stats) = send_all(8, Faults { duplicate: 0.3, ..Faults::NONE });
    about(stats.duplicated, 0.3);
    let mut copies = vec![0u8; FRAMES as usize];
    for (_, f) in &got {
        copies[number(f) as usize] += 1;
    }
    assert!(copies.iter().all(|n| (1..=2).contains(n)));
    assert_eq!(copies.iter().filter(|n| **n == 2).count() as u64, stats.duplicated);
}

#[test]
fn reordered_frames_are_overtaken_within_their_delay() {
    let delay = Span::new(Duration::from_micros(5), Duration::from_micros(50));
    let (got, stats) = send_all(9, Faults { reorder: 0.1, delay: Some(delay), ..Faults::NONE });
    about(stats.delayed, 0.1);
    assert_eq!(got.len(), FRAMES as usize);
    assert!(got.is_sorted_by_key(|g| g.0));
    // 124 bytes on the wire are 99.2 ns, and 100 for the cable.
    let late = |at: rackloom_node::Instant, n: u32| at.as_nanos() - (u64::from(n) * 1000 + 200);
    let delays: Vec<_> = got.iter().map(|(at, f)| late(*at, number(f))).filter(|d| *d > 0).collect();
    assert_eq!(delays.len() as u64, stats.delayed);
    assert!(delays.iter().all(|d| (5_000..=50_000).contains(d)));
    let overtaken = got.windows(2).filter(|w| number(&w[1].1) < number(&w[0].1)).count();
    assert!(overtaken > 1000, "{overtaken}");
}

#[test]
fn outages_swallow_runs_of_frames_and_end() {
    let us = Duration::from_micros;
    let spells = Spells { pause: Span::new(us(900), us(1100)), length: Span::new(us(200), us(300)) };
    let outage = Outage { spells, symmetric: true };
    let (got, stats) = send_all(10, Faults { outage: Some(outage), ..Faults::NONE });
    let gaps: Vec<_> = got.windows(2).map(|w| number(&w[1].1) - number(&w[0].1) - 1).filter(|gap| *gap > 0).collect();
    // 20 ms of 1.25 ms each.
    assert!((14..=18).contains(&gaps.len()), "{gaps:?}");
    assert!(gaps.iter().all(|gap| (199..=301).contains(gap)), "{gaps:?}");
    assert_eq!(u64::from(gaps.iter().sum::<u32>()), stats.drops[DropReason::Outage]);
}

#[test]
fn a_symmetric_outage_hits_both_ways_and_another_each_its_own() {
    let us = Duration::from_micros;
    let spells = Spells { pause: Span::new(us(50), us(100)), length: Span::new(us(50), us(100)) };
    for symmetric in [true, false] {
        let (mut net, a, b, link) = pair(11, Cable::TEN_GIGABIT);
        net.set_faults(link, Faults { outage: Some(Outage { spells, symmetric }), ..Faults::NONE });
        let (mut both, mut one) = (0, 0);
        for n in 0..2000 {
            net.with(a, |p, _| p.send(frame(2, 1, 60, n)));
            net.with(b, |p, _| p.send(frame(1, 2, 60, n)));
            let next = net.now() + EVERY;
            match frames_until(&mut net, next).len() {
                0 => both += 1,
                1 => one += 1,
                _ => {}
            }
        }
        assert!(both > 300, "{both}");
        assert_eq!(one == 0, symmetric, "{one}");
    }
}

#[test]
fn a_clog_delays_and_loses_nothing_while_the_queue_has_room() {
    let us = Duration::from_micros;
    let clog = Spells { pause: Span::new(us(900), us(1100)), length: Span::new(us(200), us(300)) };
    let (got, stats) = send_all(12, Faults { clog: Some(clog), ..Faults::NONE });
    assert_eq!(got.len(), FRAMES as usize);
    assert!(got.iter().map(|(_, f)| number(f)).eq(0..FRAMES), "in order");
    let worst = got.iter().map(|(at, f)| at.as_nanos() - u64::from(number(f)) * 1000).max().unwrap();
    assert!((200_000..=300_200).contains(&worst), "{worst}");
    // 300 frames of 124 bytes wait at most.
    assert!((200 * 124..=301 * 124).contains(&stats.queue_bytes_max), "{stats}");
}

#[test]
fn a_clogged_queue_overflows_by_bytes_not_by_time() {
    let us = Duration::from_micros;
    let clog = Spells { pause: Span::new(us(100), us(100)), length: Span::new(us(1_000_000), us(1_000_000)) };
    let cable = Cable { queue_bytes: 10 * 84, when_full: rackloom_sim::WhenFull::Drop, ..Cable::TEN_GIGABIT };
    let (mut net, a, _, link) = pair(1, cable);
    net.set_faults(link, Faults { clog: Some(clog), ..Faults::NONE });
    frames_until(&mut net, us_at(150));
    net.with(a, |p, _| (0..20).for_each(|n| p.send(frame(2, 1, 60, n))));
    let got = frames_until(&mut net, us_at(2_000_000));
    assert_eq!(got.len(), 10);
    assert_eq!(net.link_stats(link, Way::Forth).drops[DropReason::QueueFull], 10);
    // The clog ends 100 us + 1 s after the start.
    assert!(got.iter().all(|(at, _, _)| (us_at(1_000_100)..us_at(1_000_102)).contains(at)));
}

fn us_at(n: u64) -> rackloom_node::Instant {
    us(n)
}

#[test]
fn faults_of_one_direction_leave_the_other_alone_and_calm_ends_them() {
    let (mut net, a, b, link) = pair(13, Cable::TEN_GIGABIT);
    net.set_faults_way(link, Way::Forth, Faults::loss(1.0));
    net.cut(link, Way::Forth, us(0), us(1_000_000));
    let exchange = |net: &mut rackloom_sim::Net<Probe>| {
        net.with(a, |p, _| p.send(frame(2, 1, 60, 0)));
        net.with(b, |p, _| p.send(frame(1, 2, 60, 0)));
        let end = net.now() + Duration::from_micros(10);
        frames_until(net, end).into_iter().map(|g| g.1).collect::<Vec<_>>()
    };
    assert_eq!(exchange(&mut net), [a]);
    net.down(link);
    assert_eq!(exchange(&mut net), []);
    net.calm();
    assert_eq!(exchange(&mut net), [b, a]);
}

#[test]
fn swarms_of_faults_keep_the_books_straight() {
    for seed in 0..40 {
        let faults = Faults::swarm(&mut Rng::new(seed));
        let (mut net, _, probes) = star(seed, 4, Cable::TEN_GIGABIT);
        for (id, link) in &probes {
            net.node_mut(*id).echo = true;
            net.set_faults(*link, faults);
        }
        for round in 0..20u64 {
            for (i, (id, _)) in (1..).zip(&probes) {
                net.with(*id, |p, _| p.send(frame(1 + i % 4, i, 200, 0)));
            }
            let (id, link) = probes[(round % 4) as usize];
            match round % 5 {
                1 => net.down(link),
                2 => net.calm(),
                3 if net.is_on(id) => drop(net.take(id)),
                _ => {}
            }
            frames_until(&mut net, us(1000 * (round + 1)));
            for (mac, (id, _)) in (1..).zip(&probes) {
                if !net.is_on(*id) {
                    net.put(*id, Probe::new(mac));
                }
            }
        }
        // Echoes to the sender's own address end at a calm network's first delivery to a probe that does not echo.
        for (id, _) in &probes {
            net.node_mut(*id).echo = false;
        }
        net.calm();
        let end = net.now() + Duration::from_secs(20);
        frames_until(&mut net, end);
        assert_eq!(net.total_stats().in_flight, 0, "seed {seed}: {faults}");
        assert_eq!(net.pending(), 0, "seed {seed}: {faults}");
    }
}
