//! Sizes and patience of a card's sequencer.

use rackloom_node::{Duration, Port};
use rackloom_transport::{AckPolicy, ConnectionConfig, Delivery};
use rackloom_wire::MacAddr;
use rackloom_wire::link::{CREDIT, MESSAGE_JUMBO};

/// Seconds after which a link is dead that has brought nothing though a program waits for it, where time is real.
pub const PATIENCE_LIVE_S: u64 = 2;

/// What makes one sequencer differ from another.
#[derive(Debug, Clone)]
pub struct SequencerConfig {
    /// Address of the card's port 0, by which its neighbours know it.
    pub mac: MacAddr,
    /// The ports that are links, each with its address. Numbers are 1 to 63.
    pub links: Vec<(Port, MacAddr)>,
    /// First life on each link: random and below 2^30, or of a counter that outlives restarts.
    pub epoch: u32,
    /// Most payload bytes of a frame, 64 to `MESSAGE_JUMBO`.
    pub longest: u16,
    /// Shortest time before something unanswered is sent again.
    pub rto_min: Duration,
    /// Longest such time.
    pub rto_max: Duration,
    /// A link over which nothing has come for so long, though a program waits for it, is dead.
    pub patience: Duration,
}

impl SequencerConfig {
    /// Live, timers allow for busy machines. In virtual time they are those of a cable of 10 Gb/s, on whose both ends a
    /// window of frames waits to leave: what answers is behind it.
    pub fn new(mac: MacAddr, links: Vec<(Port, MacAddr)>, epoch: u32, longest: u16, live: bool) -> Self {
        let (rto_min, rto_max, patience) = if live {
            (Duration::from_millis(5), Duration::from_millis(200), Duration::from_secs(PATIENCE_LIVE_S))
        } else {
            (Duration::from_micros(300), Duration::from_millis(3), Duration::from_millis(50))
        };
        Self { mac, links, epoch, longest, rto_min, rto_max, patience }
    }

    /// # Panics
    /// If something is out of its range.
    pub(crate) fn check(&self) {
        assert!((64..=MESSAGE_JUMBO).contains(&self.longest), "longest");
        assert!(self.epoch != 0, "epoch");
        assert!(self.links.iter().all(|(port, _)| (1..64).contains(port)), "links");
    }

    pub(crate) const fn connection(&self) -> ConnectionConfig {
        ConnectionConfig {
            first: 1,
            window: CREDIT as u32,
            credit: CREDIT as u32,
            opening: CREDIT as u32,
            queue_max: 1,
            delivery: Delivery::InOrder { hold: CREDIT as u32 },
            selective: true,
            ack: AckPolicy { every: 8, delay: Duration::from_nanos(self.rto_min.as_nanos() as u64 / 4) },
            asks_seldom: true,
            rto_min: self.rto_min,
            rto_max: self.rto_max,
        }
    }
}
