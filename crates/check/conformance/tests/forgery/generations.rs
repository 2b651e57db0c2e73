//! Generations of a rack's keys, and hosts whose key was revoked: who is served, who is refused, and who hears why.

use std::collections::BTreeMap;

use rackloom_auth::{PairKey, RackKey};
use rackloom_card::{Config as CardConfig, Keys as CardKeys, Pace};
use rackloom_host::{ClaimOptions, Config, Event, Host, Keys, OpError, Outcome};
use rackloom_node::{Duration, Frame, Node};
use rackloom_rack::{AnyCard, Kind, Maker};
use rackloom_wire::{Counter, ErrorCode, MacAddr, Scrub, Tagged};

use super::{end_of, kind};
use crate::segment::{CARDS, Segment};

const BASE: u64 = 1 << 20;

fn rack(generation: u32) -> RackKey {
    RackKey::new([7 + generation as u8; 16])
}

/// A card that takes this generation of the rack's keys and, with `former`, the one before; of these hosts.
fn of_card(card: MacAddr, generation: u32, former: bool, hosts: &[(u16, u32)]) -> CardKeys {
    let key = |generation| rack(generation).card(card.0, generation);
    CardKeys::new(key(generation), hosts.iter().copied())
        .of_generation(generation, former.then(|| key(generation.saturating_sub(1))))
}

/// The same for a host, whose own key is of generation `own`.
fn of_host(host: u16, own: u32, generation: u32, former: bool) -> Keys {
    let pair = |card: MacAddr, generation| rack(generation).card(card.0, generation).host(host.into(), own);
    let pairs = |generation| -> BTreeMap<MacAddr, PairKey> { CARDS.map(|card| (card, pair(card, generation))).into() };
    let before = if former { pairs(generation.saturating_sub(1)) } else { BTreeMap::new() };
    Keys::new(host, pairs(generation), 1 << 40).of_generation(generation, before)
}

/// Each card has these keys, as if it were switched on now.
fn power_up(segment: &mut Segment, boot: u32, keys: [CardKeys; 2]) {
    power_up_with(segment, boot, keys, |_| {});
}

/// The same, with something else about them changed.
fn power_up_with(segment: &mut Segment, boot: u32, keys: [CardKeys; 2], change: impl Fn(&mut CardConfig)) {
    let card = |(mac, keys): (MacAddr, CardKeys)| {
        let mut config = CardConfig::new(mac, Pace::Virtual);
        (config.memory, config.boot, config.seed, config.keys) = (4 << 20, boot, boot.into(), Some(keys));
        config.scrub_rate = 1 << 30;
        change(&mut config);
        Maker::shared().make(Kind::Model, config).unwrap()
    };
    segment.cards = CARDS.into_iter().zip(keys).map(card).collect();
}

/// This host comes instead of the one before, a little later by its clock.
fn enter(segment: &mut Segment, keys: Keys) {
    // As each program does, it draws an address of its own.
    let [.., a, b, c] = segment.now.as_nanos().to_be_bytes();
    let mut config = Config::simulated(keys.address([a, b, c]), segment.now.as_nanos() + 1, 10_000_000_000);
    config.keys = Some(keys);
    segment.host = Host::new(config);
    segment.host.solicit(segment.now, Duration::from_micros(100));
    segment.settle(Duration::from_millis(1), &mut None);
}

fn claim(segment: &mut Segment, card: MacAddr) -> Result<(), OpError> {
    let op = segment.host.claim(segment.now, card, ClaimOptions::default());
    let mut events = segment.settle(Duration::from_millis(10), &mut None);
    if end_of(&events, op).is_none() {
        events = segment.settle(Duration::from_secs(10), &mut None);
    }
    end_of(&events, op).expect("a claim ends")
}

/// Gives back what it holds.
fn leave(segment: &mut Segment) {
    for card in CARDS {
        segment.host.release(segment.now, card, Scrub::Keep);
    }
    segment.settle(Duration::from_millis(10), &mut None);
}

