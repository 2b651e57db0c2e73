//! Signed images: who signed, which version, and whose signature counts on which card.
//!
//! A signature is the last part of an image, with the target `signature`: cards without signers pass over it as over
//! any part that is not theirs. It covers all bytes before it, but for two fields that depend on the signature itself:
//!
//! ```text
//! header [tag: read as 0] | part table [digest of the signature's part: read as 0] | manifest | parts | signature
//! |------------------------------------ covered: BLAKE3 of these bytes -----------------------|
//! ```
//!
//! BLAKE3 is a tree, so a card that has the digest of the whole has this one for two blocks more. What is signed is the
//! first half of the [`Signature`]'s own part and that digest, with Ed25519.
//!
//! A [`Policy`] says which signers count on which cards; [`Signers`] is its share for one card. [`Versions`] is what a
//! card has run, so that nothing older runs there again.
#![forbid(unsafe_code)]

mod key;
mod policy;
mod refusal;
mod seal;
mod signature;
mod versions;

pub use key::{SignerId, SignerKey};
pub use policy::{CARDS_MAX, Cards, NAME_MAX, Policy, PolicyError, SIGNERS_MAX, Signer, Signers};
pub use refusal::Refusal;
pub use seal::{SignError, sign, signature_of, strip};
pub use signature::{SIGNATURE_BYTES, Signature, SignatureError, Signed};
pub use versions::{Release, Versions};

/// Most roles of one signer that a card remembers: 40 bytes each. Of a further one it could not tell what is old.
pub const ROLES_MAX: usize = 64;
