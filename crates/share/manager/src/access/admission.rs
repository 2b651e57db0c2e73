//! Who may connect, and what they are granted: said by nobody, by a file, or by the registry.

use std::sync::{Arc, Weak};

use rackloom_ipc::Token;

use super::allowlist::Allowlists;
use super::grant::{Disconnect, Grant};
use super::tokens::Tokens;

/// What says who may connect.
#[derive(Debug, Clone, Default)]
pub enum Admission {
    /// Nothing: anybody may, and all are alike.
    #[default]
    Anybody,
    /// A file, for all boards.
    File(Arc<Tokens>),
    /// The registry, for each board by its number.
    Registry(Arc<Allowlists>),
}

impl Admission {
    /// Whether who shows a token may connect at all.
    #[must_use]
    pub fn admit(&self, shown: &Token) -> bool {
        match self {
            Self::Anybody => true,
            Self::File(tokens) => tokens.admit(shown),
            Self::Registry(allowlists) => allowlists.all().iter().any(|allowlist| allowlist.find(shown).is_some()),
        }
    }

    /// Whether a board is there for who shows a token.
    pub(crate) fn shows(&self, board: usize, shown: &Token) -> bool {
        match self {
            Self::Anybody | Self::File(_) => true,
            Self::Registry(allowlists) => allowlists.of(board).find(shown).is_some(),
        }
    }

    /// Bytes of buffers that a client may have that shows this token.
    pub(crate) fn memory(&self, shown: &Token, most: u64) -> u64 {
        let Self::Registry(allowlists) = self else { return most };
        let allowlists = allowlists.all();
        let granted = allowlists.iter().filter_map(|allowlist| allowlist.find(shown));
        granted.map(|grant| grant.memory.map_or(most, |quota| quota.limit())).max().unwrap_or(most)
    }

    /// What a client of a board is granted; none if it is not admitted, or not any more. It may be told to leave from
    /// now on.
    pub(crate) fn enter(&self, board: usize, shown: &Token, client: Weak<dyn Disconnect>) -> Option<Grant> {
        match self {
            Self::Anybody => Some(Grant::default()),
            Self::File(tokens) => tokens.grant(shown),
            Self::Registry(allowlists) => allowlists.of(board).enter(shown, client),
        }
    }
}
