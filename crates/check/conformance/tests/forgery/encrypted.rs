//! Hosts that encrypt: whoever hears the segment reads nothing of a claim, and nobody brings a host or a card to go on
//! without.

use std::collections::HashSet;

use bytes::Bytes;
use rackloom_card::{Config as CardConfig, PlantedBug};
use rackloom_host::{ClaimOptions, Commit, Config, Event, Host, Launch, OpError, OpId, Outcome};
use rackloom_node::{Duration, Frame, Node, Rng};
use rackloom_rack::AnyCard;
use rackloom_stranger::kind;
use rackloom_wire::{Counter, FLAG_AUTH, FLAG_ENCRYPTED, Grant, Kind, Tagged};

use crate::segment::{CARDS, HOST, Segment, Shape, Task, keyring};
use crate::{attack_with_all, end_of, gateware, mixed};

const ENCRYPTED: Shape = Shape { encrypts: true, ..Shape::MODELS };
/// Where the flags stand.
const FLAGS: usize = 14;
/// Where a payload begins.
const PAYLOAD: usize = 32;
/// Bytes in a row of which one that is heard is no chance.
const RUN: usize = 12;
/// Different values in such a row.
const VALUES: usize = 4;
/// Elements of each array.
const ELEMENTS: usize = 900;

/// What the operation came to.
fn outcome(segment: &mut Segment, op: OpId) -> Outcome {
    let events = segment.settle(Duration::from_millis(300), &mut None);
    let ended = events.into_iter().find_map(|event| match event {
        Event::Completed { op: o, result } if o == op => Some(result),
        _ => None,
    });
    ended.expect("it has ended").unwrap()
}

fn claim(segment: &mut Segment, card: usize) -> Result<(), OpError> {
    segment.host.solicit(segment.now, Duration::from_micros(100));
    segment.settle(Duration::from_millis(300), &mut None);
    let op = segment.host.claim(segment.now, CARDS[card], ClaimOptions::default());
    let events = segment.settle(Duration::from_millis(20), &mut None);
    end_of(&events, op).expect("it has ended")
}

/// A card is claimed, loaded, written, read, and executes a kernel: what of it is nobody's business but theirs.
fn secrets(segment: &mut Segment) -> Vec<(&'static str, Vec<u8>)> {
    claim(segment, 0).unwrap();
    let card = CARDS[0];
    let image = Bytes::from_static(Task::Add.image());
    let op = segment.host.load(segment.now, &[card], image, Commit::Each);
    outcome(segment, op);
    let mut rng = Rng::new(0x5EC2);
    let mut floats = || -> Vec<f32> { (0..ELEMENTS).map(|_| rng.below(1 << 20) as f32).collect() };
    let (a, b, other) = (floats(), floats(), floats());
    let sum: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    let bytes = |of: &[f32]| of.iter().flat_map(|of| of.to_le_bytes()).collect::<Vec<u8>>();
    let at = |n: u64| (2 << 20) + n * 0x1_0040;
    for (n, array) in [&a, &b, &other].into_iter().enumerate() {
        let op = segment.host.write(segment.now, card, at(n as u64), bytes(array).into());
        outcome(segment, op);
    }
    let op = segment.host.read(segment.now, card, at(2), 4 * ELEMENTS as u64);
    assert_eq!(outcome(segment, op), Outcome::Data(bytes(&other).into()));
    let args = vec![at(0), at(1), at(3), ELEMENTS as u64];
    let launch = Launch { kernel: 0, args: args.clone(), fuel: 0, output: (at(3), 4 * ELEMENTS as u64), hold: 0 };
    let op = segment.host.launch(segment.now, card, launch);
    let Outcome::Launched(report) = outcome(segment, op) else { panic!("no launch") };
    assert_eq!(report.output, bytes(&sum));
    let args = args.iter().flat_map(|arg| arg.to_be_bytes()).collect();
    let image = Task::Add.image().to_vec();
    let arrays = [("input", bytes(&a)), ("input", bytes(&b)), ("memory", bytes(&other)), ("result", bytes(&sum))];
    arrays.into_iter().chain([("args", args), ("image", image)]).collect()
}

/// Which part of these bytes was heard, of those that are not nearly all the same, as zeros are.
fn heard(log: &[Frame], secret: &[u8]) -> f64 {
    let runs: HashSet<&[u8]> = log.iter().flat_map(|frame| frame.windows(RUN)).collect();
    let says_something = |run: &&[u8]| run.iter().collect::<HashSet<_>>().len() >= VALUES;
    let all: Vec<_> = secret.windows(RUN).filter(says_something).collect();
    assert!(!all.is_empty());
    all.iter().filter(|run| runs.contains(*run)).count() as f64 / all.len() as f64
}

