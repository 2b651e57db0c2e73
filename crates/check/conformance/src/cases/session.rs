//! Claims, leases, releases and questions.

use rackloom_card::Config;
use rackloom_node::Duration;
use rackloom_wire::{
    self as wire, CardState, Counter, ErrorCode, Grant, Head, IntoBytes, Kind, Pong, Refusal, U32, U64,
};

use crate::bench::{ASKING, BASE, Bench, HOST, Out, RIVAL, config};
use crate::images::kernel::{BUMP, COUNT};
use crate::{Specimen, images};

/// Questions at the same time. Gateware takes about a millisecond to answer so many.
const CROWD: usize = 24;

fn claim_with<S: Specimen>(bench: &mut Bench<S>, change: impl FnOnce(&mut wire::Claim)) {
    let mut body = wire::Claim { nonce: U64::new(1), lease_ms: U32::new(5000), group: 0.into(), scrub: 0, beats: 0 };
    change(&mut body);
    let head = Head { epoch: 0, ..bench.head(Kind::SessionClaim, 5, 0) };
    bench.frame(head.frame(&[body.as_bytes()]));
}

fn release<S: Specimen>(bench: &mut Bench<S>, scrub: u8) {
    let body = wire::Release { scrub, reserved: [0; 7] };
    bench.send(Kind::SessionRelease, 6, 0, body.as_bytes());
    // Memory is zeroed beat by beat.
    bench.pass_ms(1);
}

fn held() -> Out {
    Out { go: 1, ..Out::default() }
}

/// The same claim twice is one claim.
pub fn a_claim_is_granted_once_and_again<S: Specimen>() {
    let mut bench = Bench::<S>::new(Config { boot: 77, ..config() });
    bench.frame(Bench::<S>::claim_frame(HOST, 3, 0));
    let first = bench.expect(Kind::SessionGrant);
    let body: Grant = first.body();
    assert_eq!((body.nonce.get(), body.lease_ms.get(), body.boot.get()), (3, 5000, 77));
    assert_ne!(first.head.epoch, 0);
    bench.pass_ms(4000);
    bench.frame(Bench::<S>::claim_frame(HOST, 3, 0));
    assert_eq!(bench.last(Kind::SessionGrant).head.epoch, first.head.epoch);
    bench.pass_ms(4000);
    assert_eq!(bench.owner(), Some(HOST), "the repeated claim has renewed the lease");
    assert_eq!(bench.count(Counter::Claims), 1);
}

/// A card has one owner.
pub fn a_rival_is_refused_and_told_who_and_how_long<S: Specimen>() {
    let mut bench = Bench::<S>::claimed();
    bench.pass_ms(1000);
    bench.clear();
    bench.frame(Bench::<S>::claim_frame(RIVAL, 9, 0));
    let no = bench.expect(Kind::SessionRefuse);
    assert_eq!((no.head.dst, no.head.seq, no.code()), (RIVAL, 9, ErrorCode::Claimed));
    assert_eq!((no.body::<Refusal>().holder, no.body::<Refusal>().detail.get()), (HOST, 4000));
    assert_eq!(bench.count(Counter::Refusals), 1);
}

/// A claim says what it wants within bounds.
pub fn fields_out_of_range_are_refused<S: Specimen>() {
    let mut bench = Bench::<S>::new(config());
    for (lease, bound) in [(0, 100), (99, 100), (60_001, 60_000), (u32::MAX, 60_000)] {
        claim_with(&mut bench, |c| c.lease_ms = U32::new(lease));
        let no = bench.expect(Kind::SessionRefuse);
        assert_eq!((no.code(), no.body::<Refusal>().detail.get()), (ErrorCode::BadRequest, bound));
    }
    claim_with(&mut bench, |c| c.scrub = 2);
    assert_eq!(bench.expect(Kind::SessionRefuse).code(), ErrorCode::BadRequest);
    assert_eq!(bench.owner(), None);
    for lease in [100, 60_000] {
        claim_with(&mut bench, |c| {
            c.lease_ms = U32::new(lease);
            c.nonce = U64::new(lease.into());
        });
        let grant = bench.expect(Kind::SessionGrant);
        assert_eq!(grant.body::<Grant>().lease_ms.get(), lease);
        bench.epoch = grant.head.epoch;
    }
    release(&mut bench, 9);
    assert_eq!(bench.last(Kind::SessionRefuse).code(), ErrorCode::BadRequest);
    assert_eq!(bench.owner(), Some(HOST));
}

