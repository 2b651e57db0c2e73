//! When a host behind the card has to be silent, for the wire does not keep up with it.

use rackloom_node::{Duration, Instant};
use rackloom_wire::Pause;

/// Orders to the host, by what waits for the wire. A host that keeps them loses no frame here: the rest of the queue
/// has room for what is on the cable and in the card's port when the order goes out, some 400 frames on a live rack.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    /// Until when the host is silent, as ordered last.
    silent_until: Option<Instant>,
}

impl Backlog {
    /// The order that is due while the host's frames fill the queue so far.
    pub(crate) fn order(&mut self, now: Instant, fill: Fill) -> Option<Pause> {
        match self.silent_until {
            // Nearly over, and the queue is as full as it was.
            Some(until) if fill.is_over(HIGH) && until.saturating_since(now) < RENEW => self.silence(now),
            Some(_) if !fill.is_over(LOW) => {
                self.silent_until = None;
                Some(Pause { quanta: 0 })
            }
            None if fill.is_over(HIGH) => self.silence(now),
            _ => None,
        }
    }

    fn silence(&mut self, now: Instant) -> Option<Pause> {
        let pause = Pause { quanta: u16::MAX };
        self.silent_until = Some(now + Duration::from_nanos(pause.nanos()));
        Some(pause)
    }
}

/// How full a queue is, in sixteenths of what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fill(pub(crate) usize);

impl Fill {
    const fn is_over(self, sixteenths: usize) -> bool {
        self.0 >= sixteenths
    }
}

/// The host is to be silent from here on,
const HIGH: usize = 3;
/// and may speak again below this.
const LOW: usize = 1;
/// An order is given again so long before it is over.
const RENEW: Duration = Duration::from_micros(500);

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Option<Pause> = Some(Pause { quanta: u16::MAX });

    #[test]
    fn a_host_is_silent_while_the_queue_is_full_and_no_longer() {
        let mut backlog = Backlog::default();
        let at = |micros: u64| Instant::from_nanos(micros * 1000);
        assert_eq!(backlog.order(at(0), Fill(HIGH - 1)), None);
        assert_eq!(backlog.order(at(1), Fill(HIGH)), LONG);
        assert_eq!(backlog.order(at(2), Fill(16)), None, "it was ordered already");
        assert_eq!(backlog.order(at(3), Fill(LOW)), None);
        assert_eq!(backlog.order(at(3000), Fill(HIGH)), LONG, "the first is nearly over");
        assert_eq!(backlog.order(at(3001), Fill(LOW - 1)), Some(Pause { quanta: 0 }));
        assert_eq!(backlog.order(at(3002), Fill(0)), None);
    }
}
