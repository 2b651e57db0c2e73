//! A running 64-bit hash of all that happens: the proof that the same seed gave the same run.

/// FNV-1a over 64-bit words, with a shift after each multiplication so that high bits reach low ones. Not for secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventHash(u64);

impl EventHash {
    const OFFSET: u64 = 0xCBF2_9CE4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01B3;

    pub(crate) const fn new() -> Self {
        Self(Self::OFFSET)
    }

    pub(crate) const fn mix(&mut self, word: u64) {
        let h = (self.0 ^ word).wrapping_mul(Self::PRIME);
        self.0 = h ^ (h >> 29);
    }

    pub(crate) const fn value(self) -> u64 {
        self.0
    }
}

/// Bytes of a frame that its digest covers: all headers of Rackloom and half a beat of payload.
const DIGEST_BYTES: usize = 64;

/// A cheap digest of a frame: its length and its first [`DIGEST_BYTES`] bytes.
///
/// A flipped bit further back goes unseen here; what a node makes of it does not.
pub(crate) fn digest(frame: &[u8]) -> u64 {
    let mut hash = EventHash::new();
    hash.mix(frame.len() as u64);
    let head = &frame[..frame.len().min(DIGEST_BYTES)];
    let (words, rest) = head.as_chunks::<8>();
    for word in words {
        hash.mix(u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    hash.mix(u64::from_le_bytes(last));
    hash.value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_of_the_head_and_the_length_count() {
        let frame: Vec<u8> = (0..100).collect();
        let base = digest(&frame);
        for at in 0..DIGEST_BYTES {
            let mut other = frame.clone();
            other[at] ^= 0x80;
            assert_ne!(digest(&other), base, "byte {at}");
        }
        assert_ne!(digest(&frame[..99]), base);
        // The highest bits of two words, which a bare multiplication never moves, do not cancel out.
        let mut other = frame.clone();
        other[7] ^= 0x80;
        other[15] ^= 0x80;
        assert_ne!(digest(&other), base);
        // Bytes that only zero-padding of the last word would tell apart.
        assert_ne!(digest(&[1, 2, 3]), digest(&[1, 2, 3, 0]));
    }

    #[test]
    fn order_counts() {
        let (mut a, mut b) = (EventHash::new(), EventHash::new());
        a.mix(1);
        a.mix(2);
        b.mix(2);
        b.mix(1);
        assert_ne!(a, b);
    }
}
