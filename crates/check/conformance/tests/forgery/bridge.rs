//! The bridge's frames have no tags: a card with a key has no part in it, though its configuration asks for one.

use rackloom_bridge::{Rights, Window};
use rackloom_card::{Config, Pace};
use rackloom_host::{OpError, OpId};
use rackloom_node::Duration;
use rackloom_wire::{ErrorCode, MacAddr};

use crate::segment::{CARDS, Segment, Shape};
use crate::{end_of, gateware};

/// What the card's owner hears.
fn refused(segment: &mut Segment, op: OpId) -> bool {
    let events = segment.settle(Duration::from_millis(10), &mut None);
    matches!(end_of(&events, op), Some(Err(OpError::Refused { code: ErrorCode::Unsupported, .. })))
}

#[test]
fn a_card_with_a_key_opens_no_window_and_no_route() {
    assert!(Config::new(CARDS[0], Pace::Virtual).bridge, "it is what a card without a key has");
    for shape in [Shape::MODELS, gateware::SHAPE] {
        let mut segment = Segment::of(shape, 1);
        segment.host.solicit(segment.now, Duration::from_micros(100));
        segment.settle(Duration::from_millis(1), &mut None);
        let op = segment.host.claim(segment.now, CARDS[0], Default::default());
        let events = segment.settle(Duration::from_millis(10), &mut None);
        assert_eq!(end_of(&events, op), Some(Ok(())));
        let window = Window { base: 1 << 20, length: 64, peer: MacAddr::ZERO, rights: Rights::READ };
        let op = segment.host.set_window(segment.now, CARDS[0], 0, Some(window));
        assert!(refused(&mut segment, op), "{shape:?}");
        let op = segment.host.set_route(segment.now, CARDS[0], 0, Some((CARDS[1], 0)));
        assert!(refused(&mut segment, op), "{shape:?}");
    }
}
