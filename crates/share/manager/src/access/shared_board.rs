//! The boards of a manager: more may come while it serves, and each keeps its number.

use std::sync::{Arc, PoisonError, RwLock};

use rackloom_opencl_wire::BoardInfo;

use crate::access::handshake::Inbox;
use crate::access::limits::Terms;

/// A board with its tasks, of whatever kind.
pub(crate) trait SharedBoard: Send + Sync {
    /// What it is.
    fn info(&self) -> &BoardInfo;

    /// Its number among the manager's.
    fn number(&self) -> usize;

    /// Serves a client that has asked for this board, until it is gone. The boards are those that are there for it.
    fn serve(&self, inbox: Inbox, request: u32, boards: &[Arc<dyn SharedBoard>], terms: &Terms);

    /// Makes the board's thread end.
    fn stop(&self);
}

/// Boards in the order of their numbers.
#[derive(Default)]
pub(crate) struct Boards(RwLock<Vec<Arc<dyn SharedBoard>>>);

impl Boards {
    /// Adds one, made for its number.
    pub(crate) fn add(&self, make: impl FnOnce(usize) -> Arc<dyn SharedBoard>) -> usize {
        let mut boards = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let number = boards.len();
        boards.push(make(number));
        number
    }

    /// All of now.
    pub(crate) fn all(&self) -> Vec<Arc<dyn SharedBoard>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
