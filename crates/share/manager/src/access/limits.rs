//! Limits and admission of an endpoint's clients.

use std::time::Duration;

use rackloom_ipc::Token;
use rackloom_opencl_wire::Limits;

use super::admission::Admission;

/// Limits of each client of an endpoint, and which clients are admitted.
#[derive(Debug, Clone)]
pub struct EndpointLimits {
    /// Quotas of one client, which the library knows as well.
    pub limits: Limits,
    /// How long a task may hold the board before it is cut; `None` for no bound.
    pub task_time: Option<Duration>,
    /// Who may connect, and with which share.
    pub admission: Admission,
}

impl From<Limits> for EndpointLimits {
    fn from(limits: Limits) -> Self {
        Self { limits, task_time: None, admission: Admission::default() }
    }
}

impl EndpointLimits {
    /// The quotas of a client with this token.
    pub(crate) fn limits(&self, shown: &Token) -> Limits {
        Limits { memory: self.admission.memory(shown, self.limits.memory), ..self.limits }
    }
}
