//! Processes as ranks: each is one rank of a group, and all of one start are on one machine.
//!
//! A start has a number of ranks, a place to meet and a secret ([`Start`]). Rank 0 makes a piece of memory there and
//! hands it to the others; after that nothing else connects them. In it each rank of a group has a ring of pieces
//! that it alone writes, and that those read for whom a piece is. All ranks of a group do the same operations in the
//! same order, so each knows which pieces the rings of the others have, and for whom. What is reduced is reduced in the
//! order of ranks, so that results have the same bits on every run, and those that groups of cards get.
//!
//! ```text
//!  rank 0's ring   [piece 8][piece 9][      ][...]   one writer; a piece is free again when its readers have it
//!  rank 1's ring   [piece 3][       ][      ][...]
//! ```
//!
//! Long messages that are moved as they are need no ring: their piece says where they lie, and the readers' processes
//! ask the kernel for them, if it lets them.
//!
//! A rank that ends loses a lock on that memory, whatever ended it. Whoever waits looks at the locks, so a lost rank is
//! named by all who need it, and the others go on as a smaller group ([`HostGroup::shrink`]). Processes of other users
//! can neither join nor read: the place to meet is a folder of this user, who connects is asked for user and secret,
//! and the memory has no name.
#![deny(unsafe_code)]

mod beats;
mod blame;
mod chance;
mod direct;
mod error;
mod fold;
mod group;
mod handshake;
mod meet;
mod memory;
mod moves;
mod operate;
mod patience;
mod prepared;
mod presence;
mod ring;
mod roster;
mod segment;
mod socket;
mod start;
mod steps;

pub use error::HostError;
pub use group::HostGroup;
pub use prepared::HostPrepared;
pub use start::{Secret, Start};
