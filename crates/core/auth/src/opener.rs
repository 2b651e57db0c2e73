//! Who receives under a key: a frame is good once, and with the right tag.

use alloc::vec::Vec;

use crate::cipher::Turn;
use crate::protection::Protection;
use crate::tag::{Bound, Direction, FRAME_BYTES_MAX, Tag};
use crate::window::{Replay, Window};

/// Why a frame is refused. Its sender is not told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Its counter was used.
    #[error("the frame is a replay: {0}")]
    Replay(#[from] Replay),
    /// Not the key's holder sent it, or not so, or not now.
    #[error("the frame's tag is wrong: it was changed, or its sender lacks the key")]
    Tag,
    /// Nobody could have tagged it.
    #[error("the frame has {0} bytes, and no frame with a tag has more than 65535")]
    Long(usize),
}

/// One direction of a session, at the receiver.
#[derive(Debug)]
pub struct Opener {
    key: Protection,
    boot: u32,
    direction: Direction,
    window: Window,
}

impl Opener {
    /// For frames that go this way, between a host and a card that has booted with this number.
    pub fn new(key: impl Into<Protection>, boot: u32, direction: Direction) -> Self {
        Self { key: key.into(), boot, direction, window: Window::new() }
    }

    /// Whether a frame is from the other holder of the key, and new: what stood behind its first `open` bytes before
    /// that was encrypted, or `None` if nothing was.
    ///
    /// # Errors
    /// It is not, and nothing has changed: what a stranger sends moves no window.
    pub fn open(&mut self, frame: &[u8], open: usize, counter: u64, tag: &Tag) -> Result<Option<Vec<u8>>, Refused> {
        // First what costs nothing: a flood of replays is refused without a permutation. A counter is no secret.
        self.window.check(counter)?;
        let (boot, direction) = (self.boot, self.direction);
        if frame.len() > FRAME_BYTES_MAX {
            return Err(Refused::Long(frame.len()));
        }
        let plain = match &self.key {
            Protection::Tags(key) if key.tag(&Bound { frame, boot, direction, counter }) == Some(*tag) => None,
            Protection::Tags(_) => return Err(Refused::Tag),
            Protection::Cipher(key) => {
                let (open, secret) = frame.split_at_checked(open).ok_or(Refused::Tag)?;
                let plain = key.decrypt(Turn { boot, direction, counter }, open, secret, tag).ok_or(Refused::Tag)?;
                Some(plain).filter(|plain| !plain.is_empty())
            }
        };
        self.window.accept(counter)?;
        Ok(plain)
    }

    /// The counters that were accepted.
    pub const fn window(&self) -> &Window {
        &self.window
    }
}
