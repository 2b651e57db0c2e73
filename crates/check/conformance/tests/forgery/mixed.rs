//! Several attacks at a time, each at some frames only, on a segment that loses frames, with restarts in between.

use rackloom_node::{Duration, Frame, Rng};
use rackloom_rack::AnyCard;
use rackloom_stranger::{ATTACKS, Seen};

use crate::segment::{CARDS, Segment, Shape, stranger};
use crate::{DEEDS, gateware};

/// What all cards have executed, written, activated and read, as they tell it.
fn deeds(segment: &mut Segment) -> [u64; 4] {
    let mut all = [0; 4];
    for card in 0..CARDS.len() {
        let told = segment.told(card);
        DEEDS.iter().zip(&mut all).for_each(|(counter, sum)| *sum += told[*counter as usize]);
    }
    all
}

/// What a job comes to that nobody disturbs.
pub fn calm(shape: Shape) -> [u64; 4] {
    let mut segment = Segment::of(shape, 1);
    segment.run(None).unwrap();
    deeds(&mut segment)
}

/// A job whose results are compared, under attacks, loss and restarts that the seed decides. If no frame is lost, none
/// comes twice, and the cards do no more than in a `calm` one.
pub fn job(shape: Shape, calm: [u64; 4], seed: u64) {
    let mut rng = Rng::new(seed ^ 0xA77A_C4ED);
    let mut segment = Segment::of(shape, seed);
    segment.loss = if rng.chance(0.5) { 0.05 } else { 0.0 };
    if rng.chance(0.3) {
        segment.run(None).unwrap_or_else(|why| panic!("seed {seed}, before: {why}"));
        if rng.chance(0.5) {
            segment.restart_cards();
        }
        segment.restart_host();
        segment.settle(Duration::from_secs(6), &mut None);
    }
    let before = deeds(&mut segment);
    let mut stranger = stranger(seed);
    segment.log.iter().for_each(|frame| stranger.hear(frame));
    // Who spoils loads lets no job end.
    let attacks: Vec<_> = ATTACKS.iter().filter(|attack| attack.seen != Seen::Spoils).collect();
    let drawn: Vec<_> = (0..=rng.below(4)).map(|_| attacks[rng.below(attacks.len() as u64) as usize]).collect();
    let chance = [0.05, 0.3, 1.0][rng.below(3) as usize];
    let mut upon = |frame: &Frame| {
        stranger.hear(frame);
        let now: Vec<_> = drawn.iter().filter(|_| rng.chance(chance)).collect();
        let mut sent: Vec<_> = now.into_iter().flat_map(|attack| stranger.attack(attack)).collect();
        sent.extend(stranger.some_heard().filter(|_| rng.chance(chance)));
        sent
    };
    let names: Vec<_> = drawn.iter().map(|attack| attack.name).collect();
    segment.run(Some(&mut upon)).unwrap_or_else(|why| panic!("seed {seed}, {names:?}: {why}"));
    let done = deeds(&mut segment);
    let what = format!("seed {seed}, {names:?}: {done:?} after {before:?}, and not {calm:?}");
    assert!(segment.loss > 0.0 || (0..4).all(|deed| done[deed] - before[deed] <= calm[deed]), "{what}");
    segment.cards.iter().filter_map(AnyCard::as_model).for_each(rackloom_card::Card::check_invariants);
}

#[test]
fn seeds_of_mixed_attacks_make_nothing_wrong() {
    let calm = calm(Shape::MODELS);
    (0..300).for_each(|seed| job(Shape::MODELS, calm, seed));
}

/// A card of gateware and a model do the job.
const GATEWARE: Shape = Shape { workers: 2, ..gateware::SHAPE };

/// So many, unless somebody wants others.
pub fn seeds(few: u64) -> u64 {
    std::env::var("RACKLOOM_ATTACK_SEEDS").map_or(few, |seeds| seeds.parse().expect("a number"))
}

/// Few of them; nightly there are 300.
#[test]
fn seeds_of_mixed_attacks_on_gateware_make_nothing_wrong() {
    let seeds = seeds(12);
    let calm = calm(GATEWARE);
    for seed in 0..seeds {
        job(GATEWARE, calm, seed);
        println!("seed {seed} of {seeds}");
    }
}

/// With frames behind a claim that wait for it, no key could come into the receiver, and the firmware, which waited for
/// that, was started again by its watchdog.
#[test]
fn frames_behind_a_claim_do_not_stop_gateware_seed_52() {
    job(GATEWARE, calm(GATEWARE), 52);
}
