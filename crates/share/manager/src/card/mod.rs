//! Rackloom cards, reached over Ethernet, as boards.
//!
//! An OpenCL program is an image file ([`rackloom_image`]), a kernel is described by the image's manifest, a buffer is
//! a block of the card's memory. A launch is one call of the kernel, so its index space has one work-item.
//!
//! # One image at a time
//! A card serves one image. A launch of a kernel of another one reconfigures it first, while it holds the board. So
//! that tenants do not take the card from each other at every task, an image can be built only while no other tenant
//! has a different one ([`tenancy`]). Memory keeps its contents when a card is reconfigured.
//!
//! A registry that allocates the boards of several managers is asked first ([`consent`]): it knows which tenants are
//! about to come or to leave.
//!
//! # Lost claims
//! A card is claimed when it appears, for as long as the manager runs ([`card_monitor`]). A card that vanishes or is
//! taken by another host is claimed again when it is back, with its memory zeroed: the contents of buffers are lost,
//! and their operations fail. Each claim has a number, and each buffer the number of its claim, so that it is never
//! mistaken for memory of a later claim ([`claim`]).

mod arguments;
mod board;
mod built;
mod card_monitor;
mod claim;
mod configure;
mod consent;
mod failure;
mod inflight;
mod info;
mod memory;
mod objects;
mod program;
mod rack;
mod rects;
mod space;
mod tenancy;
mod transfer;
mod work;

pub use board::CardBoard;
pub use card_monitor::{AddCard, ConnectRack};
pub(crate) use consent::Consent;
pub use rack::{CardOptions, CardRack};
pub use tenancy::Sharing;
