//! The keys of signers: the secret one that signs, and the public one by which a signer is known.

use core::fmt;
use core::str::FromStr;

use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};

/// A signer's secret key: whoever has it signs in this signer's name.
pub struct SignerKey(SigningKey);

/// A signer, by its public key of Ed25519.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SignerId(pub [u8; 32]);

impl SignerKey {
    /// The key of 32 secret random bytes.
    pub fn new(secret: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(secret))
    }

    /// Whose key it is.
    pub fn id(&self) -> SignerId {
        SignerId(self.0.verifying_key().to_bytes())
    }

    pub(crate) fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }
}

impl fmt::Debug for SignerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SignerKey(of {})", self.id())
    }
}

impl SignerId {
    /// Whether it is a key that one signer alone can have: a point of the curve, and not one of the eight of small
    /// order, under which signatures are right whoever made them.
    pub fn is_sound(&self) -> bool {
        self.key().is_some()
    }

    /// The first 16 digits, for messages.
    pub fn short(&self) -> String {
        self.to_string()[..16].to_owned()
    }

    pub(crate) fn key(&self) -> Option<VerifyingKey> {
        VerifyingKey::from_bytes(&self.0).ok().filter(|key| !key.is_weak())
    }
}

impl fmt::Display for SignerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for SignerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SignerId({self})")
    }
}

impl FromStr for SignerId {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = "a signer's public key has 64 hexadecimal digits";
        if text.len() != 64 || !text.bytes().all(|c| c.is_ascii_hexdigit()) {
            return Err(digits);
        }
        let byte = |at: usize| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).expect("two hexadecimal digits");
        let id = Self(core::array::from_fn(byte));
        if id.is_sound() {
            Ok(id)
        } else {
            Err("these digits are no public key of Ed25519, or one that anybody can sign for")
        }
    }
}
