//! What ranks of a bench give, and a digest of what they get: as `peer.c` has them, so that both teams' are compared.

use rackloom::Datatype;

/// Elements after which a rank's begin again: a prime number, so that what is in another's place differs.
const PERIOD: u64 = 4093;

/// Bytes of a rank's elements. They are 0, 1 and 2, and at most one rank has one more than others at a place: no sum or
/// product of any type is rounded or wraps, in whatever order it is made.
pub(super) fn fill(bytes: &mut [u8], datatype: Datatype, rank: usize, size: usize) {
    let element = |i: u64| {
        let value = (i * (31 * i + 7) % 1009 % 2 + u64::from(i % size as u64 == rank as u64)) as u8;
        match datatype {
            Datatype::F32 => f32::from(value).to_le_bytes().to_vec(),
            Datatype::F64 => f64::from(value).to_le_bytes().to_vec(),
            Datatype::F16 => [0_u16, 0x3c00, 0x4000][usize::from(value)].to_le_bytes().to_vec(),
            Datatype::Bf16 => [0_u16, 0x3f80, 0x4000][usize::from(value)].to_le_bytes().to_vec(),
            _ => u64::from(value).to_le_bytes()[..datatype.size() as usize].to_vec(),
        }
    };
    let table: Vec<u8> = (0..PERIOD).flat_map(element).collect();
    for part in bytes.chunks_mut(table.len()) {
        part.copy_from_slice(&table[..part.len()]);
    }
}

/// A hash of bytes and of where they are.
pub(super) fn digest(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words.iter().fold(0xcbf2_9ce4_8422_2325, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    rest.iter().fold(hash, |hash, byte| mix(hash, u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_byte_or_place_is_another_digest_and_ranks_differ() {
        let of = |rank| {
            let mut bytes = vec![0; 100_003];
            fill(&mut bytes, Datatype::I16, rank, 3);
            bytes
        };
        assert_ne!(digest(&of(0)), digest(&of(1)));
        for at in [0, 7, 50_000, 100_002] {
            let mut other = of(0);
            other[at] ^= 1;
            assert_ne!(digest(&other), digest(&of(0)), "{at}");
        }
        let mut turned = of(0);
        turned.rotate_left(16);
        assert_ne!(digest(&turned), digest(&of(0)));
    }
}