#[test]
fn who_hears_an_encrypted_claim_reads_nothing_of_it() {
    let mut segment = Segment::of(ENCRYPTED, 8);
    for (what, secret) in secrets(&mut segment) {
        assert_eq!(heard(&segment.log, &secret), 0.0, "{what}");
    }
    assert_eq!(segment.forged().total(), 0);
    // The ear is good: without encryption it hears all but what lies across frames.
    let mut segment = Segment::of(Shape::MODELS, 8);
    for (what, secret) in secrets(&mut segment) {
        assert!(heard(&segment.log, &secret) > 0.9, "{what}");
    }
}

/// One frame for all members, under a key that each of them has got under its own session: nobody else has it, and what
/// leaves is other bytes with each load.
#[test]
fn the_data_of_an_encrypted_load_goes_to_all_members_once_and_is_other_bytes_each_time() {
    let mut segment = Segment::of(ENCRYPTED, 10);
    CARDS.iter().enumerate().for_each(|(card, _)| claim(&mut segment, card).unwrap());
    let image = Bytes::from_static(Task::Add.image());
    let mut load = || {
        let before = segment.log.len();
        let op = segment.host.load(segment.now, &CARDS, image.clone(), Commit::AllOrNone);
        let Outcome::Loaded(report) = outcome(&mut segment, op) else { panic!("no load") };
        assert!(report.cards.len() == CARDS.len() && report.cards.values().all(Result::is_ok), "{report:?}");
        let data = segment.log[before..].iter().filter(|frame| kind(frame) == Some(Kind::ImageData));
        let data: Vec<_> = data.map(|frame| frame[PAYLOAD..].to_vec()).collect();
        assert_eq!(data.len() as u64, report.data_frames);
        data
    };
    let (first, second) = (load(), load());
    assert_eq!(first.len(), second.len());
    assert!(first.iter().zip(&second).all(|(a, b)| a != b));
    let again: Vec<Frame> = second.iter().map(|data| data.clone().into()).collect();
    assert_eq!(heard(&again, &first.concat()), 0.0);
}

/// It goes by the begin, which has come under its session, and not by a frame's flag.
#[test]
fn image_data_in_clear_is_nothing_to_a_member_of_an_encrypted_load() {
    let mut segment = Segment::of(ENCRYPTED, 11);
    claim(&mut segment, 0).unwrap();
    let image = Bytes::from_static(Task::Add.image());
    // A stranger is quicker, with the image as anybody has it.
    let clear = image.clone();
    let mut upon = |frame: &Frame| {
        let Some(Kind::ImageData) = kind(frame) else { return Vec::new() };
        let mut copy = frame.to_vec();
        let at = u64::from_be_bytes(copy[24..32].try_into().unwrap()) as usize;
        let end = copy.len().min(PAYLOAD + clear.len() - at);
        copy[PAYLOAD..end].copy_from_slice(&clear[at..at + end - PAYLOAD]);
        copy[FLAGS] &= !FLAG_ENCRYPTED;
        vec![copy.into()]
    };
    let op = segment.host.load(segment.now, &CARDS[..1], image, Commit::Each);
    let events = segment.settle(Duration::from_millis(300), &mut Some(&mut upon));
    let ended = events.into_iter().find_map(|event| match event {
        Event::Completed { op: o, result: Ok(Outcome::Loaded(report)) } if o == op => Some(report),
        _ => None,
    });
    let why = ended.expect("it has ended").cards[&CARDS[0]].clone().unwrap_err();
    assert!(why.to_string().contains("digest"), "{why}");
    assert_eq!(segment.count(Counter::ImagesActivated), 0);
}

/// Frames of a session that are sent once more go out under numbers of their own: with one number twice, whoever hears
/// both would know how they differ.
#[test]
fn no_number_comes_twice_under_a_key_however_often_frames_are_sent() {
    let (mut resent, mut claims) = (0, HashSet::new());
    for seed in 0..20 {
        let mut segment = Segment::of(ENCRYPTED, seed);
        segment.loss = 0.1;
        segment.run(None).unwrap();
        let (mut numbers, mut said) = (HashSet::new(), HashSet::new());
        for frame in &segment.log {
            let Tagged { packet, trailer: Some(trailer) } = Tagged::parse(frame).unwrap() else { continue };
            if packet.head.kind == Kind::SessionGrant {
                claims.insert((seed, packet.head.src, packet.view::<Grant>().unwrap().0.nonce.get()));
            }
            if packet.head.flags & FLAG_ENCRYPTED == 0 || packet.head.kind == Kind::SessionClaim {
                continue;
            }
            if packet.head.kind == Kind::SessionGrant {
                continue;
            }
            let head = packet.head;
            assert!(numbers.insert((head.src, head.dst, trailer.counter)), "seed {seed}: {packet}");
            resent += u32::from(!said.insert((head.src, head.dst, head.kind as u32, head.seq, head.addr, head.epoch)));
        }
        assert!(numbers.len() > 50, "seed {seed}: {}", numbers.len());
    }
    // One claim of each card, so one key: else the numbers would prove nothing.
    assert_eq!(claims.len(), 20 * CARDS.len());
    assert!(resent > 100, "what is lost is sent again: {resent}");
}

