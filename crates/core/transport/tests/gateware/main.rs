//! The page that gateware is built to says what a connection does: both get the same random events.

mod page;

use page::{Config, Outcome, Page, Segment};
use rackloom_node::{Duration, Instant, Rng};
use rackloom_transport as transport;
use rackloom_transport::{Ack, AckPolicy, Connection, ConnectionConfig, Data, Delivery, Sack};

const RTO: u64 = 1000;

/// How often something happened, lest the runs prove nothing.
#[derive(Debug, Default)]
struct Stats {
    delivered: u64,
    lost: u64,
    errors: u64,
    resent: u64,
    nacks: u64,
    probes: u64,
}

fn connection(config: Config, epoch: u32) -> Connection<u64> {
    let rto = Duration::from_nanos(config.rto);
    let config = ConnectionConfig {
        first: config.first,
        window: config.window,
        credit: config.credit,
        opening: config.credit,
        queue_max: 1000,
        delivery: Delivery::InOrder { hold: 0 },
        selective: false,
        ack: config.ack,
        asks_seldom: config.asks_seldom,
        rto_min: rto,
        rto_max: rto,
    };
    Connection::new(Instant::ZERO, config, epoch)
}

fn to_connection(s: Segment) -> transport::Segment<u64> {
    transport::Segment {
        src: s.src,
        dst: s.dst,
        asks: s.asks,
        selective: false,
        ack: s.ack.map(|(next, limit)| Ack { sack: Sack::new(next), limit, is_nack: s.is_nack }),
        data: s.data.map(|(seq, payload)| Data { seq, payload }),
    }
}

fn to_page(s: transport::Segment<u64>) -> Segment {
    assert!(!s.selective);
    Segment {
        src: s.src,
        dst: s.dst,
        asks: s.asks,
        is_nack: s.ack.is_some_and(|a| a.is_nack),
        ack: s.ack.map(|a| (a.sack.next(), a.limit)),
        data: s.data.map(|d| (d.seq, d.payload)),
    }
}

/// A segment that a peer could have sent, most of the time to this life; it gives credit with the probability `raises`.
fn draw(rng: &mut Rng, page: &Page, payload: u64, raises: f64) -> Segment {
    let near = |rng: &mut Rng, n: u32| n.wrapping_add(rng.below(5) as u32).wrapping_sub(2);
    let remote = page.epochs.remote().max(1);
    let src = if rng.chance(0.99) { remote } else { near(rng, remote) };
    let dst = match rng.below(100) {
        0 => 0,
        1 => near(rng, page.epochs.local()),
        _ => page.epochs.local(),
    };
    let n = &page.n;
    let in_flight = n.next.wrapping_sub(n.base);
    let ack = match rng.below(4) {
        0 => near(rng, n.base),
        1 => n.base,
        _ => n.base.wrapping_add(rng.below(u64::from(in_flight) + 1) as u32),
    };
    let limit = if !rng.chance(raises) { n.limit } else { near(rng, ack.wrapping_add(page.config.credit)) };
    let seq = if rng.chance(0.6) { n.expected } else { near(rng, n.expected) };
    let is_nack = rng.chance(0.2);
    Segment {
        src,
        dst,
        asks: rng.chance(0.2),
        is_nack: is_nack && dst != 0,
        ack: (dst != 0).then_some((ack, limit)),
        data: (!is_nack && rng.chance(0.6)).then_some((seq, payload)),
    }
}

fn run(seed: u64, stats: &mut Stats) {
    let mut rng = Rng::new(seed);
    let config = Config {
        first: u32::MAX - rng.below(100) as u32,
        window: if rng.chance(0.3) { 256 } else { 1 + rng.below(64) as u32 },
        credit: if rng.chance(0.3) { 1 << 20 } else { 1 + rng.below(32) as u32 },
        ack: AckPolicy { every: 1 + rng.below(8) as u32, delay: Duration::from_nanos(rng.below(300)) },
        rto: RTO + rng.below(9),
        asks_seldom: seed.is_multiple_of(2),
    };
    let epoch = 1 + rng.below(3) as u32;
    let raises = if rng.chance(0.5) { 0.5 } else { 0.02 };
    let (mut page, mut end) = (Page::new(0, config, epoch), connection(config, epoch));
    let (mut now, mut payload, mut given) = (0, 0, 0);
    for step in 0..2000 {
        let at = format!("seed {seed}, step {step}");
        let now_of_end = Instant::from_nanos(now);
        match rng.below(8) {
            0 => now += rng.below(RTO / 2),
            1 => {
                for _ in 0..rng.below(20) {
                    if end.push(payload).is_ok() {
                        page.payloads.push(payload);
                    }
                    payload += 1;
                }
            }
            2 if given > 0 => {
                let count = 1 + rng.below(given) as u32;
                given -= u64::from(count);
                page.consume(now, count);
                end.consume(now_of_end, count);
            }
            3 => {
                page.timeout(now);
                end.handle_timeout(now_of_end);
            }
            4..7 => {
                let segment = draw(&mut rng, &page, payload, raises);
                payload += 1;
                let by_page = page.handle(now, segment);
                let by_end = end.handle(now_of_end, to_connection(segment)).ok().map(|mut r| {
                    let delivered = r.payloads.next();
                    assert_eq!(r.payloads.len(), 0, "{at}: nothing is held");
                    Outcome { restarted: r.restarted, lost: r.lost, delivered }
                });
                assert_eq!(by_page, by_end, "{at}: {segment:?}");
                stats.errors += u64::from(by_end.is_none());
                let outcome = by_end.unwrap_or_default();
                given = if outcome.restarted { 0 } else { given } + u64::from(outcome.delivered.is_some());
                stats.delivered += u64::from(outcome.delivered.is_some());
                stats.lost += outcome.lost.len() as u64;
            }
            _ => {
                // The wire may take less than there is.
                for _ in 0..rng.below(30) {
                    let resends = page.n.cursor != page.n.next;
                    let (by_page, by_end) = (page.poll(now), end.poll(now_of_end).map(to_page));
                    assert_eq!(by_page, by_end, "{at}");
                    let Some(segment) = by_end else { break };
                    stats.resent += u64::from(resends && segment.data.is_some());
                    stats.nacks += u64::from(segment.is_nack);
                    stats.probes += u64::from(segment.asks && segment.data.is_none() && end.is_established());
                }
            }
        }
        end.check_invariants();
        assert_eq!(page.n.next.wrapping_sub(page.n.base) as usize, end.in_flight(), "{at}");
        assert_eq!(page.epochs.is_established(), end.is_established(), "{at}");
    }
}

#[test]
fn a_connection_does_what_the_page_says() {
    let mut stats = Stats::default();
    (1..=300).for_each(|seed| run(seed, &mut stats));
    println!("{stats:?}");
    assert!(stats.delivered > 10_000 && stats.resent > 10_000 && stats.nacks > 1000, "{stats:?}");
    assert!(stats.lost > 1000 && stats.errors > 1000 && stats.probes > 100, "{stats:?}");
}