/// An owner that is not heard any more has none.
pub fn a_silent_owner_loses_the_card<S: Specimen>() {
    let mut bench = Bench::<S>::with_role();
    bench.launch_with(1, BUMP, &[BASE, 1], held());
    bench.pass_ms(4990);
    assert_eq!(bench.owner(), Some(HOST));
    bench.clear();
    bench.pass_ms(10);
    assert_eq!((bench.owner(), bench.state()), (None, CardState::Active));
    assert_eq!((bench.count(Counter::LeasesExpired), bench.count(Counter::KernelsFailed)), (1, 1));
    bench.pass_ms(100);
    bench.expect_nothing();
    bench.claim(RIVAL, 1);
    let rivals = bench.epoch;
    bench.pass_ms(4990);
    bench.now += Duration::from_micros(10_500);
    // A claim that is as late as the lease's end finds the card free, if nobody has woken it before.
    bench.frame(Bench::<S>::claim_frame(HOST, 2, 0));
    assert_eq!(bench.owner(), Some(HOST));
    assert_ne!(bench.last(Kind::SessionGrant).head.epoch, rivals);
}

/// A late copy of a claim takes the card for nobody, however the claim has ended and however many came since, up to 31.
pub fn a_claim_that_has_ended_is_remembered<S: Specimen>() {
    let mut bench = Bench::<S>::new(config());
    bench.claim(HOST, 1);
    bench.pass_ms(5001);
    assert_eq!(bench.owner(), None, "its lease has run out");
    for nonce in 2..33 {
        bench.claim(HOST, nonce);
        release(&mut bench, 0);
    }
    bench.clear();
    for nonce in 1..33 {
        bench.frame(Bench::<S>::claim_frame(HOST, nonce, 0));
        assert_eq!(bench.last(Kind::SessionRefuse).code(), ErrorCode::StaleEpoch, "{nonce}");
    }
    assert_eq!(bench.owner(), None);
    bench.claim(HOST, 33);
}

/// Any frame of the owner is a sign of life; no frame of another is.
pub fn whatever_the_owner_sends_renews_the_lease<S: Specimen>() {
    let mut bench = Bench::<S>::with_role();
    for seq in 1..20 {
        bench.pass_ms(4000);
        match seq % 6 {
            0 => bench.send(Kind::SessionPing, seq, 0, &[]),
            1 => bench.write(seq, BASE, &[1]),
            2 => bench.send(Kind::ExecQuery, 1, 0, &[]),
            3 => bench.poll(seq, 0),
            4 => bench.read(seq, BASE, 8),
            _ => bench.ack(1, 0, 0, &[]),
        }
        assert_eq!(bench.owner(), Some(HOST), "{seq}");
    }
    bench.pass_ms(4000);
    let ping = Head { src: RIVAL, ..bench.head(Kind::SessionPing, 1, 0) };
    bench.frame(ping.frame(&[]));
    bench.pass_ms(1001);
    assert_eq!(bench.owner(), None);
}

