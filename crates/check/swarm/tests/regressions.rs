//! Seeds that failed once. Each is named after what was wrong, and stays.
//!
//! What a seed draws changes with the script, so a seed may cease to meet its old fault: what it showed of the host is
//! also in `crates/core/host/tests/host.rs`, frame by frame.

use rackloom_swarm::{Plan, run, run_job};

fn holds(seed: u64) {
    if let Err(failure) = run(&Plan { hostile: None, signed: false, ..Plan::draw(seed) }, None, None) {
        panic!("{failure}");
    }
}

/// A cancellation overtook its launch; the card's "unknown launch" was taken for a refusal of the launch, whose number
/// then went to the next one, and its result with it.
#[test]
fn seed_0x8b4_cancel_overtakes_launch() {
    holds(0x8b4);
}

/// The same with a late result.
#[test]
fn seed_0x779_cancel_overtakes_launch() {
    holds(0x779);
}

/// The same, seen in the output of another launch.
#[test]
fn seed_0xfcc_output_of_another_launch() {
    holds(0xfcc);
}

/// A second load took a card out of the first one's group, which then waited for it for ever.
#[test]
fn seed_0xd58_two_loads_of_one_card() {
    holds(0xd58);
}

/// Reports that came during a repair made the progress negative.
#[test]
fn seed_0x296_report_during_repair() {
    holds(0x296);
}

/// A load that had to wait for the wire asked for a timeout in the past, again and again.
#[test]
fn seed_0x2_load_waits_for_the_wire() {
    holds(0x2);
}

/// Two claims of one card were on the way; the answer of the older came last and undid the newer.
#[test]
fn seed_0x370_two_claims_of_one_card() {
    holds(0x370);
}

/// A card that had lost the claim refused the load, and the job took that for a refusal of the image.
#[test]
fn job_seed_0xe_claim_lost_during_load() {
    if let Err(failure) = run_job(&Plan { hostile: None, signed: false, ..Plan::draw(0xe) }) {
        panic!("{failure}");
    }
}

/// A claim was lost while the card had long said that it was free; the job waited for news of that.
#[test]
fn job_seed_0x34c0_claim_lost_without_news() {
    if let Err(failure) = run_job(&Plan { hostile: None, signed: false, ..Plan::draw(0x34c0) }) {
        panic!("{failure}");
    }
}

/// A card restarted and was claimed again before its announcement came: its image was taken for active still.
#[test]
fn job_seed_0x980_restarted_card_claimed_before_it_spoke() {
    if let Err(failure) = run_job(&Plan { hostile: None, signed: false, ..Plan::draw(0x980) }) {
        panic!("{failure}");
    }
}
