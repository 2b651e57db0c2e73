//! Messages and events between a role's module and the card: what the module's imports read and write.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use rackloom_node::{Duration, Instant};
use rackloom_role::{RoleOutput, StreamError};
use rackloom_sync::lock;

/// Streams of a role that has any.
pub(crate) const STREAMS: u8 = 16;
/// Messages and events that wait on either side; a message more is refused, or its sender told so.
const QUEUE: usize = 64;
/// Longest message: a jumbo frame.
const MESSAGE_BYTES_MAX: usize = 9014;

/// A role's mailbox. The card fills it while the module's instance may be inside a kernel, so it is shared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mailbox(Arc<Mutex<Queues>>);

#[derive(Debug, Default)]
struct Queues {
    /// The time of the card's latest call.
    now: Instant,
    inbox: VecDeque<(u8, Bytes)>,
    /// The message that the handler was called for, until it receives it.
    current: Option<(u8, Bytes)>,
    outbox: VecDeque<RoleOutput>,
    wake_at: Option<Instant>,
}

impl Mailbox {
    /// The card hands in a message.
    pub(crate) fn post(&self, now: Instant, stream: u8, message: Bytes) -> Result<(), StreamError> {
        let mut queues = lock(&self.0);
        queues.now = now;
        if stream >= STREAMS {
            Err(StreamError::Unknown)
        } else if message.len() > MESSAGE_BYTES_MAX {
            Err(StreamError::TooLong)
        } else if queues.inbox.len() >= QUEUE {
            Err(StreamError::Full)
        } else {
            queues.inbox.push_back((stream, message));
            Ok(())
        }
    }

    /// The next message to call the handler for: its stream and length. It is what [`receive`](Self::receive) gives
    /// next.
    pub(crate) fn begin(&self, now: Instant) -> Option<(u8, usize)> {
        let mut queues = lock(&self.0);
        queues.now = now;
        queues.current = queues.inbox.pop_front();
        queues.current.as_ref().map(|(stream, message)| (*stream, message.len()))
    }

    /// Takes the message at hand: that of the handler, or the oldest that waits. One longer than `capacity` stays, and
    /// `Err` says how long it is.
    pub(crate) fn receive(&self, capacity: usize) -> Option<Result<(u8, Bytes), usize>> {
        let queues = &mut *lock(&self.0);
        if queues.current.is_none() {
            queues.current = queues.inbox.pop_front();
        }
        let length = queues.current.as_ref()?.1.len();
        if length > capacity {
            return Some(Err(length));
        }
        queues.current.take().map(Ok)
    }

    /// The module sends a message or an event; false while the outbox is full.
    pub(crate) fn send(&self, output: RoleOutput) -> bool {
        let mut queues = lock(&self.0);
        let has_room = queues.outbox.len() < QUEUE;
        if has_room {
            queues.outbox.push_back(output);
        }
        has_room
    }

    /// The module wants to be called again after this time; `None`: no longer.
    pub(crate) fn wake_after(&self, time: Option<Duration>) {
        let mut queues = lock(&self.0);
        queues.wake_at = time.map(|time| queues.now + time);
    }

    /// Whether the time has come; it comes once.
    pub(crate) fn take_wake(&self, now: Instant) -> bool {
        let mut queues = lock(&self.0);
        queues.now = now;
        queues.wake_at.take_if(|at| *at <= now).is_some()
    }

    /// When [`take_wake`](Self::take_wake) will be true.
    pub(crate) fn wake_at(&self) -> Option<Instant> {
        lock(&self.0).wake_at
    }

    /// The oldest output.
    pub(crate) fn poll(&self, now: Instant) -> Option<RoleOutput> {
        let mut queues = lock(&self.0);
        queues.now = now;
        queues.outbox.pop_front()
    }

    /// Nothing waits, on either side.
    pub(crate) fn clear(&self) {
        let mut queues = lock(&self.0);
        *queues = Queues { now: queues.now, ..Queues::default() };
    }

    /// Whether messages wait for the handler.
    pub(crate) fn has_mail(&self) -> bool {
        !lock(&self.0).inbox.is_empty()
    }
}

/// Whether a length is one that a message may have.
pub(crate) fn is_length(length: usize) -> bool {
    length <= MESSAGE_BYTES_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::ZERO;

    #[test]
    fn messages_come_in_order_and_within_bounds() {
        let mailbox = Mailbox::default();
        for i in 0..QUEUE {
            mailbox.post(NOW, 3, Bytes::from(vec![i as u8; 2])).unwrap();
        }
        assert_eq!(mailbox.post(NOW, 3, Bytes::new()), Err(StreamError::Full));
        assert_eq!(mailbox.begin(NOW), Some((3, 2)));
        mailbox.post(NOW, 15, Bytes::new()).unwrap();
        assert_eq!(mailbox.post(NOW, STREAMS, Bytes::new()), Err(StreamError::Unknown));
        assert_eq!(mailbox.post(NOW, 0, vec![0; MESSAGE_BYTES_MAX + 1].into()), Err(StreamError::TooLong));
        assert_eq!(mailbox.receive(1), Some(Err(2)), "it stays");
        assert_eq!(mailbox.receive(2), Some(Ok((3, Bytes::from_static(&[0, 0])))));
        assert_eq!(mailbox.receive(2), Some(Ok((3, Bytes::from_static(&[1, 1])))), "the next that waits");
        // A handler that does not receive its message loses it.
        assert!(mailbox.begin(NOW).is_some() && mailbox.begin(NOW).is_some());
        assert_eq!(mailbox.receive(9), Some(Ok((3, Bytes::from_static(&[3, 3])))));
    }

    #[test]
    fn output_is_bounded_and_a_wake_comes_once() {
        let mailbox = Mailbox::default();
        let sent = (0..2 * QUEUE as u64).filter(|&i| mailbox.send(RoleOutput::Event(i))).count();
        assert_eq!(sent, QUEUE);
        assert_eq!(mailbox.poll(NOW), Some(RoleOutput::Event(0)));
        mailbox.wake_after(Some(Duration::from_micros(5)));
        assert!(!mailbox.take_wake(NOW));
        let later = NOW + Duration::from_micros(5);
        assert_eq!(mailbox.wake_at(), Some(later));
        assert!(mailbox.take_wake(later) && !mailbox.take_wake(later));
    }
}
