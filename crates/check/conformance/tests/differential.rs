//! The comparison of two cards: between models it finds nothing, with a bug in one of them it does, and the traffic
//! reaches what it is for.

use rackloom_card::{Card, Config};
use rackloom_conformance::Specimen;
use rackloom_conformance::bench::Bench;
use rackloom_conformance::fuzz::{Delivery, Pair, Side, config};
use rackloom_wire::Counter;

fn models(a: Config, b: Config, seed: u64) -> Pair<Card, Card> {
    Pair::new(Side::new(Card::plug(a), Delivery::OneByOne), Side::new(Card::plug(b), Delivery::Together), seed)
}

/// One handles frames one by one, the other a burst at a time: what is compared does not depend on it.
#[test]
fn a_model_is_like_another_however_it_is_driven() {
    for seed in 0..20 {
        models(config(), config(), seed).run(5_000).unwrap_or_else(|difference| panic!("{difference}"));
    }
}

/// Everything that a card counts comes up, but what these bounds and the model's network leave out.
#[test]
fn the_traffic_is_rich() {
    let mut totals = vec![0; Counter::COUNT];
    for seed in 0..30 {
        let mut side = Side::new(Card::plug(config()), Delivery::OneByOne);
        let mut traffic = rackloom_conformance::fuzz::Traffic::new(seed);
        while traffic.frames() < 4_000 {
            let burst = traffic.burst();
            assert!(burst.bytes() < 16 << 10);
            side.follow(&burst, &mut traffic);
        }
        totals.iter_mut().zip(side.bench().counters()).for_each(|(total, n)| *total += n);
    }
    Counter::NAMES.iter().zip(&totals).for_each(|(name, total)| println!("{name} {total}"));
    let never = [Counter::DropQueue, Counter::DropCheck];
    for counter in (0..Counter::COMMON).filter(|&c| !never.iter().any(|&n| n as usize == c)) {
        assert!(totals[counter] >= 20, "{}: {}", Counter::NAMES[counter], totals[counter]);
    }
}

/// A bench with a card that was compared is a bench like another.
#[test]
fn a_card_that_was_compared_is_sound() {
    let mut pair = models(config(), config(), 7);
    pair.run(1_000).unwrap_or_else(|difference| panic!("{difference}"));
    let bench: &mut Bench<Card> = pair.first().bench();
    bench.pass_ms(61_000);
    assert_eq!(bench.owner(), None);
}

#[cfg(feature = "planted-bugs")]
#[test]
fn each_planted_bug_is_found() {
    use rackloom_card::PlantedBug;
    for bug in PlantedBug::ALL {
        let planted = Some(bug);
        let found = (0..10).find_map(|seed| models(config(), Config { planted, ..config() }, seed).run(5_000).err());
        let difference = found.unwrap_or_else(|| panic!("{bug:?} was not found"));
        println!("{bug:?}: seed {}, after {} frames: {}", difference.seed, difference.frames, difference.what);
    }
}
