//! Each planted bug is caught, or the silence of the other tests proves nothing. Those that honest nodes get over are
//! caught in `faults.rs`.

use std::panic::catch_unwind;

use rackloom_bridge::PlantedBug;

use crate::plan::Plan;
use crate::world::run;

/// The first objection in a hundred seeds, of an oracle or of an invariant.
fn objection(bug: PlantedBug) -> String {
    let of = |plan: &Plan| {
        let result = catch_unwind(|| run(plan, Some(bug)));
        result.unwrap_or_else(|_| Err("an invariant failed".to_owned())).err()
    };
    let found = (1..=100)
        .find_map(|seed| [Plan::draw(seed), Plan::draw_streams(seed)].iter().find_map(of).map(|why| (seed, why)));
    println!("{bug:?}: {found:?}");
    found.unwrap_or_else(|| panic!("{bug:?} was not caught in 100 seeds")).1
}

#[test]
fn a_request_that_is_made_again_after_a_restart_is_caught() {
    assert!(objection(PlantedBug::AskAgain).contains("does"));
}

#[test]
fn a_window_that_is_open_to_others_is_caught() {
    assert!(objection(PlantedBug::IgnorePeer).contains("does"));
}

#[test]
fn an_answer_to_an_old_life_is_caught() {
    assert!(objection(PlantedBug::AnswerOldLife).contains("WrongAnswer"));
}

#[test]
fn credit_for_what_nobody_has_taken_is_caught() {
    assert!(objection(PlantedBug::CreditAtOnce).contains("bytes of messages"));
}

#[test]
fn endless_patience_is_caught() {
    assert!(objection(PlantedBug::NoPatience).contains("are owed"));
}

#[test]
fn a_batch_that_is_carried_out_in_part_is_caught() {
    assert!(objection(PlantedBug::TornBatch).contains("not to be carried out"));
}

#[test]
fn a_turn_that_gets_lost_is_caught() {
    assert_eq!(objection(PlantedBug::LoseTurn), "an invariant failed");
}
