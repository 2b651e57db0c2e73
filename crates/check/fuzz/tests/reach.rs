//! The frames for nodes get past the first checks: without that, hours of fuzzing a node would prove little.

use std::collections::BTreeMap;

use arbitrary::Unstructured;
use rackloom_fuzz::node;
use rackloom_fuzz::talk::{CARD, HOST};
use rackloom_host::{ClaimOptions, Config, Host};
use rackloom_node::{Instant, Rng};

/// Inputs tried, each of 6,000 random bytes.
const INPUTS: u64 = 300;

fn inputs() -> impl Iterator<Item = Vec<u8>> {
    (0..INPUTS).map(|seed| {
        let mut rng = Rng::new(seed);
        (0..6000).map(|_| rng.next_u64() as u8).collect()
    })
}

/// At least one input in twenty must reach each of these.
fn assert_reached(counts: &BTreeMap<&str, u64>) {
    eprintln!("{counts:?} of {INPUTS}");
    for (what, count) in counts {
        assert!(*count >= INPUTS / 20, "{what}: reached by {count} of {INPUTS} inputs: {counts:?}");
    }
}

#[test]
fn hosts_see_cards_and_win_claims() {
    let mut counts = BTreeMap::from([("a card is up", 0), ("a claim is granted", 0)]);
    for bytes in inputs() {
        let mut host = Host::new(Config::simulated(HOST, 1, 10_000_000_000));
        let mut now = Instant::ZERO;
        let (first, rest) = bytes.split_at(2000);
        let _ = node::drive(&mut host, HOST, &mut now, &mut Unstructured::new(first));
        if host.card(CARD).is_none() {
            continue;
        }
        *counts.get_mut("a card is up").unwrap() += 1;
        host.claim(now, CARD, ClaimOptions::default());
        let _ = node::drive(&mut host, HOST, &mut now, &mut Unstructured::new(rest));
        *counts.get_mut("a claim is granted").unwrap() += u64::from(host.claim_epoch(CARD).is_some());
    }
    assert_reached(&counts);
}

#[cfg(feature = "card")]
#[test]
fn cards_grant_claims_and_take_writes_and_loads() {
    use rackloom_wire::{Kind, Packet};
    let mut counts = BTreeMap::new();
    for kind in [
        Kind::SessionGrant,
        Kind::SessionRefuse,
        Kind::InputConfirmWriteAck,
        Kind::InputConfirmReadData,
        Kind::ImageConfirmReady,
        Kind::ImageConfirmMissing,
    ] {
        counts.insert(kind.name(), 0);
    }
    for bytes in inputs() {
        let mut sent = std::collections::BTreeSet::new();
        let _ = rackloom_fuzz::card::watched(&mut Unstructured::new(&bytes), &mut |frame| {
            sent.insert(Packet::parse(frame).expect("what it sends can be read").head.kind.name());
        });
        for kind in sent {
            counts.entry(kind).and_modify(|c| *c += 1);
        }
    }
    assert_reached(&counts);
}
