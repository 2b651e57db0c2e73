//! The handshake: a hello from the client, a welcome or a refusal from the server.
//!
//! Both transports use it: one packet each way on a Unix socket, one record each way on each TCP connection. All
//! numbers are little endian. Version and features leave room: a server refuses versions it does not know, and grants
//! of the features only those that both know. No features exist yet.

use crate::le::{le_u32, le_u64};

/// First bytes of both records.
const MAGIC: [u8; 4] = *b"RLch";

/// The version spoken.
pub const VERSION: u16 = 1;

/// Features that this build knows.
pub const FEATURES: u64 = 0;

/// Proof of the right to connect, made by whoever starts the client: 32 bytes, zeros if the server asks for none.
pub type Token = [u8; 32];

/// The purpose of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Messages; the first connection of a session.
    Messages,
    /// Bulk of the session that it names; TCP only.
    Bulk,
}

/// The first record, from the client.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Hello {
    /// The purpose of the connection.
    pub role: Role,
    /// Features that the client would use.
    pub features: u64,
    /// Proof of the right to connect.
    pub token: Token,
    /// The session that a bulk connection belongs to, as the welcome of the first connection said; else zero.
    pub session: [u8; 16],
}

/// Without the secrets.
impl std::fmt::Debug for Hello {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hello").field("role", &self.role).field("features", &self.features).finish_non_exhaustive()
    }
}

impl Hello {
    /// Length in bytes.
    pub const LEN: usize = 64;

    /// Encodes it.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::LEN] {
        let mut out = [0; Self::LEN];
        out[..4].copy_from_slice(&MAGIC);
        out[4..6].copy_from_slice(&VERSION.to_le_bytes());
        out[6] = matches!(self.role, Role::Bulk).into();
        out[8..16].copy_from_slice(&self.features.to_le_bytes());
        out[16..48].copy_from_slice(&self.token);
        out[48..].copy_from_slice(&self.session);
        out
    }

    /// Decodes it.
    ///
    /// # Errors
    /// The refusal to answer with: the record is malformed, or of another version.
    pub fn decode(bytes: &[u8]) -> Result<Self, Refusal> {
        if bytes.len() != Self::LEN || bytes[..4] != MAGIC {
            return Err(Refusal::Malformed);
        }
        if bytes[4..6] != VERSION.to_le_bytes() {
            return Err(Refusal::Version);
        }
        let role = match (bytes[6], bytes[7]) {
            (0, 0) => Role::Messages,
            (1, 0) => Role::Bulk,
            _ => return Err(Refusal::Malformed),
        };
        let (mut token, mut session) = ([0; 32], [0; 16]);
        token.copy_from_slice(&bytes[16..48]);
        session.copy_from_slice(&bytes[48..]);
        Ok(Self { role, features: le_u64(bytes, 8), token, session })
    }
}

/// Why a server refuses a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[repr(u16)]
#[non_exhaustive]
pub enum Refusal {
    /// The hello is malformed.
    #[error("malformed hello")]
    Malformed = 1,
    /// The server speaks another version.
    #[error("the server speaks another version of the protocol")]
    Version = 2,
    /// The token is wrong, or the peer's user may not connect.
    #[error("the token is invalid, or the user may not connect")]
    NotAdmitted = 3,
    /// The server has reached its maximum of clients.
    #[error("the server has reached its maximum of clients")]
    Full = 4,
    /// The server lacks memory or files for another client.
    #[error("the server is out of memory or file descriptors")]
    Resources = 5,
    /// No session of that name waits for its bulk connection.
    #[error("no such session")]
    Session = 6,
}

impl Refusal {
    const ALL: [Self; 6] =
        [Self::Malformed, Self::Version, Self::NotAdmitted, Self::Full, Self::Resources, Self::Session];
}

