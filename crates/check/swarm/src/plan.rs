//! What a seed draws.

use std::fmt;

use rackloom_node::{Duration, Rng};
use rackloom_sim::Faults;
use rackloom_wire::{BULK_JUMBO, BULK_STANDARD};

use crate::bad_card::Badness;

/// The parameters of one run.
///
/// The fault atlas. A run may contain, each kind off in half of the seeds: frames lost one by one or in bursts, damaged
/// and noticed, cut short, padded, duplicated, overtaken by up to 100 ms; cables that carry nothing for up to 2 s in
/// one or both directions; senders that stand still for up to 5 s; cards that crash, restart with empty memory, are
/// pulled with or without a goodbye, and come back; hosts that crash and come back under the same address; two hosts
/// that want the same cards; hosts and cards that get no processor for up to 3 s; memory that answers with errors at
/// one place for up to 1 s, so that its card starts again with what memory holds; cards that restart each time that
/// another image is loaded; one more card that is silent, slow, lies or announces nonsense; operations that are called
/// off or run out of time; image data that is damaged in the host's memory, which only the image's digest can tell;
/// in a quarter of the seeds, a stranger who hears everything and answers it with attacks, so cards and hosts have
/// keys; and, in a third, cards that ask for signed images, with hosts that also offer what is unsigned, tampered with,
/// signed by a stranger, or older.
///
/// It never contains damage that the frame check sequence misses: the control protocol carries no checksum of its own
/// yet (the wire has room for a 16-byte tag), so a wrong byte that Ethernet lets through is written as it came. For the
/// same reason no cable both cuts frames short and pads them: one frame that met both would have its length and wrong
/// bytes.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The seed that drew all this.
    pub seed: u64,
    /// Cards in the rack, 1 to 5.
    pub cards: usize,
    /// Hosts, 1 or 2.
    pub hosts: usize,
    /// Most payload bytes of a frame.
    pub bulk: u16,
    /// Rate of all cables, bits a second.
    pub rate: u64,
    /// Faults of all cables.
    pub faults: Faults,
    /// Probability that a frame of image data is damaged in the host, before it gets its check sequence.
    pub mangled: f64,
    /// Operations that the script tries.
    pub actions: u32,
    /// Mean time between two of them.
    pub pace: Duration,
    /// Whether cards crash and restart.
    pub crashes: bool,
    /// Whether cards are pulled and plugged in again.
    pub pulls: bool,
    /// Whether hosts crash and restart.
    pub host_crashes: bool,
    /// Whether operations are called off or get deadlines.
    pub cancels: bool,
    /// Whether kernels trap and run away.
    pub bad_kernels: bool,
    /// Whether claims and releases zero memory.
    pub scrubs: bool,
    /// Rate of the configuration ports, bytes a second; 0: instantly.
    pub config_rate: u64,
    /// Mean time between two announcements of a card that has nothing new to say.
    pub announce_interval: Duration,
    /// How hosts and cards have to wait for a processor, if they have to.
    pub starvation: Option<Starvation>,
    /// Whether memory fails.
    pub memory_faults: bool,
    /// Whether cards restart from a configuration flash to run another image.
    pub flash: bool,
    /// How one more card is bad that hosts claim and load with the others.
    pub bad_card: Option<Badness>,
    /// The part of all frames upon which a stranger does each of his attacks, from 0 to 1. `None`: there is no
    /// stranger, and nobody has a key.
    pub hostile: Option<f64>,
    /// Whether cards ask for signed images, and hosts also offer others.
    pub signed: bool,
}

/// How nodes have to wait for a processor, as processes on an overloaded machine: meanwhile frames lie unread and
/// timers do not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Starvation {
    /// Mean time from the beginning of one stretch without a processor to that of the next, over all nodes.
    pub pause: Duration,
    /// Longest stretch of a host; zero: hosts never wait.
    pub host_max: Duration,
    /// Longest stretch of a card; zero: cards never wait.
    pub card_max: Duration,
    /// Whether all nodes run on one machine, where drivers see who leaves frames unread, and say so.
    pub one_machine: bool,
}

impl Starvation {
    /// Stretches of up to 3 s: three times as long as a host waits for a silent card, and longer than any lease.
    fn draw(rng: &mut Rng) -> Self {
        let mut longest = || Duration::from_millis([30, 300, 3000][rng.below(3) as usize]);
        let (host_max, card_max) = (longest(), longest());
        Self { pause: Duration::from_millis(20 + rng.below(300)), host_max, card_max, one_machine: rng.chance(0.5) }
    }
}