#[test]
fn no_attack_makes_an_encrypted_result_wrong_or_does_anything_and_counters_name_it() {
    attack_with_all(ENCRYPTED);
}

/// Some of them; nightly there are 300.
#[test]
fn seeds_of_mixed_attacks_make_nothing_wrong_that_is_encrypted() {
    let calm = mixed::calm(ENCRYPTED);
    (0..mixed::seeds(60)).for_each(|seed| mixed::job(ENCRYPTED, calm, seed));
}

/// Each byte of what is encrypted, and of counter and tag, in a copy that comes first.
#[test]
fn a_changed_byte_of_ciphertext_is_dropped_and_counted() {
    let mut segment = Segment::of(ENCRYPTED, 3);
    let mut changed = HashSet::new();
    let mut sent = 0;
    let mut upon = |frame: &Frame| {
        let is_new = kind(frame).filter(|kind| changed.insert(*kind as u32));
        // Behind the payload come four zeros that nobody reads.
        let trailer = frame.len().saturating_sub(28);
        let places = (PAYLOAD..frame.len()).filter(|at| !(trailer..trailer + 4).contains(at));
        // Image data has no tag: what is changed of it spoils a load.
        let is_sealed = frame[FLAGS] & FLAG_ENCRYPTED != 0 && frame[FLAGS] & FLAG_AUTH != 0;
        let is_secret = is_sealed && is_new.is_some();
        let copies = places.filter(|_| is_secret).map(|at| {
            let mut copy = frame.to_vec();
            copy[at] ^= 1;
            Frame::from(copy)
        });
        let copies: Vec<_> = copies.collect();
        sent += copies.len() as u64;
        copies
    };
    segment.run(Some(&mut upon)).unwrap();
    assert!(changed.len() > 10, "kinds: {}", changed.len());
    let forged = segment.forged();
    let cards = segment.count(Counter::AuthWrong) + segment.count(Counter::AuthReplay);
    assert!(sent > 2000 && cards + forged.total() == sent, "{sent} sent, cards {cards}, {forged:?}");
}

/// All that a claim's two sides have said since that frame is encrypted, but for what anybody may hear.
fn all_encrypted(log: &[Frame]) -> usize {
    let mut count = 0;
    for frame in log {
        let Tagged { packet, trailer } = Tagged::parse(frame).unwrap();
        let flags = packet.head.flags;
        match packet.head.kind {
            Kind::SessionRelease | Kind::SessionReleased | Kind::SessionRefuse => {}
            Kind::DiscoverySolicit | Kind::SessionCountersGet | Kind::SessionManifestGet | Kind::SessionCounters => {}
            Kind::SessionManifest => {}
            // Under the load's key, and without a tag: the digest tells what it is worth.
            Kind::ImageData => assert!(trailer.is_none() && flags & FLAG_ENCRYPTED != 0, "{packet}"),
            // A program that starts again under this address reads them, without the key of the session before.
            Kind::DiscoveryAnnounce | Kind::DiscoveryGoodbye | Kind::SessionPing | Kind::SessionPong => {
                assert_eq!(flags & FLAG_ENCRYPTED, 0, "{packet}");
            }
            _ => {
                assert!(trailer.is_some() && flags & FLAG_ENCRYPTED != 0, "{packet}");
                count += 1;
            }
        }
    }
    count
}

/// The flag taken out of claims and grants, and claims and grants of a time when the host did not encrypt.
#[test]
fn nobody_brings_a_host_to_go_on_without_encryption() {
    let mut segment = Segment::new(4);
    segment.run(None).unwrap();
    let recorded: Vec<_> = segment
        .log
        .iter()
        .filter(|f| matches!(kind(f), Some(Kind::SessionClaim | Kind::SessionGrant)))
        .cloned()
        .collect();
    assert!(recorded.iter().all(|frame| frame[FLAGS] & FLAG_ENCRYPTED == 0) && recorded.len() >= 4);
    segment.shape.encrypts = true;
    segment.restart_host();
    segment.settle(Duration::from_secs(6), &mut None);
    let before = segment.log.len();
    let mut stripped = 0;
    let mut upon = |frame: &Frame| {
        let mut frames = recorded.clone();
        if matches!(kind(frame), Some(Kind::SessionClaim | Kind::SessionGrant)) {
            let mut clear = frame.to_vec();
            assert!(clear[FLAGS] & FLAG_ENCRYPTED != 0);
            clear[FLAGS] &= !FLAG_ENCRYPTED;
            frames.push(clear.into());
            stripped += 1;
        }
        frames
    };
    segment.run(Some(&mut upon)).unwrap();
    assert!(stripped >= 2 * CARDS.len() && all_encrypted(&segment.log[before..]) > 50);
    assert!(segment.count(Counter::AuthWrong) + segment.count(Counter::AuthReplay) > 0 && segment.forged().total() > 0);
}

