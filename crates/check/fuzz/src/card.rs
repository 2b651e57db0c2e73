//! A card with its real sandbox, among hosts that say anything.

use std::sync::{Arc, OnceLock};

use arbitrary::{Result, Unstructured};
use rackloom_card::{Card, Config, Pace};
use rackloom_node::{Frame, Instant};
use rackloom_sandbox::{WasmConfig, WasmSandbox};

use crate::node;
use crate::talk::CARD;

/// The engine is slow to make and keeps nothing of a card: one for all.
fn sandbox() -> WasmSandbox {
    static SANDBOX: OnceLock<WasmSandbox> = OnceLock::new();
    SANDBOX.get_or_init(|| WasmSandbox::new(WasmConfig::default()).expect("an engine")).clone()
}

/// Target: a card keeps the promises of a node and its own invariants, whatever arrives.
///
/// # Errors
/// When `u` holds too few bytes.
///
/// # Panics
/// When the card breaks one of these promises.
pub fn frames(u: &mut Unstructured<'_>) -> Result<()> {
    watched(u, &mut |_| {})
}

/// [`frames`], with a look at each frame that the card sends.
///
/// # Errors
/// As [`frames`].
///
/// # Panics
/// As [`frames`].
pub fn watched(u: &mut Unstructured<'_>, watch: &mut dyn FnMut(&Frame)) -> Result<()> {
    let config =
        Config { memory: 8 << 20, staging_max: 1 << 20, seed: u.arbitrary()?, ..Config::new(CARD, Pace::Virtual) };
    let mut card = Card::new(config, Arc::new(sandbox())).expect("a sound configuration");
    let mut now = Instant::ZERO;
    while !u.is_empty() {
        let part = u.int_in_range(0..=u.len().min(2000))?.max(1);
        // Its bytes end in the middle of something: no reason to end the input.
        let _ = node::drive_watched(&mut card, CARD, &mut now, &mut Unstructured::new(u.bytes(part)?), watch);
        card.check_invariants();
    }
    Ok(())
}
