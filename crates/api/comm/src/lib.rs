//! The library for C programs, as `include/rackloom_comm.h` declares it: operations of groups of cards, and of hosts.
//!
//! It stands beside that of remote memory: a program has one of them or both, and each connects by itself. This one
//! claims cards; that one is a node to which cards have opened memory.
#![deny(unsafe_code)]

mod abi;
mod comm;
mod failure;
mod group;
mod handles;
mod open;
mod operation;
mod request;
