//! Cards that run signed images only.

use rackloom_card::{CardEvent, Config, FlashConfig};
use rackloom_conformance::bench::{BASE, CARD, CHUNK, HOST};
use rackloom_image::Image;
use rackloom_node::Duration;
use rackloom_sign::{Cards, Policy, Release, Signer, SignerKey, sign};
use rackloom_wire::{Announce, CardState, Counter, ErrorCode, Kind, MacAddr, Restart};

use crate::cards::{Bench, claimed, switched_on, virtual_time};
use crate::native::{COUNT, image};

fn key(n: u8) -> SignerKey {
    SignerKey::new(&[n; 32])
}

/// What a card demands for which `lab` counts, and `other` only elsewhere.
fn demanding() -> Config {
    let elsewhere = Cards::Only { macs: [MacAddr([2; 6])].into(), units: [9].into() };
    let signer = |name: &str, n, cards| Signer { name: name.into(), key: key(n).id(), cards };
    let policy = Policy::new(vec![signer("lab", 1, Cards::All), signer("other", 2, elsewhere)]).unwrap();
    Config { signers: Some(policy.of(CARD, 0)), ..virtual_time() }
}

/// An image with this part, signed.
fn signed(part: &[u8], n: u8, version: u64) -> Vec<u8> {
    let image = Image::parse(image(part, 100_000).into()).unwrap();
    sign(&image, &key(n), version).unwrap().to_vec()
}

/// A card that runs version 5 of the role.
fn at_work() -> Bench {
    let mut bench = claimed(demanding());
    bench.load(1, &signed(b"first", 1, 5));
    bench.clear();
    bench
}

/// The card refuses the image before its configuration port is touched, says this, and serves on what it serves.
fn refuses(bench: &mut Bench, seq: u32, image: &[u8], says: &str) {
    let (digest, state, failed) =
        (bench.card.active_digest(), bench.card.state(), bench.card.counters().get(Counter::ImagesFailed));
    bench.clear();
    bench.begin(seq, image, CHUNK);
    bench.send_but(image, |_| false);
    bench.pass_ms(1);
    let said = bench.last(Kind::ImageConfirmFailed);
    assert_eq!(said.code(), ErrorCode::ImageSignature, "{says}");
    assert_eq!(str::from_utf8(&said.payload[8..]).unwrap(), says);
    // A commit does not make it better.
    bench.commit(500 + seq);
    bench.pass_ms(1);
    assert_eq!(bench.last(Kind::ImageConfirmFailed).head.seq, 500 + seq);
    assert!(bench.take_all(Kind::ImageConfirmCommitted).is_empty());
    assert_eq!((bench.card.active_digest(), bench.card.state()), (digest, state));
    assert_eq!(bench.card.counters().get(Counter::ImagesFailed), failed + 1);
    assert!(!bench.events.iter().any(|e| matches!(e, CardEvent::Activated { .. } | CardEvent::Raised(_))));
}

#[test]
fn a_card_with_signers_runs_what_they_signed_and_refuses_all_else_before_its_port() {
    let mut bench = at_work();
    let right = signed(b"second", 1, 6);
    let stranger = format!("signed by {}, whom nobody knows here", key(3).id().short());
    let mut wrong = right.clone();
    let last = wrong.len() - 1;
    wrong[last] ^= 1;
    let mut changed = right.clone();
    let part = Image::parse(right.clone().into()).unwrap().layout().part_range("model").unwrap();
    changed[part.start] ^= 1;
    let cases: [(&[u8], &str); 6] = [
        (&image(b"second", 0), "signed by nobody"),
        (&signed(b"second", 3, 6), &stranger),
        (&signed(b"second", 2, 6), "signed by other, who may not sign for it"),
        (&signed(b"second", 1, 4), "version 4 is older than 5"),
        (&wrong, "its signature is not of this image"),
        (&changed, "its signature is not of this image"),
    ];
    for (i, (image, says)) in cases.into_iter().enumerate() {
        refuses(&mut bench, 10 + i as u32, image, says);
        bench.launch(1 + i as u32, COUNT, &[BASE]);
        bench.pass_ms(1);
        assert_eq!(bench.word(BASE), 1 + i as u64, "the old role serves");
    }
    bench.clear();
    bench.load(30, &right);
    let release = Release { signer: key(1).id(), role: "test".into(), version: 6 };
    assert!(bench.events.contains(&CardEvent::Raised(release)));
    bench.clear();
    // What was right a moment ago is too old now; the same version is not.
    refuses(&mut bench, 31, &signed(b"first", 1, 5), "version 5 is older than 6");
    bench.load(32, &right);
}

