//! Transfers of ranges of a card's memory, piece by piece: the memory that the manager needs is bounded, whatever the
//! length.

use std::collections::VecDeque;
use std::sync::OnceLock;

use bytes::Bytes;
use rackloom::{Pending, Rack};

use super::claim::Block;
use crate::code::Code;

/// Most bytes of a piece.
pub(super) const PIECE: usize = 2 << 20;

/// Pieces in flight: enough to keep the wire busy.
const AHEAD: usize = 2;

/// A range of a block.
#[derive(Clone, Copy)]
pub(super) struct Range<'a> {
    pub(super) block: &'a Block,
    /// Offset of the first byte in the block.
    pub(super) offset: u64,
    /// Length in bytes.
    pub(super) len: u64,
}

impl Range<'_> {
    /// A part of it.
    pub(super) fn part(self, offset: u64, len: u64) -> Self {
        assert!(offset <= self.len && len <= self.len - offset, "ranges are checked before they come here");
        Self { offset: self.offset + offset, len, ..self }
    }

    /// Its address in the card's memory.
    pub(super) fn address(self) -> u64 {
        assert!(self.offset <= self.block.size && self.len <= self.block.size - self.offset, "as above");
        self.block.at + self.offset
    }

    /// Whether it is all of its block.
    pub(super) fn is_whole(self) -> bool {
        self.len == self.block.size
    }

    /// Begins reading it.
    pub(super) fn start_read(self) -> Result<Pending<Bytes>, Code> {
        let card = &self.block.card;
        card.send(self.block.claim, |rack, mac| rack.read(mac, self.address(), self.len))
    }

    /// Begins writing it; `bytes` has its length.
    pub(super) fn start_write(self, bytes: Bytes) -> Result<Pending<()>, Code> {
        assert_eq!(bytes.len() as u64, self.len);
        let card = &self.block.card;
        card.send(self.block.claim, |rack: &Rack, mac| rack.write(mac, self.address(), bytes))
    }

    /// Reads it; passes each piece and its offset in the range to `take`.
    pub(super) fn read(self, mut take: impl FnMut(usize, &[u8])) -> Result<(), Code> {
        let mut flying = VecDeque::new();
        let mut pieces = self.pieces();
        loop {
            while flying.len() < AHEAD
                && let Some(piece) = pieces.next()
            {
                flying.push_back(((piece.offset - self.offset) as usize, piece.start_read()?));
            }
            let Some((at, pending)) = flying.pop_front() else { return Ok(()) };
            take(at, &self.end(pending)?);
        }
    }

    /// Writes it; `give` returns the bytes of a piece, given its offset in the range and its length.
    pub(super) fn write(self, mut give: impl FnMut(usize, usize) -> Bytes) -> Result<(), Code> {
        let mut flying = VecDeque::new();
        for piece in self.pieces() {
            if flying.len() == AHEAD
                && let Some(pending) = flying.pop_front()
            {
                self.end(pending)?;
            }
            flying.push_back(piece.start_write(give((piece.offset - self.offset) as usize, piece.len as usize))?);
        }
        flying.into_iter().try_for_each(|pending| self.end(pending))
    }

    /// Reads all of it into memory; for short ranges.
    pub(super) fn bytes(self) -> Result<Vec<u8>, Code> {
        let mut bytes = vec![0; self.len as usize];
        self.read(|at, piece| bytes[at..][..piece.len()].copy_from_slice(piece))?;
        Ok(bytes)
    }

    /// Fills it with a pattern; its length is a power of two, and the range a multiple of it.
    pub(super) fn fill(self, pattern: &[u8]) -> Result<(), Code> {
        static ZEROS: OnceLock<Bytes> = OnceLock::new();
        let most = PIECE.min(self.len as usize);
        let source = if pattern.iter().all(|byte| *byte == 0) {
            ZEROS.get_or_init(|| vec![0; PIECE].into()).clone()
        } else {
            Bytes::from(pattern.repeat(most / pattern.len()))
        };
        self.write(|_, len| source.slice(..len))
    }

    fn pieces(self) -> impl Iterator<Item = Self> {
        let starts = (0..self.len).step_by(PIECE);
        starts.map(move |at| self.part(at, (self.len - at).min(PIECE as u64)))
    }

    /// Waits for the end of an operation on this block.
    pub(super) fn end<T>(self, pending: Pending<T>) -> Result<T, Code> {
        pending.wait().map_err(|why| self.block.card.judge(self.block.claim, &why))
    }
}

impl Block {
    /// All of it.
    pub(super) const fn range(&self) -> Range<'_> {
        Range { block: self, offset: 0, len: self.size }
    }

    /// Clears it if it may hold another tenant's bytes.
    pub(super) fn scrub(&self) -> Result<(), Code> {
        if !self.is_scrubbed() {
            self.range().fill(&[0])?;
            self.mark_scrubbed();
        }
        Ok(())
    }
}
