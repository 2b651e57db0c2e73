//! What is left of a wire's rate under loss, in virtual time.

use std::collections::BTreeMap;

use rackloom_node::{Duration, Instant, Rng};
use rackloom_transport::{AckPolicy, Connection, ConnectionConfig, Delivery, Pacer, Segment, WIRE_OVERHEAD};

use crate::world::Bug;

const RATE: u64 = 10_000_000_000;
const ONE_WAY: Duration = Duration::from_micros(5);
const RUN: Duration = Duration::from_millis(40);

/// Least share of the rate that is left to an end that goes back, under one per cent of loss.
pub const LEAST_BACK: f64 = 0.80;

/// Lengths of frames, and how both ends deliver.
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    frame: usize,
    ack_frame: usize,
    delivery: Delivery,
    selective: bool,
    rto: (Duration, Duration),
    /// Frames go as a host's wake-ups send them, up to the pacer's burst ahead of the wire, and wait there. Otherwise
    /// each goes when the wire is free.
    bursts: bool,
}

/// A card's: a frame of 1472 bytes of payload behind 32 of headers.
const CARD: Setup = Setup {
    frame: 1504,
    ack_frame: 72,
    delivery: Delivery::AnyOrder,
    selective: true,
    rto: (Duration::from_micros(300), Duration::from_millis(200)),
    bursts: true,
};

/// The bridge's, between ends that hold a window: payloads behind 96 bytes of headers.
const fn selective(payload: usize) -> Setup {
    Setup { frame: 96 + payload, ack_frame: 128, delivery: Delivery::InOrder { hold: 256 }, ..CARD }
}

/// The same between ends in gateware: they hold nothing, go back, and wait for a fixed time.
pub const fn go_back_n(payload: usize) -> Setup {
    let rto = Duration::from_micros(200);
    let delivery = Delivery::InOrder { hold: 0 };
    Setup { ack_frame: 96, delivery, selective: false, rto: (rto, rto), bursts: false, ..selective(payload) }
}

fn end(setup: &Setup, bug: Option<Bug>) -> Connection<u32> {
    let config = ConnectionConfig {
        first: 1,
        window: 256,
        credit: 1 << 30,
        opening: 1 << 30,
        queue_max: 512,
        delivery: setup.delivery,
        selective: setup.selective,
        ack: AckPolicy { every: 16, delay: Duration::from_micros(20) },
        asks_seldom: false,
        rto_min: setup.rto.0,
        rto_max: setup.rto.1,
    };
    #[cfg_attr(not(feature = "planted-bugs"), expect(unused_mut, reason = "only a bug changes it"))]
    let mut connection = Connection::new(Instant::ZERO, config, 1);
    #[cfg(feature = "planted-bugs")]
    if let Some(bug) = bug {
        connection.plant(bug);
    }
    #[cfg(not(feature = "planted-bugs"))]
    assert!(bug.is_none());
    connection
}

/// Two ends and a wire in each direction, which loses frames with probability `loss`. The share of the rate, from 0 to
/// 1, at which new payloads arrive.
pub fn goodput(setup: &Setup, loss: f64, seed: u64, bug: Option<Bug>) -> f64 {
    let mut rng = Rng::new(seed);
    let mut now = Instant::ZERO;
    let mut ends = [end(setup, bug), end(setup, bug)];
    let mut pacers = [Pacer::new(Some(RATE)), Pacer::new(Some(RATE))];
    let mut wire: BTreeMap<(Instant, u64), (usize, Segment<u32>)> = BTreeMap::new();
    let (mut sent, mut delivered, mut payload) = (0, 0u64, 0);
    while now < Instant::ZERO + RUN {
        while ends[0].push(payload).is_ok() {
            payload += 1;
        }
        for from in 0..2 {
            while (setup.bursts || pacers[from].free_at() <= now)
                && pacers[from].is_open(now)
                && let Some(segment) = ends[from].poll(now)
            {
                let frame = if segment.data.is_some() { setup.frame } else { setup.ack_frame };
                pacers[from].sent(now, frame);
                if !rng.chance(loss) {
                    sent += 1;
                    // It has arrived when its last byte has left the pacer's wire, and crossed it.
                    let left = pacers[from].free_at().max(now);
                    wire.insert((left + ONE_WAY, sent), (1 - from, segment));
                }
            }
        }
        let arrival = wire.keys().next().map(|(at, _)| *at);
        // What is due and has not gone waits for its wire.
        let deadline = ends.iter().filter_map(Connection::deadline).filter(|at| *at > now).min();
        let opens = |p: &Pacer| if setup.bursts { p.opens_at() } else { Some(p.free_at()) };
        let opens = pacers.iter().filter_map(opens).filter(|at| *at > now).min();
        now = [arrival, deadline, opens].into_iter().flatten().min().expect("an end has work for ever").max(now);
        for end in &mut ends {
            end.handle_timeout(now);
        }
        while let Some(entry) = wire.first_entry().filter(|e| e.key().0 <= now) {
            let (to, segment) = entry.remove();
            let received = ends[to].handle(now, segment).expect("neither end errs");
            delivered += received.payloads.len() as u64;
        }
    }
    let bits = delivered * (setup.frame + WIRE_OVERHEAD) as u64 * 8;
    bits as f64 / (RATE as f64 * RUN.as_secs_f64())
}

/// The mean over five seeds.
fn mean(setup: &Setup, loss: f64) -> f64 {
    (1..=5).map(|seed| goodput(setup, loss, seed, None)).sum::<f64>() / 5.0
}

#[test]
fn one_per_cent_of_loss_costs_less_than_ten_per_cent_of_the_rate() {
    for seed in 1..=5 {
        let share = goodput(&CARD, 0.01, seed, None);
        println!("seed {seed}: {share:.3}");
        assert!((0.90..=0.99).contains(&share), "seed {seed}: {share:.3} of the rate");
    }
}

#[test]
fn without_loss_the_wire_is_full() {
    for setup in [CARD, selective(1408), go_back_n(1408)] {
        let share = goodput(&setup, 0.0, 1, None);
        assert!((0.99..=1.0).contains(&share), "{share:.4} of the rate with {setup:?}");
    }
}

/// The share of the rate under one per cent of loss, in order. Whoever goes back sends again what is on the wire and in
/// queues: without a hold a queue of 20 us before the wire costs as much as a round trip of 20 us more.
#[test]
fn in_order_one_per_cent_of_loss_costs_what_the_table_says() {
    println!("payload  selective  go-back-N  go-back-N in bursts");
    for payload in [1408, 4096] {
        let held = mean(&selective(payload), 0.01);
        let back = mean(&go_back_n(payload), 0.01);
        let burst = mean(&Setup { bursts: true, ..go_back_n(payload) }, 0.01);
        println!("{payload:7}  {held:9.3}  {back:9.3}  {burst:19.3}");
        assert!(held >= 0.90, "{held:.3} of the rate in packets of {payload}");
        assert!(back >= LEAST_BACK && back < held, "{back:.3} of the rate in packets of {payload}");
        assert!(burst < back, "{burst:.3} of the rate in packets of {payload}");
    }
}
