//! The part of cards' memory that operations of groups use: one operation at a time on each card.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use rackloom_collective::{COMMAND_BYTES, COMMANDS_MAX};
use rackloom_sync::lock;
use rackloom_wire::{MacAddr, ROLE_PRIVATE};

/// Where reports, programs and data lie.
pub(crate) const REPORT: u64 = ROLE_PRIVATE;
pub(crate) const PROGRAM: u64 = REPORT + 4096;
pub(crate) const DATA: u64 = PROGRAM + COMMANDS_MAX * COMMAND_BYTES;

/// What all groups of a connection share.
#[derive(Debug, Default)]
pub(crate) struct Desks {
    of: Mutex<BTreeMap<MacAddr, Arc<Desk>>>,
    /// Numbers of operations that were made ready, and of Gos.
    prepared: AtomicU64,
    gos: AtomicU32,
}

/// One card's.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    /// Held by the operation that has the card.
    pub(crate) turn: Mutex<()>,
    /// Whose program lies there; 0: nobody knows.
    pub(crate) program: AtomicU64,
}

impl Desks {
    pub(crate) fn of(&self, card: MacAddr) -> Arc<Desk> {
        Arc::clone(lock(&self.of).entry(card).or_default())
    }

    /// Something else may have been written there.
    pub(crate) fn forget(&self, cards: &[MacAddr]) {
        let of = lock(&self.of);
        cards.iter().filter_map(|card| of.get(card)).for_each(|desk| desk.program.store(0, Ordering::Relaxed));
    }

    /// The same, of all cards.
    pub(crate) fn forget_all(&self) {
        lock(&self.of).values().for_each(|desk| desk.program.store(0, Ordering::Relaxed));
    }

    /// A number that no other operation has.
    pub(crate) fn number(&self) -> u64 {
        self.prepared.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The number of a Go, never 0: two groups that begin at once do not start each other's programs.
    pub(crate) fn go(&self) -> u32 {
        self.gos.fetch_add(1, Ordering::Relaxed) % (u32::MAX - 1) + 1
    }
}
