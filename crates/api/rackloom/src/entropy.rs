//! Random numbers from the operating system, for addresses and seeds of live hosts.

use std::hash::{BuildHasher, Hasher, RandomState};

use rackloom_wire::MacAddr;

/// 64 random bits, different in each process. Not for secrets.
pub(crate) fn random_u64() -> u64 {
    // The standard library seeds its hash tables from the operating system, once a thread, and counts up from there;
    // the process id is hashed in because a fork would otherwise repeat it.
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}

/// A locally administered unicast address, random but for its first byte.
pub fn random_mac() -> MacAddr {
    let [a, b, c, d, e, ..] = random_u64().to_be_bytes();
    MacAddr([0x02, a, b, c, d, e])
}
