//! What a Verilated card is, and how its surroundings behave.

use rackloom_card::{Config as CardConfig, ConfigError, Pace, PortConfig, PortService};
use rackloom_collective::SequencerConfig;
use rackloom_node::{Duration, Port};
use rackloom_role::MEMORY_BYTES_MAX;
use rackloom_wire::{BULK_STANDARD, CardKind, IMAGE_BYTES_MAX, MacAddr};

use crate::KEY_STORE_HOSTS;
use crate::ffi::{LINK_WORDS, LINKS, MACS, PORTS, STRAPS};
use crate::sign_store::has_room;

/// A card and its surroundings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// What a card of any kind has. Digest rate and DDR latency are those of the gateware, whatever stands here; the
    /// staging rate is announced and not enforced; `Clocked` is as `Live`.
    pub card: CardConfig,
    /// How wide its datapath is.
    pub width: Width,
    /// How the memory answers.
    pub ddr: DdrTiming,
    /// Parts of the memory's bandwidth that shell and role have while both want it, 1 to 15 each.
    pub shares: [u8; 2],
    /// How the rest of the surroundings behaves.
    pub stress: Stress,
    /// Number of the bug to suffer from, of those that the gateware has for tests; 0: none.
    pub planted: u8,
}

/// Bits that port 0 and the shell behind it move in a cycle: each is a gateware of its own. Other ports have 64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Width {
    /// 10 Gb/s at 156.25 MHz.
    #[default]
    Bits64,
    /// Twice that.
    Bits128,
}

impl Width {
    /// Bytes of a word.
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Self::Bits64 => 8,
            Self::Bits128 => 16,
        }
    }
}

/// How the memory answers. It moves a beat in a cycle, either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DdrTiming {
    /// Cycles from a request to its answer.
    pub latency: u32,
    /// Cycles that its data bus takes to change from reading to writing, or back.
    pub turnaround: u32,
    /// In how many of 256 cycles each channel of its own does nothing.
    pub stalls: u8,
    /// Whether what belongs to different ids comes in any order, as AXI4 allows it.
    pub mixes: bool,
}

/// What makes a card's life hard; all zero for a card that is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stress {
    /// In how many of 256 cycles the receiving port has a gap in the middle of a frame.
    pub rx_gaps: u8,
    /// In how many of 256 cycles the transmitting port is not ready between two frames.
    pub tx_stalls: u8,
    /// Whether a bit that crosses clock domains may take a cycle longer, each time at random.
    pub late: bool,
    /// How fast the clocks are.
    pub clocks: Clocks,
}

/// The clocks beside the network's. Unless all are like that one, each begins at a moment of its own, drawn from the
/// card's seed; else all edges come together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clocks {
    /// The memory's, in thousandths of the network's frequency, as the others: 250 to 4000.
    pub ddr: u32,
    /// The role's.
    pub role: u32,
    /// The configuration port's.
    pub cfg: u32,
    /// By how much edges come early or late, the network's too: picoseconds, 500 at most.
    pub jitter: u32,
}

impl Clocks {
    /// All edges together.
    pub const TOGETHER: Self = Self { ddr: 1000, role: 1000, cfg: 1000, jitter: 0 };

    /// In how many of the network's cycles, rounded up, the slowest has one.
    pub(crate) fn slowest(self) -> u32 {
        1000u32.div_ceil(self.ddr.min(self.role).min(self.cfg))
    }

    fn is_valid(self) -> bool {
        [self.ddr, self.role, self.cfg].iter().all(|clock| (250..=4000).contains(clock)) && self.jitter <= 500
    }
}

impl Default for Clocks {
    fn default() -> Self {
        Self::TOGETHER
    }
}

impl Config {
    /// A card of 64 MiB, otherwise as a model card: see [`CardConfig::new`].
    pub fn new(mac: MacAddr, pace: Pace) -> Self {
        let card = CardConfig { kind: CardKind::Rtl, memory: MEMORY, bridge: false, ..CardConfig::new(mac, pace) };
        let (width, ddr, stress) = Default::default();
        Self { card, width, ddr, shares: [1, 1], stress, planted: 0 }
    }

