//! What waits for a node that has no processor.

use core::ops::Range;
use core::time::Duration;
use std::collections::VecDeque;

use rackloom_node::{Frame, Instant, Port};

/// The frames that a node has not read, and until when it reads none.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    /// When the node gets a processor again; `None` while it has one.
    until: Option<Instant>,
    unread: VecDeque<(Port, Frame)>,
    /// When the first of them came, or the node last read some and left others.
    unread_since: Option<Instant>,
}

impl Backlog {
    /// Whether the node has no processor.
    pub(crate) const fn is_starved(&self) -> bool {
        self.until.is_some()
    }

    /// Takes the processor away until `until`, or the end of a starvation that goes on for longer; returns which.
    pub(crate) fn starve(&mut self, until: Instant) -> Instant {
        let until = self.until.map_or(until, |at| at.max(until));
        self.until = Some(until);
        until
    }

    /// The node has a processor again from `now` on, whatever was said before.
    pub(crate) fn relieve(&mut self, now: Instant) -> bool {
        self.until.as_mut().map(|until| *until = now).is_some()
    }

    /// Whether the node has a processor at `now`; from then on it has.
    pub(crate) fn is_over(&mut self, now: Instant) -> bool {
        self.until = self.until.filter(|until| *until > now);
        self.until.is_none()
    }

    /// Whether a frame that comes now has to wait.
    pub(crate) fn keeps(&self) -> bool {
        self.is_starved() || !self.unread.is_empty()
    }

    /// A frame waits; false if there is no room for it.
    pub(crate) fn push(&mut self, now: Instant, port: Port, frame: Frame) -> bool {
        let has_room = self.unread.len() < UNREAD_MAX;
        if has_room {
            self.unread_since.get_or_insert(now);
            self.unread.push_back((port, frame));
        }
        has_room
    }

    /// Takes what the node reads at once, and says whether there is more.
    pub(crate) fn read(&mut self, now: Instant) -> (Vec<(Port, Frame)>, bool) {
        let batch = self.unread.drain(..self.unread.len().min(BATCH)).collect();
        self.unread_since = (!self.unread.is_empty()).then_some(now);
        (batch, self.unread_since.is_some())
    }

    /// Whether frames have waited for so long that a driver on the same machine notices.
    pub(crate) fn shows(&self, now: Instant) -> bool {
        self.unread_since.is_some_and(|since| NOTICED.contains(&now.saturating_since(since)))
    }
}

/// Frames that wait, at most: as many as a port of a live switch queues.
const UNREAD_MAX: usize = 1024;

/// Frames that a node reads before its deadline is served: as many as a live driver reads.
const BATCH: usize = 256;

/// Frames unread for this long say that their node waits for a processor, and does not hang: as on a live switch.
const NOTICED: Range<Duration> = Duration::from_millis(100)..Duration::from_secs(30);
