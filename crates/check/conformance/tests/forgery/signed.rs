//! Images on a card of gateware that knows signers, beside a model that knows the same: each says of each image what
//! the other one says, and runs the same.
//!
//! The firmware takes 33 million cycles to find out whether a signature is right, some 80 seconds of a simulation. So a
//! sample of one is what runs always; `RACKLOOM_SIGNED=all` has the others.

use bytes::Bytes;
use rackloom_host::{Asks, Commit, Event, OpError, Outcome};
use rackloom_image::Image;
use rackloom_node::Duration;
use rackloom_rack::AnyCard;
use rackloom_sign::{Cards, Policy, Release, Signer, SignerKey, sign};
use rackloom_wire::{Counter, ErrorCode, MacAddr};

use crate::gateware;
use crate::segment::{CARDS, Segment, Task};

const GATEWARE: usize = 0;

fn key(n: u8) -> SignerKey {
    SignerKey::new(&[n; 32])
}

/// `lab` counts on both cards, `other` on neither.
fn policy() -> Policy {
    let signer = |name: &str, n, cards| Signer { name: name.into(), key: key(n).id(), cards };
    let elsewhere = Cards::Only { macs: [MacAddr([2; 6])].into(), units: [9].into() };
    Policy::new(vec![signer("lab", 1, Cards::All), signer("other", 2, elsewhere)]).unwrap()
}

fn release(version: u64) -> Release {
    Release { signer: key(1).id(), role: "vadd".into(), version }
}

/// Two cards that demand signatures, and have run this version.
fn segment(ran: u64) -> Segment {
    let mut segment = Segment::of(gateware::SHAPE, 1);
    segment.restart_cards_with(|config| {
        config.signers = Some(policy().of(config.mac, config.unit));
        config.versions = [release(ran)].into_iter().collect();
    });
    segment.host.solicit(segment.now, Duration::from_micros(100));
    segment.settle(Duration::from_millis(1), &mut None);
    for card in CARDS {
        let asks = segment.host.card(card).expect("it has announced itself").asks;
        assert_eq!(asks, Asks { key: true, signature: true, encryption: false });
        segment.host.claim(segment.now, card, Default::default());
    }
    segment.settle(Duration::from_millis(20), &mut None);
    segment
}

fn signed(n: u8, version: u64) -> Vec<u8> {
    let image = Image::parse(Bytes::from_static(Task::Add.image())).unwrap();
    sign(&image, &key(n), version).unwrap().to_vec()
}

/// What each card says of an image, and how many of them gateware has configured.
fn load(segment: &mut Segment, image: &[u8]) -> ([Result<(), String>; 2], u64) {
    let op = segment.host.load(segment.now, &CARDS, Bytes::copy_from_slice(image), Commit::Each);
    let report = loop {
        let events = segment.settle(Duration::from_millis(20), &mut None);
        let done = events.into_iter().find_map(|event| match event {
            Event::Completed { op: over, result } if over == op => Some(result),
            _ => None,
        });
        match done {
            Some(Ok(Outcome::Loaded(report))) => break report,
            Some(other) => panic!("{other:?}"),
            None => assert!(segment.now.as_nanos() < 10_000_000_000, "the load does not end"),
        }
    };
    let says = CARDS.map(|card| match &report.cards[&card] {
        Ok(()) => Ok(()),
        Err(OpError::Load { code: ErrorCode::ImageSignature, text, .. }) => Err(text.clone()),
        Err(other) => panic!("{other}"),
    });
    (says, segment.told(GATEWARE)[Counter::ImagesActivated as usize])
}

fn versions(segment: &Segment) -> [Vec<Release>; 2] {
    [0, 1].map(|card| match &segment.cards[card] {
        AnyCard::Rtl(card) => card.config().versions.iter().collect(),
        AnyCard::Model(card) => card.config().versions.iter().collect(),
    })
}

/// Both refuse, and say this.
fn both_refuse(segment: &mut Segment, image: &[u8], says: &str) {
    let before = (versions(segment), segment.told(GATEWARE)[Counter::ImagesActivated as usize]);
    let (said, activated) = load(segment, image);
    assert_eq!(said, [Err(says.to_owned()), Err(says.to_owned())]);
    assert_eq!((versions(segment), activated), before, "and nothing has run");
}

#[test]
fn gateware_runs_what_its_signers_have_signed_and_refuses_all_else_as_a_model_does() {
    let mut segment = segment(4);
    let stranger = format!("signed by {}, whom nobody knows here", key(3).id().short());
    let mut malformed = signed(1, 5);
    let magic = malformed.len() - 128;
    malformed[magic] ^= 1;
    both_refuse(&mut segment, Task::Add.image(), "signed by nobody");
    both_refuse(&mut segment, &signed(3, 5), &stranger);
    both_refuse(&mut segment, &signed(2, 5), "signed by other, who may not sign for it");
    both_refuse(&mut segment, &malformed, "its signature is malformed: it is of no form known here");
    assert_eq!(versions(&segment), [vec![release(4)], vec![release(4)]]);
    assert_eq!(load(&mut segment, &signed(1, 5)), ([Ok(()), Ok(())], 1));
    assert_eq!(versions(&segment), [vec![release(5)], vec![release(5)]], "the boards keep it");
    if std::env::var_os("RACKLOOM_SIGNED").is_none_or(|which| which != "all") {
        return;
    }
    both_refuse(&mut segment, &signed(1, 4), "version 4 is older than 5");
    let mut wrong = signed(1, 6);
    *wrong.last_mut().unwrap() ^= 1;
    both_refuse(&mut segment, &wrong, "its signature is not of this image");
}
