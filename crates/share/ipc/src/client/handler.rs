//! What a program does with the messages of its client.

use crate::error::Closed;

/// What is done with messages. Called by one thread at a time, in the order of the messages: by a thread that waits in
/// [`Client::wait`], or by the client's own. It may send; what waits for messages or memory is refused to it
/// ([`ChannelError::Reentrant`]).
pub trait Handler: Send + Sync {
    /// A message from the server.
    fn message(&self, kind: u32, body: &[u8]);

    /// The channel is closed; called once, by the client's own thread, after the last message.
    fn closed(&self, why: Closed) {
        let _ = why;
    }
}