    /// Checks every rule that the types do not express.
    ///
    /// # Errors
    /// The first field that is out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.card.validate()?;
        let c = &self.card;
        let rules = [
            ("ports", self.ports_are_valid()),
            ("bridge", !self.has_bridge() || self.width == Width::Bits64),
            ("keys", self.keys_are_valid()),
            // The firmware that checks signatures is that of cards with keys.
            ("signers", c.signers.is_none() || (c.keys.is_some() && has_room(c))),
            // What has room for a host's port has a bridge.
            ("nic", c.nic.is_none() || self.has_bridge()),
            ("hook", c.nic.is_none_or(|nic| nic.hook.is_none())),
            ("bulk", c.bulk <= BULK_STANDARD),
            ("clocks", self.stress.clocks.is_valid()),
            ("shares", self.shares.iter().all(|share| (1..=15).contains(share))),
            ("staging_max", c.staging_max <= IMAGE_BYTES_MAX),
            ("memory", self.ddr_bytes() <= MEMORY_BYTES_MAX),
            ("ack_every", c.ack_every <= u16::MAX.into()),
            ("ack_delay", fits(c.ack_delay.as_micros())),
            ("resend_after", fits(c.resend_after.as_micros())),
            ("announce_interval", fits(c.announce_interval.as_millis() * 1000)),
            ("port_rate", fits((c.port_rate / 1_000_000).into())),
            ("stage_rate", fits((c.stage_rate / 1000).into())),
            ("config_rate", fits((c.config_rate / 1000).into())),
        ];
        match rules.iter().find(|(_, holds)| !holds) {
            Some(&(field, _)) => Err(ConfigError::Range { field }),
            None => Ok(()),
        }
    }

    /// Bytes of DDR: the hosts' memory, two staging areas that take turns, and the values of the digest tree.
    pub(crate) fn ddr_bytes(&self) -> u64 {
        let staging = self.card.staging_max.next_multiple_of(STAGING_UNIT);
        let before = self.card.memory + 2 * staging + staging / DIGEST_SHARE;
        match self.links().count() {
            0 => before,
            links => before.next_multiple_of(EARLY_BYTES) + EARLY_BYTES * links as u64,
        }
    }

    /// Its links: the port of each, and its address.
    fn links(&self) -> impl Iterator<Item = (Port, MacAddr)> {
        let ports = (1..).zip(&self.card.ports);
        ports.filter(|(_, port)| port.service == PortService::Link).map(|(number, port)| (number, port.mac))
    }

    /// Whether it is the gateware that has a bridge, and links. A card with a key has neither.
    pub(crate) fn has_bridge(&self) -> bool {
        (self.card.bridge && self.card.keys.is_none()) || self.links().next().is_some()
    }

    /// The gateware with keys has 64 bits and no links.
    fn keys_are_valid(&self) -> bool {
        let has_store = self.width == Width::Bits64 && self.links().next().is_none();
        self.card.keys.as_ref().is_none_or(|keys| has_store && keys.hosts().len() <= KEY_STORE_HOSTS)
    }

    /// Which port each MAC of the gateware is.
    pub(crate) fn macs(&self) -> [Option<Port>; MACS] {
        let mut macs = [None; MACS];
        macs[0] = Some(0);
        for (mac, (number, port)) in macs[1..PORTS].iter_mut().zip((1..).zip(&self.card.ports)) {
            *mac = (port.service != PortService::Link).then_some(number);
        }
        for (mac, (number, _)) in macs[PORTS..].iter_mut().zip(self.links()) {
            *mac = Some(number);
        }
        macs
    }

    /// The links as the gateware reads them.
    pub(crate) fn link_words(&self) -> [u32; LINK_WORDS] {
        let live = self.card.pace.is_live();
        let times = SequencerConfig::new(self.card.mac, Vec::new(), 1, BULK_STANDARD, live);
        // Live, a simulated neighbour is slow: what is sent again too soon makes it slower.
        let (shift, rto) = if live { (4, times.rto_max / 2) } else { (0, times.rto_min) };
        let ticks = |time: Duration| u32::try_from((time.as_micros() >> (6 + shift)) + 1).expect("a short time");
        let early = (self.ddr_bytes() - EARLY_BYTES * self.links().count() as u64) >> 16;
        let mut words = [0; LINK_WORDS];
        words[0] = ticks(times.patience) << 16 | ticks(rto);
        words[1] = shift << 28 | u32::try_from(early).expect("addresses have 40 bits");
        for (words, (port, MacAddr([m0, m1, m2, m3, m4, m5]))) in words[2..].chunks_exact_mut(2).zip(self.links()) {
            words[0] = u32::from_be_bytes([port, 0, m0, m1]);
            words[1] = u32::from_be_bytes([m2, m3, m4, m5]);
        }
        words
    }

    /// The gateware has so many ports; each belongs to the stream of its own number, if to any, and passes frames to
    /// the other one, if it does. Links may be any ports, and so may ports that are closed.
    fn ports_are_valid(&self) -> bool {
        let ports = &self.card.ports;
        let wired = |(stream, port): (u8, &PortConfig)| match port.service {
            PortService::Control => false,
            PortService::Link => port.passes_to.is_none(),
            PortService::Closed if usize::from(stream) >= PORTS - 1 => port.passes_to.is_none(),
            PortService::Closed => port.passes_to.is_none_or(|to| to == 2 - stream),
            PortService::Stream(of) => {
                usize::from(stream) < PORTS - 1 && of == stream && port.passes_to.is_none_or(|to| to == 2 - stream)
            }
        };
        let ends_in_link = ports.last().is_some_and(|port| port.service == PortService::Link);
        (ports.len() < PORTS || ends_in_link) && self.links().count() <= LINKS && (0..).zip(ports).all(wired)
    }

    /// The ports beside port 0 as the gateware reads them; those that the card does not have are closed.
    pub(crate) fn other_ports(&self) -> [u64; PORTS - 1] {
        core::array::from_fn(|i| {
            let Some(port) = self.card.ports.get(i) else { return 0 };
            let mac = port.mac.0.iter().fold(0, |mac, &byte| mac << 8 | u64::from(byte));
            let is_hosts = self.card.nic.is_some_and(|nic| usize::from(nic.host) == i + 1);
            if port.service == PortService::Link {
                return 0;
            }
            let [streams, passes] = [port.service != PortService::Closed, port.passes_to.is_some()].map(u64::from);
            mac | streams << 48 | passes << 49 | u64::from(is_hosts) << 50
        })
    }

    /// The configuration as the gateware reads it: registers STRAP of the shell.
    pub(crate) fn straps(&self) -> [u32; STRAPS] {
        let c = &self.card;
        let [m0, m1, m2, m3, m4, m5] = c.mac.0;
        let [n0, n1, n2, n3, n4, n5] = c.ports.first().map_or(MacAddr::ZERO, |port| port.mac).0;
        let ports = u32::try_from(c.ports.len() + 1).expect("validated");
        let small = |n: u64| u32::try_from(n).expect("validated");
        let micros = |d: Duration| u32::try_from(d.as_micros()).expect("validated");
        let kind = u32::from(u8::from(c.kind));
        [
            u32::from_be_bytes([0, 0, m0, m1]),
            u32::from_be_bytes([m2, m3, m4, m5]),
            u32::from(c.unit) << 16 | kind << 8 | ports,
            u32::from(c.vendor) << 16 | u32::from(c.product),
            c.boot,
            (c.seed ^ c.seed >> 32) as u32,
            small(c.memory / rackloom_card::MEMORY_UNIT),
            c.clock_khz,
            small(c.port_rate / 1_000_000),
            small(c.stage_rate / 1000),
            small(c.config_rate / 1000),
            small(c.staging_max),
            u32::from(c.bulk) | c.ack_every << 16,
            micros(c.ack_delay),
            micros(c.resend_after),
            u32::try_from(c.announce_interval.as_millis()).expect("validated"),
            u32::from_be_bytes([0, 0, n0, n1]),
            u32::from_be_bytes([n2, n3, n4, n5]),
        ]
    }
}

impl Default for DdrTiming {
    /// About 200 ns, and 13 ns for the bus, without stalls and in order.
    fn default() -> Self {
        Self { latency: 30, turnaround: 2, stalls: 0, mixes: false }
    }
}

/// The card compares times of 32 bits of microseconds, so a time span has 31.
fn fits(n: u128) -> bool {
    n <= i32::MAX as u128
}

/// Memory of a card that says nothing else: what simulated kernels fill in reasonable time.
const MEMORY: u64 = 64 << 20;
/// Bytes for what comes early over a link: a place of 16 KiB for each context of the neighbour.
const EARLY_BYTES: u64 = rackloom_wire::link::CONTEXTS as u64 * rackloom_wire::link::EAGER as u64;
/// Granule of the staging areas.
const STAGING_UNIT: u64 = 1 << 20;
/// The leaves of the digest tree have 32 bytes for each 1024 of the image, and all levels together twice that.
const DIGEST_SHARE: u64 = 16;
