//! Boards as a manager shares them. Boards may be added while it serves; each keeps its number.

use std::sync::{Arc, RwLock};

use rackloom_opencl_wire::BoardInfo;
use rackloom_sync::{read, write};

use super::limits::EndpointLimits;
use crate::session::inbox::Inbox;

/// A board with its tasks, whatever its kind.
pub(crate) trait SharedBoard: Send + Sync {
    /// Its description.
    fn info(&self) -> &BoardInfo;

    /// Its number among the manager's boards.
    fn number(&self) -> usize;

    /// Serves a client that opens this board by `request`, until it is gone. `boards` are those that it sees.
    fn serve(&self, inbox: Inbox, request: u32, boards: &[Arc<dyn SharedBoard>], endpoint: &EndpointLimits);

    /// Ends the board's thread.
    fn stop(&self);
}

/// Boards in the order of their numbers.
#[derive(Default)]
pub(crate) struct BoardList(RwLock<Vec<Arc<dyn SharedBoard>>>);

impl BoardList {
    /// Adds a board, made for its number.
    pub(crate) fn add(&self, make: impl FnOnce(usize) -> Arc<dyn SharedBoard>) -> usize {
        let mut boards = write(&self.0);
        let number = boards.len();
        boards.push(make(number));
        number
    }

    /// All boards at present.
    pub(crate) fn all(&self) -> Vec<Arc<dyn SharedBoard>> {
        read(&self.0).clone()
    }
}
