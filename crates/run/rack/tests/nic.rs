//! A card with a host behind it that takes nothing: card and rack go on.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use rackloom::{ClaimOptions, Rack, RackOptions};
use rackloom_card::{Config, Nic, Pace, PortConfig, PortService};
use rackloom_live::{Cable, Clock, Pool, Ports, Switch, Wire};
use rackloom_node::Frame;
use rackloom_rack::{Kind, Maker};
use rackloom_wire::{MacAddr, ROLE_PRIVATE};

const CARD: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
const OWN: MacAddr = MacAddr([6, 0, 0, 0, 0, 1]);
const FLOOD: MacAddr = MacAddr([2, 0, 0, 0, 0, 9]);

fn raw(dst: MacAddr, src: MacAddr, length: usize) -> Frame {
    let mut bytes = [&dst.0[..], &src.0, &[8, 0]].concat();
    bytes.resize(length, 0);
    bytes.into()
}

#[test]
fn a_host_that_takes_nothing_keeps_no_card_from_its_work() {
    takes_nothing(Kind::Model, 64, 1514);
}

#[test]
fn a_host_that_takes_nothing_keeps_no_gateware_from_its_work() {
    // What a simulation keeps up with.
    takes_nothing(Kind::Rtl, 4, 60);
}

/// Nobody reads the host's end of the cable, and somebody floods it from the wire, with so many frames of this length
/// each millisecond.
fn takes_nothing(kind: Kind, count: usize, length: usize) {
    let (switch, cable) = (Switch::default(), Cable::new());
    let pool = Pool::new(NonZeroUsize::MIN, Clock::start()).unwrap();
    let config = Config {
        memory: 4 << 20,
        ports: vec![PortConfig::new(OWN, PortService::Closed)],
        nic: Some(Nic { host: 1, hook: None }),
        ..Config::new(CARD, Pace::Live)
    };
    let card = Maker::shared().make(kind, config).unwrap();
    let mut silent = cable.end("host").unwrap();
    let ports = Ports::from(switch.attach("card").unwrap()).with(1, cable.end("card").unwrap());
    let member = pool.add(card, ports, |_| {});
    let rack = Rack::attach(switch.attach("owner").unwrap(), RackOptions::default()).unwrap();
    // Its last word, by which the switch learns where it is.
    assert_eq!(silent.send(&[raw(MacAddr::BROADCAST, OWN, 60)]).unwrap(), 1);

    let mut flood = switch.attach("flood").unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let frames = vec![raw(OWN, FLOOD, length); count];
            while !stop.load(Ordering::Acquire) {
                flood.send(&frames).unwrap();
                // A tenth of what the switch could carry: it is the card that has to cope, not the machine.
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let start = Instant::now();
        let works = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            while rack.discover(Duration::from_millis(100)).unwrap().is_empty() {
                assert!(start.elapsed() < Duration::from_secs(60), "the card does not answer");
            }
            rack.claim(&[CARD], ClaimOptions::default()).wait_all().unwrap();
            let mut last = 0;
            // On until the cable has been full for long.
            while start.elapsed() < Duration::from_secs(3) {
                let bytes = Bytes::copy_from_slice(&[last; 8]);
                rack.write(CARD, ROLE_PRIVATE, bytes.clone()).wait().unwrap();
                assert_eq!(rack.read(CARD, ROLE_PRIVATE, 8).wait().unwrap(), bytes);
                last = last.wrapping_add(1);
            }
        }));
        stop.store(true, Ordering::Release);
        works.unwrap();
    });
    let counters = member.with(|card, _| card.nic_counters()).unwrap().unwrap();
    assert!(counters.to_host.frames > 1024, "more than the cable holds: {counters:?}");
    assert!(silent.stats().dropped > 0, "what it did not take is lost: {:?}", silent.stats());
}
