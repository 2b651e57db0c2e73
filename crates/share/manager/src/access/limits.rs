//! What clients of an endpoint are granted.

use std::time::Duration;

use rackloom_ipc::Token;
use rackloom_opencl_wire::Limits;

use super::admission::Admission;

/// Quotas, and who is there for them.
#[derive(Debug, Clone)]
pub struct EndpointLimits {
    /// What the library is told of, too.
    pub limits: Limits,
    /// How long a task may have the board before it is cut; none for as long as it takes.
    pub task_time: Option<Duration>,
    /// Who may connect, and whose share is how large.
    pub admission: Admission,
}

impl From<Limits> for EndpointLimits {
    fn from(limits: Limits) -> Self {
        Self { limits, task_time: None, admission: Admission::default() }
    }
}

impl EndpointLimits {
    /// The quotas of who shows a token.
    pub(crate) fn limits(&self, shown: &Token) -> Limits {
        Limits { memory: self.admission.memory(shown, self.limits.memory), ..self.limits }
    }
}
