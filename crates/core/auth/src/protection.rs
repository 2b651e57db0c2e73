//! How the frames of one session are kept from others.

use crate::cipher::CipherKey;
use crate::key::SessionKey;

/// The key of a session, and with it what is done to frames.
#[derive(Debug, Clone)]
pub enum Protection {
    /// Frames have tags, and can be read.
    Tags(SessionKey),
    /// Payloads are encrypted, and the same function makes the tags.
    Cipher(CipherKey),
}

impl From<SessionKey> for Protection {
    fn from(key: SessionKey) -> Self {
        Self::Tags(key)
    }
}

impl From<CipherKey> for Protection {
    fn from(key: CipherKey) -> Self {
        Self::Cipher(key)
    }
}
