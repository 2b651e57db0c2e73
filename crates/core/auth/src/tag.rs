//! What a tag binds, and how tags are compared.

use core::fmt;

use subtle::ConstantTimeEq;

use crate::sponge::{Start, TAG_BYTES};

/// Most bytes of a frame that can be tagged, from its first address to the end of its payload.
pub const FRAME_BYTES_MAX: usize = u16::MAX as usize;

/// The tag of a frame.
///
/// Two are compared in a time that does not depend on them.
#[derive(Clone, Copy)]
pub struct Tag(pub [u8; TAG_BYTES]);

impl PartialEq for Tag {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for Tag {}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tag(")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}

/// Where a frame goes. One that a card sent is nothing that a host could have sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From a host.
    ToCard,
    /// From a card.
    ToHost,
}

/// All that a tag binds.
#[derive(Debug, Clone, Copy)]
pub struct Bound<'a> {
    /// The frame's bytes as they are on the wire, from the first address to the end of the payload: both addresses,
    /// family, kind, length, epoch, sequence number and address are among them. Without padding and trailer.
    pub frame: &'a [u8],
    /// The card's boot number.
    pub boot: u32,
    /// Where the frame goes.
    pub direction: Direction,
    /// Grows with each frame under a key.
    pub counter: u64,
}

impl Bound<'_> {
    /// The tag by this key; none for a frame of more than [`FRAME_BYTES_MAX`] bytes.
    ///
    /// What is tagged is the frame, zeros up to a word, then a word with boot number, direction and the frame's length,
    /// then the counter. No two different frames give the same words: the length tells how many of the zeros are bytes
    /// of the frame. The counter comes last because it may stand behind the payload, where gateware reads it last.
    pub(crate) fn tag(&self, start: &Start) -> Option<Tag> {
        let length = u16::try_from(self.frame.len()).ok()?;
        let to_host = u64::from(self.direction == Direction::ToHost);
        let mut absorber = start.absorb();
        absorber.padded(self.frame);
        absorber.word(u64::from(length) << 48 | to_host << 32 | u64::from(self.boot));
        absorber.word(self.counter);
        Some(Tag(absorber.finish(&[])))
    }
}