/// Claims both cards and gives them back.
fn visit(segment: &mut Segment) -> [Result<(), OpError>; 2] {
    let claims = CARDS.map(|card| claim(segment, card));
    leave(segment);
    assert!(segment.cards.iter().filter_map(AnyCard::as_model).all(|card| card.owner().is_none()));
    claims
}

fn rekey(segment: &mut Segment, card: usize, keys: CardKeys) {
    assert!(segment.cards[card].rekey(segment.now, keys));
}

fn owner(segment: &Segment, card: usize) -> Option<MacAddr> {
    segment.cards[card].as_model().unwrap().owner()
}

/// The generation that a card's last grant has named.
fn granted_under(segment: &Segment, card: MacAddr) -> u32 {
    let is_grant = |f: &&Frame| kind(f) == Some(rackloom_wire::Kind::SessionGrant) && f[6..12] == card.0;
    let grant = segment.log.iter().rev().find(is_grant).expect("it was granted");
    Tagged::parse(grant).unwrap().trailer.unwrap().generation
}

fn ignored_under(result: &Result<(), OpError>) -> Option<u32> {
    match result {
        Err(OpError::KeyIgnored { generation, .. }) => *generation,
        other => panic!("{other:?}"),
    }
}

fn is_revoked(result: &Result<(), OpError>) -> bool {
    let is_it = matches!(result, Err(OpError::Refused { code: ErrorCode::KeyRevoked, .. }));
    assert!(!is_it || result.as_ref().unwrap_err().to_string().contains("key was revoked"));
    is_it
}

#[test]
fn a_host_speaks_the_newest_generation_that_a_card_takes() {
    let mut segment = Segment::new(1);
    let hosts = [(1, 0)];
    // The first card has its new keys, the second one not yet.
    power_up(&mut segment, 500, [of_card(CARDS[0], 1, true, &hosts), of_card(CARDS[1], 0, false, &hosts)]);
    enter(&mut segment, of_host(1, 0, 1, true));
    assert_eq!(visit(&mut segment), [Ok(()), Ok(())]);
    assert_eq!(CARDS.map(|card| granted_under(&segment, card)), [1, 0]);
    assert_eq!(segment.forged().total(), 0, "a card that is behind poses as nobody");
    // A host that has no new keys yet.
    enter(&mut segment, of_host(1, 0, 0, false));
    assert_eq!(visit(&mut segment), [Ok(()), Ok(())]);
    assert_eq!(CARDS.map(|card| granted_under(&segment, card)), [0, 0]);
    // The second card has new keys while a host that has met it before goes on: its next claim is under those.
    enter(&mut segment, of_host(1, 0, 1, true));
    assert_eq!(visit(&mut segment), [Ok(()), Ok(())]);
    rekey(&mut segment, 1, of_card(CARDS[1], 1, true, &hosts));
    assert_eq!(visit(&mut segment), [Ok(()), Ok(())]);
    assert_eq!(CARDS.map(|card| granted_under(&segment, card)), [1, 1]);
    segment.run(None).unwrap();
}

#[test]
fn the_generation_before_counts_until_the_card_is_told_otherwise() {
    let mut segment = Segment::new(2);
    let hosts = [(1, 0)];
    power_up(&mut segment, 500, CARDS.map(|card| of_card(card, 1, true, &hosts)));
    enter(&mut segment, of_host(1, 0, 0, false));
    assert_eq!(claim(&mut segment, CARDS[0]), Ok(()));
    rekey(&mut segment, 0, of_card(CARDS[0], 1, false, &hosts));
    assert_eq!(owner(&segment, 0), None, "its claim was under a key that counts no more");
    let events = segment.settle(Duration::from_secs(1), &mut None);
    assert!(events.contains(&Event::ClaimLost { card: CARDS[0] }), "and it hears so: {events:?}");
    assert_eq!(ignored_under(&claim(&mut segment, CARDS[0])), Some(1));
    assert_eq!(claim(&mut segment, CARDS[1]), Ok(()), "the other card knows nothing of it");
    leave(&mut segment);
    enter(&mut segment, of_host(1, 0, 1, true));
    assert_eq!(claim(&mut segment, CARDS[0]), Ok(()));
    // And a host that has heard so takes no card which has the old ones only.
    power_up(&mut segment, 501, CARDS.map(|card| of_card(card, 0, false, &hosts)));
    enter(&mut segment, of_host(1, 0, 1, false));
    assert_eq!(ignored_under(&claim(&mut segment, CARDS[0])), Some(0));
}