/// What the owner sent in time renews its lease, however long the card has to read what came before.
pub fn an_owner_behind_a_crowd_is_heard_before_its_lease_ends<S: Specimen>() {
    let mut bench = Bench::<S>::claimed();
    bench.pass(Duration::from_millis(5000) - Duration::from_micros(100));
    let question = Head { src: RIVAL, ..bench.head(Kind::SessionCountersGet, 1, 0) }.frame(&[]);
    for _ in 0..CROWD {
        bench.hand(question.clone());
    }
    bench.hand(bench.head(Kind::SessionPing, 2, 0).frame(&[]));
    bench.pass_ms(4990);
    assert_eq!((bench.take_all(Kind::SessionCounters).len(), bench.owner()), (CROWD, Some(HOST)));
    assert_eq!(bench.last(Kind::SessionPong).head.epoch, bench.epoch);
    bench.pass_ms(20);
    assert_eq!((bench.owner(), bench.count(Counter::LeasesExpired)), (None, 1));
}

/// A host that has forgotten its claim claims anew.
pub fn a_restarted_host_takes_its_card_over<S: Specimen>() {
    let mut bench = Bench::<S>::with_role();
    let old = bench.epoch;
    bench.launch(1, BUMP, &[BASE, 1]);
    bench.pass_ms(1);
    bench.write(1, BASE + 64, &[5]);
    bench.clear();
    let new = bench.claim(HOST, 2);
    assert_ne!(new, old);
    // All counting begins anew; memory and role are still there.
    bench.write(1, BASE + 72, &[6]);
    assert_eq!((bench.word(BASE), bench.word(BASE + 64), bench.word(BASE + 72)), (1, 5, 6));
    bench.launch(1, BUMP, &[BASE, 1]);
    bench.pass_ms(1);
    assert_eq!(bench.word(BASE), 2);
    // A late copy of the first claim changes nothing.
    bench.clear();
    bench.frame(Bench::<S>::claim_frame(HOST, 1, 0));
    assert_eq!(bench.last(Kind::SessionRefuse).code(), ErrorCode::StaleEpoch);
    assert_eq!(bench.facts().owner, HOST);
    bench.send(Kind::SessionPing, 8, 0, &[]);
    assert_eq!(bench.last(Kind::SessionPong).head.epoch, new);
}

/// A release ends the claim, and a late copy of anything brings it back.
pub fn a_release_gives_the_card_back_and_is_confirmed_each_time<S: Specimen>() {
    let mut bench = Bench::<S>::with_role();
    bench.write(1, BASE, &[1; 8]);
    bench.clear();
    release(&mut bench, 1);
    let released = bench.last(Kind::SessionReleased);
    assert_eq!((released.head.seq, released.head.epoch), (6, bench.epoch));
    assert_eq!((bench.owner(), bench.word(BASE)), (None, 0));
    assert_eq!(bench.state(), CardState::Active, "the role serves the next claim");
    release(&mut bench, 1);
    bench.last(Kind::SessionReleased);
    // A late copy of the claim does not take it again; a new claim does.
    bench.frame(Bench::<S>::claim_frame(HOST, 1, 0));
    assert_eq!(bench.last(Kind::SessionRefuse).code(), ErrorCode::StaleEpoch);
    bench.claim(RIVAL, 1);
    let head = Head { ..bench.head(Kind::SessionRelease, 7, 0) };
    bench.frame(head.frame(&[wire::Release { scrub: 0, reserved: [0; 7] }.as_bytes()]));
    bench.last(Kind::SessionReleased);
    // Who asks for zeroed memory and comes too late must not believe that it was zeroed.
    bench.frame(head.frame(&[wire::Release { scrub: 1, reserved: [0; 7] }.as_bytes()]));
    assert_eq!(bench.last(Kind::SessionRefuse).code(), ErrorCode::StaleEpoch);
    assert_eq!(bench.owner(), Some(RIVAL), "only the owner releases");
}

