//! Seeds that found a fault, which has been mended.

use crate::plan::Plan;
use crate::world::run;

/// A full table let a peer go that was silent, with messages that it had sent and nobody had taken yet.
#[test]
fn seeds_1_and_17_lose_no_message_to_a_full_table() {
    for seed in [1, 17] {
        run(&Plan::draw_crowded(seed), None).unwrap();
    }
}

/// A damaged acknowledgement made one end believe that all had come; it heard the other's protests and went on waiting.
/// And damaged epochs set two nodes at odds, which then told each other so as fast as the wire could.
#[test]
fn seed_10_ends_in_spite_of_a_wrong_acknowledgement_and_without_a_storm() {
    let stats = run(&Plan::draw(10), None).unwrap();
    assert!(stats.frames < 20_000, "{stats:?}");
}
