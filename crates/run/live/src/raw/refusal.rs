//! When a device that has no room for a frame has none for any of its length.
//!
//! The kernel says the same of a device that is busy and of one that drops such frames each time, as a veth pair does
//! whose other end has a smaller MTU. A busy device has room again within a millisecond. So a frame that found none for
//! [`PATIENCE`] is dropped, and so is at once each one after it that is as long, until one of them is sent.

use std::time::{Duration, Instant};

use rackloom_node::Frame;

/// What the device has refused.
#[derive(Debug, Default)]
pub(super) struct Refusal {
    /// Since when the frame at the head finds no room.
    waits: Option<Instant>,
    /// Frames from this length on are dropped at once.
    refused_from: Option<usize>,
    bytes_min: usize,
}

impl Refusal {
    /// The device has no room for a frame of this length: true if it must be dropped.
    pub(super) fn is_final(&mut self, length: usize, now: Instant) -> bool {
        let since = *self.waits.get_or_insert(now);
        let is_known = self.refused_from.is_some_and(|from| length >= from);
        if !is_known && now.saturating_duration_since(since) < PATIENCE {
            return false;
        }
        self.waits = None;
        self.refused_from = Some(self.refused_from.map_or(length, |from| from.min(length)));
        self.bytes_min = if self.bytes_min == 0 { length } else { self.bytes_min.min(length) };
        true
    }

    /// The device has taken these.
    pub(super) fn sent(&mut self, frames: &[Frame]) {
        self.waits = None;
        let longest = frames.iter().map(Frame::len).max().unwrap_or(0);
        // It takes such frames after all: it was busy for very long.
        self.refused_from = self.refused_from.filter(|from| longest < *from);
    }

    /// Bytes of the shortest frame that was dropped; 0: none was.
    pub(super) const fn bytes_min(&self) -> usize {
        self.bytes_min
    }
}

/// How long a frame waits for a device: 50 times what a full queue of a thousand standard frames takes at 10 Gb/s.
const PATIENCE: Duration = Duration::from_millis(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_waits_for_a_busy_device_and_is_dropped_when_that_lasts() {
        let (mut refusal, start) = (Refusal::default(), Instant::now());
        let at = |ms| start + Duration::from_millis(ms);
        assert!(!refusal.is_final(9000, at(0)));
        assert!(!refusal.is_final(9000, at(59)));
        assert!(refusal.is_final(9000, at(60)));
        assert_eq!(refusal.bytes_min(), 9000);
        assert!(refusal.is_final(9000, at(60)), "the next one of its length does not wait");
        assert!(refusal.is_final(9014, at(60)));
        assert!(!refusal.is_final(60, at(60)), "a short one does");
        refusal.sent(&[Frame::from_static(&[0; 60])]);
        assert!(refusal.is_final(9000, at(61)), "short frames that pass say nothing of long ones");
    }

    #[test]
    fn a_long_frame_that_passes_ends_it_and_each_wait_is_its_own() {
        let (mut refusal, start) = (Refusal::default(), Instant::now());
        let at = |ms| start + Duration::from_millis(ms);
        assert!(!refusal.is_final(1514, at(0)));
        assert!(refusal.is_final(1514, at(70)));
        refusal.sent(&[Frame::from_static(&[0; 1514])]);
        assert!(!refusal.is_final(1514, at(71)));
        refusal.sent(&[Frame::from_static(&[0; 60])]);
        assert!(!refusal.is_final(1514, at(140)), "there was room in between");
    }
}
