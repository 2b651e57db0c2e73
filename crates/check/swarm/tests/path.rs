//! Frames of different lengths in one network: what one end takes, the other does not, or the way between them does
//! not. Issue 17, fault 2: results never came, or writes and loads hung.

use bytes::Bytes;
use rackloom_card::{Config as CardConfig, Pace};
use rackloom_host::{Config as HostConfig, Host, Job, JobEvent, JobOptions, OpError};
use rackloom_node::{Duration, Either};
use rackloom_rack::{Kind, Maker, SimRack};
use rackloom_sim::{Cable, SwitchConfig};
use rackloom_swarm::Hashes;
use rackloom_wire::{BULK_JUMBO, BULK_STANDARD, MacAddr};

const HOST: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
const TILES: usize = 24;
/// Elements of a tile, 8 bytes each: several long frames in each direction.
const ELEMENTS: usize = 4000;

/// Runs a job that loads its image first, on three cards: the host takes frames of `host` bytes, the cards of `cards`,
/// and the host's cable of `mtu`. How long it took, and whom it lost on the way.
fn job(host: u16, cards: u16, mtu: u32) -> (Duration, Vec<OpError>) {
    let mut rack = SimRack::new(1, Maker::shared());
    let switch = rack.net.switch(SwitchConfig { queue_bytes: 512 << 10, ..SwitchConfig::with_ports(4) });
    let config = HostConfig { bulk: host, ..HostConfig::simulated(HOST, 1, Cable::TEN_GIGABIT.rate_bps) };
    let slot = rack.add_host(HOST, Host::new(config), switch, Cable::TEN_GIGABIT.with_mtu(mtu));
    for unit in 0..3 {
        let mut config = CardConfig::new(MacAddr([2, 0, 0, 0, 1, unit]), Pace::Virtual);
        (config.unit, config.seed, config.boot) = (unit.into(), unit.into(), 7);
        (config.memory, config.bulk) = (4 << 20, cards);
        rack.add_card(Kind::Model, config, switch, Cable::TEN_GIGABIT.with_mtu(9000)).unwrap();
    }
    let image = Bytes::from(rackloom_builtin_roles::padded("burn", 300_000));
    let begun = rack.net.now() + Duration::from_millis(10);
    while rack.run_until(begun).is_some() {}
    let work = Box::new(Hashes::new(TILES, ELEMENTS));
    let mut job = rack.with_host(slot, |host, now| Job::start(now, host, image, work, JobOptions::default()));
    let limit = begun + Duration::from_secs(20);
    let mut lost = Vec::new();
    while !job.is_over() {
        let due = job.next_deadline().unwrap_or(limit).min(limit);
        let told = match rack.run_until(due) {
            Some((_, _, Either::A(event))) => rack.with_host(slot, |host, now| job.handle(now, host, &event)),
            Some(_) => continue,
            None => rack.with_host(slot, |host, now| job.handle_timeout(now, host)),
        };
        for news in told {
            match news {
                JobEvent::Left(_, why) => lost.push(why),
                JobEvent::Failed(why) => panic!("{why}"),
                _ => {}
            }
        }
        assert!(rack.net.now() < limit, "the job hangs: {job:?}");
    }
    let took = rack.net.now() - begun;
    Hashes::check(job.into_work()).unwrap();
    (took, lost)
}

#[test]
fn ends_of_different_lengths_agree_on_the_shorter() {
    for (host, cards, mtu) in [
        (BULK_STANDARD, BULK_JUMBO, 1500),
        (BULK_JUMBO, BULK_STANDARD, 9000),
        (BULK_STANDARD, BULK_STANDARD, 1500),
        (BULK_JUMBO, BULK_JUMBO, 9000),
    ] {
        let (took, lost) = job(host, cards, mtu);
        println!("{host} and {cards}: {took:?}");
        assert!(lost.is_empty(), "{lost:?}");
    }
}

#[test]
fn a_path_that_drops_long_frames_is_found_out() {
    let (took, lost) = job(BULK_JUMBO, BULK_JUMBO, 1500);
    println!("{took:?}, {lost:?}");
    // The load finds out by itself, and each card's first tile then by an error that says so.
    assert_eq!(lost.len(), 3);
    assert!(lost.iter().all(|why| matches!(why, OpError::Path { bulk: BULK_JUMBO, .. })), "{lost:?}");
    assert!(took < Duration::from_secs(4));
}