/// The second record, from the server: what it grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Welcome {
    /// Features that both know.
    pub features: u64,
    /// The session, for the bulk connection.
    pub session: [u8; 16],
    /// Bytes of each ring; 0 over TCP.
    pub ring_bytes: u32,
    /// Where positions in both rings begin.
    pub ring_start: u32,
    /// Bytes of bulk that the client may hold.
    pub bulk_bytes_max: u64,
    /// Arenas or transfers that the client may have.
    pub bulk_count_max: u32,
}

impl Welcome {
    /// Length of an answer in bytes.
    pub const LEN: usize = 64;

    /// Encodes a welcome or a refusal.
    #[must_use]
    pub fn encode(answer: &Result<Self, Refusal>) -> [u8; Self::LEN] {
        let mut out = [0; Self::LEN];
        out[..4].copy_from_slice(&MAGIC);
        out[4..6].copy_from_slice(&VERSION.to_le_bytes());
        match answer {
            Err(refusal) => out[6..8].copy_from_slice(&(*refusal as u16).to_le_bytes()),
            Ok(w) => {
                out[8..16].copy_from_slice(&w.features.to_le_bytes());
                out[16..32].copy_from_slice(&w.session);
                out[32..36].copy_from_slice(&w.ring_bytes.to_le_bytes());
                out[36..40].copy_from_slice(&w.ring_start.to_le_bytes());
                out[40..48].copy_from_slice(&w.bulk_bytes_max.to_le_bytes());
                out[48..52].copy_from_slice(&w.bulk_count_max.to_le_bytes());
            }
        }
        out
    }

    /// Decodes a welcome or a refusal; `None` if it is malformed.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Result<Self, Refusal>> {
        if bytes.len() != Self::LEN || bytes[..4] != MAGIC {
            return None;
        }
        let status = u16::from_le_bytes([bytes[6], bytes[7]]);
        if status != 0 {
            return Refusal::ALL.into_iter().find(|r| *r as u16 == status).map(Err);
        }
        if bytes[4..6] != VERSION.to_le_bytes() {
            return None;
        }
        let mut session = [0; 16];
        session.copy_from_slice(&bytes[16..32]);
        Some(Ok(Self {
            features: le_u64(bytes, 8),
            session,
            ring_bytes: le_u32(bytes, 32),
            ring_start: le_u32(bytes, 36),
            bulk_bytes_max: le_u64(bytes, 40),
            bulk_count_max: le_u32(bytes, 48),
        }))
    }
}

/// Compares two tokens in constant time.
#[must_use]
pub fn same_token(a: &Token, b: &Token) -> bool {
    std::hint::black_box(a.iter().zip(b).fold(0, |acc, (x, y)| acc | (x ^ y))) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_survive_encoding_and_other_versions_are_refused() {
        let hello = Hello { role: Role::Bulk, features: 5, token: [3; 32], session: [4; 16] };
        assert_eq!(Hello::decode(&hello.encode()), Ok(hello));
        let mut other = hello.encode();
        other[4] = 2;
        assert_eq!(Hello::decode(&other), Err(Refusal::Version));
        assert_eq!(Hello::decode(&other[1..]), Err(Refusal::Malformed));
        other[6] = 2;
        other[4] = 1;
        assert_eq!(Hello::decode(&other), Err(Refusal::Malformed));
        let welcome = Welcome {
            features: 1,
            session: [9; 16],
            ring_bytes: 1 << 18,
            ring_start: 77,
            bulk_bytes_max: 1 << 40,
            bulk_count_max: 12,
        };
        assert_eq!(Welcome::decode(&Welcome::encode(&Ok(welcome))), Some(Ok(welcome)));
        for refusal in Refusal::ALL {
            assert_eq!(Welcome::decode(&Welcome::encode(&Err(refusal))), Some(Err(refusal)));
        }
        assert!(!format!("{hello:?}").contains('3'));
        assert!(same_token(&[1; 32], &[1; 32]));
        let mut other = [1; 32];
        other[31] = 0;
        assert!(!same_token(&[1; 32], &other));
    }
}
