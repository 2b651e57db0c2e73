//! A client's channel, read one message at a time.

use std::sync::Arc;
use std::time::Instant;

use rackloom_ipc::{Batch, ChannelError, Peer};

use super::replies::farewell;

/// A client's messages, one after the other.
pub(crate) struct Inbox {
    pub(crate) peer: Arc<Peer>,
    /// The program's name, as a label.
    pub(crate) name: String,
    batch: Batch,
    next: usize,
}

impl Inbox {
    pub(crate) fn new(peer: Peer) -> Self {
        Self { peer: Arc::new(peer), name: String::new(), batch: Batch::new(), next: 0 }
    }

    /// The next message; waits for it until the deadline.
    ///
    /// # Errors
    /// The channel is closed, or the deadline has passed.
    pub(crate) fn next(&mut self, deadline: Option<Instant>) -> Result<(u32, &[u8]), ChannelError> {
        if self.next == self.batch.len() {
            self.batch.clear();
            self.next = 0;
            if self.peer.recv(deadline, &mut self.batch)? == 0 {
                return Err(ChannelError::Timeout);
            }
        }
        self.next += 1;
        Ok(self.batch.get(self.next - 1).expect("counted above"))
    }

    /// Whether every message that has come was taken.
    pub(crate) const fn is_empty(&self) -> bool {
        self.next == self.batch.len()
    }

    /// Ends the session and tells the client why.
    pub(crate) fn farewell(&self, reason: &str) {
        farewell(&self.peer, reason);
    }
}
