//! The boards of a manager: more may come while it serves, and each keeps its number.

use std::sync::{Arc, RwLock};

use rackloom_opencl_wire::BoardInfo;

use super::limits::EndpointLimits;
use crate::session::inbox::Inbox;
use crate::sync;

/// A board with its tasks, of whatever kind.
pub(crate) trait SharedBoard: Send + Sync {
    /// What it is.
    fn info(&self) -> &BoardInfo;

    /// Its number among the manager's.
    fn number(&self) -> usize;

    /// Serves a client that has asked for this board, until it is gone. The boards are those that are there for it.
    fn serve(&self, inbox: Inbox, request: u32, boards: &[Arc<dyn SharedBoard>], endpoint: &EndpointLimits);

    /// Makes the board's thread end.
    fn stop(&self);
}

/// Boards in the order of their numbers.
#[derive(Default)]
pub(crate) struct BoardList(RwLock<Vec<Arc<dyn SharedBoard>>>);

impl BoardList {
    /// Adds one, made for its number.
    pub(crate) fn add(&self, make: impl FnOnce(usize) -> Arc<dyn SharedBoard>) -> usize {
        let mut boards = sync::write(&self.0);
        let number = boards.len();
        boards.push(make(number));
        number
    }

    /// All of now.
    pub(crate) fn all(&self) -> Vec<Arc<dyn SharedBoard>> {
        sync::read(&self.0).clone()
    }
}
