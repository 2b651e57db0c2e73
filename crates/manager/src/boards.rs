//! The boards of a manager: more may come while it serves, and each keeps its number.

use std::sync::{Arc, PoisonError, RwLock};

use rackloom_opencl_wire::BoardInfo;

use crate::lobby::Inbox;
use crate::terms::Terms;

/// A board with its tasks, of whatever kind.
pub(crate) trait SharedBoard: Send + Sync {
    /// What it is.
    fn info(&self) -> &BoardInfo;

    /// Serves a client that has asked for this board, until it is gone.
    fn serve(&self, inbox: Inbox, request: u32, boards: &Boards, terms: &Terms);

    /// Makes the board's thread end.
    fn stop(&self);
}

/// Boards in the order of their numbers.
#[derive(Default)]
pub(crate) struct Boards(RwLock<Vec<Arc<dyn SharedBoard>>>);

impl Boards {
    /// Adds one; its number is the count until now.
    pub(crate) fn add(&self, board: Arc<dyn SharedBoard>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).push(board);
    }

    /// All of now.
    pub(crate) fn all(&self) -> Vec<Arc<dyn SharedBoard>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The one of this number.
    pub(crate) fn get(&self, number: u16) -> Option<Arc<dyn SharedBoard>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(usize::from(number)).cloned()
    }
}
