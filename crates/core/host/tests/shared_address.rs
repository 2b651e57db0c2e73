//! Two cards of one address: what is written to one is read from the other, unless the host notices.

mod common;

use common::{BASE, Bench, CARD, EPOCH, NAME};
use rackloom_host::{ClaimOptions, DownReason, Event, OpError};
use rackloom_node::Duration;
use rackloom_wire::{Kind, Packet};

const SHARED: Event = Event::AddressShared { card: CARD };

/// A host wrote to one of them, and read from the other: other bytes, and no error.
#[test]
fn regression_two_cards_of_one_address_were_taken_for_one_that_restarts() {
    let mut bench = Bench::new();
    let first = bench.solicit();
    bench.answer(&first, 1, 3);
    bench.answer(&first, 2, 3);
    let asked: Vec<_> = bench.poll().frames.iter().map(|f| Packet::parse(f).unwrap().head.kind).collect();
    assert_eq!(asked, [Kind::DiscoverySolicit], "the host asks once more whether the former card is gone");
    let asked = bench.frames.last().expect("just seen").clone();
    bench.answer(&asked, 2, 3);
    assert!(!bench.poll().events.contains(&SHARED), "so far it may have restarted");
    bench.answer(&asked, 1, 3);
    assert!(bench.poll().events.contains(&SHARED));
    assert_eq!(bench.host.shared_addresses(bench.now).collect::<Vec<_>>(), [CARD]);
    assert!(bench.host.card(CARD).is_some(), "it is listed");
    let claim = bench.host.claim(bench.now, CARD, ClaimOptions::default());
    assert_eq!(bench.result(claim), Err(OpError::AddressShared { card: NAME }));
}

#[test]
fn cards_that_differ_in_their_build_are_two_at_once() {
    let mut bench = Bench::claimed();
    let solicit = bench.solicit();
    let read = bench.host.read(bench.now, CARD, BASE, 8);
    bench.answer(&solicit, 1, 4);
    assert!(matches!(bench.result(read), Err(OpError::AddressShared { .. })));
    assert!(bench.events.contains(&SHARED));
    assert_eq!(bench.host.claim_epoch(CARD), None);
}

#[test]
fn a_pong_of_the_former_boot_ends_what_is_under_way() {
    let mut bench = Bench::new();
    bench.announce(2);
    bench.poll();
    // Its grant is an answer, too.
    bench.claim(CARD, EPOCH);
    let read = bench.host.read(bench.now, CARD, BASE, 8);
    bench.pass(Duration::from_millis(600));
    let pings = bench.frames.iter().filter(|f| Packet::parse(f).unwrap().head.kind == Kind::SessionPing);
    let ping = pings.last().expect("a silent card is pinged").clone();
    bench.pong(&ping, 1);
    assert!(matches!(bench.result(read), Err(OpError::AddressShared { .. })));
}

/// Frames may be repeated and come late: a card that has restarted is one card all the same.
#[test]
fn late_answers_of_a_former_boot_change_nothing() {
    let mut bench = Bench::new();
    let before = bench.solicit();
    bench.announce(2);
    let events = bench.poll().events;
    assert!(events.contains(&Event::CardDown { card: CARD, reason: DownReason::Restarted }), "{events:?}");
    bench.claim(CARD, EPOCH);
    let read = bench.host.read(bench.now, CARD, BASE, 8);
    bench.answer(&before, 1, 3);
    bench.announce(1);
    assert_eq!(bench.poll().events, []);
    assert_eq!((bench.host.claim_epoch(CARD), bench.host.pending()), (Some(EPOCH), 1), "{read:?} goes on");
}

#[test]
fn the_address_is_usable_again_when_one_card_is_left() {
    let mut bench = Bench::new();
    let solicit = bench.solicit();
    bench.answer(&solicit, 1, 3);
    bench.answer(&solicit, 1, 4);
    assert!(bench.poll().events.contains(&SHARED));
    for _ in 0..3 {
        bench.pass(Duration::from_secs(15));
        let solicit = bench.solicit();
        bench.answer(&solicit, 1, 4);
    }
    assert!(matches!(bench.poll().events[..], [Event::CardUp(_)]), "it joins jobs again");
    assert_eq!(bench.host.shared_addresses(bench.now).count(), 0);
    bench.claim(CARD, EPOCH);
}
