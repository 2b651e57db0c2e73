//! What a process and rank 0 say to each other before they trust each other: each shows that it knows the secret, for
//! numbers that the other has just made up, and nobody says the secret.

use subtle::ConstantTimeEq as _;

use crate::start::Secret;

/// Which rank a process says that it is, in a start of how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hello {
    pub(crate) rank: u32,
    pub(crate) size: u32,
    pub(crate) nonce: [u8; 32],
}

/// The version of all that ranks share is part of it: others are refused.
const MAGIC: &[u8; 8] = b"rlhosts1";
pub(crate) const HELLO: usize = 48;
pub(crate) const PROOF: usize = 32;

/// Who shows that it knows the secret.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Side {
    Leader,
    Member,
}

impl Hello {
    pub(crate) fn encode(&self) -> [u8; HELLO] {
        let mut bytes = [0; HELLO];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&self.rank.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.size.to_le_bytes());
        bytes[16..].copy_from_slice(&self.nonce);
        bytes
    }

    pub(crate) fn decode(bytes: &[u8; HELLO]) -> Option<Self> {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let nonce = bytes[16..].try_into().ok()?;
        (&bytes[..8] == MAGIC).then(|| Self { rank: word(8), size: word(12), nonce })
    }
}

/// What shows that a side knows the secret.
pub(crate) fn proof(secret: &Secret, side: Side, hello: &[u8; HELLO], answer: &[u8; 32]) -> [u8; PROOF] {
    let mut hasher = blake3::Hasher::new_keyed(&secret.0);
    hasher.update(match side {
        Side::Leader => b"leader",
        Side::Member => b"member",
    });
    hasher.update(hello).update(answer);
    *hasher.finalize().as_bytes()
}

pub(crate) fn is_same(a: &[u8; PROOF], b: &[u8; PROOF]) -> bool {
    a.ct_eq(b).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_of_one_side_one_secret_and_one_conversation() {
        let hello = Hello { rank: 1, size: 2, nonce: [7; 32] };
        assert_eq!(Hello::decode(&hello.encode()), Some(hello));
        let mut other = hello.encode();
        other[7] = b'2';
        assert_eq!(Hello::decode(&other), None, "another version");
        let secret = Secret::random().unwrap();
        let right = proof(&secret, Side::Member, &hello.encode(), &[9; 32]);
        assert!(is_same(&right, &proof(&secret, Side::Member, &hello.encode(), &[9; 32])));
        let second = Hello { rank: 0, ..hello }.encode();
        for wrong in [
            proof(&secret, Side::Leader, &hello.encode(), &[9; 32]),
            proof(&secret, Side::Member, &hello.encode(), &[8; 32]),
            proof(&secret, Side::Member, &second, &[9; 32]),
            proof(&Secret::random().unwrap(), Side::Member, &hello.encode(), &[9; 32]),
        ] {
            assert!(!is_same(&right, &wrong));
        }
    }
}
