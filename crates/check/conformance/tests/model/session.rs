//! Claims: events, exact leases, and what a card has a place for.

use rackloom_card::{Card, CardEvent, Config, Pace, ReleaseReason};
use rackloom_conformance::bench::{BASE, CARD, CHUNK, HOST, RIVAL};
use rackloom_node::{Duration, Node};
use rackloom_wire::rules::Reach;
use rackloom_wire::{CardState, Counter, ErrorCode, Head, IntoBytes, Kind, MacAddr, Refusal, Release, U64, Window};

use crate::cards::{Bench, claimed, switched_on, virtual_time, with_role};
use crate::native::{Native, SLOW};

#[test]
fn a_lease_ends_on_time_and_its_launches_with_it() {
    let mut bench = with_role(virtual_time());
    bench.launch(1, SLOW, &[BASE, 1_000_000_000]);
    bench.pass_ms(4999);
    assert_eq!(bench.card.state(), CardState::Running);
    bench.clear();
    bench.pass_ms(1);
    assert_eq!((bench.card.owner(), bench.card.state()), (None, CardState::Active));
    let ended = CardEvent::LaunchEnded { epoch: bench.epoch, seq: 1, status: ErrorCode::Cancelled };
    let released = CardEvent::Released { owner: HOST, epoch: bench.epoch, reason: ReleaseReason::Expired };
    assert_eq!(bench.events, [ended, released]);
    // A claim that is as late as the lease's end finds the card free.
    bench.claim(RIVAL, 1);
    bench.pass_ms(4999);
    bench.now += Duration::from_millis(1);
    bench.frame(Bench::claim_frame(HOST, 2, 0));
    assert_eq!(bench.card.owner(), Some(HOST));
}

/// The card was kept from reading until just after the lease's end, too briefly to notice that it was late.
#[test]
fn what_the_owner_has_sent_is_read_before_its_lease_ends() {
    let mut bench = claimed(virtual_time());
    bench.now += Duration::from_millis(5000);
    bench.send(Kind::SessionPing, 1, 0, &[]);
    bench.pass_ms(4999);
    assert_eq!(bench.card.owner(), Some(HOST));
}

/// A card that got no processor for eight seconds, and whose owner has pinged it all the time.
#[test]
fn a_card_that_was_not_served_reads_what_has_come_before_it_ends_a_lease() {
    for timeout_first in [false, true] {
        let mut bench = claimed(virtual_time());
        bench.now += Duration::from_secs(8);
        if timeout_first {
            bench.card.handle_timeout(bench.now);
            bench.drain();
        }
        bench.frame(Bench::claim_frame(RIVAL, 2, 0));
        assert_eq!(bench.expect(Kind::SessionRefuse).code(), ErrorCode::Claimed);
        bench.send(Kind::SessionPing, 1, 0, &[]);
        assert_eq!(bench.expect(Kind::SessionPong).head.epoch, bench.epoch);
        bench.pass_ms(4999);
        assert_eq!(bench.card.owner(), Some(HOST), "the ping has renewed the lease");
        bench.pass_ms(1);
        assert_eq!((bench.card.owner(), bench.count(Counter::LeasesExpired)), (None, 1));
    }
}

#[test]
fn a_card_that_was_not_served_ends_the_lease_of_an_owner_that_has_sent_nothing() {
    let mut bench = claimed(virtual_time());
    bench.now += Duration::from_secs(8);
    bench.pass_ms(9);
    assert_eq!(bench.card.owner(), Some(HOST), "it still reads");
    bench.pass_ms(1);
    assert_eq!(bench.card.owner(), None);
    // However late the next call is: nothing that came before the first is unread then.
    let mut bench = claimed(virtual_time());
    for _ in 0..2 {
        assert_eq!(bench.card.owner(), Some(HOST));
        bench.now += Duration::from_secs(8);
        bench.card.handle_timeout(bench.now);
        bench.drain();
    }
    assert_eq!(bench.card.owner(), None);
}

#[test]
fn a_takeover_ends_the_former_claim() {
    let mut bench = with_role(virtual_time());
    let epoch = bench.epoch;
    let new = bench.claim(HOST, 2);
    assert!(bench.events.contains(&CardEvent::Released { owner: HOST, epoch, reason: ReleaseReason::TakenOver }));
    bench.frame(Bench::claim_frame(HOST, 1, 0));
    assert_eq!(bench.card.epoch(), Some(new), "a late copy of the first claim");
}

