//! Grants of tokens, and the parsing and look-up of tokens.

use std::sync::Arc;
use std::time::Duration;

use rackloom_ipc::{ServerConfig, Token};

use crate::quota::TenantQuotas;
use crate::schedule::scheduler::Share;

/// What the clients of a tenant are granted.
#[derive(Debug, Clone)]
pub(crate) struct Grant {
    /// The tenant's label in metrics, and its instance at the registry.
    pub(crate) name: Option<String>,
    pub(crate) share: Share,
    /// What all of them may have together.
    pub(crate) quotas: Arc<TenantQuotas>,
    /// How long one of its kernels may keep others waiting; `None` if that is the manager's to say.
    pub(crate) kernel: Option<Duration>,
}

/// Why a client does not get a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Denied {
    /// Its token was known when it greeted.
    #[error("the token is no longer admitted")]
    NotAdmitted,
    /// Another tenant has the board exclusively.
    #[error("another tenant has this board for itself; try again when that is gone, or ask for another board")]
    AnothersAlone,
    /// Its tenant is to have the board exclusively, and it is not empty yet.
    #[error("this board is to be yours alone, and others have not left it yet; try again in a few seconds")]
    NotEmpty,
}

/// A client that can be disconnected.
pub(crate) trait Disconnect: Send + Sync {
    /// Ends its session, giving the reason. Does not wait for the end.
    fn disconnect(&self, reason: &str);
}

/// Parses a token of 64 hexadecimal digits.
pub(crate) fn parse_token(text: &str) -> Option<Token> {
    if text.len() != 64 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let mut token = Token::default();
    for (byte, digits) in token.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(token)
}

/// Looks a token up. Compares with every entry, so that the time taken reveals nothing.
pub(crate) fn find<'a>(grants: &'a [(Token, Grant)], shown: &Token) -> Option<&'a Grant> {
    let same = |found, (token, grant): &'a (Token, Grant)| {
        if ServerConfig::same_token(token, shown) { Some(grant) } else { found }
    };
    grants.iter().fold(None, same)
}
