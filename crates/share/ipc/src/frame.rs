//! The encoding of messages and bulk on TCP, and the decoding of whatever arrives.
//!
//! All numbers are little endian. A message is its length (u32), its kind (u32) and the body, as in a ring. A piece of
//! bulk is a head of 32 bytes (transfer, total, offset as u64, length as u32, 4 zero bytes) and its bytes.

use crate::batch::{BATCH_BYTES, BATCH_MAX, Batch};
use crate::error::Violation;
use crate::le::{le_u32, le_u64};
use crate::ring::BODY_MAX;

/// Bytes before a body.
pub const MESSAGE_HEAD: usize = 8;

/// The bytes before a body.
#[must_use]
pub fn message_head(kind: u32, len: usize) -> [u8; MESSAGE_HEAD] {
    let mut head = [0; MESSAGE_HEAD];
    head[..4].copy_from_slice(&(len as u32).to_le_bytes());
    head[4..].copy_from_slice(&kind.to_le_bytes());
    head
}

/// Reads messages out of a stream that arrives in pieces. Holds one message and a read's worth at most.
#[derive(Debug)]
pub struct Decoder {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

/// Bytes that a decoder has room for: the longest message and then some, so that a read brings many short ones.
const ROOM: usize = MESSAGE_HEAD + BODY_MAX + 64 * 1024;

impl Default for Decoder {
    fn default() -> Self {
        Self { bytes: vec![0; ROOM], start: 0, end: 0 }
    }
}

impl Decoder {
    /// Whether it holds no part of a message.
    pub(crate) const fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Whether it holds a message that [`Self::take`] would give, or refuse.
    pub(crate) fn has_message(&self) -> bool {
        let bytes = &self.bytes[self.start..self.end];
        bytes.len() >= MESSAGE_HEAD && bytes.len() - MESSAGE_HEAD >= (le_u32(bytes, 0) as usize).min(BODY_MAX)
    }

    /// The place for the next bytes of the stream. Never empty after [`Self::take`] has taken all it can.
    pub fn room(&mut self) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.start > ROOM / 2 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        &mut self.bytes[self.end..]
    }

    /// Marks this many bytes of that place as filled.
    pub fn filled(&mut self, bytes: usize) {
        assert!(bytes <= ROOM - self.end, "more than there was room for");
        self.end += bytes;
    }

    /// Takes out whole messages, as many as a batch holds; returns their number.
    ///
    /// # Errors
    /// A message longer than allowed; the stream has no meaning from there on.
    pub fn take(&mut self, out: &mut Batch) -> Result<usize, Violation> {
        let (mut count, mut bytes) = (0, 0);
        while let Some((head, rest)) = self.bytes[self.start..self.end].split_first_chunk::<MESSAGE_HEAD>() {
            let (len, kind) = head.split_at(4);
            let len = u32::from_le_bytes([len[0], len[1], len[2], len[3]]) as usize;
            let kind = u32::from_le_bytes([kind[0], kind[1], kind[2], kind[3]]);
            if len > BODY_MAX {
                return Err(Violation::MessageLength);
            }
            let Some(body) = rest.get(..len).filter(|_| count < BATCH_MAX && bytes < BATCH_BYTES) else { break };
            out.push_with(kind, len, |to| to.copy_from_slice(body));
            self.start += MESSAGE_HEAD + len;
            count += 1;
            bytes += len;
        }
        Ok(count)
    }
}

/// The head of a piece of bulk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// The transfer, numbered by the client.
    pub id: u64,
    /// Bytes of the whole transfer.
    pub total: u64,
    /// Offset of this piece.
    pub offset: u64,
    /// Length of this piece in bytes; 0 only if the total is 0.
    pub len: u32,
}

impl Piece {
    /// Length of a head in bytes.
    pub const HEAD: usize = 32;
    /// Most bytes of a piece.
    pub const MAX: u32 = 1 << 20;

    /// Its bytes on the wire.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::HEAD] {
        let mut out = [0; Self::HEAD];
        out[..8].copy_from_slice(&self.id.to_le_bytes());
        out[8..16].copy_from_slice(&self.total.to_le_bytes());
        out[16..24].copy_from_slice(&self.offset.to_le_bytes());
        out[24..28].copy_from_slice(&self.len.to_le_bytes());
        out
    }

    /// Parses a head; `None` if it is malformed: too long, empty in the middle, or beyond its total.
    #[must_use]
    pub fn decode(bytes: &[u8; Self::HEAD]) -> Option<Self> {
        let id = le_u64(bytes, 0);
        let (total, offset) = (le_u64(bytes, 8), le_u64(bytes, 16));
        let len = le_u32(bytes, 24);
        let whole = u64::from(len) <= total && offset <= total - u64::from(len);
        let right = len <= Self::MAX && (len > 0 || total == 0) && whole && bytes[28..] == [0; 4];
        right.then_some(Self { id, total, offset, len })
    }

    /// The next piece of a transfer of `total` bytes, `done` of which have gone.
    pub(crate) fn next(id: u64, total: u64, done: u64) -> Self {
        Self { id, total, offset: done, len: (total - done).min(u64::from(Self::MAX)) as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_stream_cut_anywhere_gives_the_same_messages(
            messages in prop::collection::vec((0..5u32, prop_oneof![0..40usize, Just(BODY_MAX), 0..BODY_MAX]), 1..12),
            cuts in prop::collection::vec(1..100_000usize, 1..20),
        ) {
            let mut stream = Vec::new();
            for (i, (kind, len)) in messages.iter().enumerate() {
                stream.extend(message_head(*kind, *len));
                stream.extend((0..*len).map(|b| (b + i) as u8));
            }
            let (mut decoder, mut batch, mut rest, mut got) = (Decoder::default(), Batch::new(), &stream[..], 0);
            let mut cuts = cuts.into_iter().cycle();
            while !rest.is_empty() {
                let room = decoder.room();
                prop_assert!(!room.is_empty());
                let len = cuts.next().unwrap().min(room.len()).min(rest.len());
                room[..len].copy_from_slice(&rest[..len]);
                decoder.filled(len);
                rest = &rest[len..];
                while decoder.take(&mut batch).unwrap() > 0 {
                    for (kind, body) in batch.iter() {
                        prop_assert_eq!((kind, body.len()), messages[got]);
                        prop_assert!(body.iter().enumerate().all(|(b, byte)| *byte == (b + got) as u8));
                        got += 1;
                    }
                    batch.clear();
                }
            }
            prop_assert_eq!(got, messages.len());
        }
    }

    #[test]
    fn malformed_heads_are_refused() {
        let mut decoder = Decoder::default();
        decoder.room()[..8].copy_from_slice(&message_head(1, BODY_MAX + 1));
        decoder.filled(8);
        assert_eq!(decoder.take(&mut Batch::new()), Err(Violation::MessageLength));
        let good = Piece { id: 7, total: 100, offset: 60, len: 40 };
        assert_eq!(Piece::decode(&good.encode()), Some(good));
        let bad = [
            Piece { len: 41, ..good },
            Piece { len: 0, ..good },
            Piece { offset: u64::MAX, ..good },
            Piece { total: u64::MAX, len: Piece::MAX + 1, ..good },
        ];
        for piece in bad {
            assert_eq!(Piece::decode(&piece.encode()), None, "{piece:?}");
        }
        let mut rest = good.encode();
        rest[31] = 1;
        assert_eq!(Piece::decode(&rest), None);
    }
}
