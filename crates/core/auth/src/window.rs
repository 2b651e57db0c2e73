//! Which counters have been seen: a replay is known by its number, in bounded memory.

use core::fmt;

/// Words of the bitmap: 1024 counters. A switch overtakes by a few frames; at 10 Gb/s and 64-byte frames this is 70 µs.
const WORDS: usize = 16;

/// A counter that was seen, or that is so old that nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Replay {
    /// A frame with it was accepted.
    #[error("counter {0} was accepted before")]
    Seen(u64),
    /// It is below the window: it may have been accepted, and is refused.
    #[error("counter {counter} is {} behind the newest, and {} are remembered", newest - counter, Window::WIDTH)]
    Old {
        /// The frame's.
        counter: u64,
        /// The newest that was accepted.
        newest: u64,
    },
    /// 0, which no frame has.
    #[error("counter 0 is no frame's: counters begin with 1")]
    Zero,
}

/// The counters of one key in one direction that were accepted lately.
#[derive(Clone, PartialEq, Eq)]
pub struct Window {
    /// The newest; 0 before the first.
    newest: u64,
    /// Bit c % WIDTH of those from `newest` - WIDTH + 1 on: c was accepted.
    seen: [u64; WORDS],
}

impl Window {
    /// How many counters are remembered, down from the newest.
    pub const WIDTH: u64 = 64 * WORDS as u64;

    /// Nothing was accepted yet.
    pub const fn new() -> Self {
        Self { newest: 0, seen: [0; WORDS] }
    }

    /// The newest counter that was accepted; 0 before the first.
    pub const fn newest(&self) -> u64 {
        self.newest
    }

    /// Whether a frame with this counter may be new.
    ///
    /// # Errors
    /// It was seen, or nobody knows any more.
    pub fn check(&self, counter: u64) -> Result<(), Replay> {
        if counter == 0 {
            return Err(Replay::Zero);
        }
        if counter > self.newest {
            return Ok(());
        }
        if self.newest - counter >= Self::WIDTH {
            return Err(Replay::Old { counter, newest: self.newest });
        }
        let (word, bit) = place(counter);
        if self.seen[word] & bit != 0 { Err(Replay::Seen(counter)) } else { Ok(()) }
    }

    /// Takes note of a counter whose frame has the right tag: before that anybody could move the window.
    ///
    /// # Errors
    /// As [`check`](Self::check); then nothing changes.
    pub fn accept(&mut self, counter: u64) -> Result<(), Replay> {
        self.check(counter)?;
        if counter > self.newest {
            self.slide(counter);
        }
        let (word, bit) = place(counter);
        self.seen[word] |= bit;
        Ok(())
    }

    /// Forgets what is below the window once `newest` is the newest. One word at a time, each once at most.
    fn slide(&mut self, newest: u64) {
        let (from, to) = (self.newest + 1, newest);
        if to - from >= Self::WIDTH - 1 {
            self.seen = [0; WORDS];
        } else {
            for word in from / 64..=to / 64 {
                let first = from.max(64 * word) % 64;
                let last = to.min(64 * word + 63) % 64;
                self.seen[(word % WORDS as u64) as usize] &= !(u64::MAX >> (63 - last) & u64::MAX << first);
            }
        }
        self.newest = newest;
    }
}

fn place(counter: u64) -> (usize, u64) {
    ((counter / 64 % WORDS as u64) as usize, 1 << (counter % 64))
}

impl Default for Window {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held: u32 = self.seen.iter().map(|word| word.count_ones()).sum();
        write!(f, "Window({held} up to {})", self.newest)
    }
}
