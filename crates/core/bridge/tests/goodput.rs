//! What two nodes get out of a wire of 100 Gb/s, in virtual time: bytes and requests a second.
//!
//! The whole table: `cargo test -p rackloom-bridge --test goodput -- --nocapture`

use std::collections::BTreeMap;

use bytes::Bytes;
use rackloom_bridge::{Endpoint, EndpointConfig, EndpointEvent, Rights, Target, TargetFailed, Window};
use rackloom_node::{Duration, Instant, Rng};
use rackloom_transport::{Pacer, WIRE_OVERHEAD};
use rackloom_wire::MacAddr;
use rackloom_wire::bridge::MESSAGE_JUMBO;

const RATE: u64 = 100_000_000_000;
const RUN: Duration = Duration::from_millis(2);
const MACS: [MacAddr; 2] = [MacAddr([2, 0, 0, 0, 0, 1]), MacAddr([2, 0, 0, 0, 0, 2])];

/// Memory that takes all and gives zeros.
struct Anything;

impl Target for Anything {
    fn read(&mut self, _: u64, _: &mut [u8]) -> Result<(), TargetFailed> {
        Ok(())
    }

    fn write(&mut self, _: u64, _: &[u8]) -> Result<(), TargetFailed> {
        Ok(())
    }
}

/// How nodes make up for losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repair {
    /// They hold a window and send again what is missing.
    Selective,
    /// They hold nothing and go back, after a fixed time if nobody says so: gateware.
    GoBack,
}

#[derive(Debug, Clone, Copy)]
struct Setup {
    rtt: Duration,
    loss: f64,
    repair: Repair,
    /// Requests under way.
    depth: usize,
    /// Bytes of each.
    size: usize,
    reads: bool,
    /// Frames go as a host's wake-ups send them, up to the pacer's burst ahead of the wire, and wait there. Otherwise
    /// each goes when the wire is free, as from a card's port.
    bursts: bool,
    /// Of what is lost.
    seed: u64,
}

/// What came of it.
#[derive(Debug, Clone, Copy)]
struct Measured {
    /// Payload bits a second, as a share of the wire's rate.
    share: f64,
    /// Requests a second.
    requests: f64,
    /// Frames of both nodes for each request.
    frames: f64,
}

fn node(at: usize, repair: Repair) -> Endpoint {
    let mut config = EndpointConfig::new(MACS[at], 1, false);
    config.longest = MESSAGE_JUMBO;
    if repair == Repair::GoBack {
        (config.hold, config.selective) = (0, false);
        config.rto_max = config.rto_min;
    }
    let mut endpoint = Endpoint::new(config);
    let rights = Rights::READ | Rights::WRITE;
    let window = Window { base: 0, length: 1 << 30, peer: MacAddr::ZERO, rights };
    assert!(endpoint.windows().set(0, Some(window)));
    endpoint
}

fn measure(setup: &Setup) -> Measured {
    let mut rng = Rng::new(setup.seed);
    let mut now = Instant::ZERO;
    let mut nodes = [node(0, setup.repair), node(1, setup.repair)];
    let mut pacers = [Pacer::new(Some(RATE)), Pacer::new(Some(RATE))];
    let mut wire: BTreeMap<(Instant, u64), (usize, Bytes)> = BTreeMap::new();
    let (mut sent, mut under_way, mut done) = (0, 0, 0u64);
    let bytes = Bytes::from(vec![7; setup.size]);
    let end = Instant::ZERO + RUN;
    while now < end {
        while under_way < setup.depth {
            let asker = &mut nodes[0];
            let begun = if setup.reads {
                asker.read(now, MACS[1], 0, setup.size as u32)
            } else {
                asker.write(now, MACS[1], 0, bytes.clone())
            };
            begun.expect("as many may be under way");
            under_way += 1;
        }
        for from in 0..2 {
            while pacers[from].is_open(now)
                && (setup.bursts || pacers[from].free_at() <= now)
                && let Some(frame) = nodes[from].poll(now)
            {
                pacers[from].sent(now, frame.len());
                sent += 1;
                if !rng.chance(setup.loss) {
                    let left = pacers[from].free_at().max(now);
                    wire.insert((left + setup.rtt / 2, sent), (1 - from, frame));
                }
            }
        }
        let arrival = wire.keys().next().map(|(at, _)| *at);
        let deadline = nodes.iter().filter_map(Endpoint::deadline).filter(|at| *at > now).min();
        let opens = |p: &Pacer| if setup.bursts { p.opens_at() } else { Some(p.free_at()) };
        let opens = pacers.iter().filter_map(opens).filter(|at| *at > now).min();
        now = [arrival, deadline, opens].into_iter().flatten().min().expect("there is always work").max(now);
        nodes.iter_mut().for_each(|n| n.handle_timeout(now));
        while let Some(entry) = wire.first_entry().filter(|e| e.key().0 <= now) {
            let (to, frame) = entry.remove();
            nodes[to].handle_frame(now, &frame, &mut Anything);
        }
        while let Some(event) = nodes[0].next_event() {
            assert!(matches!(event, EndpointEvent::Done { result: Ok(_), .. }), "{event:?}");
            (under_way, done) = (under_way - 1, done + 1);
        }
    }
    let seconds = RUN.as_secs_f64();
    Measured {
        share: (done * setup.size as u64 * 8) as f64 / (RATE as f64 * seconds),
        requests: done as f64 / seconds,
        frames: sent as f64 / done as f64,
    }
}

