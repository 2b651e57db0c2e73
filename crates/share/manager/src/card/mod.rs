//! Boards that are Rackloom cards, reached over Ethernet.
//!
//! An OpenCL program is an image file ([`rackloom_image`]), a kernel what the image's manifest describes, a buffer a
//! piece of the card's memory. A launch is one call of the kernel, so its index space has one work-item.
//!
//! # One image at a time
//! A card serves one image. A launch of a kernel of another one reconfigures it first, with the board in hand. So that
//! tenants do not take the card from each other at every task, an image can be built only while no other tenant has
//! one that differs ([`tenancy`]); memory stays as it is when a card is reconfigured.
//!
//! Where a registry shares out the boards of several managers, it is asked before that ([`consent`]): it knows which
//! tenants are about to come or to leave.
//!
//! # A claim that is lost
//! A card is claimed when it comes, and for as long as the manager runs ([`card_monitor`]). One that vanishes or is taken by
//! another host is claimed again when it is there again, with its memory zeroed: what was in buffers is gone, and they
//! say so. Each claim has a number, and each buffer that of the claim under which it was made, so that none is ever
//! mistaken for memory of a later one ([`claim`]).

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
