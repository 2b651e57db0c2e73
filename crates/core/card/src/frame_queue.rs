//! A bounded queue of frames.

use std::collections::VecDeque;

use rackloom_node::Frame;

use crate::backlog::Fill;

/// Frames that wait for a wire, bounded in number and in bytes.
#[derive(Debug, Default)]
pub(crate) struct FrameQueue {
    frames: VecDeque<Frame>,
    bytes: usize,
}

impl FrameQueue {
    /// Adds a frame; false if there is no room for it, and it is gone.
    #[must_use]
    pub(crate) fn push(&mut self, frame: Frame) -> bool {
        let has_room = self.frames.len() < FRAMES_MAX && self.bytes + frame.len() <= BYTES_MAX;
        if has_room {
            self.bytes += frame.len();
            self.frames.push_back(frame);
        }
        has_room
    }

    /// The frame that has waited longest.
    pub(crate) fn pop(&mut self) -> Option<Frame> {
        let frame = self.frames.pop_front()?;
        self.bytes -= frame.len();
        Some(frame)
    }

    /// Bytes that wait.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// How full it is, in frames or in bytes, whichever is more.
    pub(crate) fn fill(&self) -> Fill {
        let (frames, bytes) = (16 * self.frames.len() / FRAMES_MAX, 16 * self.bytes / BYTES_MAX);
        Fill(if frames > bytes { frames } else { bytes })
    }

    pub(crate) fn check_invariants(&self) {
        assert!(self.frames.len() <= FRAMES_MAX);
        assert!(self.bytes <= BYTES_MAX);
        assert_eq!(self.bytes, self.frames.iter().map(Frame::len).sum::<usize>());
    }
}

/// Most frames: a burst of small ones, such as acknowledgements.
pub(crate) const FRAMES_MAX: usize = 1024;
/// Most bytes: 0.8 ms at 10 Gb/s. What waits longer than that waits better at its sender; one that pauses when it is
/// ordered to fills less than a fifth.
pub(crate) const BYTES_MAX: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_out_in_order_and_within_both_bounds() {
        let mut queue = FrameQueue::default();
        for i in 0..FRAMES_MAX {
            assert!(queue.push(Frame::from(vec![i as u8; 60])));
        }
        assert!(!queue.push(Frame::from_static(&[0; 60])), "too many");
        queue.check_invariants();
        for i in 0..FRAMES_MAX {
            assert_eq!(queue.pop().unwrap()[0], i as u8);
        }
        assert_eq!((queue.pop(), queue.bytes()), (None, 0));
        let taken = (0..FRAMES_MAX).take_while(|_| queue.push(Frame::from_static(&[0; 9014]))).count();
        assert_eq!(taken, BYTES_MAX / 9014, "too long");
        queue.check_invariants();
    }
}
