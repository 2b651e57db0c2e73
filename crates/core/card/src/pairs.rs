//! The keys that a card shares with one host, for claims and releases: of each generation, and those that were revoked.
//!
//! Which generation a claim is of, its trailer says; which of that generation's keys made the tag, the tag says. So a
//! claim is checked against two keys at most: one that counts, and one that was revoked.

use rackloom_auth::{Bound, Direction, PairKey, SessionKey, Tag, Window};
use rackloom_wire::Trailer;

use crate::keys::Shared;

/// The keys of one host: the newest generation first and, of a generation, the one that counts first.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    all: Vec<Pair>,
    /// Whose tag the last claim or release had that was taken; `None` before.
    proven: Option<usize>,
    /// Which the last claim or release named, whatever its tag: a refusal goes under it.
    asked: usize,
}

#[derive(Debug)]
struct Pair {
    generation: u32,
    is_revoked: bool,
    key: PairKey,
    claims: SessionKey,
    /// Counters of the host's claims and releases.
    window: Window,
    /// The last counter of an answer.
    sent: u64,
}

/// What a claim or a release is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Worth {
    /// It is from the host.
    Proven,
    /// It is from who has the host's key, which counts no more.
    Revoked,
    /// It has come before.
    Replayed,
    /// Nobody knows whom it is from.
    Nothing,
}

impl Pairs {
    pub(crate) fn push(&mut self, shared: Shared) {
        let Shared { generation, key, is_revoked, .. } = shared;
        self.all.push(Pair { generation, is_revoked, claims: key.claims(), key, window: Window::new(), sent: 0 });
    }

    /// The card starts again: the counters of the life before are of no use, since its boot number is another.
    pub(crate) fn restart(&mut self) {
        self.all.iter_mut().for_each(|pair| (pair.window, pair.sent) = (Window::new(), 0));
    }

    /// Takes over the counters of keys that were there before.
    pub(crate) fn inherit(&mut self, before: Self) {
        let proven = before.proven.map(|at| before.all[at].key.clone());
        for old in before.all {
            if let Some(pair) = self.all.iter_mut().find(|pair| pair.key == old.key) {
                (pair.window, pair.sent) = (old.window, old.sent);
            }
        }
        self.proven = proven.and_then(|key| self.all.iter().position(|pair| pair.key == key && !pair.is_revoked));
    }

    /// Judges a claim or a release.
    pub(crate) fn open(&mut self, boot: u32, trailer: &Trailer<'_>) -> Worth {
        let (frame, counter, direction) = (trailer.message, trailer.counter, Direction::ToCard);
        let named = |pair: &Pair| pair.generation == trailer.generation;
        // Of a generation that this card does not have the host hears under the newest.
        self.asked = self.all.iter().position(named).unwrap_or(0);
        let mut worth = Worth::Nothing;
        for (at, pair) in self.all.iter_mut().enumerate().filter(|(_, pair)| named(pair)) {
            // First what costs nothing: a flood of replays is refused without a permutation.
            if pair.window.check(counter).is_err() {
                worth = if at == self.asked { Worth::Replayed } else { worth };
                continue;
            }
            if pair.claims.tag(&Bound { frame, boot, direction, counter }) != Some(Tag(trailer.tag)) {
                continue;
            }
            pair.window.accept(counter).expect("it was checked");
            self.asked = at;
            if pair.is_revoked {
                return Worth::Revoked;
            }
            self.proven = Some(at);
            return Worth::Proven;
        }
        worth
    }

    /// The key of the last claim that was taken, if it counts.
    pub(crate) fn proven(&self) -> Option<&PairKey> {
        self.proven.map(|at| &self.all[at].key)
    }

    /// Whether this key is among them, and counts.
    pub(crate) fn has(&self, key: &PairKey) -> bool {
        self.all.iter().any(|pair| pair.key == *key && !pair.is_revoked)
    }

    /// What answers a claim or a release: with a refusal, or as asked.
    pub(crate) fn answering(&mut self, is_refusal: bool) -> Option<Answering<'_>> {
        let at = if is_refusal { self.asked } else { self.proven? };
        self.all.get_mut(at).map(Answering)
    }
}

/// Under which key an answer goes.
#[derive(Debug)]
pub(crate) struct Answering<'a>(&'a mut Pair);

impl Answering<'_> {
    pub(crate) const fn generation(&self) -> u32 {
        self.0.generation
    }

    /// Counter and tag of the answer.
    pub(crate) fn seal(self, boot: u32, frame: &[u8]) -> Option<(u64, [u8; 16])> {
        let counter = self.0.sent.checked_add(1)?;
        let tag = self.0.claims.tag(&Bound { frame, boot, direction: Direction::ToHost, counter })?;
        self.0.sent = counter;
        Some((counter, tag.0))
    }
}
