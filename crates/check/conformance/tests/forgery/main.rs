//! Attacks on cards with keys while a job runs: no result is wrong, no load lies, nothing is executed or read that the
//! owner has not asked for, and counters name what was tried.
#![allow(missing_docs, unreachable_pub)]

mod begins;
mod bridge;
mod claimant;
mod encrypted;
mod gateware;
mod generations;
mod leaves;
mod mixed;
mod revoked;
mod segment;
mod signed;
mod sums;

use rackloom_card::{Config, Pace};
use rackloom_host::{ClaimOptions, Event, Forged, Host, OpError, OpId};
use rackloom_node::{Duration, Frame, Instant, Node, Output};
use rackloom_rack::{AnyCard, Kind, Maker};
use rackloom_stranger::{ATTACKS, Attack, Seen, announce, kind};
use rackloom_wire::{Counter, FLAG_AUTH, U32};
use segment::{CARDS, Segment, Shape, stranger};

/// Of what a card has executed, written, activated and read.
const DEEDS: [Counter; 4] = [Counter::Launches, Counter::Writes, Counter::ImagesActivated, Counter::Reads];

/// What the cards have done, as they count it.
fn deeds(segment: &Segment) -> [u64; 4] {
    DEEDS.map(|c| segment.count(c))
}

/// How often an attack was seen, by a card that counts so or by the host.
fn named(seen: Seen, forged: &Forged, count: impl Fn(Counter) -> u64) -> u64 {
    match seen {
        Seen::CardUntagged => count(Counter::AuthUntagged),
        Seen::CardUnknown => count(Counter::AuthUnknown),
        Seen::CardWrong => count(Counter::AuthWrong),
        Seen::CardReplay => count(Counter::AuthReplay),
        Seen::CardTruncated => count(Counter::DropTruncated),
        Seen::CardKind => count(Counter::DropKind),
        Seen::HostUntagged => forged.untagged,
        Seen::HostWrong => forged.wrong,
        Seen::HostReplayed => forged.replayed,
        Seen::Harmless => 1,
        Seen::Spoils => 0,
    }
}

/// How an operation has ended.
pub fn end_of(events: &[Event], op: OpId) -> Option<Result<(), OpError>> {
    events.iter().find_map(|e| match e {
        Event::Completed { op: o, result } if *o == op => Some(result.clone().map(|_| ())),
        _ => None,
    })
}

#[test]
fn no_attack_makes_a_result_wrong_or_does_anything_and_counters_name_it() {
    attack_with_all(Shape::MODELS);
}

