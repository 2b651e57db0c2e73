//! Which signers count on which cards, and why an image is refused.

use std::collections::{BTreeMap, BTreeSet};

use rackloom_wire::MacAddr;

use crate::{Refusal, Signature, SignatureError, SignerId};

/// Who may sign images for which cards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    signers: Vec<Signer>,
}

/// A signer of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signer {
    /// What messages call it: `[a-z][a-z0-9._-]{0,23}`.
    pub name: String,
    /// Its public key.
    pub key: SignerId,
    /// The cards on which its signature counts.
    pub cards: Cards,
}

/// Cards that a policy names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cards {
    /// All.
    All,
    /// These, by address or unit number.
    Only {
        /// Addresses.
        macs: BTreeSet<MacAddr>,
        /// Unit numbers.
        units: BTreeSet<u16>,
    },
}

/// The signers that one card knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signers {
    known: BTreeMap<SignerId, Known>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    name: String,
    may: bool,
}

/// Why a policy cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PolicyError {
    /// There is no signer, or one without cards: nobody could load anything.
    #[error("{0}")]
    Nobody(String),
    /// More signers or cards than a card or host keeps.
    #[error("the policy has {count} {what}; the limit is {limit}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// A name is not of the form that messages can show.
    #[error("the signer's name `{0}` is not a lower-case letter and at most 23 letters, digits, `.`, `_` or `-`")]
    Name(String),
    /// Two signers have one name, or one key.
    #[error("the policy has the {what} `{which}` twice")]
    Twice {
        /// `name` or `key`.
        what: &'static str,
        /// The name or the key.
        which: String,
    },
}

/// Most signers of a policy: a card keeps a key and a name of each.
pub const SIGNERS_MAX: usize = 64;
/// Most cards that a policy names for one signer.
pub const CARDS_MAX: usize = 4096;
/// Most letters of a signer's name, so that a refusal with it fits a frame's 64 bytes.
pub const NAME_MAX: usize = 24;

impl Policy {
    /// A policy of these signers.
    ///
    /// # Errors
    /// If it names nobody, names somebody twice, or is larger than a card keeps.
    pub fn new(signers: Vec<Signer>) -> Result<Self, PolicyError> {
        if signers.is_empty() {
            return Err(PolicyError::Nobody("the policy names no signer: no card could be loaded".into()));
        }
        let bounded = |what, count, limit| match count > limit {
            true => Err(PolicyError::TooMany { what, count, limit }),
            false => Ok(()),
        };
        bounded("signers", signers.len(), SIGNERS_MAX)?;
        let (mut names, mut keys) = (BTreeSet::new(), BTreeSet::new());
        for signer in &signers {
            if !is_name(&signer.name) {
                return Err(PolicyError::Name(signer.name.chars().take(NAME_MAX + 8).collect()));
            }
            if !names.insert(&signer.name) {
                return Err(PolicyError::Twice { what: "name", which: signer.name.clone() });
            }
            if !keys.insert(signer.key) {
                return Err(PolicyError::Twice { what: "key", which: signer.key.to_string() });
            }
            if let Cards::Only { macs, units } = &signer.cards {
                bounded("cards for one signer", macs.len() + units.len(), CARDS_MAX)?;
                if macs.is_empty() && units.is_empty() {
                    return Err(PolicyError::Nobody(format!("the policy names no card for `{}`", signer.name)));
                }
            }
        }
        Ok(Self { signers })
    }

    /// The signers, in the order of the policy.
    pub fn signers(&self) -> &[Signer] {
        &self.signers
    }

    /// The signer of this key.
    pub fn signer(&self, key: &SignerId) -> Option<&Signer> {
        self.signers.iter().find(|signer| signer.key == *key)
    }

    /// Whether a signature that is right counts on any card, and its signer.
    ///
    /// # Errors
    /// Nobody has signed, or a stranger.
    pub fn judge(&self, signature: Option<&Signature>) -> Result<&Signer, Refusal> {
        let id = signature.ok_or(Refusal::Unsigned)?.signer;
        self.signer(&id).ok_or(Refusal::Stranger(id))
    }

    /// Whether a card of this address and unit number may have an image, by what
    /// [`signature_of`](crate::signature_of) says of it.
    ///
    /// # Errors
    /// Why not.
    pub fn admits(
        &self,
        mac: MacAddr,
        unit: u16,
        signature: &Result<Option<Signature>, SignatureError>,
    ) -> Result<(), Refusal> {
        let signature = signature.as_ref().map_err(|e| Refusal::from(*e))?;
        self.of(mac, unit).judge(signature.as_ref()).map(|_| ())
    }

    /// What a card of this address and unit number needs to know of it.
    pub fn of(&self, mac: MacAddr, unit: u16) -> Signers {
        let known = |s: &Signer| (s.key, Known { name: s.name.clone(), may: s.cards.has(mac, unit) });
        Signers { known: self.signers.iter().map(known).collect() }
    }
}

impl Cards {
    /// Whether the card of this address and unit number is one of them.
    pub fn has(&self, mac: MacAddr, unit: u16) -> bool {
        match self {
            Self::All => true,
            Self::Only { macs, units } => macs.contains(&mac) || units.contains(&unit),
        }
    }
}

impl Signers {
    /// All of them: the key of each, its name, and whether its signature counts on the card, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (SignerId, &str, bool)> {
        self.known.iter().map(|(id, known)| (*id, known.name.as_str(), known.may))
    }

    /// Whether a signature that is right counts here, and the signer's name.
    ///
    /// # Errors
    /// Nobody has signed, a stranger, or somebody who counts elsewhere only.
    pub fn judge(&self, signature: Option<&Signature>) -> Result<&str, Refusal> {
        let signer = signature.ok_or(Refusal::Unsigned)?.signer;
        match self.known.get(&signer) {
            None => Err(Refusal::Stranger(signer)),
            Some(Known { name, may: false }) => Err(Refusal::NotFor(name.clone())),
            Some(Known { name, may: true }) => Ok(name),
        }
    }
}

fn is_name(name: &str) -> bool {
    let tail = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || b"._-".contains(&c);
    name.len() <= NAME_MAX && name.as_bytes().first().is_some_and(u8::is_ascii_lowercase) && name.bytes().all(tail)
}
