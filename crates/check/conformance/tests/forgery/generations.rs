//! Generations of a rack's keys, and hosts whose key was revoked: who is served, who is refused, and who hears why. By
//! models, and by a card of gateware beside a model.

use std::collections::BTreeMap;

use rackloom_auth::{PairKey, RackKey};
use rackloom_card::{Config as CardConfig, Keys as CardKeys, Pace};
use rackloom_host::{ClaimOptions, Config, Event, Host, Keys, OpError, Outcome};
use rackloom_node::{Duration, Frame, Node};
use rackloom_rack::{AnyCard, Kind, Maker};
use rackloom_wire::{Counter, ErrorCode, Kind as FrameKind, MacAddr, Scrub, Tagged};

use super::{end_of, kind};
use crate::segment::{CARDS, Segment, Shape, Task};

const BASE: u64 = 1 << 20;
/// What the two cards are.
const SHAPES: [Shape; 3] = [Shape::MODELS, beside(Kind::Rtl, Kind::Model), beside(Kind::Model, Kind::Rtl)];

const fn beside(first: Kind, second: Kind) -> Shape {
    Shape { kinds: [first, second], workers: 2, job: Task::Add, tiles: 2, elements: 20, planted: 0, encrypts: false }
}

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
    let card = |((mac, keys), kind): ((MacAddr, CardKeys), Kind)| {
        let mut config = CardConfig::new(mac, Pace::Virtual);
        (config.memory, config.boot, config.seed, config.keys) = (4 << 20, boot, boot.into(), Some(keys));
        config.scrub_rate = 1 << 30;
        change(&mut config);
        Maker::shared().make(kind, config).unwrap()
    };
    segment.cards = CARDS.into_iter().zip(keys).zip(segment.shape.kinds).map(card).collect();
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
    assert_eq!([0, 1].map(|card| owner(segment, card)), [None; 2]);
    claims
}

/// A card gets other keys, and goes by them at the end; what the host has told meanwhile.
fn rekey(segment: &mut Segment, card: usize, keys: CardKeys) -> Vec<Event> {
    assert!(segment.cards[card].rekey(segment.now, keys));
    let (mut events, until) = (Vec::new(), segment.now + Duration::from_millis(10));
    loop {
        events.extend(segment.settle(Duration::from_micros(20), &mut None));
        if segment.cards[card].has_taken_keys() {
            return events;
        }
        assert!(segment.now < until, "it does not take them");
    }
}

/// Whose a card is, as it says itself.
fn owner(segment: &mut Segment, card: usize) -> Option<MacAddr> {
    segment.owner(card)
}

/// The sum of a counter over both cards.
fn count(segment: &mut Segment, counter: Counter) -> u64 {
    (0..CARDS.len()).map(|card| segment.told(card)[counter as usize]).sum()
}

fn last_grant(segment: &Segment, card: MacAddr) -> Option<&Frame> {
    let is_grant = |f: &&Frame| kind(f) == Some(FrameKind::SessionGrant) && f[6..12] == card.0;
    segment.log.iter().rev().find(is_grant)
}

/// The generation that a card's last grant has named.
fn granted_under(segment: &Segment, card: MacAddr) -> u32 {
    let grant = last_grant(segment, card).expect("it was granted");
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
    SHAPES.into_iter().for_each(newest_generation);
}

fn newest_generation(shape: Shape) {
    let mut segment = Segment::of(shape, 1);
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
    SHAPES.into_iter().for_each(generation_before);
}

fn generation_before(shape: Shape) {
    let mut segment = Segment::of(shape, 2);
    let hosts = [(1, 0)];
    power_up(&mut segment, 500, CARDS.map(|card| of_card(card, 1, true, &hosts)));
    enter(&mut segment, of_host(1, 0, 0, false));
    assert_eq!(claim(&mut segment, CARDS[0]), Ok(()));
    let mut events = rekey(&mut segment, 0, of_card(CARDS[0], 1, false, &hosts));
    events.extend(segment.settle(Duration::from_secs(1), &mut None));
    assert!(events.contains(&Event::ClaimLost { card: CARDS[0] }), "it hears so: {events:?}");
    assert_eq!(owner(&mut segment, 0), None, "its claim was under a key that counts no more");
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
    SHAPES.into_iter().for_each(revoked_host);
}

fn revoked_host(shape: Shape) {
    let mut segment = Segment::of(shape, 3);
    let both = [(1, 0), (2, 0)];
    let revoked = |card| of_card(card, 0, false, &[(1, 0)]).revoking([(2, 0)]);
    power_up(&mut segment, 500, CARDS.map(|card| of_card(card, 0, false, &both)));
    // It holds a card when it is revoked.
    enter(&mut segment, of_host(2, 0, 0, false));
    assert_eq!(claim(&mut segment, CARDS[0]), Ok(()));
    let mut events = rekey(&mut segment, 0, revoked(CARDS[0]));
    events.extend(segment.settle(Duration::from_secs(1), &mut None));
    assert!(events.contains(&Event::ClaimLost { card: CARDS[0] }), "{events:?}");
    assert_eq!(owner(&mut segment, 0), None);
    let counted = count(&mut segment, Counter::AuthUnknown);
    assert!(is_revoked(&claim(&mut segment, CARDS[0])));
    assert!(count(&mut segment, Counter::AuthUnknown) > counted);
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
    events.extend(rekey(&mut segment, 1, revoked(CARDS[1])));
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
    for shape in &SHAPES[..2] {
        assert_eq!(replay_after_other_keys(*shape, |_| {}), (1, None));
    }
}

