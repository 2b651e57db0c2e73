//! Where anybody may be on the network, so that who speaks there needs keys.

use rackloom_live::Net;

/// Whether who speaks on this network needs keys. A virtual segment is its user's alone; on an interface is whoever
/// has come to it, unless the user has said that this does not matter.
pub(crate) fn needs_keys(net: &Net, insecure_open: bool) -> bool {
    net.interface().is_some() && !insecure_open
}

/// Whether the environment says that a program without options of its own may run open on interfaces: it does if
/// `RACKLOOM_INSECURE_OPEN` is neither empty nor 0.
pub fn insecure_open_by_environment() -> bool {
    std::env::var_os("RACKLOOM_INSECURE_OPEN").is_some_and(|value| !value.is_empty() && value != "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_needs_keys_and_a_segment_does_not() {
        let needs = |net: &str, insecure_open| needs_keys(&net.parse().unwrap(), insecure_open);
        assert!(needs("eth:enp1s0", false) && !needs("eth:enp1s0", true));
        assert!(!needs("virtual", false) && !needs("virtual:eth-enp1s0", false));
    }
}
