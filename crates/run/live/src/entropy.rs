//! Random numbers from the operating system, for what must differ from one process to the next.

use std::hash::{BuildHasher, Hasher, RandomState};

/// 64 random bits, different in each process. Not for secrets.
pub fn random_u64() -> u64 {
    // The standard library seeds its hash tables from the operating system, once a thread, and counts up from there;
    // the process id is hashed in because a fork would otherwise repeat it.
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}
