//! Learning, flooding, two switches.

mod common;

use common::*;
use rackloom_sim::{Cable, End, Net, SwitchConfig};

#[test]
fn unknown_floods_known_goes_to_one_port_and_nothing_comes_back() {
    let (mut net, switch, probes) = star(1, 4, Cable::TEN_GIGABIT);
    let id = |mac: u8| probes[usize::from(mac) - 1].0;
    net.with(id(1), |p, _| p.send(frame(2, 1, 60, 0)));
    let to: Vec<_> = frames_until(&mut net, us(10)).into_iter().map(|(_, id, _)| id).collect();
    assert_eq!(to, [id(2), id(3), id(4)], "unknown: to all but the sender, in order of ports");
    net.with(id(2), |p, _| p.send(frame(1, 2, 60, 0)));
    let to: Vec<_> = frames_until(&mut net, us(20)).into_iter().map(|(_, id, _)| id).collect();
    assert_eq!(to, [id(1)], "learned");
    net.with(id(1), |p, _| p.send(frame(ALL, 1, 60, 0)));
    assert_eq!(frames_until(&mut net, us(30)).len(), 3);
    let stats = net.switch_stats(switch);
    assert_eq!((stats.flooded, stats.forwarded, stats.learned), (2, 1, 2));
}

#[test]
fn a_flood_arrives_at_all_idle_ports_at_once_and_shares_its_bytes() {
    let (mut net, _, probes) = star(1, 200, Cable::TEN_GIGABIT);
    frames_until(&mut net, us(1));
    let original = frame(ALL, 1, 1514, 0);
    net.with(probes[0].0, |p, _| p.send(original.clone()));
    let got = frames_until(&mut net, us(10));
    assert_eq!(got.len(), 199);
    // 1000 + 1230.4 + 100 in the switch at 2331, + 1000 + 1230.4 + 100.
    assert!(got.iter().all(|(at, _, _)| *at == ns(4662)), "{:?}", got[0].0);
    assert!(got.iter().all(|(_, _, f)| f.as_ptr() == original.as_ptr()));
}

#[test]
fn a_flood_to_ports_of_several_rates_and_loads_arrives_at_each_in_its_time() {
    let mut net = Net::new(1);
    let switch = net.switch(SwitchConfig::default());
    let rates = [10u64, 10, 1, 10, 25, 25];
    let ids: Vec<_> = rates
        .iter()
        .zip(1..)
        .map(|(gb, mac)| {
            let id = net.add(Probe::new(mac));
            net.plug(id, switch, Cable::TEN_GIGABIT.with_rate(gb * 1_000_000_000));
            id
        })
        .collect();
    net.with(ids[0], |p, _| p.send(frame(ALL, 1, 1514, 0)));
    let got: Vec<_> = frames_until(&mut net, us(100)).into_iter().map(|(at, id, _)| (at.as_nanos(), id)).collect();
    // In the switch at 1331 (1330.4), out at 2331; 1538 bytes at 25 Gb/s are 492.16 ns, at 10 1230.4, at 1 12304; cable
    // 100.
    assert_eq!(got, [(2924, ids[4]), (2924, ids[5]), (3662, ids[1]), (3662, ids[3]), (14_735, ids[2])]);
}

#[test]
fn addresses_are_learned_across_two_switches() {
    let mut net = Net::new(1);
    let (left, right) = (net.switch(SwitchConfig::default()), net.switch(SwitchConfig::default()));
    net.connect(End::Switch(left, 11), End::Switch(right, 11), Cable::TEN_GIGABIT);
    let ids: Vec<_> = (1..=4).map(|mac| net.add(Probe::new(mac))).collect();
    for (id, switch) in ids.iter().zip([left, left, right, right]) {
        net.plug(*id, switch, Cable::TEN_GIGABIT);
    }
    net.with(ids[0], |p, _| p.send(frame(3, 1, 60, 0)));
    assert_eq!(frames_until(&mut net, us(20)).len(), 3);
    net.with(ids[2], |p, _| p.send(frame(1, 3, 60, 1)));
    let got = frames_until(&mut net, us(40));
    assert_eq!(got.iter().map(|g| g.1).collect::<Vec<_>>(), [ids[0]]);
    net.with(ids[0], |p, _| p.send(frame(3, 1, 60, 2)));
    let got = frames_until(&mut net, us(60));
    assert_eq!(got.iter().map(|g| g.1).collect::<Vec<_>>(), [ids[2]]);
    // Two switches and three cables: 84 bytes (67.2 ns) and 100 ns each, and twice 1000 ns; each hop up to the next
    // nanosecond.
    assert_eq!(got[0].0, ns(40_000 + 3 * 168 + 2 * 1000));
}

#[test]
#[should_panic(expected = "a loop of switches")]
fn a_loop_is_refused() {
    let mut net: Net<Probe> = Net::new(1);
    let s: Vec<_> = (0..3).map(|_| net.switch(SwitchConfig::default())).collect();
    for (a, b) in [(0, 1), (1, 2), (2, 0)] {
        net.connect(End::Switch(s[a], a as u16), End::Switch(s[b], 5 + b as u16), Cable::TEN_GIGABIT);
    }
}
