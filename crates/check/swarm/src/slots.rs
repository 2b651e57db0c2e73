//! What a card's memory may hold: slots of a fixed size, each written whole, with the writes that may have reached it.

use bytes::Bytes;
use rackloom_wire::{MacAddr, ROLE_PRIVATE};

/// Slots of a card.
pub(crate) const SLOTS: usize = 24;
/// Bytes from one slot to the next.
const STRIDE: u64 = 32 * 1024;

/// Address of a slot.
pub(crate) const fn address(slot: usize) -> u64 {
    ROLE_PRIVATE + slot as u64 * STRIDE
}

/// Bytes of a slot: from one byte to several jumbo frames, and odd sizes.
pub(crate) fn length(slot: usize) -> usize {
    const LENGTHS: [usize; 8] = [1, 63, 64, 1472, 1473, 4096, 9000, 31_999];
    LENGTHS[slot % LENGTHS.len()]
}

/// Names one write, or one scrub: card, epoch and number. A write's bytes follow from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tag {
    pub(crate) card: MacAddr,
    pub(crate) epoch: u16,
    pub(crate) number: u64,
}

impl Tag {
    /// The bytes from `at` on: each 8-byte word is a hash of the tag and the word's offset.
    pub(crate) fn bytes(&self, len: usize) -> Vec<u8> {
        let [a, b, c, d, e, f] = self.card.0;
        let key = u64::from_be_bytes([a, b, c, d, e, f, 0, 0]) ^ u64::from(self.epoch) << 1 ^ self.number << 20;
        let mut rng = rackloom_node::Rng::new(key);
        let mut out = Vec::with_capacity(len + 8);
        while out.len() < len {
            out.extend_from_slice(&rng.next_u64().to_le_bytes());
        }
        out.truncate(len);
        out
    }
}

/// The history of one slot.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    len: usize,
    /// In the order in which they were given; the first is what was there for certain.
    writes: Vec<Entry>,
    /// Writes given so far.
    given: u64,
    /// Launches that show this slot, under way: nothing is written meanwhile.
    pub(crate) locks: u32,
}

#[derive(Debug, Clone)]
struct Entry {
    /// `None`: the zeros of power-up.
    tag: Option<Tag>,
    content: Bytes,
    state: State,
    /// Number of the write among those given, from 1.
    number: u64,
}

/// What is known of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It is under way.
    Pending,
    /// It has completed.
    Done,
    /// It failed: it may have been performed in part.
    Unknown,
}

/// When something was asked to show a slot: whatever the same claim was asked to write before must be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Since {
    epoch: u16,
    given: u64,
}

impl Slot {
    pub(crate) fn new(slot: usize) -> Self {
        let len = length(slot);
        Self { len, writes: vec![zeros(len)], given: 0, locks: 0 }
    }

    /// A write is under way.
    pub(crate) fn begin(&mut self, tag: Tag) -> Bytes {
        let content = Bytes::from(tag.bytes(self.len));
        self.push(tag, content.clone());
        content
    }

    fn push(&mut self, tag: Tag, content: Bytes) {
        self.given += 1;
        self.writes.push(Entry { tag: Some(tag), content, state: State::Pending, number: self.given });
    }

    /// A read is given now, under this epoch.
    pub(crate) const fn since(&self, epoch: u16) -> Since {
        Since { epoch, given: self.given }
    }

    /// A write has failed, and may have been performed.
    pub(crate) fn failed(&mut self, tag: Tag) {
        for w in self.writes.iter_mut().filter(|w| w.tag == Some(tag)) {
            w.state = State::Unknown;
        }
    }

    /// It has completed: what was given before it is gone.
    pub(crate) fn done(&mut self, tag: Tag) {
        // A crash since then may have wiped the slot, and the write with it.
        if let Some(i) = self.writes.iter().position(|w| w.tag == Some(tag)) {
            self.writes[i].state = State::Done;
            self.writes.drain(..i);
        }
    }

    /// It has certainly not been performed, nor will it be.
    pub(crate) fn never(&mut self, tag: Tag) {
        self.writes.retain(|w| w.tag != Some(tag));
    }

    /// The card's memory is zero.
    pub(crate) fn wipe(&mut self) {
        self.writes = vec![zeros(self.len)];
    }

    /// A release may zero the card's memory, before anything later is written; [`done`](Self::done) when it has.
    pub(crate) fn may_wipe(&mut self, tag: Tag) {
        self.push(tag, Bytes::from(vec![0; self.len]));
    }

    /// Checks bytes that were read: every 64-byte beat must come whole from one write that may have reached it, or be
    /// zero if a claim that zeroes memory may have come in between.
    pub(crate) fn check(&self, got: &[u8], zeroed: bool, since: Since) -> Result<(), String> {
        if got.len() != self.len {
            return Err(format!("{} bytes where {} were asked for", got.len(), self.len));
        }
        // A read waits for the writes of its claim that were given before it: nothing older than the last of them is
        // left.
        let waited = |w: &&Entry| {
            w.state != State::Unknown && w.number <= since.given && w.tag.is_some_and(|t| t.epoch == since.epoch)
        };
        let oldest = self.writes.iter().filter(waited).map(|w| w.number).max().unwrap_or(0);
        for (beat, bytes) in got.chunks(64).enumerate() {
            let at = beat * 64;
            let zeros = zeroed && bytes.iter().all(|b| *b == 0);
            if !zeros && !self.writes.iter().any(|w| w.number >= oldest && w.content[at..at + bytes.len()] == *bytes) {
                let may: Vec<_> = self.writes.iter().map(|w| (w.tag, w.state, w.number)).collect();
                return Err(format!(
                    "beat {beat} is {:02x?}, which none of {may:?} wrote",
                    &bytes[..bytes.len().min(16)]
                ));
            }
        }
        Ok(())
    }
}

fn zeros(len: usize) -> Entry {
    Entry { tag: None, content: Bytes::from(vec![0; len]), state: State::Done, number: 0 }
}
