//! When frames arrive, computed by hand, and what full queues do.

mod common;

use std::time::Duration;

use common::*;
use rackloom_sim::{Cable, DropReason, End, Net, SwitchConfig, Way, WhenFull};

#[test]
fn a_frame_through_cable_switch_and_slower_cable() {
    let mut net = Net::new(1);
    let switch = net.switch(SwitchConfig { latency: Duration::from_nanos(800), ..SwitchConfig::default() });
    let (a, b) = (net.add(Probe::new(1)), net.add(Probe::new(2)));
    let fast = Cable { latency: Duration::from_nanos(150), ..Cable::TEN_GIGABIT };
    let slow = Cable { latency: Duration::from_nanos(70), ..Cable::TEN_GIGABIT.with_rate(1_000_000_000) };
    let first = net.plug(a, switch, fast);
    net.plug(b, switch, slow);
    frames_until(&mut net, us(5));
    net.with(a, |probe, _| {
        probe.send(frame(2, 1, 1000, 0));
        probe.send(frame(2, 1, 40, 1));
    });
    let got = frames_until(&mut net, us(100));
    // 1000 + 24 bytes at 0.8 ns = 819.2, cable 150: last bit in the switch at 5969.2, taken as 5970. Switch 800: 6770.
    // 1024 bytes at 8 ns = 8192, cable 70: 15032.
    assert_eq!((got[0].0, got[0].1), (ns(15_032), b));
    // The short one waits behind it: 6770 + 8192 + 84 x 8 + 70.
    assert_eq!(got[1].0, ns(15_704));
    let sent = net.link_stats(first, Way::Forth);
    assert_eq!((sent.sent, sent.sent_bytes, sent.wire_bytes), (2, 1040, 1024 + 84));
    assert_eq!(sent.queue_bytes_max, 1024 + 84);
}

#[test]
fn a_full_port_drops_at_its_tail() {
    let mut net = Net::new(1);
    let switch = net.switch(SwitchConfig { queue_bytes: 20 * 1538, ..SwitchConfig::default() });
    let ids: Vec<_> = (1..=3).map(|mac| net.add(Probe::new(mac))).collect();
    let links: Vec<_> = ids.iter().map(|id| net.plug(*id, switch, Cable::TEN_GIGABIT)).collect();
    // The switch learns where 3 is.
    net.with(ids[2], |probe, _| probe.send(frame(ALL, 3, 60, 0)));
    frames_until(&mut net, us(10));
    for from in [1, 2] {
        net.with(ids[from as usize - 1], |probe, _| (0..100).for_each(|n| probe.send(frame(3, from, 1514, n))));
    }
    let got = frames_until(&mut net, us(1000));
    let port = net.link_stats(links[2], Way::Back);
    // Two frames come in the time in which one leaves. Both of the pairs 0 to 18 fit, then one of each pair: 38 + 81.
    // The nanosecond to which arrivals are rounded up may make a pair find the queue a little fuller, and cost one.
    assert_eq!(port.drops[DropReason::QueueFull] + port.sent, 200);
    assert_eq!(got.len() as u64, port.sent);
    assert!((118..=119).contains(&port.sent), "{port}");
    assert!(port.queue_bytes_max <= 20 * 1538 && port.queue_bytes_max > 19 * 1538, "{port}");
    assert_eq!(net.link_stats(links[0], Way::Forth).drops.total(), 0);
}

#[test]
fn a_nic_holds_its_node_and_loses_nothing() {
    let cable = Cable { queue_bytes: 8 * 1538, ..Cable::TEN_GIGABIT };
    let (mut net, a, _, link) = pair(1, cable);
    net.with(a, |probe, _| (0..1000).for_each(|n| probe.send(frame(2, 1, 1514, n))));
    assert!(net.node(a).out.len() > 900, "most of it still with the node");
    let got = frames_until(&mut net, us(2000));
    assert!(got.iter().map(|(_, _, f)| number(f)).eq(0..1000), "all, in order");
    assert_eq!(got.last().unwrap().0, ns(1_230_400 + 100), "the wire was never idle");
    let stats = net.link_stats(link, Way::Forth);
    assert!(stats.queue_bytes_max <= 9 * 1538, "{stats}");
    assert!(net.node_stats(a).held >= 1000 / 8);
}