#[test]
fn a_revoked_host_is_refused_by_name_and_others_notice_nothing() {
    let mut segment = Segment::new(3);
    let both = [(1, 0), (2, 0)];
    let revoked = |card| of_card(card, 0, false, &[(1, 0)]).revoking([(2, 0)]);
    power_up(&mut segment, 500, CARDS.map(|card| of_card(card, 0, false, &both)));
    // It holds a card when it is revoked.
    enter(&mut segment, of_host(2, 0, 0, false));
    assert_eq!(claim(&mut segment, CARDS[0]), Ok(()));
    rekey(&mut segment, 0, revoked(CARDS[0]));
    assert_eq!(owner(&segment, 0), None);
    let events = segment.settle(Duration::from_secs(1), &mut None);
    assert!(events.contains(&Event::ClaimLost { card: CARDS[0] }), "{events:?}");
    let counted = segment.count(Counter::AuthUnknown);
    assert!(is_revoked(&claim(&mut segment, CARDS[0])));
    assert!(segment.count(Counter::AuthUnknown) > counted);
    assert_eq!(claim(&mut segment, CARDS[1]), Ok(()), "the other card knows nothing of it");
    leave(&mut segment);
    // Another host is at work while the second card hears of it.
    enter(&mut segment, of_host(1, 0, 0, false));
    rekey(&mut segment, 1, of_card(CARDS[1], 0, false, &both));
    assert_eq!(claim(&mut segment, CARDS[1]), Ok(()));
    let epoch = segment.host.claim_epoch(CARDS[1]);
    let write = segment.host.write(segment.now, CARDS[1], BASE, vec![5; 100_000].into());
    let mut events = segment.settle(Duration::from_micros(50), &mut None);
    assert!(events.is_empty(), "the write is under way: {events:?}");
    rekey(&mut segment, 1, revoked(CARDS[1]));
    events.extend(segment.settle(Duration::from_secs(1), &mut None));
    assert!(
        matches!(&events[..], [Event::Completed { op, result: Ok(Outcome::Written) }] if *op == write),
        "{events:?}"
    );
    assert_eq!(segment.host.claim_epoch(CARDS[1]), epoch);
    segment.run(None).unwrap();
    // After a restart of the cards it is the same.
    power_up(&mut segment, 501, CARDS.map(revoked));
    enter(&mut segment, of_host(2, 0, 0, false));
    assert!(visit(&mut segment).iter().all(is_revoked));
    enter(&mut segment, of_host(1, 0, 0, false));
    assert_eq!(visit(&mut segment), [Ok(()), Ok(())]);
    // It comes back with its next key; whoever has found the lost one hears what has become of it.
    power_up(&mut segment, 502, CARDS.map(|card| of_card(card, 0, false, &[(1, 0), (2, 1)])));
    enter(&mut segment, of_host(2, 1, 0, false));
    assert_eq!(visit(&mut segment), [Ok(()), Ok(())]);
    enter(&mut segment, of_host(2, 0, 0, false));
    assert!(visit(&mut segment).iter().all(is_revoked));
}

/// A card with other keys would not know a claim again that it has taken before.
#[test]
fn a_claim_that_was_recorded_is_a_replay_also_after_other_keys() {
    assert_eq!(replay_after_other_keys(|_| {}), (1, None));
}

