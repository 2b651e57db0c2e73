//! The rack of one run, as the plan describes it, and what is done to it.

use rackloom_card::{Config as CardConfig, FlashConfig, Pace};
use rackloom_host::{Config as HostConfig, Host};
use rackloom_node::{Duration, Instant, Rng};
use rackloom_rack::{Kind, Maker, RackSpec, SimRack, Slot};
use rackloom_sign::{Release, Versions};
use rackloom_sim::{Cable, SwitchConfig};
use rackloom_stranger::Keyring;
use rackloom_wire::{MacAddr, Restart};

use crate::bad_card::{BadCard, Badness};
use crate::hostile::Hostile;
use crate::images;
use crate::mangler::Mangler;
use crate::plan::Plan;
use crate::player::Player;
use crate::starving::{self, Member, Starving};

/// Memory of a card: slots and cells fit, and a new card costs little.
const MEMORY: u64 = 4 << 20;

/// Address of the bad card, if there is one.
pub(crate) const BAD_CARD: MacAddr = MacAddr([2, 0x52, 0x4c, 2, 0, 0]);
/// The stranger's own address, if there is one.
const STRANGER: MacAddr = MacAddr([2, 0x52, 0x4c, 3, 0, 0]);

/// The rack.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) rack: SimRack<Player<Mangler>>,
    pub(crate) rng: Rng,
    maker: NodeMaker,
    starving: Option<Starving>,
}

/// Makes hosts and cards as the plan wants them.
#[derive(Debug)]
struct NodeMaker {
    plan: Plan,
    planted: Option<PlantedBug>,
    /// Of a plan with a stranger.
    keyring: Option<Keyring>,
    /// What each card's board keeps of the signed images that it has run.
    boards: Vec<Versions>,
}

/// A bug that cards or hosts shall have.
#[cfg(feature = "planted-bugs")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlantedBug {
    /// All cards.
    Card(rackloom_card::PlantedBug),
    /// All hosts.
    Host(rackloom_host::PlantedBug),
}
/// No bug can be planted in this build.
#[cfg(not(feature = "planted-bugs"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlantedBug {}

impl World {
    pub(crate) fn new(plan: &Plan, planted: Option<PlantedBug>) -> Self {
        let mut rng = Rng::new(plan.seed);
        let mtu = u32::from(plan.bulk) + 18;
        let mac = |is_host: bool, place: usize| match (is_host, plan.hostile) {
            (true, Some(_)) => MacAddr(rackloom_auth::host::address(place as u16, [0x52, 0x4c, 0])),
            _ => MacAddr([2, 0x52, 0x4c, u8::from(is_host), 0, place as u8]),
        };
        let cards = (0..plan.cards).map(|i| mac(false, plan.hosts + i));
        let keyring = plan.hostile.map(|_| Keyring::new(cards));
        let boards = vec![Versions::default(); plan.cards];
        let maker = NodeMaker { plan: plan.clone(), planted, keyring, boards };
        let spec = RackSpec {
            seed: rng.next_u64(),
            hosts: (0..plan.hosts).map(|i| (mac(true, i), Player::Host(maker.host(mac(true, i), &mut rng)))).collect(),
            cards: (0..plan.cards).map(|i| maker.card(mac(false, plan.hosts + i), i, &mut rng)).collect(),
            cable: Cable::TEN_GIGABIT.with_rate(plan.rate).with_mtu(mtu.next_multiple_of(100)),
            queue_bytes: 256 * 1024,
            faults: plan.faults,
            // A switch that learns nothing brings everything to everybody, the stranger too.
            addresses: if plan.hostile.is_some() { 0 } else { SwitchConfig::default().table_max },
            ..RackSpec::new(0)
        };
        let mut spec = spec;
        // Behind the hosts, where it has a port of the switch and faults on its cable as all have.
        spec.hosts.extend(plan.bad_card.map(|how| (BAD_CARD, Player::Bad(Box::new(maker.bad_card(how))))));
        let stranger = maker.stranger().map(|stranger| (STRANGER, Player::Hostile(Box::new(stranger))));
        spec.hosts.extend(stranger);
        let mut rack = SimRack::build(spec, Maker::shared()).expect("memory for small cards");
        if plan.starvation.is_some_and(|s| s.one_machine) {
            rack.net.share_machine();
        }
        let starving = plan.starvation.map(|starvation| Starving::new(starvation, plan.seed, plan.hosts));
        Self { rack, rng, maker, starving }
    }

