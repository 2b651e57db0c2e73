//! Configuration of a host.

use rackloom_node::Duration;
use rackloom_wire::{BULK_STANDARD, MacAddr, Scrub};

/// Settings of a [`crate::Host`].
#[derive(Debug, Clone)]
pub struct Config {
    /// The host's own address.
    pub mac: MacAddr,
    /// Seed of nonces, group ids and jitter. Live hosts draw it from the system; simulated ones from the run's seed.
    pub seed: u64,
    /// Most payload bytes the host's link takes in a frame, a multiple of 64: [`BULK_STANDARD`] or `BULK_JUMBO`.
    pub bulk: u16,
    /// Rate at which frames leave, bits a second on the wire with preamble and gap; `None`: as fast as the wire takes
    /// them.
    pub tx_rate: Option<u64>,
    /// Shortest time before something unanswered is sent again. Longer than the path's jitter, or the wire fills with
    /// repetitions.
    pub rto_min: Duration,
    /// Longest such time, however often it was doubled.
    pub rto_max: Duration,
    /// A card that was silent this long is pinged.
    pub ping_interval: Duration,
    /// A card that was silent this long counts as vanished. At least three ping intervals, since a ping or its answer
    /// may be lost. Counts the time in which the host was served; up to eight times as long while processors are short.
    pub silence: Duration,
    /// How long claims, releases and the like may take, beside the time in which a card zeroes memory for them.
    pub control_timeout: Duration,
    /// How long a load may make no progress on a card before that card is given up.
    pub load_stall: Duration,
    /// How long a card may say that it has all of an image before it says what it makes of it. A simulated card of
    /// gateware takes more than a minute for a signature.
    pub load_check: Duration,
    /// Bytes of reads and results in flight towards this host, over all cards: what the switch's queue before this
    /// host holds.
    pub inbound_bytes: u32,
    /// With keys, only cards that it has a key for are claimed; `None`: claims have no tags.
    pub keys: Option<crate::Keys>,
    /// Who may sign images for which cards; `None`: this host loads any image into any card, as far as they take it.
    pub policy: Option<rackloom_sign::Policy>,
    /// Most cards remembered; announcements of further ones are dropped and counted.
    pub cards_max: usize,
    /// A bug that the host shall have.
    #[cfg(feature = "planted-bugs")]
    pub planted: Option<crate::PlantedBug>,
}

impl Config {
    /// Settings for a live rack.
    pub const fn live(mac: MacAddr, seed: u64) -> Self {
        Self {
            mac,
            seed,
            bulk: BULK_STANDARD,
            tx_rate: None,
            rto_min: Duration::from_millis(20),
            rto_max: Duration::from_secs(1),
            ping_interval: Duration::from_millis(500),
            silence: Duration::from_secs(2),
            control_timeout: Duration::from_secs(5),
            load_stall: Duration::from_secs(10),
            load_check: Duration::from_secs(180),
            inbound_bytes: 1 << 20,
            keys: None,
            policy: None,
            cards_max: 4096,
            #[cfg(feature = "planted-bugs")]
            planted: None,
        }
    }

    /// Settings for a simulated rack of this link rate, where time is exact and paths take microseconds.
    pub const fn simulated(mac: MacAddr, seed: u64, link_rate: u64) -> Self {
        let mut config = Self::live(mac, seed);
        config.tx_rate = Some(link_rate);
        config.rto_min = Duration::from_micros(300);
        config.rto_max = Duration::from_millis(200);
        config.ping_interval = Duration::from_millis(200);
        config.silence = Duration::from_millis(1000);
        config.inbound_bytes = 192 * 1024;
        config
    }
}

/// Options of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimOptions {
    /// The claim ends when this host was silent for this long: 100 ms to 60 s.
    pub lease: Duration,
    /// Whether the card zeroes its memory first.
    pub scrub: Scrub,
}

impl Default for ClaimOptions {
    fn default() -> Self {
        Self { lease: Duration::from_secs(5), scrub: Scrub::Keep }
    }
}
