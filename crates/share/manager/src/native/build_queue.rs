//! Builds that wait for each other, so that what one has compiled is there for the next.

use std::fmt::Debug;
use std::hash::{DefaultHasher, Hasher as _};

/// Who says when a program may be built.
pub(crate) trait BuildQueue: Debug + Send + Sync {
    /// Waits for the turn to build what has this hash.
    fn wait(&self, build: u64);

    /// It is built.
    fn done(&self);
}

/// The hash of a source, or of a source's hash and options: the same in every process of a manager.
pub(super) fn hash(what: &(impl std::hash::Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
