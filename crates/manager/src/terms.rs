//! What clients of an endpoint are granted.

use std::sync::Arc;
use std::time::Duration;

use rackloom_channel::Token;
use rackloom_opencl_wire::Limits;

use crate::tokens::{Grant, Tokens};

/// Quotas, and how much of a board's time who gets.
#[derive(Debug, Clone)]
pub struct Terms {
    /// What the library is told of, too.
    pub limits: Limits,
    /// How long a task may have the board before it is cut; none for as long as it takes.
    pub task_time: Option<Duration>,
    /// Whose share is how large. Without them all are alike.
    pub tokens: Option<Arc<Tokens>>,
}

impl From<Limits> for Terms {
    fn from(limits: Limits) -> Self {
        Self { limits, task_time: None, tokens: None }
    }
}

impl Terms {
    /// What who shows a token is granted; none if it is not in the file any more.
    pub(crate) fn grant(&self, token: &Token) -> Option<Grant> {
        match &self.tokens {
            Some(tokens) => tokens.grant(token),
            None => Some(Grant::default()),
        }
    }
}