/// What one owner leaves in memory the next need not see.
pub fn a_claim_may_ask_for_zeroed_memory<S: Specimen>() {
    let mut bench = Bench::<S>::claimed();
    for (seq, at) in [(1, BASE), (2, BASE + 4095), (3, crate::bench::MEMORY - 8)] {
        bench.write(seq, at, &[seq as u8; 8]);
    }
    let zeroed = |c: &mut wire::Claim| (c.scrub, c.nonce) = (1, U64::new(50));
    claim_with(&mut bench, zeroed);
    bench.pass_ms(1);
    let length = (crate::bench::MEMORY - BASE) as usize;
    assert!(bench.bytes(BASE, length).iter().all(|&b| b == 0));
    bench.epoch = bench.last(Kind::SessionGrant).head.epoch;
    bench.write(1, BASE, &[2; 8]);
    claim_with(&mut bench, zeroed);
    assert_ne!(bench.word(BASE), 0, "a repeated claim zeroes nothing");
}

/// A write on the heels of a claim that zeroes memory is not lost in it.
pub fn a_write_after_a_zeroing_claim_lasts<S: Specimen>() {
    let mut bench = Bench::<S>::claimed();
    bench.write(1, BASE, &[1; 16]);
    claim_with(&mut bench, |c| (c.scrub, c.nonce) = (1, U64::new(50)));
    bench.pass_ms(1);
    bench.epoch = bench.last(Kind::SessionGrant).head.epoch;
    bench.write(1, BASE, &[2; 8]);
    bench.pass_ms(1);
    assert_eq!(bench.bytes(BASE, 16), [[2; 8], [0; 8]].concat());
}

/// Zeroing takes a card long. Meanwhile it answers whoever asks; who claims it or has given it back gets its answer
/// then.
pub fn a_card_that_zeroes_memory_serves_what_needs_no_claim<S: Specimen>() {
    // 15 MiB at ten gigabytes a second; as many beats as cycles of gateware.
    let slow = Config { memory: 16 << 20, scrub_rate: 10_000_000_000, ..config() };
    let mut bench = Bench::<S>::new(slow);
    bench.clear();
    let zeroed = |c: &mut wire::Claim| c.scrub = 1;
    claim_with(&mut bench, zeroed);
    for leaves in [false, true] {
        let answer = if leaves { Kind::SessionReleased } else { Kind::SessionGrant };
        let mut pongs = 0;
        while !bench.sent.iter().any(|sent| sent.head.kind == answer) {
            pongs += 1;
            assert!(pongs < 1000, "zeroing does not end");
            // Also who asks again, and a rival.
            bench.hand(Head { epoch: 0, ..bench.head(Kind::SessionPing, pongs, 0) }.frame(&[]));
            if !leaves && pongs == 2 {
                claim_with(&mut bench, zeroed);
                bench.frame(Bench::<S>::claim_frame(RIVAL, 9, 0));
            }
            // A little of time, or some thousand cycles.
            bench.now += Duration::from_micros(25);
            bench.card.handle_timeout(bench.now);
            bench.take();
        }
        bench.settle();
        let told: Vec<_> = bench.take_all(Kind::SessionPong).into_iter().map(|pong| pong.head.epoch).collect();
        assert_eq!(told.len(), pongs as usize, "each ping is answered");
        assert!(told.len() > 3 && told[..2] == [0, 0], "nobody has the card: {told:?}");
        let answer = bench.last(answer);
        if leaves {
            bench.expect_nothing();
        } else {
            let no = bench.expect(Kind::SessionRefuse);
            assert_eq!((no.head.dst, no.code()), (RIVAL, ErrorCode::Claimed));
            bench.expect_nothing();
            bench.epoch = answer.head.epoch;
            bench.write(1, BASE, &[1; 8]);
            bench.pass_ms(1);
            bench.clear();
            bench.send(Kind::SessionRelease, 6, 0, wire::Release { scrub: 1, reserved: [0; 7] }.as_bytes());
        }
    }
    assert_eq!(bench.word(BASE), 0);
}

