//! The same attacks on a card of gateware that works, with a model beside it that does not.
//!
//! A Verilated card simulates some 0.4 million cycles a second. So the job is small, and a job meets two attacks: one
//! upon the card, and one that does not show there. Left to models is what takes two cards at work.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rackloom_host::OpError;
use rackloom_node::{Duration, Frame};
use rackloom_rack::Kind;
use rackloom_stranger::{ATTACKS, Attack, Seen};
use rackloom_wire::Counter;

use crate::segment::{Segment, Shape, Task, stranger};
use crate::{DEEDS, named};

pub const SHAPE: Shape = Shape {
    kinds: [Kind::Rtl, Kind::Model],
    workers: 1,
    job: Task::Add,
    tiles: 2,
    elements: 20,
    planted: 0,
    encrypts: false,
};
/// Needs another card at work.
const TWO_CARDS: &str = "each frame to the other card";
/// Its place among the cards.
const GATEWARE: usize = 0;

/// What a job has come to.
struct Outcome {
    took: Duration,
    /// What the card of gateware has executed, written, activated and read.
    deeds: [u64; 4],
    /// All its counters.
    told: Vec<u64>,
}

fn outcome(segment: &mut Segment, took: Duration) -> Outcome {
    let told = segment.told(GATEWARE);
    let deeds = DEEDS.map(|counter| told[counter as usize]);
    Outcome { took, deeds, told }
}

fn calm() -> Outcome {
    let mut segment = Segment::of(SHAPE, 1);
    let took = segment.run(None).unwrap();
    let calm = outcome(&mut segment, took);
    let wrong = [Counter::AuthUntagged, Counter::AuthUnknown, Counter::AuthWrong, Counter::AuthReplay]
        .map(|counter| calm.told[counter as usize]);
    assert_eq!((segment.forged().total(), wrong), (0, [0; 4]), "without a stranger nothing is counted");
    assert_eq!(calm.deeds[0], SHAPE.tiles as u64, "gateware does the job");
    calm
}

/// What is wrong with a job under these attacks.
fn trouble(calm: &Outcome, attacks: &[&Attack], planted: u8) -> Vec<String> {
    let mut segment = Segment::of(Shape { planted, ..SHAPE }, 1);
    let mut stranger = stranger(1).saying_of(Task::Add.image());
    let mut sent = vec![0; attacks.len()];
    let mut upon = |frame: &Frame| {
        stranger.hear(frame);
        let mut all = Vec::new();
        for (attack, sent) in attacks.iter().zip(&mut sent) {
            let frames = stranger.attack(attack);
            *sent += frames.len();
            all.extend(frames);
        }
        all
    };
    let names: Vec<_> = attacks.iter().map(|attack| attack.name).collect();
    let took = match segment.run(Some(&mut upon)) {
        Ok(took) => took,
        Err(why) => return vec![format!("{names:?}: the job failed: {why}")],
    };
    let under = outcome(&mut segment, took);
    let mut troubles = Vec::new();
    if under.deeds != calm.deeds || under.took > calm.took * 2 {
        let (was, is) = ((calm.deeds, calm.took), (under.deeds, under.took));
        troubles.push(format!("{names:?}: {is:?} and not {was:?}"));
    }
    for (attack, sent) in attacks.iter().zip(sent) {
        let counted = named(attack.seen, &segment.forged(), |counter| under.told[counter as usize]);
        if sent == 0 || counted == 0 {
            troubles.push(format!("{}: {sent} frames sent, and counted {counted}", attack.name));
        }
    }
    troubles
}

/// All attacks but that one and those that let no job end: one upon the card with one that shows elsewhere, if at all.
fn rounds() -> Vec<Vec<&'static Attack>> {
    let ends = |attack: &&Attack| attack.seen != Seen::Spoils && attack.name != TWO_CARDS;
    let (card, other): (Vec<_>, Vec<_>) = ATTACKS.iter().filter(ends).partition(|attack| shows_on_card(attack.seen));
    let rounds = card.len().max(other.len());
    (0..rounds).map(|at| [card.get(at), other.get(at)].into_iter().flatten().copied().collect()).collect()
}

const fn shows_on_card(seen: Seen) -> bool {
    match seen {
        Seen::CardUntagged
        | Seen::CardUnknown
        | Seen::CardWrong
        | Seen::CardReplay
        | Seen::CardTruncated
        | Seen::CardKind => true,
        Seen::HostUntagged | Seen::HostWrong | Seen::HostReplayed | Seen::Harmless | Seen::Spoils => false,
    }
}

pub fn attack(name: &str) -> &'static Attack {
    ATTACKS.iter().find(|attack| attack.name == name).expect("one of the list")
}

#[test]
fn no_attack_on_gateware_makes_a_result_wrong_or_does_anything_and_counters_name_it() {
    let calm = calm();
    let rounds = rounds();
    assert!(rounds.iter().flatten().count() >= 50);
    let failed: Vec<_> = rounds.iter().flat_map(|round| trouble(&calm, round, 0)).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn other_image_data_fails_a_load_into_gateware_by_name() {
    let (mut segment, mut stranger) = (Segment::of(SHAPE, 1), stranger(1));
    let spoils = attack("other image data");
    let mut upon = |frame: &Frame| {
        stranger.hear(frame);
        stranger.attack(spoils)
    };
    let ended = segment.run(Some(&mut upon));
    assert!(matches!(ended, Err(OpError::Load { .. })), "{ended:?}");
    assert_eq!(segment.told(GATEWARE)[Counter::ImagesActivated as usize], 0);
}

/// Of the bugs of `rl_planted` the one by which any tag is right.
#[test]
fn gateware_that_ignores_tags_is_found() {
    let calm = calm();
    // What was changed under its tag is taken for the host's, and its job does not end.
    let found = catch_unwind(AssertUnwindSafe(|| trouble(&calm, &[attack("another payload under the tag")], 12)));
    let said = found.expect_err("the job does not end").downcast::<String>().expect("a text");
    assert!(said.starts_with("the job does not end: ") && said.contains("Refusing"), "{said}");
}

#[test]
fn what_was_recorded_before_restarts_is_of_no_use_to_gateware() {
    let mut segment = Segment::of(SHAPE, 2);
    segment.run(None).unwrap();
    let recorded = segment.log.clone();
    segment.restart_cards();
    segment.restart_host();
    segment.settle(Duration::from_secs(3), &mut None);
    let mut at = 0;
    let mut replay = |_: &Frame| {
        let some: Vec<_> = recorded.iter().skip(at).take(3).cloned().collect();
        at += some.len();
        some
    };
    let took = segment.run(Some(&mut replay)).unwrap();
    let under = outcome(&mut segment, took);
    assert_eq!(under.deeds[0], SHAPE.tiles as u64, "launches are the job's own, and none of those that were recorded");
    let counted = |counter: Counter| under.told[counter as usize];
    assert!(counted(Counter::AuthWrong) + counted(Counter::AuthReplay) + counted(Counter::AuthUnknown) > 0);
}
