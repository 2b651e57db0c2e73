//! The program's handler of messages.

use crate::error::Closed;

/// Receives the messages of a client. Called by one thread at a time, in the order of the messages: by a thread that
/// waits in [`Client::wait`](crate::Client::wait), or by the client's own. It may send; calls that wait for messages or
/// memory fail ([`ChannelError::Reentrant`](crate::ChannelError::Reentrant)).
pub trait Handler: Send + Sync {
    /// A message from the server.
    fn message(&self, kind: u32, body: &[u8]);

    /// The channel is closed; called once, by the client's own thread, after the last message.
    fn closed(&self, why: Closed) {
        let _ = why;
    }
}
