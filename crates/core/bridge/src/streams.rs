//! An endpoint's streams: messages to peers, and messages that wait for the owner.

use bytes::Bytes;
use rackloom_node::Instant;
use rackloom_wire::MacAddr;
use rackloom_wire::bridge::{CHANNEL_STREAMS, STREAMS};

use crate::codec::Key;
use crate::config::{STREAM_CREDIT, STREAM_MESSAGE_MAX};
use crate::endpoint::{Endpoint, NotTaken};
use crate::message::Message;

impl Endpoint {
    /// Sends a message to a stream of `peer`, at most [`STREAM_MESSAGE_MAX`] bytes and 96 frames.
    ///
    /// # Errors
    /// See [`NotTaken`]: the message is taken as a whole or not at all.
    pub fn send(&mut self, now: Instant, peer: MacAddr, stream: u16, message: &Bytes) -> Result<(), NotTaken> {
        let longest = usize::from(self.config.longest);
        let pieces = message.len().div_ceil(longest).max(1);
        if message.len() > STREAM_MESSAGE_MAX || pieces > STREAM_CREDIT.into() || stream >= STREAMS {
            return Err(NotTaken::Invalid);
        }
        let key = Key { peer, channel: CHANNEL_STREAMS };
        self.open(now, key)?;
        let link = self.peers.get_mut(&key).expect("it is open");
        if link.connection.queue_room() < pieces {
            return Err(NotTaken::Full);
        }
        if !link.is_waiting() {
            link.gives_up = now + self.config.patience;
        }
        for piece in 0..pieces {
            let from = piece * longest;
            let bytes = message.slice(from..message.len().min(from + longest));
            let piece = Message::stream(stream, from as u64, piece + 1 == pieces, bytes);
            link.connection.push(piece).expect("there is room for all pieces");
        }
        self.settle(key);
        Ok(())
    }

    /// Whether `peer` has acknowledged all messages that were sent to it.
    pub fn has_sent_all(&self, peer: MacAddr) -> bool {
        let key = Key { peer, channel: CHANNEL_STREAMS };
        self.peers.get(&key).is_none_or(|link| link.connection.is_idle())
    }

    /// The oldest message of the streams' next peer: peer, stream and bytes.
    pub fn message(&self) -> Option<(MacAddr, u16, &Bytes)> {
        let key = self.inboxes.front()?;
        let whole = self.peers.get(key)?.inbox.front()?;
        Some((key.peer, whole.stream, &whole.bytes))
    }

    /// Takes that message: its sender may send more.
    pub fn take_message(&mut self, now: Instant) -> Option<(MacAddr, u16, Bytes)> {
        let key = self.inboxes.pop_front()?;
        let link = self.peers.get_mut(&key)?;
        let whole = link.inbox.pop()?;
        link.connection.consume(now, whole.credit());
        link.has_inbox_turn = link.inbox.front().is_some();
        #[cfg(feature = "planted-bugs")]
        if self.planted == Some(crate::PlantedBug::LoseTurn) {
            link.has_inbox_turn = false;
        }
        if link.has_inbox_turn {
            self.inboxes.push_back(key);
        }
        self.settle(key);
        Some((key.peer, whole.stream, whole.bytes))
    }

    /// Leaves that message for later, and goes on to the next peer's: its stream has no room.
    pub fn skip_message(&mut self) {
        if !self.inboxes.is_empty() {
            self.inboxes.rotate_left(1);
        }
    }

    /// Peers whose messages wait to be taken.
    pub fn inboxes(&self) -> usize {
        self.inboxes.len()
    }
}
