//! Managers of one board each, as on the paper's nodes. They are the real ones, and run in threads of this process:
//! what asks them are processes of their own.

use std::path::Path;

use rackloom_ipc::{Endpoint, ServerConfig};
use rackloom_manager::board::Board;
use rackloom_manager::scheduler::Policy;
use rackloom_manager::{Listener, Manager};
use rackloom_opencl_wire::Limits;

use crate::error::{BenchError, Result};

/// What each function may have.
const LIMITS: Limits = Limits { memory: 1 << 30, objects: 4096, operations: 4096, program: 1 << 20 };

/// A node with a board.
pub(super) struct Host {
    // Dropped in this order: nobody comes in any more before the board goes.
    listener: Listener,
    manager: Manager,
    board: String,
}

impl Host {
    /// Starts a manager that listens at a socket in a folder.
    ///
    /// # Errors
    /// It cannot listen.
    pub(super) fn start(node: &str, board: impl Board, policy: Policy, folder: &Path) -> Result<Self> {
        let name = board.info().name.clone();
        let failed = |why| BenchError::Site(format!("the manager of node {node} does not start: {why:#}"));
        let manager = Manager::default();
        manager.add(board, policy).map_err(failed)?;
        let endpoint = Endpoint::Unix(folder.join(format!("{node}.sock")));
        let listener = manager.listen(&endpoint, ServerConfig::default(), LIMITS).map_err(failed)?;
        Ok(Self { listener, manager, board: name })
    }

    /// Where it listens, for `RACKLOOM_MANAGERS`.
    pub(super) fn endpoint(&self) -> String {
        self.listener.endpoint().to_string()
    }

    /// Seconds that tasks had the board so far, by the manager's own counter.
    pub(super) fn busy(&self) -> f64 {
        self.counter(&format!("rackloom_board_busy_seconds_total{{board=\"{}\"}} ", self.board))
    }

    /// The same of one tenant, which the manager calls by its program's name and its number among those that came.
    pub(super) fn tenant_busy(&self, tenant: &str) -> f64 {
        self.counter(&format!("rackloom_tenant_busy_seconds_total{{board=\"{}\",tenant=\"{tenant}\"}} ", self.board))
    }

    /// A line of the metrics; 0 before there is one.
    fn counter(&self, head: &str) -> f64 {
        let text = self.manager.metrics().text();
        text.lines().find_map(|line| line.strip_prefix(head)?.parse().ok()).unwrap_or(0.0)
    }

    /// All metrics, as Prometheus reads them.
    #[cfg(test)]
    pub(super) fn metrics(&self) -> String {
        self.manager.metrics().text()
    }
}
