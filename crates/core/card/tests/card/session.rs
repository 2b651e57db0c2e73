//! Claims, leases, releases and questions.

use rackloom_card::{CardEvent, Config, Pace, ReleaseReason};
use rackloom_node::{Duration, Node};
use rackloom_wire::rules::Reach;
use rackloom_wire::{self as wire, CardState, Counter, ErrorCode, Head, IntoBytes, Kind, MacAddr, Pong};

use crate::bench::{BASE, Bench, CARD, HOST, RIVAL, config};
use crate::native::{COUNT, SLOW};

fn release(bench: &mut Bench, scrub: u8) {
    let body = wire::Release { scrub, reserved: [0; 7] };
    bench.send(Kind::SessionRelease, 6, 0, body.as_bytes());
}

#[test]
fn a_silent_owner_loses_the_card() {
    let mut bench = Bench::with_role();
    bench.launch(1, SLOW, &[BASE, 1_000_000_000]);
    bench.pass_ms(4999);
    assert_eq!(bench.card.state(), CardState::Running);
    bench.clear();
    bench.pass_ms(1);
    assert_eq!((bench.card.owner(), bench.card.state()), (None, CardState::Active));
    assert_eq!(bench.count(Counter::LeasesExpired), 1);
    let ended = CardEvent::LaunchEnded { epoch: bench.epoch, seq: 1, status: ErrorCode::Cancelled };
    let released = CardEvent::Released { owner: HOST, epoch: bench.epoch, reason: ReleaseReason::Expired };
    assert_eq!(bench.events, [ended, released]);
    bench.pass_ms(100);
    bench.expect_nothing();
    // A claim that is as late as the lease's end finds the card free.
    bench.claim(RIVAL, 1);
    let rivals = bench.epoch;
    bench.pass_ms(4999);
    bench.now += Duration::from_millis(1);
    bench.frame(Bench::claim_frame(HOST, 1, 0));
    assert_eq!(bench.card.owner(), Some(HOST));
    assert_ne!(bench.card.epoch(), Some(rivals));
}

/// The card was kept from reading until just after the lease's end, too briefly to notice that it was late.
#[test]
fn what_the_owner_has_sent_is_read_before_its_lease_ends() {
    let mut bench = Bench::claimed();
    bench.now += Duration::from_millis(5000);
    bench.send(Kind::SessionPing, 1, 0, &[]);
    bench.pass_ms(4999);
    assert_eq!(bench.card.owner(), Some(HOST));
}

