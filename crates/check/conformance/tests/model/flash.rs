//! Cards that restart from a configuration flash to run another image.

use rackloom_card::{CardEvent, Config, FlashConfig, ReleaseReason};
use rackloom_conformance::bench::{BASE, CARD, CHUNK, HOST};
use rackloom_node::{Duration, Node};
use rackloom_wire::{Announce, AnnounceReason, CardState, Kind, Restart, Written};

use crate::cards::{Bench, claimed, virtual_time};
use crate::native::{COUNT, image};

const LINGER: Duration = Duration::from_millis(10);
const BOOT: Duration = Duration::from_millis(500);

/// A claimed card that awaits this once an image is written, at a rate of 1 MB/s.
fn with_flash(restart: Restart) -> Bench {
    let flash = Some(FlashConfig { restart, linger: LINGER, boot: BOOT });
    claimed(Config { flash, config_rate: 1_000_000, ..virtual_time() })
}

/// Stages an image and commits it; what the card then says.
fn commit(bench: &mut Bench, seq: u32, image: &[u8]) {
    bench.begin(seq, image, CHUNK);
    bench.send_but(image, |_| false);
    bench.pass_ms(1);
    bench.clear();
    bench.commit(seq + 500);
}

/// Claims the card anew after a restart.
fn claim_again(bench: &mut Bench, nonce: u64) {
    bench.claim(HOST, nonce);
    bench.clear();
}

#[test]
fn a_committed_image_is_written_and_runs_after_a_restart() {
    let mut bench = with_flash(Restart::Itself);
    let (image, boot) = (image(&[7; 20_000], 0), bench.card.config().boot);
    commit(&mut bench, 1, &image);
    bench.pass_ms(19);
    bench.expect(Kind::ImageConfirmCommitted);
    assert_eq!(bench.card.state(), CardState::Configuring);
    bench.pass_ms(2);
    let said = bench.expect(Kind::ImageConfirmWritten);
    let body = said.body::<Written>();
    assert_eq!((body.digest, body.restart), (*blake3::hash(&image).as_bytes(), u8::from(Restart::Itself)));
    assert_eq!((said.head.seq, body.write_ns.get()), (501, 20_000_000));
    assert_eq!((bench.card.state(), bench.card.active_digest()), (CardState::Written, None));
    // Whoever did not hear it asks again.
    bench.poll(3, 0);
    bench.pass_ms(1);
    assert_eq!(bench.expect(Kind::ImageConfirmWritten).head.seq, 3);

    bench.pass(LINGER);
    assert!(bench.events.contains(&CardEvent::Rebooted));
    let (owner, reason) = (HOST, ReleaseReason::Restarted);
    assert!(
        bench
            .events
            .iter()
            .any(|e| matches!(e, CardEvent::Released { owner: o, reason: r, .. } if (*o, *r) == (owner, reason)))
    );
    bench.clear();
    // It is dark while it boots.
    bench.send(Kind::SessionPing, 1, 0, &[]);
    bench.pass(BOOT - Duration::from_millis(20));
    bench.expect_nothing();
    bench.pass_ms(20);
    let hello = bench.expect(Kind::DiscoveryAnnounce).body::<Announce>();
    assert_eq!(hello.reason, u8::from(AnnounceReason::LinkUp));
    assert_ne!(hello.boot.get(), boot);
    assert_eq!((bench.card.state(), bench.owner()), (CardState::Empty, None));

    // The same load makes the image active, for it is what the device runs.
    claim_again(&mut bench, 2);
    bench.load(1, &image);
    assert_eq!(bench.card.state(), CardState::Active);
    bench.launch(1, COUNT, &[BASE]);
    bench.pass_ms(1);
    assert_eq!(bench.word(BASE), 1);
    assert!(!bench.events.iter().any(|e| matches!(e, CardEvent::Flashed { .. })));
}

#[test]
fn another_image_needs_another_restart() {
    let mut bench = with_flash(Restart::Itself);
    let (first, second) = (image(&[1; 1000], 0), image(&[2; 1000], 0));
    for (nonce, image) in [(2, &first), (3, &second), (4, &first)] {
        commit(&mut bench, 1, image);
        bench.pass_ms(2);
        bench.last(Kind::ImageConfirmWritten);
        bench.pass(LINGER + BOOT);
        claim_again(&mut bench, nonce);
        bench.load(1, image);
        assert_eq!(bench.card.active_digest(), Some(*blake3::hash(image).as_bytes()));
    }
}

#[test]
fn a_card_that_cannot_restart_waits_and_writes_once() {
    let mut bench = with_flash(Restart::Refresh);
    let image = image(&[7; 1000], 0);
    commit(&mut bench, 1, &image);
    bench.pass_ms(2);
    assert_eq!(bench.last(Kind::ImageConfirmWritten).body::<Written>().restart, u8::from(Restart::Refresh));
    bench.pass(Duration::from_secs(1));
    assert_eq!(bench.card.state(), CardState::Written);
    // Loaded again, it is there already: the flash is not worn out.
    commit(&mut bench, 2, &image);
    bench.pass_ms(1);
    assert_eq!(bench.last(Kind::ImageConfirmWritten).body::<Written>().write_ns.get(), 0);
    let now = bench.now;
    bench.card.refresh(now);
    bench.pass(BOOT);
    claim_again(&mut bench, 2);
    bench.load(1, &image);
    assert_eq!(bench.card.state(), CardState::Active);
}

#[test]
fn a_claim_that_ends_does_not_end_the_restart() {
    let mut bench = with_flash(Restart::Itself);
    let image = image(&[7; 30_000], 0);
    commit(&mut bench, 1, &image);
    bench.pass_ms(5);
    bench.send(Kind::SessionRelease, 9, 0, &[0; 8]);
    bench.pass_ms(30);
    assert!(bench.events.contains(&CardEvent::Flashed { digest: *blake3::hash(&image).as_bytes() }));
    bench.pass(LINGER);
    assert!(bench.events.contains(&CardEvent::Rebooted));
    assert!(bench.card.next_deadline().is_some());
    bench.pass(BOOT);
    bench.clear();
    claim_again(&mut bench, 2);
    bench.load(1, &image);
    assert_eq!(bench.facts().mac0, CARD);
}