#[test]
fn a_nic_that_drops_counts_it() {
    let cable = Cable { queue_bytes: 8 * 1538, when_full: WhenFull::Drop, ..Cable::TEN_GIGABIT };
    let (mut net, a, _, link) = pair(1, cable);
    net.with(a, |probe, _| (0..100).for_each(|n| probe.send(frame(2, 1, 1514, n))));
    assert_eq!(frames_until(&mut net, us(1000)).len(), 8);
    assert_eq!(net.link_stats(link, Way::Forth).drops[DropReason::QueueFull], 92);
}

#[test]
fn a_held_node_still_gets_its_frames_and_timeouts() {
    let cable = Cable { queue_bytes: 1538, ..Cable::TEN_GIGABIT.with_rate(1_000_000) };
    let (mut net, a, b, _) = pair(1, cable);
    // Two frames of 12.3 ms each; the third is not taken before the first and half of the queue are gone.
    net.with(a, |probe, now| {
        (0..3).for_each(|n| probe.send(frame(2, 1, 1514, n)));
        probe.deadline = Some(now + Duration::from_micros(100));
    });
    net.with(b, |probe, _| probe.send(frame(1, 2, 60, 9)));
    assert_eq!(net.run_until(us(5_000)), None, "its events wait as it does");
    assert_eq!(net.node_stats(a).timeouts, 1);
    assert_eq!(net.node_stats(a).frames, 1);
    let end = us(100_000);
    let mut at_a = Vec::new();
    while let Some((_, id, seen)) = net.run_until(end) {
        at_a.extend((id == a).then_some(seen));
    }
    assert_eq!(at_a, [Seen::Timeout, Seen::Frame(0, frame(1, 2, 60, 9))]);
}

#[test]
fn a_held_node_whose_deadline_stays_is_called_once_and_not_for_ever() {
    let cable = Cable { queue_bytes: 1538, ..Cable::TEN_GIGABIT.with_rate(1_000_000) };
    let (mut net, a, _, _) = pair(1, cable);
    net.with(a, |probe, now| {
        probe.lazy = true;
        probe.deadline = Some(now + Duration::from_micros(100));
        (0..3).for_each(|n| probe.send(frame(2, 1, 1514, n)));
    });
    assert_eq!(frames_until(&mut net, us(100_000)).len(), 3);
    assert_eq!(net.node_stats(a).timeouts, 1);
    assert_eq!(net.pending(), 0);
}

#[test]
fn a_longer_frame_than_the_mtu_is_dropped() {
    let (mut net, a, _, link) = pair(1, Cable::TEN_GIGABIT.with_mtu(9000));
    net.with(a, |probe, _| {
        probe.send(frame(2, 1, 9014, 0));
        probe.send(frame(2, 1, 9015, 1));
    });
    assert_eq!(frames_until(&mut net, us(100)).len(), 1);
    assert_eq!(net.link_stats(link, Way::Forth).drops[DropReason::Oversize], 1);
}

#[test]
fn a_port_without_cable_counts_what_it_is_given() {
    let (mut net, a, _, _) = pair(1, Cable::TEN_GIGABIT);
    net.with(a, |probe, _| probe.out.push_back(rackloom_node::Output::Transmit(3, frame(2, 1, 60, 0))));
    assert_eq!(net.node_stats(a).unplugged, 1);
}

#[test]
fn both_ports_of_a_node_work() {
    let mut net = Net::new(1);
    let (a, b) = (net.add(Probe::new(1)), net.add(Probe::new(2)));
    net.connect(End::Node(a, 0), End::Node(b, 1), Cable::TEN_GIGABIT);
    net.connect(End::Node(a, 1), End::Node(b, 0), Cable::TEN_GIGABIT);
    net.with(a, |probe, _| {
        probe.send(frame(2, 1, 60, 7));
        probe.out.push_back(rackloom_node::Output::Transmit(1, frame(2, 1, 60, 8)));
    });
    let seen: Vec<_> = std::iter::from_fn(|| net.run_until(us(10))).map(|(_, _, seen)| seen).collect();
    assert_eq!(seen, [Seen::Frame(1, frame(2, 1, 60, 7)), Seen::Frame(0, frame(2, 1, 60, 8))]);
}
