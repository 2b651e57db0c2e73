//! What is left of a wire's rate under loss, in virtual time.

use std::collections::BTreeMap;

use rackloom_node::{Duration, Instant, Rng};
use rackloom_transport::{AckPolicy, Connection, ConnectionConfig, Pacer, Segment, WIRE_OVERHEAD};

const RATE: u64 = 10_000_000_000;
const ONE_WAY: Duration = Duration::from_micros(5);
/// A frame of 1472 bytes of payload behind 32 of headers.
const FRAME: usize = 1504;
const ACK_FRAME: usize = 72;
const RUN: Duration = Duration::from_millis(40);

/// Two ends and a wire in each direction, which loses frames with probability `loss`. The share of the rate, from 0 to
/// 1, at which new payloads arrive.
fn goodput(loss: f64, seed: u64) -> f64 {
    let config = ConnectionConfig {
        first: 1,
        window: 256,
        credit: 1 << 30,
        queue_max: 512,
        ack: AckPolicy { every: 16, delay: Duration::from_micros(20) },
        rto_min: Duration::from_micros(300),
        rto_max: Duration::from_millis(200),
    };
    let mut rng = Rng::new(seed);
    let mut now = Instant::ZERO;
    let mut ends = [Connection::<u32>::new(now, config.clone(), 1), Connection::new(now, config, 1)];
    let mut pacers = [Pacer::new(Some(RATE)), Pacer::new(Some(RATE))];
    let mut wire: BTreeMap<(Instant, u64), (usize, Segment<u32>)> = BTreeMap::new();
    let (mut sent, mut delivered, mut payload) = (0, 0u64, 0);
    while now < Instant::ZERO + RUN {
        while ends[0].push(payload).is_ok() {
            payload += 1;
        }
        for from in 0..2 {
            while pacers[from].is_open(now)
                && let Some(segment) = ends[from].poll(now)
            {
                let frame = if segment.data.is_some() { FRAME } else { ACK_FRAME };
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
        let opens = pacers.iter().filter_map(Pacer::opens_at).filter(|at| *at > now).min();
        now = [arrival, deadline, opens].into_iter().flatten().min().expect("an end has work for ever").max(now);
        for end in &mut ends {
            end.handle_timeout(now);
        }
        while let Some(entry) = wire.first_entry().filter(|e| e.key().0 <= now) {
            let (to, segment) = entry.remove();
            let received = ends[to].handle(now, segment).expect("neither end errs");
            delivered += u64::from(received.payload.is_some());
        }
    }
    let bits = delivered * (FRAME + WIRE_OVERHEAD) as u64 * 8;
    bits as f64 / (RATE as f64 * RUN.as_secs_f64())
}

#[test]
fn one_per_cent_of_loss_costs_less_than_ten_per_cent_of_the_rate() {
    for seed in 1..=5 {
        let share = goodput(0.01, seed);
        println!("seed {seed}: {share:.3}");
        assert!((0.90..=0.99).contains(&share), "seed {seed}: {share:.3} of the rate");
    }
}

#[test]
fn without_loss_the_wire_is_full() {
    let share = goodput(0.0, 1);
    assert!((0.99..=1.0).contains(&share), "{share:.4} of the rate");
}
