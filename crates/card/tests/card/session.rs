//! Claims, leases, releases and questions.

use rackloom_card::{CardEvent, Config, Pace, ReleaseReason};
use rackloom_wire::{
    self as wire, CardState, Counter, ErrorCode, Grant, Head, IntoBytes, Kind, MacAddr, Pong, Refusal, U32, U64,
};

use crate::bench::{BASE, Bench, CARD, HOST, RIVAL, config};
use crate::native::{COUNT, SLOW};

fn claim_with(bench: &mut Bench, change: impl FnOnce(&mut wire::Claim)) {
    let mut body = wire::Claim { nonce: U64::new(1), lease_ms: U32::new(5000), group: 0.into(), scrub: 0, reserved: 0 };
    change(&mut body);
    let head = Head { epoch: 0, ..bench.head(Kind::SessionClaim, 5, 0) };
    bench.frame(head.frame(&[body.as_bytes()]));
}

fn release(bench: &mut Bench, scrub: u8) {
    let body = wire::Release { scrub, reserved: [0; 7] };
    bench.send(Kind::SessionRelease, 6, 0, body.as_bytes());
}

#[test]
fn a_claim_is_granted_once_and_again() {
    let mut bench = Bench::new(Config { boot: 77, ..config(Pace::Virtual) });
    bench.frame(Bench::claim_frame(HOST, 3, 0));
    let first = bench.expect(Kind::SessionGrant);
    let body: Grant = first.body();
    assert_eq!((body.nonce.get(), body.lease_ms.get(), body.boot.get()), (3, 5000, 77));
    assert_ne!(first.head.epoch, 0);
    bench.pass_ms(4000);
    bench.frame(Bench::claim_frame(HOST, 3, 0));
    assert_eq!(bench.expect(Kind::SessionGrant).head.epoch, first.head.epoch);
    bench.pass_ms(4000);
    assert_eq!(bench.card.owner(), Some(HOST), "the repeated claim has renewed the lease");
    assert_eq!(bench.count(Counter::Claims), 1);
}

#[test]
fn a_rival_is_refused_and_told_who_and_how_long() {
    let mut bench = Bench::claimed();
    bench.pass_ms(1000);
    bench.frame(Bench::claim_frame(RIVAL, 9, 0));
    let no = bench.expect(Kind::SessionRefuse);
    assert_eq!((no.head.dst, no.head.seq, no.code()), (RIVAL, 9, ErrorCode::Claimed));
    assert_eq!((no.body::<Refusal>().holder, no.body::<Refusal>().detail.get()), (HOST, 4000));
    assert_eq!(bench.count(Counter::Refusals), 1);
}

#[test]
fn fields_out_of_range_are_refused() {
    let mut bench = Bench::new(config(Pace::Virtual));
    for lease in [0, 99, 60_001, u32::MAX] {
        claim_with(&mut bench, |c| c.lease_ms = U32::new(lease));
        assert_eq!(bench.expect(Kind::SessionRefuse).code(), ErrorCode::BadRequest);
    }
    claim_with(&mut bench, |c| c.scrub = 2);
    assert_eq!(bench.expect(Kind::SessionRefuse).code(), ErrorCode::BadRequest);
    assert_eq!(bench.card.owner(), None);
    for lease in [100, 60_000] {
        claim_with(&mut bench, |c| {
            c.lease_ms = U32::new(lease);
            c.nonce = U64::new(lease.into());
        });
        assert_eq!(bench.expect(Kind::SessionGrant).body::<Grant>().lease_ms.get(), lease);
    }
    release(&mut bench, 9);
    assert_eq!(bench.expect(Kind::SessionRefuse).code(), ErrorCode::BadRequest);
    assert_eq!(bench.card.owner(), Some(HOST));
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
    bench.now += rackloom_node::Duration::from_millis(1);
    bench.frame(Bench::claim_frame(HOST, 1, 0));
    assert_eq!(bench.card.owner(), Some(HOST));
    assert_ne!(bench.card.epoch(), Some(rivals));
}

