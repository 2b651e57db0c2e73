//! Cables that are pulled, nodes that are replaced.

mod common;

use std::time::Duration;

use common::*;
use rackloom_sim::{Cable, Capture, DropReason, Tap, Way};

#[test]
fn a_pulled_cable_loses_what_is_on_it_and_works_again_when_plugged() {
    let (mut net, _, probes) = star(1, 3, Cable::TEN_GIGABIT);
    let ((a, _), (b, to_b), (c, _)) = (probes[0], probes[1], probes[2]);
    net.with(b, |p, _| p.send(frame(ALL, 2, 60, 0)));
    frames_until(&mut net, us(10));
    net.with(a, |p, _| (0..10).for_each(|n| p.send(frame(2, 1, 1514, n))));
    // The n-th (from 1) is at 2 by 10 + 1.2304 (n + 1) + 1.2 us: two by 16 us. The third is on the cable, and the
    // fourth in the switch: whole since 15.022, to be queued at 16.022.
    let got = frames_until(&mut net, us(16));
    assert_eq!(got.len(), 2);
    net.down(to_b);
    assert!(!net.is_up(to_b));
    net.check_invariants();
    assert_eq!(net.link_stats(to_b, Way::Back).drops[DropReason::Down], 2);
    // Address 2 is forgotten: frames to it are flooded, not sent into the dead port.
    let got = frames_until(&mut net, us(100));
    assert!(got.iter().all(|(_, id, _)| *id == c));
    assert_eq!(got.len(), 6);
    assert_eq!(net.link_stats(to_b, Way::Back).refused, 0, "floods leave a dead port out");
    net.up(to_b);
    net.with(a, |p, _| p.send(frame(2, 1, 60, 99)));
    assert_eq!(frames_until(&mut net, us(110)).iter().map(|g| g.1).collect::<Vec<_>>(), [b, c]);
    // Nothing of before the cut shows up later.
    assert_eq!(net.link_stats(to_b, Way::Back).in_flight, 0);
}

#[test]
fn a_node_is_plugged_in_late_and_moves_to_another_port() {
    let (mut net, switch, probes) = star(1, 12, Cable::TEN_GIGABIT);
    let (a, _) = probes[0];
    assert_eq!(net.free_port(switch), None);
    net.disconnect(probes[5].1);
    net.disconnect(probes[8].1);
    assert_eq!(net.free_port(switch), Some(5));
    frames_until(&mut net, us(50));
    let mut late = Probe::new(77);
    late.send(frame(ALL, 77, 60, 1));
    let id = net.add(late);
    let link = net.plug(id, switch, Cable::TEN_GIGABIT);
    // It is polled when the network runs, with its cable in place.
    assert_eq!(frames_until(&mut net, us(60)).len(), 10);
    net.disconnect(link);
    net.plug(probes[5].0, switch, Cable::TEN_GIGABIT);
    net.plug(id, switch, Cable::TEN_GIGABIT);
    net.with(id, |p, _| p.send(frame(1, 77, 60, 2)));
    frames_until(&mut net, us(70));
    net.with(a, |p, _| p.send(frame(77, 1, 60, 3)));
    assert_eq!(frames_until(&mut net, us(80)).iter().map(|g| g.1).collect::<Vec<_>>(), [id]);
}

#[test]
fn no_deadline_of_a_replaced_node_fires() {
    let (mut net, a, b, link) = pair(1, Cable::TEN_GIGABIT);
    net.with(a, |p, _| p.deadline = Some(us(100)));
    net.with(b, |p, _| p.deadline = Some(us(300)));
    frames_until(&mut net, us(50));
    let old = net.take(a);
    assert_eq!(old.deadline, Some(us(100)));
    // Frames for a node that is off are dropped and counted.
    net.with(b, |p, _| p.send(frame(1, 2, 60, 0)));
    frames_until(&mut net, us(60));
    assert_eq!(net.link_stats(link, Way::Back).drops[DropReason::Absent], 1);
    let mut new = Probe::new(1);
    new.deadline = Some(us(200));
    net.put(a, new);
    let (at, id, seen) = net.run_until(us(250)).unwrap();
    assert_eq!((at, id, seen), (us(200), a, Seen::Timeout));
    assert_eq!(net.node_stats(a).timeouts, 1);
    assert_eq!(net.run_until(us(400)).map(|e| e.1), Some(b));
    assert_eq!(net.run_until(us(400)), None);
}

