//! What a token is granted, and how a token is read and looked up.

use std::sync::Arc;

use rackloom_ipc::{ServerConfig, Token};

use crate::quota::Quota;
use crate::schedule::scheduler::Share;

/// What who shows a token is granted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grant {
    /// What metrics call it, if it has a name; to the registry, the instance.
    pub(crate) name: Option<String>,
    pub(crate) share: Share,
    /// Bytes of buffers for all who show the token together; none if each has what every client may have.
    pub(crate) memory: Option<Arc<Quota>>,
}

/// A client that can be sent away.
pub(crate) trait Disconnect: Send + Sync {
    /// Ends its session with a word. It does not wait for that.
    fn disconnect(&self, reason: &str);
}

/// A token of 64 hexadecimal digits.
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

/// Each is compared, so that the time says nothing.
pub(crate) fn find<'a>(grants: &'a [(Token, Grant)], shown: &Token) -> Option<&'a Grant> {
    let same = |found, (token, grant): &'a (Token, Grant)| {
        if ServerConfig::same_token(token, shown) { Some(grant) } else { found }
    };
    grants.iter().fold(None, same)
}