/// A model that does not encrypt, and one of gateware, which cannot.
#[test]
fn a_card_that_does_not_encrypt_is_left_out_by_name() {
    for shape in [ENCRYPTED, Shape { encrypts: true, ..gateware::SHAPE }] {
        let mut segment = Segment::of(shape, 5);
        if shape.kinds[0] == rackloom_rack::Kind::Model {
            segment.restart_cards_with(|config| config.planted = never(config));
        }
        let why = claim(&mut segment, 0).unwrap_err();
        assert!(matches!(why, OpError::Unencrypted { .. }), "{why}");
        assert!(why.to_string().contains("cannot encrypt"), "{why}");
        assert_eq!(segment.owner(0), None, "it is given back");
        assert_eq!(claim(&mut segment, 1), Ok(()), "the other one encrypts");
        all_encrypted(&segment.log.iter().filter(|f| !is_of(f, 0)).cloned().collect::<Vec<_>>());
    }
}

/// Of a card of gateware and a model the job takes the one that encrypts.
#[test]
fn an_encrypted_job_is_done_by_the_cards_that_encrypt() {
    let mut segment = Segment::of(Shape { encrypts: true, workers: 2, ..gateware::SHAPE }, 1);
    segment.run(None).unwrap();
    let launches = [0, 1].map(|card| segment.told(card)[Counter::Launches as usize]);
    assert_eq!(launches, [0, segment.shape.tiles as u64]);
    let read = segment.log.iter().filter(|frame| is_of(frame, 0) && kind(frame) == Some(Kind::InputWrite)).count();
    assert_eq!(read, 0, "nothing is written to the other one");
}

/// The first card alone.
fn never(config: &CardConfig) -> Option<PlantedBug> {
    (config.mac == CARDS[0]).then_some(PlantedBug::NeverEncrypt)
}

fn is_of(frame: &Frame, card: usize) -> bool {
    frame[..6] == CARDS[card].0 || frame[6..12] == CARDS[card].0
}

/// The same job with the bug of a host that goes on.
#[test]
#[should_panic(expected = "memory")]
fn a_host_that_goes_on_in_clear_is_found() {
    let mut segment = Segment::of(ENCRYPTED, 8);
    segment.restart_cards_with(|config| config.planted = never(config));
    let keys = keyring().of_host(HOST, 1 << 50).encrypting(true);
    let mut config = Config::simulated(keys.address([0; 3]), 9, 10_000_000_000);
    (config.keys, config.planted) = (Some(keys), Some(rackloom_host::PlantedBug::GoOnInClear));
    segment.host = Host::new(config);
    for (what, secret) in secrets(&mut segment).into_iter().filter(|(what, _)| *what == "memory") {
        assert_eq!(heard(&segment.log, &secret), 0.0, "{what}");
    }
}

#[test]
fn a_card_that_demands_encryption_refuses_others_by_name() {
    let mut segment = Segment::new(6);
    let demand = |config: &mut CardConfig| {
        config.keys = config.keys.take().map(|keys| keys.demanding_encryption(true));
    };
    segment.restart_cards_with(demand);
    let why = claim(&mut segment, 0).unwrap_err().to_string();
    assert!(why.contains("it asks for encryption: give --encrypt"), "{why}");
    assert_eq!((segment.owner(0), segment.count(Counter::Claims)), (None, 0));
    segment.shape.encrypts = true;
    segment.restart_host();
    assert_eq!(claim(&mut segment, 0), Ok(()));
    segment.cards.iter().filter_map(AnyCard::as_model).for_each(rackloom_card::Card::check_invariants);
}

#[test]
fn ciphertext_says_nothing_to_a_card_that_has_started_again() {
    let mut segment = Segment::of(ENCRYPTED, 9);
    secrets(&mut segment);
    let recorded = segment.log.clone();
    segment.restart_cards();
    segment.settle(Duration::from_secs(3), &mut None);
    for frame in recorded {
        segment.cards[0].handle_frame(segment.now, 0, frame);
    }
    segment.settle(Duration::from_millis(10), &mut None);
    let deeds = crate::DEEDS.map(|counter| segment.count(counter));
    assert_eq!(deeds, [0; 4]);
}