#[test]
fn a_deadline_that_moves_fires_once_at_its_last_place() {
    let (mut net, a, _, _) = pair(1, Cable::TEN_GIGABIT);
    for at in [100, 50, 70, 30, 90, 60] {
        net.with(a, |p, _| p.deadline = Some(us(at)));
    }
    assert_eq!(net.run_until(us(200)), Some((us(60), a, Seen::Timeout)));
    assert_eq!(net.run_until(us(200)), None);
    // Set in the past: at once.
    net.with(a, |p, _| p.deadline = Some(us(10)));
    assert_eq!(net.run_until(us(300)), Some((us(200), a, Seen::Timeout)));
    // Taken back: never.
    net.with(a, |p, _| p.deadline = Some(us(250)));
    net.with(a, |p, _| p.deadline = None);
    assert_eq!(net.run_until(us(300)), None);
    assert_eq!(net.node_stats(a).timeouts, 2);
}

#[test]
fn deadlines_that_move_back_and_forth_do_not_pile_up() {
    let (mut net, a, _, _) = pair(1, Cable::TEN_GIGABIT);
    for round in 0..1000 {
        net.with(a, |p, now| p.deadline = Some(now + Duration::from_secs(10)));
        net.with(a, |p, now| p.deadline = Some(now + Duration::from_micros(5)));
        assert_eq!(net.run_until(us(10 * (round + 1))).map(|e| e.2), Some(Seen::Timeout));
        assert_eq!(net.run_until(us(10 * (round + 1))), None);
    }
    assert!(net.pending() <= 2, "{}", net.pending());
}

#[test]
#[should_panic(expected = "wants a timeout for ever")]
fn a_node_that_hangs_is_found() {
    struct Stuck;
    impl rackloom_node::Node for Stuck {
        type Event = ();
        fn handle_frame(&mut self, _: rackloom_node::Instant, _: u8, _: rackloom_node::Frame) {}
        fn handle_timeout(&mut self, _: rackloom_node::Instant) {}
        fn poll(&mut self, _: rackloom_node::Instant) -> Option<rackloom_node::Output<()>> {
            None
        }
        fn next_deadline(&self) -> Option<rackloom_node::Instant> {
            Some(rackloom_node::Instant::ZERO)
        }
    }
    let mut net = rackloom_sim::Net::new(1);
    net.add(Stuck);
    net.step();
}

#[test]
fn a_cut_stops_one_way_and_heals() {
    let (mut net, a, b, link) = pair(1, Cable::TEN_GIGABIT);
    net.cut(link, Way::Forth, us(100), us(200));
    let mut got = Vec::new();
    for n in 0..30u32 {
        net.with(a, |p, _| p.send(frame(2, 1, 60, n)));
        net.with(b, |p, _| p.send(frame(1, 2, 60, n)));
        let next = net.now() + Duration::from_micros(10);
        got.extend(frames_until(&mut net, next).into_iter().map(|(_, id, f)| (id, number(&f))));
    }
    let at = |id| got.iter().filter(|g| g.0 == id).map(|g| g.1).collect::<Vec<_>>();
    assert_eq!(at(a), (0..30).collect::<Vec<_>>());
    assert_eq!(at(b), (0..10).chain(20..30).collect::<Vec<_>>());
    assert_eq!(net.link_stats(link, Way::Forth).drops[DropReason::Outage], 10);
}