/// No epoch comes twice, nor one that the host may remember.
pub fn epochs_differ_from_what_the_host_remembers<S: Specimen>() {
    // Gateware takes a while to boot.
    let seeds = if S::KIND == rackloom_rack::Kind::Model { 50 } else { 3 };
    for seed in 0..seeds {
        let mut bench = Bench::<S>::new(Config { seed: seed * 0x0123_4567, ..config() });
        let mut seen = vec![0];
        for nonce in 1..10u64 {
            let theirs = u16::wrapping_add(seen[seen.len() - 1], 1);
            bench.frame(Bench::<S>::claim_frame(HOST, nonce, theirs));
            let epoch = bench.last(Kind::SessionGrant).head.epoch;
            assert_ne!(epoch, theirs);
            assert!(!seen.contains(&epoch));
            seen.push(epoch);
        }
    }
}

/// Whoever asks gets the card's epoch.
pub fn a_ping_tells_the_present_epoch_to_anyone<S: Specimen>() {
    let mut bench = Bench::<S>::with_role();
    bench.launch_with(1, BUMP, &[BASE, 1], held());
    bench.clear();
    for src in [HOST, RIVAL] {
        let head = Head { src, epoch: 0x5555, ..bench.head(Kind::SessionPing, 8, 0) };
        bench.frame(head.frame(&[]));
        let pong = bench.expect(Kind::SessionPong);
        assert_eq!((pong.head.dst, pong.head.seq, pong.head.epoch), (src, 8, bench.epoch));
        let body: Pong = pong.body();
        assert_eq!((body.queued, body.state), (1, u8::from(CardState::Active)));
        let apart = body.uptime_ns.get().abs_diff(bench.now.as_nanos());
        assert!(apart < 1000, "{apart} ns");
    }
}

/// What a card has counted and what its role offers is no secret.
pub fn counters_and_manifest_need_no_claim<S: Specimen>() {
    let mut bench = Bench::<S>::with_role();
    let all = Counter::COUNT;
    for (from, len) in [(0, all), (30, all - 30), (all as u64, 0), (1 << 32, 0), (u64::MAX, 0)] {
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
    let image = rackloom_image::Image::parse(images::probe(1, 0).into()).expect("it was built by us");
    assert!(json == image.manifest_json());
    assert_eq!(image.manifest().kernels.len(), COUNT);
    for from in [json.len() as u64 - 7, json.len() as u64, 1 << 40] {
        bench.send(Kind::SessionManifestGet, 1, from, &[]);
        let rest = usize::try_from(from).map_or(&[][..], |from| json.get(from..).unwrap_or_default());
        assert_eq!(bench.expect(Kind::SessionManifest).payload, rest);
    }
    let mut empty = Bench::<S>::new(config());
    empty.send(Kind::SessionManifestGet, 1, 0, &[]);
    assert!(empty.expect(Kind::SessionManifest).payload.is_empty());
}

/// Each frame is counted, and each byte.
pub fn counters_are_what_was_counted<S: Specimen>() {
    let mut bench = Bench::<S>::claimed();
    bench.write(1, BASE, &[0; 100]);
    bench.pass_ms(1);
    let counters = bench.counters();
    let value = |c: Counter| counters[c as usize];
    let (frames, bytes) = ASKING;
    assert_eq!((value(Counter::RxFrames), value(Counter::RxBytes)), (2 + frames, 60 + 132 + bytes));
    assert_eq!(value(Counter::RxWords), 8 + 17 + bytes.div_ceil(8));
    assert_eq!((value(Counter::Writes), value(Counter::WriteBytes), value(Counter::Claims)), (1, 100, 1));
    // Two announcements of 136 bytes, the grant, the acknowledgement.
    assert_eq!((value(Counter::TxFrames), value(Counter::TxBytes)), (4, 136 * 2 + 60 + 64));
    assert_eq!(value(Counter::TxWords), 17 * 2 + 8 + 8);
    assert_eq!(bench.drops(), 0);
}
