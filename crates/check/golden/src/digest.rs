//! BLAKE3 cut up as hardware does it: chunks to chaining values, pairs of these to parents.

use blake3::CHUNK_LEN;
use blake3::hazmat::{ChainingValue, HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root};

use crate::Fault;

/// Whether the result of a step is the digest or a value within the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Inner,
    Root,
}

/// The chaining values of all chunks, the first of which has the number `first`; the digest of a root's only chunk.
pub(crate) fn chunk_values(data: &[u8], first: u64, place: Place) -> Result<Vec<u8>, Fault> {
    if place == Place::Root {
        let alone = first == 0 && data.len() <= CHUNK_LEN;
        return if alone { Ok(blake3::hash(data).as_bytes().to_vec()) } else { Err(Fault::Argument) };
    }
    let chunks = data.len().div_ceil(CHUNK_LEN) as u64;
    let end = first.checked_add(chunks).and_then(|end| end.checked_mul(CHUNK_LEN as u64));
    if chunks == 0 || end.is_none() {
        return Err(Fault::Argument);
    }
    let value = |(number, chunk): (u64, &[u8])| {
        blake3::Hasher::new().set_input_offset(number * CHUNK_LEN as u64).update(chunk).finalize_non_root()
    };
    Ok((first..).zip(data.chunks(CHUNK_LEN)).flat_map(value).collect())
}

/// The next level of the tree: each pair of values gives one, an odd last one stays. A root has one pair.
pub(crate) fn parent_values(values: &[u8], place: Place) -> Result<Vec<u8>, Fault> {
    let (values, []) = values.as_chunks::<VALUE>() else { return Err(Fault::Argument) };
    match (values, place) {
        ([], _) => Err(Fault::Argument),
        ([left, right], Place::Root) => Ok(merge_subtrees_root(left, right, Mode::Hash).as_bytes().to_vec()),
        (_, Place::Root) => Err(Fault::Argument),
        (_, Place::Inner) => Ok(values.chunks(2).flat_map(parent).collect()),
    }
}

fn parent(pair: &[ChainingValue]) -> ChainingValue {
    match pair {
        [left, right] => merge_subtrees_non_root(left, right, Mode::Hash),
        _ => pair[0],
    }
}

/// Bytes of a chaining value.
const VALUE: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    /// The input of BLAKE3's published test vectors.
    fn pattern(length: usize) -> Vec<u8> {
        (0..length).map(|i| (i % 251) as u8).collect()
    }

    fn tree(data: &[u8]) -> Vec<u8> {
        if data.len() <= CHUNK_LEN {
            return chunk_values(data, 0, Place::Root).unwrap();
        }
        // In two runs, as the firmware has it done for blocks.
        let (head, tail) = data.split_at(CHUNK_LEN);
        let mut level = chunk_values(head, 0, Place::Inner).unwrap();
        level.extend(chunk_values(tail, 1, Place::Inner).unwrap());
        while level.len() > 2 * VALUE {
            level = parent_values(&level, Place::Inner).unwrap();
        }
        parent_values(&level, Place::Root).unwrap()
    }

    #[test]
    fn trees_have_the_digests_of_the_published_vectors() {
        let vectors = [
            (0, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"),
            (1, "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213"),
            (1024, "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7"),
            (1025, "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444"),
            (3072, "b98cb0ff3623be03326b373de6b9095218513e64f1ee2edd2525c7ad1e5cffd2"),
            (31744, "62b6960e1a44bcc1eb1a611a8d6235b6b4b78f32e7abc4fb4c6cdcce94895c47"),
            (102_400, "bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085"),
        ];
        for (length, hex) in vectors {
            let digest: String = tree(&pattern(length)).iter().map(|b| format!("{b:02x}")).collect();
            assert_eq!(digest, hex, "{length}");
        }
    }

    #[test]
    fn what_is_no_step_of_a_tree_is_refused() {
        assert_eq!(chunk_values(&[], 0, Place::Inner), Err(Fault::Argument));
        assert_eq!(chunk_values(&[0], 1, Place::Root), Err(Fault::Argument));
        assert_eq!(chunk_values(&[0; 1025], 0, Place::Root), Err(Fault::Argument));
        assert_eq!(chunk_values(&[0], u64::MAX / 1024 + 1, Place::Inner), Err(Fault::Argument));
        assert_eq!(parent_values(&[], Place::Inner), Err(Fault::Argument));
        assert_eq!(parent_values(&[0; 33], Place::Inner), Err(Fault::Argument));
        assert_eq!(parent_values(&[0; 32], Place::Root), Err(Fault::Argument));
        assert_eq!(parent_values(&[7; 32], Place::Inner), Ok(vec![7; 32]));
    }
}
