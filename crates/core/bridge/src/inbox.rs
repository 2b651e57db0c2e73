//! Messages of streams that come in pieces.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

use crate::config::STREAM_MESSAGE_MAX;
use crate::message::Message;

/// A message that is whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Whole {
    pub(crate) stream: u16,
    pub(crate) bytes: Bytes,
    /// Pieces that it came in.
    pub(crate) pieces: u32,
    /// The peer's life has ended since: there is no credit to give back.
    pub(crate) is_earlier: bool,
}

impl Whole {
    /// Credit to give back when it is taken.
    pub(crate) const fn credit(&self) -> u32 {
        if self.is_earlier { 0 } else { self.pieces }
    }
}

/// A piece that does not belong where it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BadPiece;

/// Puts the messages of one peer together. Pieces come in order, those of one message without another's between them.
///
/// Invariant: of the peer's present life it holds no more pieces than that has credit for.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    stream: u16,
    partial: BytesMut,
    pieces: u32,
    whole: VecDeque<Whole>,
    /// Pieces of those.
    waiting: u32,
    #[cfg(feature = "planted-bugs")]
    pub(crate) keeps_partial: bool,
}

impl Inbox {
    /// A piece has come.
    ///
    /// # Errors
    /// [`BadPiece`]: it is of another stream than the message begun, at another offset than its end, empty in the
    /// middle, or makes it too long.
    pub(crate) fn push(&mut self, piece: &Message) -> Result<(), BadPiece> {
        let is_first = self.pieces == 0;
        let fits = (is_first || piece.tag == self.stream)
            && piece.addr == self.partial.len() as u64
            && self.partial.len() + piece.payload.len() <= STREAM_MESSAGE_MAX
            && (piece.is_last || !piece.payload.is_empty());
        if !fits {
            return Err(BadPiece);
        }
        self.stream = piece.tag;
        self.pieces += 1;
        if is_first && piece.is_last {
            // The usual case costs no copy.
            self.finish(piece.payload.clone());
        } else {
            self.partial.extend_from_slice(&piece.payload);
            if piece.is_last {
                let bytes = self.partial.split().freeze();
                self.finish(bytes);
            }
        }
        Ok(())
    }

    fn finish(&mut self, bytes: Bytes) {
        let pieces = core::mem::take(&mut self.pieces);
        self.waiting += pieces;
        self.whole.push_back(Whole { stream: self.stream, bytes, pieces, is_earlier: false });
    }

    /// The oldest message that nobody has taken.
    pub(crate) fn front(&self) -> Option<&Whole> {
        self.whole.front()
    }

    /// Takes it.
    pub(crate) fn pop(&mut self) -> Option<Whole> {
        let whole = self.whole.pop_front()?;
        self.waiting -= whole.pieces;
        Some(whole)
    }

    /// Pieces of messages that are whole, of the peer's present life and of those before.
    pub(crate) const fn waiting(&self) -> u32 {
        self.waiting
    }

    /// Bytes that it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.partial.len() + self.whole.iter().map(|w| w.bytes.len()).sum::<usize>()
    }

    /// The peer has begun anew: what is whole stays, the rest will never be.
    pub(crate) fn restart(&mut self) {
        // Its credit has begun anew as well.
        self.whole.iter_mut().for_each(|w| w.is_earlier = true);
        #[cfg(feature = "planted-bugs")]
        if self.keeps_partial {
            return;
        }
        self.partial.clear();
        self.pieces = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(stream: u16, offset: u64, is_last: bool, bytes: &'static [u8]) -> Message {
        Message::stream(stream, offset, is_last, Bytes::from_static(bytes))
    }

    #[test]
    fn pieces_become_messages() {
        let mut inbox = Inbox::default();
        for p in
            [piece(1, 0, true, b"alone"), piece(2, 0, false, b"in "), piece(2, 3, true, b"two"), piece(0, 0, true, b"")]
        {
            inbox.push(&p).unwrap();
        }
        let taken: Vec<_> = core::iter::from_fn(|| inbox.pop()).map(|w| (w.stream, w.bytes, w.pieces)).collect();
        assert_eq!(
            taken,
            [(1, Bytes::from_static(b"alone"), 1), (2, Bytes::from_static(b"in two"), 2), (0, Bytes::new(), 1)]
        );
    }

    #[test]
    fn what_does_not_belong_is_refused() {
        let begun = || {
            let mut inbox = Inbox::default();
            inbox.push(&piece(2, 0, false, b"in ")).unwrap();
            inbox
        };
        for bad in
            [piece(1, 3, true, b"two"), piece(2, 2, true, b"two"), piece(2, 4, true, b"two"), piece(2, 3, false, b"")]
        {
            assert_eq!(begun().push(&bad), Err(BadPiece), "{bad:?}");
        }
        assert_eq!(Inbox::default().push(&piece(1, 1, true, b"late")), Err(BadPiece));
        let long = Bytes::from(vec![0; STREAM_MESSAGE_MAX]);
        let mut inbox = begun();
        assert_eq!(inbox.push(&Message::stream(2, 3, true, long)), Err(BadPiece));
    }

    #[test]
    fn a_new_life_of_the_peer_ends_what_is_not_whole() {
        let mut inbox = Inbox::default();
        inbox.push(&piece(1, 0, true, b"whole")).unwrap();
        inbox.push(&piece(1, 0, false, b"half")).unwrap();
        inbox.restart();
        inbox.push(&piece(1, 0, true, b"next")).unwrap();
        assert_eq!(inbox.waiting(), 2);
        assert_eq!(inbox.pop().map(|w| (w.credit(), w.bytes)), Some((0, Bytes::from_static(b"whole"))));
        assert_eq!(inbox.waiting(), 1);
        assert_eq!(inbox.front().map(|w| (&w.bytes[..], w.credit())), Some((&b"next"[..], 1)));
    }
}
