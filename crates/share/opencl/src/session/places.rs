//! Memory that both the program and the board see. What a program moves from or to it needs no copy by anybody.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};

use rackloom_ipc::Bulk;
use rackloom_sync::lock;

use crate::error::Result;

/// Such memory of a session.
#[derive(Default)]
pub struct Places(Mutex<State>);

#[derive(Default)]
struct State {
    /// By its address. Some of it may be gone.
    places: BTreeMap<usize, Weak<Bulk>>,
    /// How many there were when those that are gone were last dropped.
    kept: usize,
}

impl Places {
    /// Adds memory that the program will see.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn add(&self, bulk: &Arc<Bulk>) -> Result<()> {
        let at = bulk.as_ptr()?.addr();
        let mut state = lock(&self.0);
        if state.places.len() >= 64 + 2 * state.kept {
            state.places.retain(|_, place| place.strong_count() > 0);
            state.kept = state.places.len();
        }
        // What is gone must not hide what stands there now.
        let gone: Vec<_> = state.places.range(at..at + bulk.len() as usize).map(|(at, _)| *at).collect();
        gone.iter().for_each(|at| drop(state.places.remove(at)));
        state.places.insert(at, Arc::downgrade(bulk));
        Ok(())
    }

    /// The memory in which all of these bytes of the program lie, and the offset of the first.
    pub fn find(&self, bytes: &[u8]) -> Option<(Arc<Bulk>, u64)> {
        let at = bytes.as_ptr().addr();
        let state = lock(&self.0);
        let (start, place) = state.places.range(..=at).next_back()?;
        let (bulk, offset) = (place.upgrade()?, (at - start) as u64);
        let end = offset.checked_add(bytes.len() as u64)?;
        (end <= bulk.len()).then_some((bulk, offset))
    }
}
