//! Options of a connection to a rack.

use std::time::Duration;

use rackloom_host::Keys;
use rackloom_sign::Policy;
use rackloom_wire::MacAddr;

/// Options of a connection.
#[derive(Debug, Clone)]
pub struct RackOptions {
    /// The host's address; `None`: a random one that is locally administered.
    pub mac: Option<MacAddr>,
    /// Seed of nonces and group ids; `None`: from the operating system.
    pub seed: Option<u64>,
    /// Whether to use jumbo frames where the segment allows them. Cards without support get standard frames.
    pub jumbo: bool,
    /// The host's keys. Its address is then one of the host's, whatever `mac` says, and only cards are claimed that it
    /// has a key for.
    pub keys: Option<Keys>,
    /// Whether a host without keys may claim cards on an interface: whoever is on that network can then take the cards
    /// over, read what is on them and forge results. On virtual segments, which are their user's alone, it may anyway.
    pub insecure_open: bool,
    /// Who may sign images for which cards; `None`: any image goes to any card.
    pub policy: Option<Policy>,
    /// Rate at which frames are sent, bits per second; `None`: as fast as the segment takes them.
    pub tx_rate: Option<u64>,
    /// Time limit of an operation on a card's memory, a launch or a load.
    pub deadline: Duration,
}

impl Default for RackOptions {
    fn default() -> Self {
        Self {
            mac: None,
            seed: None,
            jumbo: false,
            keys: None,
            insecure_open: false,
            policy: None,
            tx_rate: None,
            deadline: Duration::from_secs(120),
        }
    }
}
