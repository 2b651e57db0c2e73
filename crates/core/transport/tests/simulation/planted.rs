//! Each planted bug is caught, or the silence of the other tests proves nothing.

use std::panic::catch_unwind;

use rackloom_transport::PlantedBug;

use crate::goodput;
use crate::peers;
use crate::plan::Plan;
use crate::world::run;

/// What the oracle or an invariant objected to.
fn objection(bug: PlantedBug, plan: &Plan) -> Option<String> {
    catch_unwind(|| run(plan, Some(bug))).unwrap_or_else(|_| Err("an invariant failed".to_owned())).err()
}

/// The first objection in a hundred seeds in order.
fn objection_in_order(bug: PlantedBug) -> String {
    let found = (1..=100).find_map(|seed| Some((seed, objection(bug, &Plan::draw_in_order(seed))?)));
    println!("{bug:?}: {found:?}");
    found.unwrap_or_else(|| panic!("{bug:?} was not caught in 100 seeds")).1
}

#[test]
fn planted_bugs_are_caught() {
    for bug in PlantedBug::ALL {
        match bug {
            PlantedBug::EvictEstablished => {
                let mut table = peers::table();
                table.plant(bug);
                assert!(catch_unwind(move || peers::crowd(&mut table)).is_ok_and(|r| r.is_ok()).eq(&false), "{bug:?}");
            }
            // They have tests of their own, below.
            PlantedBug::DeliverHeldTwice
            | PlantedBug::DeliverOutOfOrder
            | PlantedBug::IgnoreNack
            | PlantedBug::KeepHeldOnRestart
            | PlantedBug::AnswerForEver => {}
            _ => {
                let found = (1..=100).find(|seed| objection(bug, &Plan::draw(*seed)).is_some());
                println!("{bug:?}: seed {found:?}");
                assert!(found.is_some(), "{bug:?} was not caught in 100 seeds");
                objection_in_order(bug);
            }
        }
    }
}

#[test]
fn a_held_payload_that_is_delivered_twice_is_caught() {
    assert!(objection_in_order(PlantedBug::DeliverHeldTwice).contains("delivered twice"));
}

#[test]
fn delivery_out_of_order_is_caught() {
    assert!(objection_in_order(PlantedBug::DeliverOutOfOrder).contains("out of order"));
}

#[test]
fn what_is_held_through_a_restart_is_caught() {
    objection_in_order(PlantedBug::KeepHeldOnRestart);
}

/// Its payloads arrive, since there is a timer; only much too late.
#[test]
fn a_nack_that_is_ignored_is_caught() {
    let share = |bug| goodput::goodput(&goodput::go_back_n(1408), 0.01, 1, bug);
    let (whole, ignoring) = (share(None), share(Some(PlantedBug::IgnoreNack)));
    println!("{whole:.3} of the rate, {ignoring:.3} with the bug");
    assert!(ignoring < goodput::LEAST_BACK && goodput::LEAST_BACK <= whole);
}
