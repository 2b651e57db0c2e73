//! Why an image is refused.

use crate::{ROLES_MAX, SignatureError, SignerId};

/// Why a card or a host takes no image, as far as its signature goes. As text it is at most 64 bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It has no signature.
    #[error("signed by nobody")]
    Unsigned,
    /// The signature does not count.
    #[error("{0}")]
    Signature(#[from] SignatureError),
    /// The signer is none that is known here.
    #[error("signed by {}, whom nobody knows here", .0.short())]
    Stranger(SignerId),
    /// The signer is known, for other cards.
    #[error("signed by {0}, who may not sign for it")]
    NotFor(String),
    /// A newer version has run.
    #[error("version {version} is older than {newest}")]
    Older {
        /// The image's.
        version: u64,
        /// The newest that has run.
        newest: u64,
    },
    /// The card remembers the versions of as many roles of this signer as it can.
    #[error("it has run {} roles of this signer, and keeps no more", ROLES_MAX)]
    Full,
}