/// A job under each attack.
pub fn attack_with_all(shape: Shape) {
    let mut calm = Segment::of(shape, 1);
    let took = calm.run(None).unwrap();
    let done = deeds(&calm);
    assert_eq!(
        (calm.forged().total(), calm.count(Counter::AuthWrong)),
        (0, 0),
        "without a stranger nothing is counted"
    );
    assert!(ATTACKS.len() >= 25, "{}", ATTACKS.len());
    let mut failed = Vec::new();
    for attack in ATTACKS {
        let Attack { name, seen, .. } = attack;
        let (mut segment, mut stranger) = (Segment::of(shape, 1), stranger(1));
        let mut upon = |frame: &Frame| {
            stranger.hear(frame);
            stranger.attack(attack)
        };
        let under = match segment.run(Some(&mut upon)) {
            Ok(under) => under,
            Err(OpError::Load { .. }) if *seen == Seen::Spoils => continue,
            Err(why) => {
                failed.push(format!("{name}: the job failed: {why}"));
                continue;
            }
        };
        let forged = segment.forged();
        let named = named(*seen, &forged, |counter| segment.count(counter));
        if segment.attacks == 0 || deeds(&segment) != done || under > took * 2 || named == 0 {
            failed.push(format!(
                "{name}: {} frames sent, {forged:?}, counted {named}; deeds {:?} and not {done:?}; {under:?} and not {took:?}",
                segment.attacks,
                deeds(&segment)
            ));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn what_was_recorded_before_restarts_is_of_no_use_after_them() {
    let mut calm = Segment::new(2);
    calm.run(None).unwrap();
    let done = deeds(&calm);
    let restarts: [fn(&mut Segment); 2] = [Segment::restart_cards, Segment::restart_host];
    for restart in [&restarts[..1], &restarts[1..], &restarts] {
        let mut segment = Segment::new(2);
        segment.run(None).unwrap();
        let recorded = segment.log.clone();
        restart.iter().for_each(|restart| restart(&mut segment));
        segment.settle(Duration::from_secs(3), &mut None);
        let before = deeds(&segment);
        let mut at = 0;
        let mut replay = |_: &Frame| {
            let some: Vec<_> = recorded.iter().skip(at).take(3).cloned().collect();
            at += some.len();
            some
        };
        segment.run(Some(&mut replay)).unwrap();
        // Launches are the job's own, and none of those that were recorded.
        assert_eq!(deeds(&segment)[0] - before[0], done[0]);
        assert!(segment.count(Counter::AuthWrong) + segment.count(Counter::AuthReplay) > 0);
    }
}

/// The host has believed a forged announcement: the card tells its boot under a tag, and the claim succeeds at once.
#[test]
fn a_forged_boot_number_costs_a_claim_one_more_question() {
    for shape in [Shape::MODELS, gateware::SHAPE] {
        let mut segment = Segment::of(shape, 3);
        segment.settle(Duration::from_millis(300), &mut None);
        let is_announce =
            |f: &&Frame| kind(f) == Some(rackloom_wire::Kind::DiscoveryAnnounce) && f[6..12] == CARDS[0].0;
        let lie = announce(segment.log.iter().find(is_announce).unwrap(), |a| a.boot = U32::new(999));
        segment.host.handle_frame(segment.now, 0, lie);
        let op = segment.host.claim(segment.now, CARDS[0], ClaimOptions::default());
        let events = segment.settle(Duration::from_millis(10), &mut None);
        assert_eq!(end_of(&events, op), Some(Ok(())), "{events:?}");
    }
}

/// Pings had tags of a claim that was over, and the card had restarted since: it was taken for gone.
#[test]
fn a_card_that_was_given_back_and_has_restarted_is_still_heard() {
    let mut segment = Segment::new(5);
    segment.run(None).unwrap();
    segment.restart_cards();
    segment.settle(Duration::from_secs(8), &mut None);
    assert!(CARDS.iter().all(|card| segment.host.card(*card).is_some()));
    assert_eq!((segment.count(Counter::AuthWrong), segment.count(Counter::AuthUnknown)), (0, 0));
    segment.run(None).unwrap();
}

#[test]
fn who_lacks_a_key_is_told_so_on_either_side() {
    let mut segment = Segment::new(4);
    let open = |mac| Maker::shared().make(Kind::Model, Config { memory: 4 << 20, ..Config::new(mac, Pace::Virtual) });
    segment.cards = CARDS.map(|mac| open(mac).unwrap()).into();
    segment.settle(Duration::from_millis(300), &mut None);
    let op = segment.host.claim(segment.now, CARDS[0], ClaimOptions::default());
    let events = segment.settle(Duration::from_secs(20), &mut None);
    let why = end_of(&events, op);
    assert!(matches!(why, Some(Err(OpError::KeyIgnored { .. }))), "{why:?}");
    assert!(segment.cards.iter().filter_map(AnyCard::as_model).any(|c| c.counters().get(Counter::DropAuth) > 0));

    let mut segment = Segment::new(4);
    segment.host = Host::new(rackloom_host::Config::simulated(segment.host.mac(), 4, 10_000_000_000));
    segment.settle(Duration::from_millis(300), &mut None);
    let op = segment.host.claim(segment.now, CARDS[0], ClaimOptions::default());
    let events = segment.settle(Duration::from_millis(10), &mut None);
    let why = end_of(&events, op).unwrap().unwrap_err().to_string();
    assert!(why.contains("asks for a key: give --key FILE"), "{why}");
}

/// A refusal under a tag that was recorded refuses nothing but the claim that it answered.
#[test]
fn a_recorded_refusal_refuses_no_later_claim() {
    for shape in [Shape::MODELS, gateware::SHAPE] {
        let mut segment = Segment::of(shape, 6);
        // Another host with a key has the card, until its lease runs out.
        let keys = segment::keyring().of_host(rackloom_stranger::Keyring::STRANGER, 1 << 40);
        let config = rackloom_host::Config::simulated(keys.address([0; 3]), 7, 10_000_000_000);
        let mut other = Host::new(rackloom_host::Config { keys: Some(keys), ..config });
        let (mut time, mut asked) = (Instant::ZERO, false);
        let mut claims = |frame: &Frame| {
            time += Duration::from_micros(1);
            other.handle_frame(time, 0, frame.clone());
            if !asked && other.card(CARDS[0]).is_some() {
                asked = true;
                other.claim(time, CARDS[0], ClaimOptions::default());
            }
            let frames = std::iter::from_fn(|| other.poll(time));
            frames.filter_map(|said| if let Output::Transmit(_, frame) = said { Some(frame) } else { None }).collect()
        };
        segment.settle(Duration::from_millis(300), &mut Some(&mut claims));
        let op = segment.host.claim(segment.now, CARDS[0], ClaimOptions::default());
        let events = segment.settle(Duration::from_millis(10), &mut None);
        assert!(matches!(end_of(&events, op), Some(Err(OpError::Claimed { .. }))), "{events:?}");
        let is_refusal =
            |f: &&Frame| kind(f) == Some(rackloom_wire::Kind::SessionRefuse) && f[..6] == segment.host.mac().0;
        let recorded = segment.log.iter().find(is_refusal).expect("it was refused").clone();
        assert!(recorded[14] & FLAG_AUTH != 0, "under a tag");
        segment.settle(Duration::from_secs(6), &mut None);

        let op = segment.host.claim(segment.now, CARDS[0], ClaimOptions::default());
        let mut again = |frame: &Frame| {
            // As it was, and with the number of the claim that is asked now.
            let mut numbered = recorded.to_vec();
            numbered[20..24].copy_from_slice(&frame[20..24]);
            vec![recorded.clone(), numbered.into()]
        };
        let events = segment.settle(Duration::from_millis(10), &mut Some(&mut again));
        assert_eq!(end_of(&events, op), Some(Ok(())), "{events:?}");
        assert!(segment.attacks > 0 && segment.forged().wrong > 0, "{:?}", segment.forged());
    }
}