/// How many replays the card counts when the claim comes again, and whose it is then.
fn replay_after_other_keys(change: impl Fn(&mut CardConfig)) -> (u64, Option<MacAddr>) {
    let mut segment = Segment::new(4);
    power_up_with(&mut segment, 500, CARDS.map(|card| of_card(card, 0, false, &[(1, 0)])), change);
    enter(&mut segment, of_host(1, 0, 0, false));
    assert_eq!(visit(&mut segment), [Ok(()), Ok(())]);
    let is_claim = |f: &&Frame| kind(f) == Some(rackloom_wire::Kind::SessionClaim) && f[..6] == CARDS[0].0;
    let recorded = segment.log.iter().find(is_claim).unwrap().clone();
    rekey(&mut segment, 0, of_card(CARDS[0], 1, true, &[(1, 0)]).revoking([(2, 0)]));
    let counted = segment.count(Counter::AuthReplay);
    segment.cards[0].handle_frame(segment.now, 0, recorded);
    (segment.count(Counter::AuthReplay) - counted, owner(&segment, 0))
}

/// Whether a host keeps its claim when its key is revoked, and whether it gets another one.
fn revoked_in_its_claim(change: impl Fn(&mut CardConfig)) -> [bool; 2] {
    let mut segment = Segment::new(6);
    power_up_with(&mut segment, 500, CARDS.map(|card| of_card(card, 0, false, &[(2, 0)])), change);
    enter(&mut segment, of_host(2, 0, 0, false));
    assert_eq!(claim(&mut segment, CARDS[0]), Ok(()));
    for (at, card) in CARDS.into_iter().enumerate() {
        rekey(&mut segment, at, of_card(card, 0, false, &[]).revoking([(2, 0)]));
    }
    let keeps = owner(&segment, 0).is_some();
    segment.host.claim(segment.now, CARDS[1], ClaimOptions::default());
    segment.settle(Duration::from_millis(10), &mut None);
    [keeps, owner(&segment, 1).is_some()]
}

#[test]
fn a_key_that_was_revoked_keeps_no_claim_and_gets_none() {
    assert_eq!(revoked_in_its_claim(|_| {}), [false, false]);
}

#[cfg(feature = "planted-bugs")]
#[test]
fn a_card_that_forgets_claims_or_serves_who_was_revoked_is_found() {
    use rackloom_card::PlantedBug::{ForgetClaims, KeepRevoked, ServeRevoked};
    let suffering = |bug| move |config: &mut CardConfig| config.planted = Some(bug);
    // What is left is that a card knows the nonces of its last claims, whatever their keys.
    assert_eq!(replay_after_other_keys(suffering(ForgetClaims)), (0, None));
    assert_eq!(revoked_in_its_claim(suffering(KeepRevoked)), [true, false]);
    assert_eq!(revoked_in_its_claim(suffering(ServeRevoked)), [true, true]);
}

#[test]
fn a_host_that_waits_for_zeroed_memory_does_not_get_the_card_once_it_is_revoked() {
    for revoked in [false, true] {
        let mut segment = Segment::new(5);
        power_up(&mut segment, 500, CARDS.map(|card| of_card(card, 0, false, &[(1, 0)])));
        enter(&mut segment, of_host(1, 0, 0, false));
        let options = ClaimOptions { scrub: Scrub::Zero, ..ClaimOptions::default() };
        segment.host.claim(segment.now, CARDS[0], options);
        segment.settle(Duration::from_micros(20), &mut None);
        assert_eq!(owner(&segment, 0), None, "its memory is being zeroed");
        if revoked {
            rekey(&mut segment, 0, of_card(CARDS[0], 0, false, &[]).revoking([(1, 0)]));
        }
        segment.settle(Duration::from_secs(1), &mut None);
        assert_eq!(owner(&segment, 0).is_none(), revoked);
    }
}