#[test]
fn a_role_keeps_its_own_memory_when_the_hosts_is_zeroed() {
    let mut bench = with_role(virtual_time());
    bench.write(1, BASE, &[1; 8]);
    let body = Release { scrub: 1, reserved: [0; 7] };
    bench.send(Kind::SessionRelease, 6, 0, body.as_bytes());
    assert_eq!((bench.card.owner(), bench.word(BASE)), (None, 0));
    assert_eq!(bench.bytes(0, 10), b"first role");
}

#[test]
fn a_card_without_a_bridge_refuses_windows_of_its_owner() {
    let mut bench = claimed(Config { bridge: false, ..virtual_time() });
    let (base, length) = (U64::new(BASE), U64::new(4096));
    let body = Window { base, length, peer: MacAddr::ZERO, rights: 1, reserved: 0 };
    for (src, code) in [(HOST, ErrorCode::Unsupported), (RIVAL, ErrorCode::StaleEpoch)] {
        let head = Head { src, ..bench.head(Kind::SessionWindowSet, 5, 3) };
        bench.frame(head.frame(&[body.as_bytes()]));
        let refused = bench.expect(Kind::SessionRefuse);
        assert_eq!((refused.head.dst, refused.head.seq, refused.head.addr), (src, 5, 3));
        assert_eq!(refused.body::<Refusal>().code.get(), u16::from(code));
    }
    bench.expect_nothing();
}

#[test]
fn every_kind_that_cards_take_has_a_place_in_the_dispatcher() {
    for kind in Kind::ALL.into_iter().filter(|kind| kind.is_to_card()) {
        for grouped in [false, true] {
            let mut bench = claimed(virtual_time());
            bench.begin(1, &[7; 4096], CHUNK);
            let head = if grouped { bench.group_head(kind, 2, 0) } else { bench.head(kind, 2, 0) };
            let foreign = bench.count(Counter::DropForeign);
            bench.frame(head.frame(&[]));
            let kept_out = bench.count(Counter::DropForeign) - foreign + bench.count(Counter::DropKind);
            let reaches = match kind.reach() {
                Reach::Unicast => !grouped,
                Reach::Group => grouped,
                Reach::Any => true,
            };
            assert_eq!(kept_out == 0, reaches, "{} grouped: {grouped}", kind.name());
        }
    }
}

#[test]
fn a_card_with_a_bad_configuration_is_not_made() {
    let sandbox = std::sync::Arc::new(Native);
    let bad: [fn(&mut Config); 11] = [
        |c| c.mac = MacAddr::BROADCAST,
        |c| c.mac = MacAddr::ZERO,
        |c| c.memory = BASE,
        |c| c.memory += 1,
        |c| c.memory = 8 << 30,
        |c| c.bulk = 100,
        |c| c.bulk = 9024,
        |c| c.clock_khz = 0,
        |c| c.staging_max = (256 << 20) + 1,
        |c| c.ack_every = 0,
        |c| c.resend_after = Duration::ZERO,
    ];
    for change in bad {
        let mut config = Config::new(CARD, Pace::Live);
        change(&mut config);
        assert!(Card::new(config, sandbox.clone()).is_err());
    }
}

#[test]
fn a_card_whose_memory_was_not_trained_says_so_and_takes_no_claim() {
    let mut bench = switched_on(Config { trained: false, ..virtual_time() });
    bench.pass_ms(1);
    assert_eq!(bench.facts().state, u8::from(CardState::Faulty));
    bench.clear();
    bench.frame(Bench::claim_frame(HOST, 1, 0));
    let refused = bench.expect(Kind::SessionRefuse);
    assert_eq!(refused.code(), ErrorCode::MemoryFault);
    assert_eq!((bench.card.owner(), bench.events.len()), (None, 0));
}

#[test]
fn a_card_that_zeroes_memory_serves_what_needs_no_claim() {
    rackloom_conformance::cases::session::a_card_that_zeroes_memory_serves_what_needs_no_claim::<Card>();
}
