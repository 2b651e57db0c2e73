//! What the boards of a rack keep of signed images: the newest versions that each card has run.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rackloom_sign::{Release, Versions};
use rackloom_wire::MacAddr;

/// The versions that cards have run, by their addresses. Clones share them: cards add to them on their own threads.
#[derive(Debug, Clone, Default)]
pub struct BoardVersions(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    cards: BTreeMap<MacAddr, Versions>,
    changed: bool,
}

impl BoardVersions {
    /// What this card has run.
    pub fn of(&self, card: MacAddr) -> Versions {
        self.lock().cards.get(&card).cloned().unwrap_or_default()
    }

    /// The card runs this from now on.
    pub fn raise(&self, card: MacAddr, release: &Release) {
        let mut kept = self.lock();
        let versions = kept.cards.entry(card).or_default();
        *versions = versions.iter().chain([release.clone()]).collect();
        kept.changed = true;
    }

    /// Takes over what boards have kept since before.
    pub fn restore(&self, cards: impl IntoIterator<Item = (MacAddr, Release)>) {
        let mut kept = self.lock();
        for (card, release) in cards {
            let versions = kept.cards.entry(card).or_default();
            *versions = versions.iter().chain([release]).collect();
        }
    }

    /// All of it, if it has changed since this was called last.
    pub fn changes(&self) -> Option<Vec<(MacAddr, Release)>> {
        let mut kept = self.lock();
        let all = || kept.cards.iter().flat_map(|(card, versions)| versions.iter().map(|release| (*card, release)));
        let all = kept.changed.then(|| all().collect());
        kept.changed = false;
        all
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