const BASE: Setup = Setup {
    rtt: Duration::from_nanos(1800),
    loss: 0.0,
    repair: Repair::Selective,
    depth: 64,
    size: 8192,
    reads: true,
    bursts: false,
    seed: 1,
};

#[test]
fn the_table() {
    println!("Gb/s of payload, Mrequests/s, frames for each request");
    println!("repair     RTT us  loss  depth  bytes    reads                  writes");
    for repair in [Repair::Selective, Repair::GoBack] {
        for rtt_ns in [1800, 10_000] {
            for loss in [0.0, 0.01] {
                for (depth, size) in
                    [(1, 64), (1, 8192), (8, 64), (8, 1408), (8, 8192), (64, 64), (64, 1408), (64, 8192)]
                {
                    let rtt = Duration::from_nanos(rtt_ns);
                    let setup = |reads| Setup { rtt, loss, repair, depth, size, reads, ..BASE };
                    let of = |m: Measured| format!("{:6.2} {:7.3} {:5.2}", m.share * 100.0, m.requests / 1e6, m.frames);
                    let [reads, writes] = [true, false].map(|reads| of(measure(&setup(reads))));
                    let us = rtt_ns as f64 / 1e3;
                    println!("{repair:<9?} {us:6.1} {loss:6.2} {depth:5} {size:6}   {reads}   {writes}");
                }
            }
        }
    }
}

/// Of one at a time each takes a round trip and the frames' own time on the wire.
#[test]
fn one_request_takes_a_round_trip() {
    let small = measure(&Setup { depth: 1, size: 64, ..BASE });
    let on_wire = (96 + WIRE_OVERHEAD + 96 + 64 + WIRE_OVERHEAD) as f64 * 8.0 / RATE as f64;
    let least = 1.8e-6 + on_wire;
    assert!((0.9..=1.01).contains(&(small.requests * least)), "{small:?}");
}

#[test]
fn the_wire_is_full_without_loss() {
    for (repair, rtt) in [(Repair::Selective, 1800), (Repair::Selective, 10_000), (Repair::GoBack, 1800)] {
        for reads in [true, false] {
            let m = measure(&Setup { repair, rtt: Duration::from_nanos(rtt), reads, ..BASE });
            assert!(m.share > 0.95, "{repair:?} {rtt} {m:?}");
        }
    }
}

/// The mean of three seeds.
fn mean(setup: Setup) -> f64 {
    (1..=3).map(|seed| measure(&Setup { seed, ..setup }).share).sum::<f64>() / 3.0
}

/// 1.4 per cent of the wire are headers, and one is lost. A queue of 20 us before the wire, as a host's driver makes
/// it, is as good as a round trip of 20 us more: what was lost is repaired that much later, and 64 requests no
/// longer cover it.
#[test]
fn one_per_cent_of_loss_leaves_the_wire_to_those_that_are_selective() {
    let lossy = Setup { loss: 0.01, rtt: Duration::from_micros(10), ..BASE };
    for reads in [true, false] {
        let held = mean(Setup { reads, ..lossy });
        let bursts = mean(Setup { reads, bursts: true, ..lossy });
        let back = mean(Setup { reads, repair: Repair::GoBack, ..lossy });
        println!("reads {reads}: {held:.3} of the rate, in bursts {bursts:.3}, going back {back:.3}");
        assert!(held >= 0.93 && bursts >= 0.88, "{held} {bursts}");
        assert!(held > back && back > 0.5, "{held} {back}");
    }
}
