//! The staging area: the chunks of an image, in whatever order they come.
//!
//! On a board they lie at the top of DDR, IMAGE_BYTES_MAX below its end. Here each is a slice of the frame that brought
//! it: a rack of 256 model cards in one process holds the image once.

use bytes::Bytes;

use crate::bitmap::Bitmap;
use crate::digest::TreeDigest;
use crate::gather::gather;

/// An image under way.
#[derive(Debug)]
pub(crate) struct Staging {
    length: u64,
    chunk: u64,
    slots: Vec<Bytes>,
    have: Bitmap,
    /// Chunks that other members have reported as missing, in the present poll.
    reported: Bitmap,
    missing: u32,
    digest: TreeDigest,
    held: usize,
}

/// What a report says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Report {
    /// Ranges `(first, chunks)` that are missing and that nobody else has reported.
    pub(crate) ranges: Vec<(u32, u32)>,
    /// Chunks left out because another member reported them.
    pub(crate) suppressed: u64,
}

impl Staging {
    /// An area for `length` bytes that come in chunks of `chunk`; both more than 0.
    pub(crate) fn new(length: u64, chunk: u16) -> Self {
        let chunk = u64::from(chunk);
        let chunks = u32::try_from(length.div_ceil(chunk)).expect("256 MiB in chunks of 64 bytes are 2^22");
        Self {
            length,
            chunk,
            slots: vec![Bytes::new(); chunks as usize],
            have: Bitmap::new(chunks),
            reported: Bitmap::new(chunks),
            missing: chunks,
            digest: TreeDigest::new(length, chunk),
            held: 0,
        }
    }

    /// Chunks in all.
    pub(crate) const fn chunks(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Chunks not yet there.
    pub(crate) const fn missing(&self) -> u32 {
        self.missing
    }

    /// The number of the chunk at `offset`, if it is one and is as long as it must be.
    pub(crate) fn index(&self, offset: u64, length: usize) -> Option<u32> {
        let whole = offset.is_multiple_of(self.chunk) && offset < self.length;
        let right = length as u64 == self.chunk.min(self.length.saturating_sub(offset));
        (whole && right).then(|| u32::try_from(offset / self.chunk).expect("less than 2^22 chunks"))
    }

    /// True when the chunk is there already.
    pub(crate) fn has(&self, index: u32) -> bool {
        self.have.get(index)
    }

    /// Puts a chunk that is not there in its place. Yields the bytes that the digest can now take in.
    pub(crate) fn insert(&mut self, index: u32, bytes: Bytes) -> u64 {
        assert!(!self.have.get(index));
        self.have.set(index);
        self.missing -= 1;
        self.held += bytes.len();
        self.slots[index as usize] = bytes;
        self.digest.arrived(index)
    }

    /// Takes one more block into the digest; false if there is none that is whole.
    pub(crate) fn hash_block(&mut self) -> bool {
        self.digest.hash_block(&self.slots)
    }

    /// True when [`hash_block`](Self::hash_block) has something to do.
    pub(crate) fn is_behind(&self) -> bool {
        self.digest.is_behind()
    }

    /// The image's digest, when all of it has been taken in.
    pub(crate) fn digest(&self) -> Option<[u8; 32]> {
        self.digest.root()
    }

    /// The digest of the first `length` bytes of the whole image, with its first 64 KiB as `change` leaves them.
    pub(crate) fn digest_of_first(&self, length: u64, change: impl FnOnce(&mut [u8])) -> [u8; 32] {
        self.digest.of_first(&self.slots, length, change)
    }

    /// Another member has reported these chunks as missing; false if there are no such chunks.
    pub(crate) fn note_reported(&mut self, first: u32, chunks: u32) -> bool {
        let sound = first.checked_add(chunks).is_some_and(|end| end <= self.chunks());
        if sound {
            self.reported.set_range(first, chunks);
        }
        sound
    }

    /// A new poll begins.
    pub(crate) fn clear_reported(&mut self) {
        self.reported.clear();
    }

    /// What to report: at most `ranges_max` ranges.
    pub(crate) fn report(&self, ranges_max: usize) -> Report {
        let mut report = Report { ranges: Vec::new(), suppressed: 0 };
        for word in 0..self.have.words().len() {
            let missing = !self.have.words()[word] & self.have.valid(word);
            report.suppressed += u64::from((missing & self.reported.words()[word]).count_ones());
            let mut left = missing & !self.reported.words()[word];
            while left != 0 {
                let start = left.trailing_zeros();
                let run = (left >> start).trailing_ones();
                left &= !(ones(run) << start);
                let first = word as u32 * 64 + start;
                let full = report.ranges.len() == ranges_max;
                match report.ranges.last_mut() {
                    Some((before, n)) if *before + *n == first => *n += run,
                    _ if full => return report,
                    _ => report.ranges.push((first, run)),
                }
            }
        }
        report
    }

    /// Copies bytes out of the whole image.
    pub(crate) fn copy(&self, range: core::ops::Range<usize>) -> Vec<u8> {
        let mut out = Vec::with_capacity(range.len());
        gather(&self.slots, self.chunk as usize, range, &mut out);
        out
    }

    /// Bytes of the image.
    pub(crate) const fn length(&self) -> u64 {
        self.length
    }

    /// Bytes that it keeps in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.held
            + self.slots.len() * size_of::<Bytes>()
            + self.have.bytes()
            + self.reported.bytes()
            + self.digest.bytes()
    }

