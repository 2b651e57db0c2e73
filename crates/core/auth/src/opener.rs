//! Who receives under a key: a frame is good once, and with the right tag.

use crate::key::SessionKey;
use crate::tag::{Bound, Direction, Tag};
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
    key: SessionKey,
    boot: u32,
    direction: Direction,
    window: Window,
}

impl Opener {
    /// For frames that go this way, between a host and a card that has booted with this number.
    pub const fn new(key: SessionKey, boot: u32, direction: Direction) -> Self {
        Self { key, boot, direction, window: Window::new() }
    }

    /// Whether a frame is from the other holder of the key, and new.
    ///
    /// # Errors
    /// It is not, and nothing has changed: what a stranger sends moves no window.
    pub fn open(&mut self, frame: &[u8], counter: u64, tag: &Tag) -> Result<(), Refused> {
        // First what costs nothing: a flood of replays is refused without a permutation. A counter is no secret.
        self.window.check(counter)?;
        let bound = Bound { frame, boot: self.boot, direction: self.direction, counter };
        let right = self.key.tag(&bound).ok_or(Refused::Long(frame.len()))?;
        if right != *tag {
            return Err(Refused::Tag);
        }
        self.window.accept(counter)?;
        Ok(())
    }

    /// The counters that were accepted.
    pub const fn window(&self) -> &Window {
        &self.window
    }
}