/// Also where the image ends in the card's first block, or at a block's border, and whatever order chunks come in.
#[test]
fn what_is_signed_is_found_at_any_length() {
    for filler in [0, 1, 63_000, 64_000, 65_000, 66_000, 131_000, 700_000] {
        let image = Image::parse(image(b"role", filler).into()).unwrap();
        let image = sign(&image, &key(1), 1).unwrap();
        let mut bench = claimed(demanding());
        bench.begin(1, &image, CHUNK);
        for i in (0..image.len().div_ceil(usize::from(CHUNK))).rev() {
            bench.chunk(&image, CHUNK, i);
        }
        bench.pass_ms(1);
        assert!(!bench.take_all(Kind::ImageConfirmStaged).is_empty(), "{filler}");
    }
}

#[test]
fn a_staged_image_that_is_never_committed_makes_nothing_old() {
    let mut bench = at_work();
    let newer = signed(b"second", 1, 9);
    bench.begin(2, &newer, CHUNK);
    bench.send_but(&newer, |_| false);
    bench.pass_ms(1);
    bench.expect(Kind::ImageConfirmReady);
    bench.expect(Kind::ImageConfirmStaged);
    bench.send_group(Kind::ImageAbort, 2, 0, &[]);
    bench.clear();
    bench.load(3, &signed(b"first", 1, 5));
}

#[test]
fn the_board_keeps_versions_over_a_restart() {
    let flash =
        FlashConfig { restart: Restart::Itself, linger: Duration::from_millis(1), boot: Duration::from_millis(5) };
    let mut bench = claimed(Config { flash: Some(flash), ..demanding() });
    let image = signed(b"first", 1, 5);
    let boot = bench.card.config().boot;
    bench.begin(1, &image, CHUNK);
    bench.send_but(&image, |_| false);
    bench.pass_ms(1);
    bench.commit(2);
    bench.pass_ms(20);
    // It has not run yet, but will: from then on nothing older may take its place in the flash.
    assert!(bench.events.iter().any(|e| matches!(e, CardEvent::Raised(Release { version: 5, .. }))));
    assert!(bench.events.contains(&CardEvent::Rebooted) && bench.card.config().boot == boot + 1);
    bench.claim(HOST, 2);
    refuses(&mut bench, 1, &signed(b"older", 1, 4), "version 4 is older than 5");
    bench.load(2, &image);
    // A card made anew has what its board hands it.
    let versions = bench.card.config().versions.clone();
    let mut bench = claimed(Config { versions, ..demanding() });
    refuses(&mut bench, 1, &signed(b"older", 1, 4), "version 4 is older than 5");
}

/// Whatever was refused, the card is there, and can be claimed and loaded.
#[test]
fn a_card_that_never_had_an_image_it_may_run_is_there_all_the_same() {
    let mut bench = claimed(demanding());
    for seq in 1..20 {
        refuses(
            &mut bench,
            seq,
            &signed(b"none", 3, u64::from(seq)),
            &format!("signed by {}, whom nobody knows here", key(3).id().short()),
        );
    }
    bench.clear();
    bench.pass(Duration::from_secs(13));
    let said = bench.last(Kind::DiscoveryAnnounce).body::<Announce>();
    assert_eq!(said.state, u8::from(CardState::Empty));
    bench.claim(HOST, 7);
    bench.clear();
    bench.load(1, &signed(b"right", 1, 1));
}

#[test]
fn a_card_without_signers_passes_over_signatures() {
    let mut bench = claimed(virtual_time());
    bench.load(1, &signed(b"whoever", 3, 5));
    bench.load(2, &signed(b"whoever", 3, 4));
    bench.load(3, &image(b"nobody", 0));
    assert!(!bench.events.iter().any(|e| matches!(e, CardEvent::Raised(_))));
    assert_eq!(switched_on(virtual_time()).card.config().versions.iter().count(), 0);
}