/// A card that got no processor for eight seconds, and whose owner has pinged it all the time.
#[test]
fn a_card_that_was_not_served_reads_what_has_come_before_it_ends_a_lease() {
    for timeout_first in [false, true] {
        let mut bench = Bench::claimed();
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
    let mut bench = Bench::claimed();
    bench.now += Duration::from_secs(8);
    bench.pass_ms(9);
    assert_eq!(bench.card.owner(), Some(HOST), "it still reads");
    bench.pass_ms(1);
    assert_eq!(bench.card.owner(), None);
    // However late the next call is: nothing that came before the first is unread then.
    let mut bench = Bench::claimed();
    for _ in 0..2 {
        assert_eq!(bench.card.owner(), Some(HOST));
        bench.now += Duration::from_secs(8);
        bench.card.handle_timeout(bench.now);
        bench.drain();
    }
    assert_eq!(bench.card.owner(), None);
}

#[test]
fn every_kind_that_cards_take_has_a_place_in_the_dispatcher() {
    for kind in Kind::ALL.into_iter().filter(|kind| kind.is_to_card()) {
        for grouped in [false, true] {
            let mut bench = Bench::claimed();
            let image = vec![7; 4096];
            bench.begin(1, &image, 1472);
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
fn a_restarted_host_takes_its_card_over() {
    let mut bench = Bench::with_role();
    let old = bench.epoch;
    bench.launch(1, COUNT, &[BASE]);
    bench.pass_ms(1);
    bench.write(1, BASE + 64, &[5]);
    bench.clear();
    let new = bench.claim(HOST, 2);
    assert_ne!(new, old);
    assert!(bench.events.contains(&CardEvent::Released { owner: HOST, epoch: old, reason: ReleaseReason::TakenOver }));
    // All counting begins anew; memory and role are still there.
    bench.write(1, BASE + 72, &[6]);
    assert_eq!((bench.word(BASE), bench.word(BASE + 64), bench.word(BASE + 72)), (1, 5, 6));
    bench.launch(1, COUNT, &[BASE]);
    bench.pass_ms(1);
    assert_eq!(bench.word(BASE), 2);
    // A late copy of the first claim changes nothing.
    bench.clear();
    bench.frame(Bench::claim_frame(HOST, 1, 0));
    assert_eq!(bench.expect(Kind::SessionRefuse).code(), ErrorCode::StaleEpoch);
    assert_eq!(bench.card.epoch(), Some(new));
}

#[test]
fn a_release_gives_the_card_back_and_is_confirmed_each_time() {
    let mut bench = Bench::with_role();
    bench.write(1, BASE, &[1; 8]);
    bench.clear();
    release(&mut bench, 1);
    let released = bench.expect(Kind::SessionReleased);
    assert_eq!((released.head.seq, released.head.epoch), (6, bench.epoch));
    assert_eq!((bench.card.owner(), bench.word(BASE)), (None, 0));
    let mut private = [0; 10];
    bench.card.ddr().read(0, &mut private).unwrap();
    assert_eq!(&private, b"first role", "the role keeps its own memory");
    release(&mut bench, 1);
    bench.expect(Kind::SessionReleased);
    // A late copy of the claim does not take it again; a new claim does.
    bench.frame(Bench::claim_frame(HOST, 1, 0));
    assert_eq!(bench.expect(Kind::SessionRefuse).code(), ErrorCode::StaleEpoch);
    bench.claim(RIVAL, 1);
    let mut head = bench.head(Kind::SessionRelease, 7, 0);
    head.epoch = bench.epoch;
    bench.frame(head.frame(&[wire::Release { scrub: 0, reserved: [0; 7] }.as_bytes()]));
    bench.expect(Kind::SessionReleased);
    // Who asks for zeroed memory and comes too late must not believe that it was zeroed.
    bench.frame(head.frame(&[wire::Release { scrub: 1, reserved: [0; 7] }.as_bytes()]));
    assert_eq!(bench.expect(Kind::SessionRefuse).code(), ErrorCode::StaleEpoch);
    assert_eq!(bench.card.owner(), Some(RIVAL), "only the owner releases");
}

#[test]
fn epochs_differ_from_what_the_host_remembers() {
    for seed in 0..50 {
        let mut bench = Bench::new(Config { seed, ..config(Pace::Virtual) });
        let mut seen = vec![0];
        for nonce in 1..10u64 {
            let theirs = bench.card.epoch().unwrap_or(0).wrapping_add(1);
            bench.frame(Bench::claim_frame(HOST, nonce, theirs));
            let epoch = bench.take_all(Kind::SessionGrant).pop().unwrap().head.epoch;
            assert_ne!(epoch, theirs);
            assert!(!seen.contains(&epoch));
            seen.push(epoch);
        }
    }
}

#[test]
fn a_ping_tells_the_present_epoch_to_anyone() {
    let mut bench = Bench::with_role();
    bench.launch(1, SLOW, &[BASE, 1_000_000]);
    bench.clear();
    for src in [HOST, RIVAL] {
        let head = Head { src, epoch: 0x5555, ..bench.head(Kind::SessionPing, 8, 0) };
        bench.frame(head.frame(&[]));
        let pong = bench.expect(Kind::SessionPong);
        assert_eq!((pong.head.dst, pong.head.seq, pong.head.epoch), (src, 8, bench.epoch));
        let body: Pong = pong.body();
        assert_eq!((body.queued, body.state), (1, u8::from(CardState::Running)));
        assert_eq!(body.uptime_ns.get(), bench.now.as_nanos());
    }
}

#[test]
fn a_card_with_a_bad_configuration_is_not_made() {
    let sandbox = std::sync::Arc::new(crate::native::Native);
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
        |c| c.resend_after = rackloom_node::Duration::ZERO,
    ];
    for change in bad {
        let mut config = Config::new(CARD, Pace::Live);
        change(&mut config);
        assert!(rackloom_card::Card::new(config, sandbox.clone()).is_err());
    }
}
