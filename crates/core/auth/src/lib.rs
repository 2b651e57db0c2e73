//! Authentication of frames: tags, encryption, the keys of cards, hosts and sessions, and what keeps replays out.
//!
//! A [`Tag`] binds a frame's bytes, whom it is for (card or host), the card's boot number and a counter. It is made by
//! Ascon-MAC, since a card has to check it at the wire's rate: `docs/src/internals/authentication.md` has the figures,
//! and those of other functions. Keys come from each other by Ascon-PRF, so a card needs one permutation for both:
//!
//! ```text
//! RackKey --card--> CardKey --host--> PairKey --session--> SessionKey or CipherKey --> Sealer, Opener
//! ```
//!
//! No key leads to one on its left, nor to one beside it. What a card keeps is its own [`CardKey`]; a host gets a
//! [`PairKey`] for each card that it may use.
//!
//! A session of two that want it so has a [`CipherKey`] instead of a [`SessionKey`]: then payloads are encrypted, and
//! the same function makes the tag.
//!
//! Hosts and model cards use it: each has a module `guard`.
#![forbid(unsafe_code)]
#![no_std]

extern crate alloc;

mod cipher;
pub mod host;
mod image;
mod key;
mod opener;
mod protection;
mod sealer;
mod sponge;
mod tag;
mod window;

pub use cipher::CipherKey;
pub use image::{ImageKey, ImagesKey};
pub use key::{Agreement, CardKey, PairKey, RackKey, SessionKey};
pub use opener::{Opener, Refused};
pub use protection::Protection;
pub use sealer::Sealer;
pub use sponge::{KEY_BYTES, TAG_BYTES, mac, prf};
pub use tag::{Bound, Direction, FRAME_BYTES_MAX, Tag};
pub use window::{Replay, Window};
