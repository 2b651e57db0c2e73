//! Limits and admission of an endpoint's clients.

use std::sync::{Arc, Weak};
use std::time::Duration;

use rackloom_ipc::{Peer, Token};
use rackloom_opencl_wire::Limits;

use super::admission::Admission;
use super::grant::{Denied, Disconnect, Grant};
use crate::quota::{Quota, TenantLimits};

/// Limits of each client of an endpoint, and which clients are admitted.
#[derive(Debug, Clone)]
pub struct EndpointLimits {
    /// Quotas of one client, which the library knows as well.
    pub limits: Limits,
    /// Quotas of all clients of a tenant that shows no token.
    pub tenant: TenantLimits,
    /// This machine's memory, as far as clients may have it.
    pub host: Arc<Quota>,
    /// How long a task may hold the board before it is cut; `None` for no bound.
    pub task_time: Option<Duration>,
    /// Who may connect, and with which share.
    pub admission: Admission,
}

impl From<Limits> for EndpointLimits {
    fn from(limits: Limits) -> Self {
        let (tenant, host) = (limits.into(), Quota::new(u64::MAX));
        Self { limits, tenant, host, task_time: None, admission: Admission::default() }
    }
}

impl EndpointLimits {
    /// The quotas of a client with this token.
    pub(crate) fn limits(&self, shown: &Token) -> Limits {
        Limits { memory: self.admission.memory(shown, self.limits.memory), ..self.limits }
    }

    /// Enters a client on a board, see [`Admission::enter`].
    pub(crate) fn enter(&self, board: usize, peer: &Peer, client: Weak<dyn Disconnect>) -> Result<Grant, Denied> {
        self.admission.enter(board, peer.token(), &peer.identity(), client, self.tenant)
    }
}