    pub(crate) fn now(&self) -> Instant {
        self.rack.net.now()
    }

    pub(crate) fn host(&self, host: usize) -> Slot {
        self.rack.hosts()[host]
    }

    pub(crate) fn card(&self, card: usize) -> Slot {
        self.rack.cards()[card]
    }

    /// Where the stranger stands, if there is one.
    fn stranger(&self) -> Option<Slot> {
        self.rack.hosts().last().copied().filter(|slot| slot.mac == STRANGER)
    }

    /// Frames that a stranger has sent.
    pub(crate) fn attacks(&self) -> u64 {
        match self.stranger().map(|slot| self.rack.host(slot)) {
            Some(Player::Hostile(stranger)) => stranger.sent,
            _ => 0,
        }
    }

    /// Gives a host a command.
    pub(crate) fn with_host<R>(&mut self, host: usize, command: impl FnOnce(&mut Host, Instant) -> R) -> R {
        self.rack.with_host(self.host(host), |player, now| command(&mut player.host_mut().host, now))
    }

    /// Takes somebody's processor away for a while, if the plan wants it now. Says whether it did.
    pub(crate) fn starve(&mut self) -> bool {
        let (now, cards) = (self.now(), self.maker.plan.cards);
        let Some(starving) = &mut self.starving else { return false };
        let Some((member, until)) = starving.draw_next(now, cards) else { return false };
        let slot = match member {
            Member::Host(host) => self.rack.hosts()[host],
            Member::Card(card) => self.rack.cards()[card],
        };
        // No stretch is longer than the plan says: who has no processor loses none.
        if !self.rack.net.is_on(slot.node) || self.rack.net.is_starved(slot.node) {
            return false;
        }
        self.rack.net.starve(slot.node, until);
        if let Member::Host(host) = member {
            starving.note(host, now, until);
        }
        true
    }

    /// Whether a host has no processor. Then the program that commands it has none either.
    pub(crate) fn is_starved(&self, host: usize) -> bool {
        self.rack.net.is_starved(self.host(host).node)
    }

    /// A host has given up a card for its silence: it must have had the time to hear it.
    pub(crate) fn check_silence(&self, host: usize, card: MacAddr) -> Result<(), String> {
        if self.maker.plan.hostile.is_some() {
            // Whether what came in a card's name was the card's word, only its host can tell.
            return Ok(());
        }
        let heard = self.rack.host(self.host(host)).host().heard_at(card);
        let heard = heard.ok_or_else(|| format!("host {host} gave up {card}, which it has never heard"))?;
        let now = self.now();
        let counts = self.starving.as_ref().map_or(now - heard, |s| s.counts(host, heard, now));
        if starving::is_silent(counts) {
            return Ok(());
        }
        Err(format!("host {host} gave up {card}, last heard at {heard:?}, at {now:?}: it had {counts:?} to hear it"))
    }

    /// Faults stop, all have processors, and image data leaves undamaged.
    pub(crate) fn calm(&mut self) {
        let now = self.now();
        if let Some(starving) = &mut self.starving {
            starving.calm(now);
        }
        self.rack.net.calm();
        for host in 0..self.maker.plan.hosts {
            self.rack.host_mut(self.host(host)).host_mut().chance = 0.0;
        }
        if let Some(slot) = self.stranger()
            && let Player::Hostile(stranger) = self.rack.host_mut(slot)
        {
            stranger.chance = 0.0;
        }
    }

    /// Whether a card has power.
    pub(crate) fn is_on(&self, card: usize) -> bool {
        self.rack.net.is_on(self.card(card).node)
    }

    /// A card loses power; what it had sent is still on its way.
    pub(crate) fn crash_card(&mut self, card: usize) {
        if self.is_on(card) {
            self.rack.net.take(self.card(card).node);
        }
    }