impl Plan {
    /// The plan of this seed.
    pub fn draw(seed: u64) -> Self {
        let mut rng = Rng::new(seed ^ 0x005E_ED0F_4A5C);
        let mut faults = Faults::swarm(&mut rng);
        faults.flip = 0.0;
        if faults.truncate > 0.0 {
            faults.pad = 0.0;
        }
        let calm = rng.chance(0.1);
        let mut plan = Self {
            seed,
            cards: 1 + rng.below(5) as usize,
            hosts: 1 + usize::from(rng.chance(0.5)),
            bulk: if rng.chance(0.5) { BULK_STANDARD } else { BULK_JUMBO },
            rate: if rng.chance(0.7) { 10_000_000_000 } else { 1_000_000_000 },
            faults: if calm { Faults::NONE } else { faults },
            mangled: if rng.chance(0.5) { 0.0 } else { 0.02 / (1 + rng.below(10)) as f64 },
            actions: 60 + rng.below(120) as u32,
            pace: Duration::from_micros(200 + rng.below(30_000)),
            crashes: rng.chance(0.5),
            pulls: rng.chance(0.5),
            host_crashes: rng.chance(0.5),
            cancels: rng.chance(0.5),
            bad_kernels: rng.chance(0.5),
            scrubs: rng.chance(0.5),
            config_rate: if rng.chance(0.5) { 0 } else { 50_000_000 },
            announce_interval: Duration::from_secs(1),
            starvation: None,
            memory_faults: false,
            flash: false,
            bad_card: None,
            hostile: None,
            signed: false,
        };
        // Last, and from numbers of its own: whatever a seed has drawn so far stays.
        let mut own = rng.fork();
        plan.starvation = own.chance(0.5).then(|| Starvation::draw(&mut own));
        plan.memory_faults = rng.fork().chance(0.5);
        plan.flash = rng.fork().chance(0.3);
        let mut own = rng.fork();
        plan.bad_card = own.chance(0.5).then(|| Badness::draw(&mut own));
        let mut own = rng.fork();
        if own.chance(0.25) {
            plan = plan.with_stranger();
        }
        plan.signed = rng.fork().chance(0.3);
        plan
    }

    /// The same with keys and a stranger.
    #[must_use]
    pub fn with_stranger(self) -> Self {
        let part = [0.02, 0.1, 0.5][Rng::new(self.seed ^ 0x0057_12A6).below(3) as usize];
        Self { hostile: Some(part), ..self }
    }

    /// Whether hosts encrypt: with every other seed that has keys.
    pub const fn encrypts(&self) -> bool {
        self.hostile.is_some() && !self.seed.is_multiple_of(2)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "seed {:#x}: {} cards, {} hosts, bulk {}, {} Gb/s, {} actions every {:?}, configuration {} MB/s",
            self.seed,
            self.cards,
            self.hosts,
            self.bulk,
            self.rate / 1_000_000_000,
            self.actions,
            self.pace,
            self.config_rate / 1_000_000,
        )?;
        writeln!(f, "  cables: {}; image data damaged {:.4}", self.faults, self.mangled)?;
        let kinds = [
            ("card crashes", self.crashes),
            ("pulls", self.pulls),
            ("host crashes", self.host_crashes),
            ("cancels", self.cancels),
            ("bad kernels", self.bad_kernels),
            ("scrubs", self.scrubs),
            ("memory faults", self.memory_faults),
            ("images in flash", self.flash),
            ("signed images", self.signed),
        ];
        if let Some(Starvation { pause, host_max, card_max, one_machine }) = self.starvation {
            let machine = if one_machine { ", on one machine" } else { "" };
            writeln!(
                f,
                "  no processor every {pause:?}: hosts for up to {host_max:?}, cards for up to {card_max:?}{machine}"
            )?;
        }
        if let Some(bad) = self.bad_card {
            writeln!(f, "  and a {bad} card")?;
        }
        if let Some(part) = self.hostile {
            let encrypts = if self.encrypts() { ", encryption" } else { "" };
            writeln!(f, "  keys{encrypts}, and a stranger who attacks upon {part} of what he hears")?;
        }
        let on: Vec<_> = kinds.iter().filter(|(_, on)| *on).map(|(name, _)| *name).collect();
        write!(f, "  {}", if on.is_empty() { "nothing else".into() } else { on.join(", ") })
    }
}
