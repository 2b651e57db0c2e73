//! Cards that come and go, as they do.

use std::sync::mpsc::Receiver;
use std::time::Duration;

use rackloom_host::Event;

/// Events of the rack from now on: cards that come, change and go. Iterating blocks until the next one; it ends when
/// the connection does.
///
/// A reader that falls more than a thousand events behind misses some.
#[derive(Debug)]
pub struct Watch(pub(crate) Receiver<Event>);

/// Events that wait for a reader.
pub(crate) const EVENTS_MAX: usize = 1024;

impl Watch {
    /// The next event, or `None` if none comes in this time.
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
