//! Events of cards as they come and go.

use std::sync::mpsc::Receiver;
use std::time::Duration;

use rackloom_host::Event;

/// Events of the rack from now on: cards that come, change and go. Iterating blocks until the next event, and ends with
/// the connection.
///
/// A reader that falls more than a thousand events behind misses some.
#[derive(Debug)]
pub struct Watch(pub(crate) Receiver<Event>);

/// Most events that wait for a reader.
pub(crate) const EVENTS_MAX: usize = 1024;

impl Watch {
    /// The next event, or `None` if none comes within this time.
    pub fn next_within(&self, time: Duration) -> Option<Event> {
        self.0.recv_timeout(time).ok()
    }
}

impl Iterator for Watch {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        self.0.recv().ok()
    }
}
