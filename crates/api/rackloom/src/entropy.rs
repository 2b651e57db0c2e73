//! Random addresses of live hosts.

use rackloom_live::random_u64;
use rackloom_wire::MacAddr;

/// A locally administered unicast address, random but for its first byte.
pub fn random_mac() -> MacAddr {
    let [a, b, c, d, e, ..] = random_u64().to_be_bytes();
    MacAddr([0x02, a, b, c, d, e])
}