    pub(crate) fn check_invariants(&self) {
        assert_eq!(self.chunks() - self.have.count(), self.missing);
        assert_eq!(self.held, self.slots.iter().map(Bytes::len).sum::<usize>());
        assert!(self.held as u64 <= self.length);
    }
}

const fn ones(n: u32) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(length: usize) -> Vec<u8> {
        (0..length).map(|i| (i * 7 + i / 251) as u8).collect()
    }

    fn stage(order: &[u32], length: usize, chunk: u16) -> Staging {
        let image = Bytes::from(pattern(length));
        let mut s = Staging::new(length as u64, chunk);
        for &i in order {
            let from = i as usize * usize::from(chunk);
            let to = length.min(from + usize::from(chunk));
            assert_eq!(s.index(from as u64, to - from), Some(i));
            s.insert(i, image.slice(from..to));
            while s.hash_block() {}
            s.check_invariants();
        }
        s
    }

    #[test]
    fn any_order_gives_the_digest_and_the_bytes() {
        for (length, chunk) in
            [(1usize, 64), (1472, 1472), (100_000, 1472), (65_536, 64), (65_537, 64), (1_000_000, 8960)]
        {
            let chunks = length.div_ceil(usize::from(chunk)) as u32;
            // 7919 is prime: it walks through all of them.
            let order: Vec<u32> = (0..chunks).map(|i| (u64::from(i) * 7919 % u64::from(chunks)) as u32).collect();
            let s = stage(&order, length, chunk);
            assert_eq!(s.digest(), Some(*blake3::hash(&pattern(length)).as_bytes()), "{length} by {chunk}");
            assert_eq!(s.copy(0..length), pattern(length));
            assert_eq!(s.copy(length / 3..length / 2), pattern(length)[length / 3..length / 2]);
        }
    }

    #[test]
    fn a_part_of_the_image_has_a_digest_of_its_own() {
        for (length, first) in
            [(1000, 64), (1000, 1000), (65_537, 65_536), (200_000, 65_536), (200_000, 131_073), (1_000_000, 999_872)]
        {
            let chunks = (length as u32).div_ceil(1472);
            let s = stage(&(0..chunks).collect::<Vec<_>>(), length, 1472);
            let mut bytes = pattern(length);
            bytes[48..60].fill(0);
            let digest = s.digest_of_first(first, |block| block[48..60].fill(0));
            assert_eq!(digest, *blake3::hash(&bytes[..first as usize]).as_bytes(), "{first} of {length}");
        }
    }

    #[test]
    fn reports_leave_out_what_others_reported() {
        let mut s = stage(&[0, 5, 64, 199], 200 * 64, 64);
        assert_eq!(s.report(9), Report { ranges: vec![(1, 4), (6, 58), (65, 134)], suppressed: 0 });
        assert_eq!(s.report(2), Report { ranges: vec![(1, 4), (6, 58)], suppressed: 0 });
        assert!(s.note_reported(2, 100));
        assert_eq!(s.report(9), Report { ranges: vec![(1, 1), (102, 97)], suppressed: 98 });
        assert!(s.note_reported(0, 200));
        assert_eq!(s.report(9), Report { ranges: vec![], suppressed: 196 });
        assert!(!s.note_reported(1, 200) && !s.note_reported(u32::MAX, 2));
        s.clear_reported();
        assert_eq!(s.report(9).suppressed, 0);
    }

    #[test]
    fn chunks_have_one_place_and_one_length() {
        let s = Staging::new(200, 64);
        assert_eq!(s.chunks(), 4);
        assert_eq!((s.index(128, 64), s.index(192, 8)), (Some(2), Some(3)));
        for (offset, length) in [(1, 64), (64, 63), (64, 65), (192, 64), (256, 64), (u64::MAX, 1), (0, 0)] {
            assert_eq!(s.index(offset, length), None, "{offset} {length}");
        }
    }
}