    /// A beat of a card's memory breaks, or none is broken any more. False if the card has no power.
    pub(crate) fn break_memory(&mut self, card: usize, addr: Option<u64>) -> bool {
        let is_on = self.is_on(card);
        if is_on {
            self.rack.with_card(self.card(card), |card, _| card.ddr().fail(addr));
        }
        is_on
    }

    /// It has power again, and an empty memory.
    pub(crate) fn start_card(&mut self, card: usize) {
        let slot = self.card(card);
        let (kind, config) = self.maker.card(slot.mac, card, &mut self.rng);
        self.rack.restart_card(slot, kind, config).expect("memory for a small card");
    }

    /// A card runs something newer than before, and its board keeps that.
    pub(crate) fn keep(&mut self, card: usize, release: &Release) {
        let board = &mut self.maker.boards[card];
        *board = board.iter().chain([release.clone()]).collect();
    }

    /// A host's program dies and starts again.
    pub(crate) fn restart_host(&mut self, host: usize) {
        let slot = self.host(host);
        self.rack.net.take(slot.node);
        let host = self.maker.host(slot.mac, &mut self.rng);
        self.rack.restart_host(slot, Player::Host(host));
    }
}

/// Where the counters of a host's claims begin. They go on with virtual time, also when the host starts again.
const CLAIMS_FROM: u64 = 1 << 40;

/// How cards of plans with images in flash restart: as boards do, a hundred times as fast.
pub(crate) const FLASH: FlashConfig =
    FlashConfig { restart: Restart::Itself, linger: Duration::from_millis(1), boot: Duration::from_millis(13) };

impl NodeMaker {
    fn host(&self, mac: MacAddr, rng: &mut Rng) -> Mangler {
        let mut config = HostConfig::simulated(mac, rng.next_u64(), self.plan.rate);
        config.bulk = self.plan.bulk;
        (config.load_stall, config.load_check) = (Duration::from_secs(3), Duration::from_secs(6));
        if let Some(keyring) = &self.keyring {
            let number = rackloom_auth::host::number(mac.0).expect("an address of a host with keys");
            config.keys = Some(keyring.of_host(number, CLAIMS_FROM).encrypting(self.plan.encrypts()));
        }
        #[cfg(feature = "planted-bugs")]
        if let Some(PlantedBug::Host(bug)) = self.planted {
            config.planted = Some(bug);
        }
        Mangler::new(Host::new(config), self.plan.mangled, rng.fork())
    }

    /// Who attacks, if somebody does.
    fn stranger(&self) -> Option<Hostile> {
        let stranger = self.keyring.as_ref()?.stranger(self.plan.seed);
        Some(Hostile::new(stranger, self.plan.hostile?, self.plan.seed))
    }

    /// From no random numbers: whatever a seed has drawn besides stays.
    fn bad_card(&self, how: Badness) -> BadCard {
        let (_, config) = self.card(BAD_CARD, 99, &mut Rng::new(self.plan.seed));
        BadCard::new(CardConfig { flash: None, ..config }, how)
    }

    fn card(&self, mac: MacAddr, unit: usize, rng: &mut Rng) -> (Kind, CardConfig) {
        let mut config = CardConfig::new(mac, Pace::Virtual);
        config.unit = unit as u16;
        config.memory = MEMORY;
        config.bulk = self.plan.bulk;
        config.port_rate = self.plan.rate;
        config.config_rate = self.plan.config_rate;
        config.boot = rng.next_u64() as u32;
        config.seed = rng.next_u64();
        config.announce_interval = self.plan.announce_interval;
        config.flash = self.plan.flash.then_some(FLASH);
        config.keys = self.keyring.as_ref().map(|_| Keyring::of_card(mac, 0..self.plan.hosts as u16));
        // The bad card has no board.
        if let Some(versions) = self.boards.get(unit).filter(|_| self.plan.signed) {
            (config.signers, config.versions) = (Some(images::policy().of(mac, config.unit)), versions.clone());
        }
        #[cfg(feature = "planted-bugs")]
        {
            if let Some(PlantedBug::Card(bug)) = self.planted {
                config.planted = Some(bug);
            }
        }
        #[cfg(not(feature = "planted-bugs"))]
        assert!(self.planted.is_none());
        (Kind::Model, config)
    }
}