/// How many replays the card counts when the claim comes again, and whose it is then.
fn replay_after_other_keys(shape: Shape, change: impl Fn(&mut CardConfig)) -> (u64, Option<MacAddr>) {
    let mut segment = Segment::of(shape, 4);
    power_up_with(&mut segment, 500, CARDS.map(|card| of_card(card, 0, false, &[(1, 0)])), change);
    enter(&mut segment, of_host(1, 0, 0, false));
    assert_eq!(visit(&mut segment), [Ok(()), Ok(())]);
    let is_claim = |f: &&Frame| kind(f) == Some(FrameKind::SessionClaim) && f[..6] == CARDS[0].0;
    let recorded = segment.log.iter().find(is_claim).unwrap().clone();
    rekey(&mut segment, 0, of_card(CARDS[0], 1, true, &[(1, 0)]).revoking([(2, 0)]));
    let counted = count(&mut segment, Counter::AuthReplay);
    segment.cards[0].handle_frame(segment.now, 0, recorded);
    (count(&mut segment, Counter::AuthReplay) - counted, owner(&mut segment, 0))
}

/// Whether a host keeps its claim of the first card when its key is revoked, and whether it gets the card anew after
/// that.
fn revoked_in_its_claim(shape: Shape, change: impl Fn(&mut CardConfig)) -> [bool; 2] {
    let mut segment = Segment::of(shape, 6);
    power_up_with(&mut segment, 500, CARDS.map(|card| of_card(card, 0, false, &[(2, 0)])), change);
    enter(&mut segment, of_host(2, 0, 0, false));
    assert_eq!(claim(&mut segment, CARDS[0]), Ok(()));
    if let AnyCard::Rtl(card) = &mut segment.cards[0] {
        card.plant(shape.planted);
    }
    rekey(&mut segment, 0, of_card(CARDS[0], 0, false, &[]).revoking([(2, 0)]));
    let keeps = owner(&mut segment, 0).is_some();
    // It knows nothing of that claim, and asks anew.
    enter(&mut segment, of_host(2, 0, 0, false));
    segment.settle(Duration::from_secs(6), &mut None);
    segment.host.claim(segment.now, CARDS[0], ClaimOptions::default());
    segment.settle(Duration::from_millis(10), &mut None);
    [keeps, owner(&mut segment, 0).is_some()]
}

#[test]
fn a_key_that_was_revoked_keeps_no_claim_and_gets_none() {
    for shape in &SHAPES[..2] {
        assert_eq!(revoked_in_its_claim(*shape, |_| {}), [false, false]);
    }
}

/// Of the bugs of `rl_planted` the one by which a key store keeps the hosts that it had.
#[test]
fn gateware_that_serves_who_was_revoked_is_found() {
    let shape = Shape { planted: 13, ..SHAPES[1] };
    assert_eq!(revoked_in_its_claim(shape, |_| {}), [true, true]);
}

#[cfg(feature = "planted-bugs")]
#[test]
fn a_card_that_forgets_claims_or_serves_who_was_revoked_is_found() {
    use rackloom_card::PlantedBug::{ForgetClaims, KeepRevoked, ServeRevoked};
    let suffering = |bug| move |config: &mut CardConfig| config.planted = Some(bug);
    let (replay_after_other_keys, revoked_in_its_claim) = (
        |bug| replay_after_other_keys(Shape::MODELS, suffering(bug)),
        |bug| revoked_in_its_claim(Shape::MODELS, suffering(bug)),
    );
    // What is left is that a card knows the nonces of its last claims, whatever their keys.
    assert_eq!(replay_after_other_keys(ForgetClaims), (0, None));
    assert_eq!(revoked_in_its_claim(KeepRevoked), [true, false]);
    assert_eq!(revoked_in_its_claim(ServeRevoked), [true, true]);
}

#[test]
fn a_host_that_waits_for_zeroed_memory_does_not_get_the_card_once_it_is_revoked() {
    for (shape, revoked) in SHAPES[..2].iter().flat_map(|shape| [(*shape, false), (*shape, true)]) {
        let mut segment = Segment::of(shape, 5);
        power_up(&mut segment, 500, CARDS.map(|card| of_card(card, 0, false, &[(1, 0)])));
        enter(&mut segment, of_host(1, 0, 0, false));
        let options = ClaimOptions { scrub: Scrub::Zero, ..ClaimOptions::default() };
        segment.host.claim(segment.now, CARDS[0], options);
        let is_gateware = shape.kinds[0] == Kind::Rtl;
        segment.settle(Duration::from_micros(if is_gateware { 150 } else { 20 }), &mut None);
        assert!(last_grant(&segment, CARDS[0]).is_none(), "its memory is being zeroed");
        if revoked {
            rekey(&mut segment, 0, of_card(CARDS[0], 0, false, &[]).revoking([(1, 0)]));
        }
        segment.settle(Duration::from_secs(1), &mut None);
        assert_eq!(owner(&mut segment, 0).is_none(), revoked);
    }
}
