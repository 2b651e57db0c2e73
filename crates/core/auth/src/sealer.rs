//! Who sends under a key: each frame gets the next counter.

use crate::cipher::Turn;
use crate::protection::Protection;
use crate::tag::{Bound, Direction, FRAME_BYTES_MAX, Tag};

/// One direction of a session, at the sender.
///
/// Nothing in it can be set back, and it cannot be copied: that would give two frames one counter.
#[derive(Debug)]
pub struct Sealer {
    key: Protection,
    boot: u32,
    direction: Direction,
    /// The last counter that was used.
    last: u64,
}

impl Sealer {
    /// For frames that go this way, between a host and a card that has booted with this number.
    pub fn new(key: impl Into<Protection>, boot: u32, direction: Direction) -> Self {
        Self { key: key.into(), boot, direction, last: 0 }
    }

    /// The counter and tag of the next frame. A frame that is sent again is a next frame. If the session is encrypted,
    /// all of it behind the first `open` bytes is ciphertext from now on.
    ///
    /// None if the frame is longer than [`crate::FRAME_BYTES_MAX`] or shorter than `open`, or after 2^64 - 1 frames: at
    /// the rate of the smallest frames at 10 Gb/s that takes 39,000 years.
    pub fn seal(&mut self, frame: &mut [u8], open: usize) -> Option<(u64, Tag)> {
        let counter = self.last.checked_add(1)?;
        let (boot, direction) = (self.boot, self.direction);
        // Used up before anything is made of it: no failure gives it to a second frame.
        self.last = counter;
        let tag = match &self.key {
            Protection::Tags(key) => key.tag(&Bound { frame, boot, direction, counter })?,
            Protection::Cipher(_) if frame.len() > FRAME_BYTES_MAX => return None,
            Protection::Cipher(key) => {
                let (open, secret) = frame.split_at_mut_checked(open)?;
                key.encrypt(Turn { boot, direction, counter }, open, secret)?
            }
        };
        Some((counter, tag))
    }

    /// Whether others can read what it seals.
    pub const fn encrypts(&self) -> bool {
        matches!(self.key, Protection::Cipher(_))
    }
}
