//! Keys, and how one comes from another.
//!
//! Each step is Ascon-PRF under the key above, of a byte that names the step and fields of fixed lengths. An extraction
//! as HKDF has it would add nothing: the keys above are uniform already. And the hash that HKDF needs would be a second
//! primitive on the card.
//!
//! Keys are overwritten when they are dropped. A move may leave a copy behind on the stack: that is as far as safe code
//! can go.

use core::fmt;

use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::cipher::CipherKey;
use crate::image::ImagesKey;
use crate::sponge::{KEY_BYTES, Start, prf};
use crate::tag::{Bound, Tag};

/// What names a step: its first byte of input.
#[derive(Clone, Copy)]
enum Step {
    Card = 1,
    Pair = 2,
    Claims = 3,
    Session = 4,
    Cipher = 5,
    Images = 6,
}

/// Bytes of the longest input of a step.
const INPUT: usize = 32;

/// A step's key: its input are the step's number and these fields, each of a length that the step fixes.
fn derive(key: &[u8; KEY_BYTES], step: Step, fields: &[&[u8]]) -> Zeroizing<[u8; KEY_BYTES]> {
    let mut input = [0; INPUT];
    input[0] = step as u8;
    let mut end = 1;
    for field in fields {
        input[end..end + field.len()].copy_from_slice(field);
        end += field.len();
    }
    Zeroizing::new(prf(key, &input[..end]))
}

macro_rules! secret {
    ($name:ident) => {
        impl $name {
            /// From bytes that somebody keeps, and that were random once.
            pub const fn new(bytes: [u8; KEY_BYTES]) -> Self {
                Self(bytes)
            }

            /// The bytes, to be kept where nobody else reads them.
            pub const fn reveal(&self) -> &[u8; KEY_BYTES] {
                &self.0
            }
        }

        impl PartialEq for $name {
            /// In a time that does not depend on them.
            fn eq(&self, other: &Self) -> bool {
                self.0.ct_eq(&other.0).into()
            }
        }

        impl Eq for $name {}

        impl fmt::Debug for $name {
            /// Not a byte of it.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($name), "(..)"))
            }
        }
    };
}

/// The key of a rack, from which those of its cards come. It is with the operator, on no card and on no host.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct RackKey([u8; KEY_BYTES]);
secret!(RackKey);

/// A card's key: provisioned once, kept by the board.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct CardKey([u8; KEY_BYTES]);
secret!(CardKey);

/// What one card and one host share.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct PairKey([u8; KEY_BYTES]);
secret!(PairKey);

impl RackKey {
    /// The key of the card with this address. Another `generation` gives another key, once a board was lost or opened.
    pub fn card(&self, mac: [u8; 6], generation: u32) -> CardKey {
        CardKey(*derive(&self.0, Step::Card, &[&mac, &generation.to_le_bytes()]))
    }
}

impl CardKey {
    /// The key for the host with this number. A host that is lost goes by refusing its `generation`: the card makes no
    /// key of it any more.
    pub fn host(&self, host: u64, generation: u32) -> PairKey {
        PairKey(*derive(&self.0, Step::Pair, &[&host.to_le_bytes(), &generation.to_le_bytes()]))
    }
}

/// What both sides have said about a session, in frames that [`PairKey::claims`] has tagged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agreement {
    /// Of the host, drawn for this claim.
    pub host_nonce: u64,
    /// Of the card, drawn for this claim: what makes the key a new one, whatever the host repeats.
    pub card_nonce: u64,
    /// The card's boot number.
    pub boot: u32,
    /// The claim's epoch.
    pub epoch: u16,
}

impl PairKey {
    /// Tags claims and their answers, before there is a session.
    pub fn claims(&self) -> SessionKey {
        SessionKey(Start::mac(&derive(&self.0, Step::Claims, &[])))
    }

    /// Tags the frames of one claim.
    pub fn session(&self, agreed: &Agreement) -> SessionKey {
        SessionKey(Start::mac(&self.agreed(Step::Session, agreed)))
    }

    /// Encrypts and tags the frames of one claim. It is no key of [`session`](Self::session): whoever has one of the
    /// two has nothing of the other.
    pub fn cipher(&self, agreed: &Agreement) -> CipherKey {
        CipherKey::new(*self.agreed(Step::Cipher, agreed))
    }

    /// Of one claim: what the keys of loads come from that this card is the first member of.
    pub fn images(&self, agreed: &Agreement) -> ImagesKey {
        ImagesKey::new(*self.agreed(Step::Images, agreed))
    }

    fn agreed(&self, step: Step, agreed: &Agreement) -> Zeroizing<[u8; KEY_BYTES]> {
        let Agreement { host_nonce, card_nonce, boot, epoch } = agreed;
        let fields: [&[u8]; 4] =
            [&host_nonce.to_le_bytes(), &card_nonce.to_le_bytes(), &boot.to_le_bytes(), &epoch.to_le_bytes()];
        derive(&self.0, step, &fields)
    }
}

/// A key that tags frames.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct SessionKey(Start);

impl SessionKey {
    /// From bytes, such as those of a group's key that was drawn for a load.
    pub fn new(bytes: &[u8; KEY_BYTES]) -> Self {
        Self(Start::mac(bytes))
    }

    /// The tag of a frame; none if it is longer than [`crate::FRAME_BYTES_MAX`].
    ///
    /// For who sends or receives frames there are [`crate::Sealer`] and [`crate::Opener`], which keep the counters.
    pub fn tag(&self, bound: &Bound<'_>) -> Option<Tag> {
        bound.tag(&self.0)
    }
}

impl fmt::Debug for SessionKey {
    /// Not a byte of it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionKey(..)")
    }
}
