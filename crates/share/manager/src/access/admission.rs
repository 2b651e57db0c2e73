//! Admission of clients: open to all, by a token file, or by the registry.

use std::sync::{Arc, Weak};

use rackloom_ipc::{Identity, Token};

use super::allowlist::Allowlists;
use super::grant::{Denied, Disconnect, Grant};
use super::strangers::Strangers;
use super::tokens::Tokens;
use crate::quota::TenantLimits;
use crate::schedule::scheduler::Share;

/// The source of admission.
#[derive(Debug, Clone)]
pub enum Admission {
    /// None: every client is admitted, with equal shares; a user of this machine, or an address, is a tenant.
    Anybody(Arc<Strangers>),
    /// A token file, for all boards.
    File(Arc<Tokens>),
    /// The registry, for each board by its number.
    Registry(Arc<Allowlists>),
}

impl Default for Admission {
    fn default() -> Self {
        Self::Anybody(Arc::default())
    }
}

impl Admission {
    /// Whether a client with this token may connect at all.
    #[must_use]
    pub fn admit(&self, shown: &Token) -> bool {
        match self {
            Self::Anybody(_) => true,
            Self::File(tokens) => tokens.admit(shown),
            Self::Registry(allowlists) => allowlists.all().iter().any(|allowlist| allowlist.find(shown).is_some()),
        }
    }

    /// Whether a client with this token sees a board.
    pub(crate) fn shows(&self, board: usize, shown: &Token) -> bool {
        match self {
            Self::Anybody(_) | Self::File(_) => true,
            Self::Registry(allowlists) => allowlists.of(board).find(shown).is_some(),
        }
    }

    /// Bytes of buffers that a client with this token may hold; `most` is the endpoint's limit.
    pub(crate) fn memory(&self, shown: &Token, most: u64) -> u64 {
        let Self::Registry(allowlists) = self else { return most };
        let allowlists = allowlists.all();
        let granted = allowlists.iter().filter_map(|allowlist| allowlist.find(shown));
        granted.map(|grant| grant.quotas.memory()).max().unwrap_or(most)
    }

    /// Enters a client on a board and returns its grant, or why it has none. From now on the client may be disconnected
    /// when its grant ends. `limits`: of a tenant without tokens.
    pub(crate) fn enter(
        &self,
        board: usize,
        shown: &Token,
        identity: &Identity,
        client: Weak<dyn Disconnect>,
        limits: TenantLimits,
    ) -> Result<Grant, Denied> {
        match self {
            Self::Anybody(strangers) => {
                let quotas = strangers.quotas(identity, limits);
                Ok(Grant { name: None, share: Share::default(), quotas, kernel: None })
            }
            Self::File(tokens) => tokens.grant(shown).ok_or(Denied::NotAdmitted),
            Self::Registry(allowlists) => allowlists.of(board).enter(shown, client),
        }
    }
}
