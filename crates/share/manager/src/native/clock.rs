//! Conversion of a device's clock to ours.

use std::sync::atomic::{AtomicI64, Ordering};

/// The offset from a device's times to ours, in nanoseconds.
///
/// An operation was queued between the moments before and after the call that queued it, so each gives a lowest and a
/// highest offset. The offset stays as long as it lies between them: if it were computed anew each time, operations
/// that followed one another would seem to overlap.
#[derive(Debug)]
pub(super) struct DeviceClock(AtomicI64);

/// No operation was seen yet.
const UNKNOWN: i64 = i64::MIN;

impl DeviceClock {
    pub(super) const fn new() -> Self {
        Self(AtomicI64::new(UNKNOWN))
    }

    /// Learns from an operation that was queued at `queued` by the device's clock, and between `before` and `after` by
    /// ours.
    pub(super) fn learn(&self, queued: u64, before: u64, after: u64) {
        let (low, high) = (before.wrapping_sub(queued).cast_signed(), after.wrapping_sub(queued).cast_signed());
        let known = self.0.load(Ordering::Relaxed);
        let better = if known == UNKNOWN { low + (high - low) / 2 } else { known.max(low).min(high.max(low)) };
        if better != known {
            self.0.store(better, Ordering::Relaxed);
        }
    }

    /// Converts a time of the device to ours.
    pub(super) fn ours(&self, device: u64) -> u64 {
        device.wrapping_add_signed(self.0.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_stays_until_it_cannot_be_right() {
        let clock = DeviceClock::new();
        clock.learn(1_000, 50_000, 50_400);
        assert_eq!(clock.ours(1_000), 50_200);
        clock.learn(2_000, 51_100, 51_300);
        assert_eq!(clock.ours(2_000), 51_200, "it was right");
        clock.learn(3_000, 52_250, 52_900);
        assert_eq!(clock.ours(3_000), 52_250, "it was too low");
        clock.learn(4_000, 52_900, 53_100);
        assert_eq!(clock.ours(4_000), 53_100, "it was too high");
        // A device whose clock is ahead of ours.
        let clock = DeviceClock::new();
        clock.learn(u64::MAX / 2, 1_000, 1_002);
        assert_eq!(clock.ours(u64::MAX / 2 + 5), 1_006);
    }
}
