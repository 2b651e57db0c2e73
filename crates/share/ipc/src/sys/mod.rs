//! The system calls that this crate makes, and all of its unsafe code.

pub(crate) mod fork;
pub(crate) mod futex;
pub(crate) mod map;
pub(crate) mod socket;
