//! How often segments of other lives are answered.

use rackloom_node::{Duration, Instant};

/// Bounds the answers to segments that are not of the present lives. Each such answer is of another life to an end that
/// is at odds with us, which answers it in turn: unbounded, the two would do so for ever, as fast as the wire can.
///
/// [`AT_ONCE`](Self::AT_ONCE) are given as they are asked for, and from then on one in each timeout: an end that sends
/// again after a timeout is always answered. A segment of the present lives renews the first ones.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answers {
    at_once: u32,
    /// When the next one may be given after those.
    next: Option<Instant>,
}

impl Answers {
    /// Most answers at once. A reset of both ends takes two or three.
    pub(crate) const AT_ONCE: u32 = 4;

    pub(crate) const fn new() -> Self {
        Self { at_once: Self::AT_ONCE, next: None }
    }

    /// The peer is of the same opinion about both lives.
    pub(crate) const fn renew(&mut self) {
        self.at_once = Self::AT_ONCE;
    }

    /// Whether one may be given now, and if so that it is.
    pub(crate) fn take(&mut self, now: Instant, timeout: Duration) -> bool {
        let may = self.at_once > 0 || self.next.is_none_or(|at| at <= now);
        if may {
            self.at_once = self.at_once.saturating_sub(1);
            self.next = Some(now + timeout);
        }
        may
    }
}
