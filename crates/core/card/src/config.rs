//! What a card is: its addresses, sizes, rates and patience.

use std::collections::BTreeSet;

use rackloom_node::{Duration, Port};
use rackloom_wire::{BEAT, BULK_JUMBO, BULK_STANDARD, CardKind, IMAGE_BYTES_MAX, MacAddr, ROLE_PRIVATE};

use crate::flash::FlashConfig;
use crate::nic::Nic;
use crate::ports::{PORTS_MAX, PortConfig, PortService};

/// How the card's time relates to the time its model takes to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Time is real. Kernels and digests take as long as they take, in slices between which frames are served.
    Live,
    /// As [`Live`](Self::Live), but a kernel ends no sooner than the role's clock and its cost model say: a rack whose
    /// cards are as fast as cards are, as long as the machine below them is faster.
    Clocked,
    /// Time is the simulator's. Kernels and digests take the time that clocks and rates say, whatever it costs to
    /// compute them.
    Virtual,
}

impl Pace {
    /// True when time is real.
    pub const fn is_live(self) -> bool {
        match self {
            Self::Live | Self::Clocked => true,
            Self::Virtual => false,
        }
    }
}

/// Everything that makes one card differ from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Address of port 0.
    pub mac: MacAddr,
    /// The ports from number 1 on; port 0 takes the control frames.
    pub ports: Vec<PortConfig>,
    /// The host's network interface through this card, if there is a host behind it.
    pub nic: Option<Nic>,
    /// Whether it has a bridge at port 0: memory and streams for peers that the owner names.
    pub bridge: bool,
    /// Slot number in the rack.
    pub unit: u16,
    /// Vendor id, announced.
    pub vendor: u16,
    /// Product id, announced.
    pub product: u16,
    /// What runs the card, announced.
    pub kind: CardKind,
    /// DDR bytes, more than `ROLE_PRIVATE`; a multiple of 64 KiB.
    pub memory: u64,
    /// Clock announced while there is no role, kHz; a role brings its own.
    pub clock_khz: u32,
    /// Rate of port 0, bits a second, announced.
    pub port_rate: u64,
    /// Rate at which image data can be staged, bytes a second; 0: as fast as it comes. What comes faster for longer
    /// than [`STAGE_FIFO`] holds is dropped.
    pub stage_rate: u64,
    /// Rate of the configuration port, bytes a second; 0: instantly.
    pub config_rate: u64,
    /// Whether its memory can be used: where its training has failed, the card says so and takes no claim.
    pub trained: bool,
    /// Rate at which memory is zeroed, bytes a second; 0: instantly.
    pub scrub_rate: u64,
    /// The configuration flash of a card that has to restart to run another image; `None`: it takes images while it
    /// runs.
    pub flash: Option<FlashConfig>,
    /// Rate of the digest pipelines in virtual time, bytes a second; 0: instantly.
    pub digest_rate: u64,
    /// In virtual time, what the shell's processor takes in a load.
    pub firmware: FirmwareTimes,
    /// In virtual time, from the arrival of a read to its data.
    pub ddr_latency: Duration,
    /// The card's key and its hosts; `None`: it takes claims without. A card with a key has no bridge.
    pub keys: Option<crate::Keys>,
    /// Who may sign what it runs; `None`: it runs images of anybody.
    pub signers: Option<rackloom_sign::Signers>,
    /// What it has run of signed images, as its board has kept it; what it runs then, it adds.
    pub versions: rackloom_sign::Versions,
    /// Most payload bytes of a frame: a multiple of 64, at most `BULK_JUMBO`.
    pub bulk: u16,
    /// Random number of this boot: another one after each restart.
    pub boot: u32,
    /// Seed of the card's random numbers: jitter and the first epoch.
    pub seed: u64,
    /// Mean interval of periodic announcements; each is drawn from 3/4 to 5/4 of it.
    pub announce_interval: Duration,
    /// Live or simulated.
    pub pace: Pace,
    /// Most role clock cycles of a launch that names no bound, and the bound of those that do.
    pub fuel_max: u64,
    /// Largest image staged, bytes, at most `IMAGE_BYTES_MAX`.
    pub staging_max: u64,
    /// Writes after which an acknowledgement is sent at the latest.
    pub ack_every: u32,
    /// Time after which a write is acknowledged at the latest.
    pub ack_delay: Duration,
    /// Time after which an unacknowledged result is sent again for the first time; it doubles up to
    /// [`RESEND_AFTER_MAX`].
    pub resend_after: Duration,
    /// A known bug to suffer from.
    #[cfg(feature = "planted-bugs")]
    pub planted: Option<crate::PlantedBug>,
}

impl Config {
    /// A card of 4 GiB on 10 GbE with standard frames: instant configuration and staging, and the digest rate of two
    /// pipelines of 4 bytes a cycle at 156.25 MHz.
    pub fn new(mac: MacAddr, pace: Pace) -> Self {
        let live = pace.is_live();
        Self {
            mac,
            ports: Vec::new(),
            nic: None,
            bridge: true,
            unit: 0,
            vendor: 0x524c,
            product: 1,
            kind: CardKind::Model,
            memory: 4 << 30,
            clock_khz: 250_000,
            port_rate: 10_000_000_000,
            stage_rate: 0,
            config_rate: 0,
            trained: true,
            scrub_rate: 0,
            flash: None,
            digest_rate: 1_250_000_000,
            firmware: FirmwareTimes::NONE,
            ddr_latency: Duration::ZERO,
            keys: None,
            signers: None,
            versions: rackloom_sign::Versions::default(),
            bulk: BULK_STANDARD,
            boot: 1,
            seed: u64::from_be_bytes([0, 0, mac.0[0], mac.0[1], mac.0[2], mac.0[3], mac.0[4], mac.0[5]]),
            announce_interval: Duration::from_secs(10),
            pace,
            fuel_max: 1 << 40,
            staging_max: IMAGE_BYTES_MAX,
            ack_every: 16,
            ack_delay: Duration::from_micros(if live { 200 } else { 20 }),
            resend_after: Duration::from_millis(if live { 20 } else { 2 }),
            #[cfg(feature = "planted-bugs")]
            planted: None,
        }
    }

