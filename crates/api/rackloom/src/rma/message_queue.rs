//! Messages that have come on a stream of this process.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use bytes::Bytes;
use rackloom_live::Driver;
use rackloom_wire::MacAddr;

use super::node::RmaNode;

/// A message and its sender.
pub(super) type Incoming = (MacAddr, Bytes);

/// The messages of a stream, in the order of each sender. While nobody takes them, their senders wait.
pub struct Messages {
    stream: u16,
    pub(super) incoming: Receiver<Incoming>,
    driver: Arc<Driver<RmaNode>>,
}

impl Messages {
    pub(super) const fn new(stream: u16, incoming: Receiver<Incoming>, driver: Arc<Driver<RmaNode>>) -> Self {
        Self { stream, incoming, driver }
    }

    /// One was taken: the node hands over the next.
    pub(super) fn has_room(&self) {
        let _ = self.driver.post(RmaNode::hand_over);
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        let stream = self.stream;
        let _ = self.driver.post(move |node, now| node.close_stream(now, stream));
    }
}

impl fmt::Debug for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Messages").field("stream", &self.stream).finish_non_exhaustive()
    }
}
