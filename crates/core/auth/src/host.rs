//! Which host an address belongs to.
//!
//! A card chooses a host's key by the address that a frame comes from. Programs of one host run side by side, each with
//! an address of its own; so the host's number is in the address, and what is left of it is the program's.

/// First byte of the address of a host with a key: locally administered, and none that programs without a key draw.
const FIRST: u8 = 0x06;

/// The address of a program of this host; `own` tells it from the host's other programs.
pub const fn address(host: u16, own: [u8; 3]) -> [u8; 6] {
    let [high, low] = host.to_be_bytes();
    [FIRST, high, low, own[0], own[1], own[2]]
}

/// The number of the host that this address belongs to; `None` if it is no address of a host with a key.
pub const fn number(address: [u8; 6]) -> Option<u16> {
    let [first, high, low, ..] = address;
    if first == FIRST { Some(u16::from_be_bytes([high, low])) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_tells_the_host_it_belongs_to() {
        assert_eq!(number(address(0x1234, [9, 8, 7])), Some(0x1234));
        assert_eq!(number([0x02, 0x12, 0x34, 9, 8, 7]), None);
        assert_eq!(address(1, [0; 3])[0] & 3, 2, "locally administered, and no group");
    }
}
