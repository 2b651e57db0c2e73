//! A card with keys that is pulled out: its owner believes its goodbye, which is under the session's tag, and misses it
//! at once; from then on it is silent.

use rackloom_host::{ClaimOptions, DownReason, Event};
use rackloom_node::{Duration, Frame, Node};
use rackloom_rack::AnyCard;
use rackloom_wire::{FLAG_AUTH, HOSTS, Kind as FrameKind, MacAddr};

use super::{end_of, kind};
use crate::gateware;
use crate::segment::{CARDS, Segment, Shape};

/// No job runs here, so of workers there may be any number.
const SHAPES: [Shape; 2] = [Shape::MODELS, gateware::SHAPE];

/// To whom the first card has said goodbye, in this order, and whether under a tag.
fn goodbyes(sent: &[Frame]) -> Vec<(MacAddr, bool)> {
    let of_card = sent.iter().filter(|f| kind(f) == Some(FrameKind::DiscoveryGoodbye) && f[6..12] == CARDS[0].0);
    of_card.map(|f| (MacAddr(f[..6].try_into().expect("six bytes")), f[14] & FLAG_AUTH != 0)).collect()
}

/// A segment whose first card is claimed by its host, if that is wanted.
fn segment(shape: Shape, is_claimed: bool) -> Segment {
    let mut segment = Segment::of(shape, 1);
    segment.host.solicit(segment.now, Duration::from_micros(100));
    segment.settle(Duration::from_millis(1), &mut None);
    if is_claimed {
        let claims = CARDS.map(|card| segment.host.claim(segment.now, card, ClaimOptions::default()));
        let events = segment.settle(Duration::from_millis(10), &mut None);
        assert_eq!(claims.map(|op| end_of(&events, op)), [Some(Ok(())), Some(Ok(()))]);
    }
    segment
}

#[test]
fn an_owner_believes_the_goodbye_of_its_card() {
    for shape in SHAPES {
        let mut segment = segment(shape, true);
        // It is at work when it is pulled out.
        segment.host.write(segment.now, CARDS[0], 1 << 20, vec![5; 100_000].into());
        segment.settle(Duration::from_micros(50), &mut None);
        let before = segment.log.len();
        segment.cards[0].unplug(segment.now);
        let events = segment.settle(Duration::from_micros(100), &mut None);
        let gone = Event::CardDown { card: CARDS[0], reason: DownReason::Goodbye };
        assert!(events.contains(&gone), "{shape:?}: {events:?}");
        let owner = segment.host.mac();
        assert_eq!(goodbyes(&segment.log[before..]), [(owner, true), (HOSTS, false)]);
        let after = segment.log.iter().rev().find(|f| f[6..12] == CARDS[0].0).expect("it was there");
        assert_eq!(kind(after), Some(FrameKind::DiscoveryGoodbye), "nothing comes after it");
        assert_eq!(segment.cards[0].next_deadline(), None);
        if let AnyCard::Rtl(card) = &segment.cards[0] {
            assert_eq!((card.restarts(), card.accesses_failed()), (0, 0));
        }
        assert!(segment.host.claim_epoch(CARDS[1]).is_some(), "the other card knows nothing of it");
        assert_eq!(segment.forged().total(), 0);
    }
}

#[test]
fn a_card_that_nobody_has_claimed_says_goodbye_to_all() {
    for shape in SHAPES {
        let mut segment = segment(shape, false);
        let before = segment.log.len();
        segment.cards[0].unplug(segment.now);
        segment.settle(Duration::from_millis(1), &mut None);
        assert_eq!(goodbyes(&segment.log[before..]), [(HOSTS, false)]);
    }
}
