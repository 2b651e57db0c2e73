//! Messages that have come on a stream of this process.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use rackloom_live::SharedDriver;
use rackloom_wire::MacAddr;

use super::node::RmaNode;
use crate::Error;

/// A message and its sender.
pub(super) type Incoming = (MacAddr, Bytes);

/// The messages of a stream, in the order of each sender. While nobody takes them, their senders wait.
pub struct Messages {
    stream: u16,
    incoming: Receiver<Incoming>,
    driver: Arc<SharedDriver<RmaNode>>,
}

impl Messages {
    pub(super) const fn new(stream: u16, incoming: Receiver<Incoming>, driver: Arc<SharedDriver<RmaNode>>) -> Self {
        Self { stream, incoming, driver }
    }

    /// The next message and its sender; blocks until there is one.
    ///
    /// # Errors
    /// [`Error::Stopped`] when the network is lost.
    pub fn next(&self) -> Result<(MacAddr, Bytes), Error> {
        self.take(None).map(|incoming| incoming.expect("it waits without end"))
    }

    /// The same; `None` if none has come after `patience`.
    ///
    /// # Errors
    /// [`Error::Stopped`] when the network is lost.
    pub fn next_within(&self, patience: Duration) -> Result<Option<(MacAddr, Bytes)>, Error> {
        self.take(Some(Instant::now() + patience))
    }

    fn take(&self, deadline: Option<Instant>) -> Result<Option<Incoming>, Error> {
        // Two threads may not wait for one queue; this one runs the node, or sleeps at the queue while another does.
        let taken = Cell::new(None);
        let look = || {
            let result = match self.incoming.try_recv() {
                Ok(incoming) => Ok(Some(incoming)),
                Err(TryRecvError::Empty) => return false,
                Err(TryRecvError::Disconnected) => Err(Error::Stopped),
            };
            taken.set(Some(result));
            true
        };
        let sleep = |deadline: Option<Instant>| {
            let result = match deadline {
                None => self.incoming.recv().map(Some).map_err(|_| Error::Stopped),
                Some(at) => match self.incoming.recv_timeout(at.saturating_duration_since(Instant::now())) {
                    Ok(incoming) => Ok(Some(incoming)),
                    Err(RecvTimeoutError::Timeout) => Ok(None),
                    Err(RecvTimeoutError::Disconnected) => Err(Error::Stopped),
                },
            };
            taken.set(Some(result));
        };
        self.driver.wait(deadline, look, sleep);
        let result = taken.take().unwrap_or(Ok(None))?;
        if result.is_some() {
            // The node hands over the next.
            let _ = self.driver.post(RmaNode::hand_over);
        }
        Ok(result)
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