    /// What the shell's processor takes for one of its tasks: live, what it takes.
    pub(crate) fn spent(&self, task: impl FnOnce(&FirmwareTimes) -> Duration) -> Duration {
        if self.pace.is_live() { Duration::ZERO } else { task(&self.firmware) }
    }

    /// Checks every rule that the types do not express.
    ///
    /// # Errors
    /// The first field that is out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let rules = [
            ("mac", !self.mac.is_multicast() && !self.mac.is_zero()),
            ("ports", self.ports_are_valid()),
            ("nic", self.nic.is_none_or(|nic| nic.is_valid(&self.ports))),
            ("memory", self.memory > ROLE_PRIVATE && self.memory.is_multiple_of(MEMORY_UNIT)),
            ("clock_khz", self.clock_khz > 0),
            ("bulk", self.bulk > 0 && self.bulk.is_multiple_of(BEAT) && self.bulk <= BULK_JUMBO),
            ("announce_interval", self.announce_interval >= Duration::from_millis(1)),
            ("fuel_max", self.fuel_max > 0),
            ("staging_max", (1..=IMAGE_BYTES_MAX).contains(&self.staging_max)),
            ("ack_every", self.ack_every > 0),
            ("resend_after", self.resend_after > Duration::ZERO && self.resend_after <= RESEND_AFTER_MAX),
        ];
        match rules.iter().find(|(_, holds)| !holds) {
            Some(&(field, _)) => Err(ConfigError::Range { field }),
            None => Ok(()),
        }
    }

    /// Each port has an address of its own, each stream one port, and control frames have port 0.
    fn ports_are_valid(&self) -> bool {
        let macs: BTreeSet<_> = self.ports.iter().map(|p| p.mac).chain([self.mac]).collect();
        let services: BTreeSet<_> = self
            .ports
            .iter()
            .filter_map(|p| match p.service {
                PortService::Stream(stream) => Some(Some(stream)),
                PortService::Control => Some(None),
                PortService::Link | PortService::Closed => None,
            })
            .collect();
        let is_single = |p: &&PortConfig| !matches!(p.service, PortService::Link | PortService::Closed);
        let open = self.ports.iter().filter(is_single).count();
        // What a link carries is for the card, and passes nowhere.
        let links = self.ports.iter().all(|p| p.service != PortService::Link || p.passes_to.is_none());
        // What passes leaves at another port, which is there.
        let passes = (1..).zip(&self.ports).all(|(number, p)| {
            p.passes_to.is_none_or(|to| to != number && (1..=self.ports.len()).contains(&usize::from(to)))
        });
        passes
            && links
            && self.ports.len() < PORTS_MAX
            && macs.len() == self.ports.len() + 1
            && macs.iter().all(|mac| !mac.is_multicast() && !mac.is_zero())
            && !services.contains(&None)
            && services.len() == open
    }
}

impl Config {
    /// A port beside port 0.
    pub(crate) fn port(&self, port: Port) -> Option<&PortConfig> {
        self.ports.get(usize::from(port).checked_sub(1)?)
    }

    /// The port that carries a stream of the role, with its address.
    pub(crate) fn port_of_stream(&self, stream: u8) -> Option<(Port, MacAddr)> {
        let (number, port) = (1..).zip(&self.ports).find(|(_, p)| p.service == PortService::Stream(stream))?;
        Some((number, port.mac))
    }
}

/// What the shell's processor takes in a load, beside what wire, digest and configuration port take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirmwareTimes {
    /// From a begin to its answer: the staging area is set up.
    pub begin: Duration,
    /// From the last block's value to the end of all checks: the tree's upper levels, the image's head and parts.
    pub check: Duration,
    /// From the configuration port's last word to the role at work.
    pub activate: Duration,
}

impl FirmwareTimes {
    /// None at all.
    pub const NONE: Self = Self { begin: Duration::ZERO, check: Duration::ZERO, activate: Duration::ZERO };
    /// That of the gateware at 156.25 MHz, measured on images of two parts: the study `saf-reconfigure` compares.
    pub const GATEWARE: Self = Self {
        begin: Duration::from_micros(87),
        check: Duration::from_micros(244),
        activate: Duration::from_micros(103),
    };
}

/// Why a card cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A field is out of its range.
    #[error("the card's `{field}` is out of its range")]
    Range {
        /// The field's name.
        field: &'static str,
    },
    /// The card's memory cannot be reserved.
    #[error("cannot reserve the card's memory")]
    Memory(#[from] rackloom_role::MemoryError),
}

/// Granule of a card's memory: a page of WebAssembly.
pub const MEMORY_UNIT: u64 = 64 << 10;
/// Longest time between two resends of a result: a host that comes back within its lease waits no longer for its data.
pub const RESEND_AFTER_MAX: Duration = Duration::from_millis(500);
/// Bytes that may come in faster than `stage_rate`: the FIFO before the staging area, 64 block RAMs of 4 KiB.
pub const STAGE_FIFO: u64 = 256 << 10;