#[test]
fn whatever_the_owner_sends_renews_the_lease() {
    let mut bench = Bench::with_role();
    for seq in 1..20 {
        bench.pass_ms(4000);
        match seq % 5 {
            0 => bench.send(Kind::SessionPing, seq, 0, &[]),
            1 => bench.write(seq, BASE, &[1]),
            2 => bench.send(Kind::ExecQuery, 1, 0, &[]),
            3 => bench.poll(seq, 0),
            _ => bench.ack(1, 0, 0, false, &[]),
        }
        assert_eq!(bench.card.owner(), Some(HOST), "{seq}");
    }
    // A rival's frames do not.
    bench.pass_ms(4000);
    let ping = Head { src: RIVAL, ..bench.head(Kind::SessionPing, 1, 0) };
    bench.frame(ping.frame(&[]));
    bench.pass_ms(1000);
    assert_eq!(bench.card.owner(), None);
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
fn a_claim_may_ask_for_zeroed_memory() {
    let mut bench = Bench::claimed();
    bench.write(1, BASE, &[1; 8]);
    claim_with(&mut bench, |c| {
        c.scrub = 1;
        c.nonce = U64::new(50);
    });
    assert_eq!(bench.word(BASE), 0);
    bench.epoch = bench.card.epoch().unwrap();
    bench.write(1, BASE, &[2; 8]);
    claim_with(&mut bench, |c| {
        c.scrub = 1;
        c.nonce = U64::new(50);
    });
    assert_ne!(bench.word(BASE), 0, "a repeated claim zeroes nothing");
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
fn counters_and_manifest_need_no_claim() {
    let mut bench = Bench::with_role();
    let all = Counter::COUNT;
    for (from, len) in [(0, all), (all as u64 - 3, 3), (all as u64, 0), (u64::MAX, 0)] {
        let head = Head { src: RIVAL, ..bench.head(Kind::SessionCountersGet, 4, from) };
        bench.frame(head.frame(&[]));
        let got = bench.expect(Kind::SessionCounters);
        assert_eq!((got.head.dst, got.head.addr, got.payload.len()), (RIVAL, from, 8 * len));
    }
    let mut json = Vec::new();
    loop {
        let head = Head { src: RIVAL, ..bench.head(Kind::SessionManifestGet, 4, json.len() as u64) };
        bench.frame(head.frame(&[]));
        let part = bench.expect(Kind::SessionManifest);
        assert_eq!(part.head.addr, json.len() as u64);
        json.extend_from_slice(&part.payload);
        if part.payload.len() < 1472 {
            break;
        }
    }
    assert_eq!(rackloom_image::Manifest::from_json(&json).unwrap().kernels.len(), crate::native::KERNELS);
    let mut empty = Bench::new(config(Pace::Virtual));
    empty.send(Kind::SessionManifestGet, 1, 0, &[]);
    assert!(empty.expect(Kind::SessionManifest).payload.is_empty());
}

#[test]
fn counters_are_what_was_counted() {
    let mut bench = Bench::claimed();
    bench.write(1, BASE, &[0; 100]);
    bench.pass_ms(1);
    bench.send(Kind::SessionCountersGet, 1, 0, &[]);
    let got = bench.take_all(Kind::SessionCounters).pop().unwrap();
    let value = |c: Counter| {
        let at = 8 * c as usize;
        u64::from_be_bytes(got.payload[at..at + 8].try_into().unwrap())
    };
    assert_eq!((value(Counter::RxFrames), value(Counter::RxBytes)), (3, 60 + 132 + 60));
    assert_eq!(value(Counter::RxWords), 8 + 17 + 8);
    assert_eq!((value(Counter::Writes), value(Counter::WriteBytes), value(Counter::Claims)), (1, 100, 1));
    // Two announcements of 136 bytes, the grant, the acknowledgement.
    assert_eq!((value(Counter::TxFrames), value(Counter::TxBytes)), (4, 136 * 2 + 60 + 64));
    assert_eq!(value(Counter::TxWords), 17 * 2 + 8 + 8);
    assert_eq!(bench.card.counters().drops(), 0);
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
