//! Access: which clients may connect, which boards they see, and what they are granted.
//!
//! [`handshake`] greets a client and lets it choose a board; [`admission`] says whether it may, by a [file](tokens) or
//! by the registry's [`allowlist`]; without either, tenants are [`strangers`].

pub(crate) mod admission;
pub(crate) mod allowlist;
pub(crate) mod duration;
pub(crate) mod grant;
pub(crate) mod handshake;
pub(crate) mod limits;
pub(crate) mod shared_board;
pub(crate) mod strangers;
pub(crate) mod tokens;