#[test]
fn a_cut_catches_frames_that_are_already_on_the_way() {
    let (mut net, a, _, link) = pair(1, Cable { latency: Duration::from_millis(10), ..Cable::TEN_GIGABIT });
    net.with(a, |p, _| p.send(frame(2, 1, 60, 0)));
    net.cut(link, Way::Forth, us(5_000), us(20_000));
    assert_eq!(frames_until(&mut net, us(50_000)).len(), 0);
    assert_eq!(net.link_stats(link, Way::Forth).drops[DropReason::Outage], 1);
}

#[test]
fn a_cut_takes_frames_out_of_the_middle_of_the_line_and_out_of_its_head() {
    let slow = Cable { latency: Duration::from_millis(10), ..Cable::TEN_GIGABIT };
    for (from, until, left) in
        [(0, 10_001, vec![1, 2, 3]), (10_002, 10_003, vec![0, 1, 3]), (10_003, 10_004, vec![0, 1, 2])]
    {
        let (mut net, a, _, link) = pair(1, slow);
        // 1250 bytes on the wire, 1 us each: they come at 10,001, 10,002, 10,003 and 10,004 us.
        net.with(a, |p, _| (0..4).for_each(|n| p.send(frame(2, 1, 1226, n))));
        let (from, until) = (us(from) + Duration::from_nanos(1), us(until) + Duration::from_nanos(1));
        net.cut(link, Way::Forth, from, until);
        net.check_invariants();
        let got = frames_until(&mut net, us(50_000));
        assert_eq!(got.iter().map(|(_, _, f)| number(f)).collect::<Vec<_>>(), left);
        assert!(got.iter().all(|(at, _, f)| *at == us(10_001 + u64::from(number(f)))));
    }
}

#[test]
fn a_pulled_cable_frees_its_node_and_starts_empty_when_plugged() {
    let slow = Cable { queue_bytes: 3000, ..Cable::TEN_GIGABIT.with_rate(1_000_000) };
    let (mut net, a, _, link) = pair(1, slow);
    net.with(a, |p, _| (0..10).for_each(|n| p.send(frame(2, 1, 1514, n))));
    assert_eq!(net.node(a).out.len(), 8, "two frames of 12.3 ms each wait in the NIC");
    frames_until(&mut net, us(1_000));
    net.down(link);
    frames_until(&mut net, us(1_000));
    assert_eq!(net.node(a).out.len(), 0, "a dead cable takes all at once");
    let stats = net.link_stats(link, Way::Forth);
    assert_eq!((stats.drops[DropReason::Down], stats.refused), (10, 8));
    net.up(link);
    net.with(a, |p, _| p.send(frame(2, 1, 60, 0)));
    // 84 bytes at 8 us, and not behind what was lost.
    assert_eq!(frames_until(&mut net, us(50_000))[0].0, ns(1_000_000 + 672_000 + 100));
}

#[test]
fn a_capture_sees_a_node_as_tcpdump_would() {
    let (mut net, a, b, link) = pair(1, Cable::TEN_GIGABIT);
    net.node_mut(b).echo = true;
    net.capture(Capture::whole(), &[Tap::Node(a)]);
    net.with(a, |p, _| p.send(frame(2, 1, 60, 5)));
    frames_until(&mut net, us(10));
    let capture = net.capture(Capture::last(1), &[Tap::Link(link)]).unwrap();
    let times: Vec<_> = capture.frames().map(|(at, f)| (at.as_nanos(), f[11], number(f))).collect();
    assert_eq!(times, [(0, 1, 5), (336, 2, 5)]);
    net.with(a, |p, _| p.send(frame(2, 1, 60, 6)));
    frames_until(&mut net, us(20));
    let capture = net.end_capture().unwrap();
    assert_eq!(capture.seen(), 2);
    assert_eq!(capture.frames().map(|(_, f)| f[11]).collect::<Vec<_>>(), [2]);
    net.capture(Capture::whole(), &[Tap::Sent]);
    net.set_faults(link, rackloom_sim::Faults::loss(1.0));
    net.with(a, |p, _| p.send(frame(2, 1, 60, 7)));
    frames_until(&mut net, us(30));
    assert_eq!(net.end_capture().unwrap().seen(), 1, "sent, though lost");
}
