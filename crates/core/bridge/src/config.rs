//! Sizes and patience of a node of the bridge.

use rackloom_node::Duration;
use rackloom_transport::{AckPolicy, ConnectionConfig, Delivery, PeersLimits};
use rackloom_wire::MacAddr;
use rackloom_wire::bridge::{CHANNEL_MEMORY, CREDIT, MESSAGE_JUMBO, MESSAGE_STANDARD, TRANSACTIONS};

/// What makes one endpoint differ from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointConfig {
    /// The node's address.
    pub mac: MacAddr,
    /// Most payload bytes of a frame, 64 to `MESSAGE_JUMBO`.
    pub longest: u16,
    /// First epoch, not 0: random and below 2^30, or of a counter that outlives restarts. A life uses up another one
    /// each time that a connection ends, so a counter goes on in great steps, of 2^16 say.
    pub epoch: u32,
    /// Connections that are held at once.
    pub peers: PeersLimits,
    /// Numbers in flight to one peer, 1 to 256.
    pub window: u32,
    /// Payloads that are held until those before them come; 0: none, the peer goes back to the first missing.
    pub hold: u32,
    /// Whether selective acknowledgements are taken.
    pub selective: bool,
    /// Shortest time before something unanswered is sent again.
    pub rto_min: Duration,
    /// Longest such time.
    pub rto_max: Duration,
    /// A peer that has gone so long without doing what it owes has gone. It owes answers and acknowledgements, but no
    /// credit: it may take messages of streams as late as it likes, as long as it is heard.
    pub patience: Duration,
    /// First number of each connection: 1, but in tests of how numbers wrap. All nodes agree on it.
    #[doc(hidden)]
    pub first: u32,
}

impl EndpointConfig {
    /// A node on a rack's network with standard frames that reads selective acknowledgements. Live, patience and timers
    /// allow for busy machines; in virtual time they are those of a switch.
    pub const fn new(mac: MacAddr, epoch: u32, live: bool) -> Self {
        let (rto_min, rto_max, patience) = if live {
            (Duration::from_millis(5), Duration::from_millis(200), Duration::from_secs(2))
        } else {
            (Duration::from_micros(50), Duration::from_millis(5), Duration::from_millis(200))
        };
        let peers = PeersLimits { established: PEERS, strangers: STRANGERS, idle: Duration::from_secs(30) };
        Self {
            mac,
            longest: MESSAGE_STANDARD,
            epoch,
            peers,
            // What a stream has credit for may be in flight: in standard frames more than 100 Gb/s take in 10 us.
            window: STREAM_CREDIT as u32,
            hold: STREAM_CREDIT as u32,
            selective: true,
            rto_min,
            rto_max,
            patience,
            first: 1,
        }
    }

    /// # Panics
    /// If something is out of its range.
    pub(crate) fn check(&self) {
        assert!((64..=MESSAGE_JUMBO).contains(&self.longest), "longest");
        assert!(self.epoch != 0, "epoch");
        assert!((1..=256).contains(&self.window) && self.hold <= 256, "window");
    }

    pub(crate) fn connection(&self, channel: u16) -> ConnectionConfig {
        let is_memory = channel == CHANNEL_MEMORY;
        ConnectionConfig {
            first: self.first,
            window: self.window,
            // Requests and responses are consumed at once, so their credit only bounds what is in flight. A stream's
            // longest message has to fit.
            credit: if is_memory { 256 } else { u32::from(STREAM_CREDIT) },
            opening: CREDIT.into(),
            // Requests of ours under way, and answers to those of the peer.
            queue_max: if is_memory { 2 * TRANSACTIONS as usize } else { usize::from(STREAM_CREDIT) },
            delivery: Delivery::InOrder { hold: self.hold },
            selective: self.selective,
            ack: AckPolicy { every: 8, delay: self.rto_min / 4 },
            asks_seldom: false,
            rto_min: self.rto_min,
            rto_max: self.rto_max,
        }
    }
}

/// Peers that a node knows at once, for each of which the gateware has 64 bytes.
pub const PEERS: usize = 512;
/// Those among them that have not proved that they hear us.
pub const STRANGERS: usize = 64;
/// Bytes of a stream's message, at most.
pub const STREAM_MESSAGE_MAX: usize = 64 << 10;
/// Pieces of streams that a node takes before its owner has taken the messages: a longest message in standard frames,
/// and as many again.
pub(crate) const STREAM_CREDIT: u16 = 96;
