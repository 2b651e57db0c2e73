//! A simulated rack: one host, cards, the switches between them.
//!
//! The host is the production [`Host`], the cards are model cards with the pace of virtual time or gateware, and all
//! run the code that they run live. Up to 20 cards stand as SAF's did: two switches of 12 ports with a cable between
//! them, ten cards and the host at the first, ten cards at the second. A larger rack is a star: such switches with 11
//! cards each around a core switch, at which the host is.
//!
//! ```text
//!   host --- switch 1 === switch 2        host --- core === leaf (11 cards)
//!            10 cards     10 cards                      === leaf (11 cards) ...
//! ```

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use rackloom_card::{Config as CardConfig, FirmwareTimes, Pace};
use rackloom_host::{ClaimOptions, Commit, Config as HostConfig, Event, Host, LoadPhase, LoadReport, OpId, Outcome};
use rackloom_node::{Duration, Either, Instant, Rng};
use rackloom_rack::{Kind, Maker, SimRack, Slot};
use rackloom_sim::{Cable, End, Faults, SwitchConfig, SwitchId, Way};
use rackloom_wire::{BULK_JUMBO, BULK_STANDARD, MacAddr};

use crate::error::{Result, StudyError};

/// What a rack is like.
#[derive(Debug, Clone, PartialEq)]
pub struct RackOptions {
    /// What runs the cards.
    pub kind: Kind,
    /// Cards plugged in at the start, 1 to 1024.
    pub cards: usize,
    /// Most cards that will ever be plugged in: the switches are sized for these.
    pub cards_max: usize,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Rate of every cable, bits a second.
    pub link_rate: u64,
    /// Frames of 8960 bytes of payload instead of 1472.
    pub jumbo: bool,
    /// Size of each output queue of the switches, bytes.
    pub queue_bytes: u32,
    /// Memory of each card, bytes.
    pub memory: u64,
    /// Rate of each card's configuration port, bytes a second.
    pub config_rate: u64,
    /// Rate of each card's digest pipelines, bytes a second.
    pub digest_rate: u64,
    /// What the shells' processors take, of model cards.
    pub firmware: FirmwareTimes,
    /// Probability that a frame is lost on a card's cable, each card and direction for itself.
    pub loss: f64,
    /// Claims are made for so long at a time.
    pub lease: Duration,
    /// A card that was silent this long is asked whether it lives; after four times as long it has vanished.
    pub ping_interval: Duration,
    /// Mean interval of a card's announcements.
    pub announce_interval: Duration,
}

impl RackOptions {
    /// SAF's rack with this many cards: 10 GbE, switches that hold 512 KiB a port, Arria 10's 400 MB/s configuration
    /// port, a digest at the speed of the wire.
    pub const fn new(cards: usize, seed: u64) -> Self {
        Self {
            kind: Kind::Model,
            cards,
            cards_max: cards,
            seed,
            link_rate: 10_000_000_000,
            jumbo: false,
            queue_bytes: 512 * 1024,
            memory: 4 << 30,
            config_rate: 400_000_000,
            digest_rate: 1_250_000_000,
            firmware: FirmwareTimes::GATEWARE,
            loss: 0.0,
            lease: Duration::from_secs(5),
            ping_interval: Duration::from_millis(200),
            announce_interval: Duration::from_secs(10),
        }
    }

    const fn bulk(&self) -> u16 {
        if self.jumbo { BULK_JUMBO } else { BULK_STANDARD }
    }

    const fn cable(&self) -> Cable {
        let cable = Cable::TEN_GIGABIT.with_rate(self.link_rate);
        // Ethernet's header is not part of the MTU: 18 bytes of our header are.
        if self.jumbo { cable.with_mtu(9000) } else { cable }
    }
}

/// A load as the host reports it, and what only an observer counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The host's report.
    pub report: LoadReport,
    /// From the call to the report.
    pub took: Duration,
    /// Passes that repaired losses.
    pub repair_rounds: u32,
}

/// A rack in virtual time.
#[derive(Debug)]
pub struct Rack {
    rack: SimRack<Host>,
    host: Slot,
    options: RackOptions,
    switches: Vec<SwitchId>,
    cards: Vec<MacAddr>,
}

impl Rack {
    /// A rack whose cards are on but not yet discovered.
    ///
    /// # Errors
    /// If an option is out of its range.
    pub fn new(options: RackOptions, maker: Maker) -> Result<Self> {
        let cards_max = options.cards_max.max(options.cards);
        if options.cards == 0 || cards_max > CARDS_MAX {
            return Err(StudyError::Option { option: "cards", why: format!("1 to {CARDS_MAX}") });
        }
        if !(0.0..1.0).contains(&options.loss) {
            return Err(StudyError::Option { option: "loss", why: "at least 0 and below 1".into() });
        }
        let mut rack = SimRack::new(options.seed, maker);
        rack.net.hash_off();
        let mut config = HostConfig::simulated(HOST, options.seed, options.link_rate);
        config.bulk = options.bulk();
        config.ping_interval = options.ping_interval;
        config.silence = options.ping_interval * 4;
        let (host, switches) = wire_up(&mut rack, Host::new(config), &options, cards_max);
        let mut rack = Self { rack, host, options, switches, cards: Vec::new() };
        for _ in 0..rack.options.cards {
            rack.plug()?;
        }
        Ok(rack)
    }

    /// Plugs one more card in and switches it on.
    ///
    /// # Errors
    /// If the card cannot be made.
    pub fn plug(&mut self) -> Result<MacAddr> {
        let number = u16::try_from(self.cards.len()).expect("at most 1024 cards");
        let [high, low] = number.to_be_bytes();
        let mac = MacAddr([0x02, 0x52, 0x4c, 1, high, low]);
        let mut draw = Rng::new(self.options.seed ^ (u64::from(number) + 1).rotate_left(40));
        let mut config = CardConfig::new(mac, Pace::Virtual);
        config.unit = number;
        config.memory = self.options.memory;
        config.port_rate = self.options.link_rate;
        config.config_rate = self.options.config_rate;
        config.digest_rate = self.options.digest_rate;
        config.firmware = self.options.firmware;
        config.bulk = self.options.bulk();
        config.announce_interval = self.options.announce_interval;
        config.seed = draw.next_u64();
        config.boot = draw.next_u64() as u32;
        // Verilated kernels fill no gigabytes.
        config.memory = config.memory.min(self.options.kind.memory());
        let switch = self.switches.iter().copied().find(|s| self.rack.net.free_port(*s).is_some());
        let switch = switch.expect("sized for all cards");
        let slot = self.rack.add_card(self.options.kind, config, switch, self.options.cable())?;
        if self.options.loss > 0.0 {
            self.rack.net.set_faults(slot.link, Faults::loss(self.options.loss));
        }
        self.cards.push(mac);
        Ok(mac)
    }

    /// Addresses of all cards, in the order in which they were plugged in.
    pub fn cards(&self) -> &[MacAddr] {
        &self.cards
    }

    /// Virtual time.
    pub fn now(&self) -> Instant {
        self.rack.net.now()
    }

    /// Frames that came out of cables so far.
    pub fn deliveries(&self) -> u64 {
        self.rack.net.deliveries()
    }

    /// Bytes on the host's cable so far, towards the rack and from it.
    pub fn host_wire_bytes(&self) -> (u64, u64) {
        let sent = |way| self.rack.net.link_stats(self.host.link, way).wire_bytes;
        (sent(Way::Forth), sent(Way::Back))
    }

    /// The host.
    pub fn host(&self) -> &Host {
        self.rack.host(self.host)
    }

    /// Gives the host a command.
    pub fn command<R>(&mut self, command: impl FnOnce(&mut Host, Instant) -> R) -> R {
        self.rack.with_host(self.host, command)
    }

    /// Runs until the host tells something, and returns it; `None` when `limit` has come.
    pub fn next(&mut self, limit: Instant) -> Option<(Instant, Event)> {
        loop {
            // What cards tell is for oracles; a study learns what the host learns.
            if let (at, _, Either::A(event)) = self.rack.run_until(limit)? {
                return Some((at, event));
            }
        }
    }

    /// Runs, giving each of the host's events to `see`, until it returns true.
    ///
    /// # Errors
    /// If it has not by the end of `patience`.
    pub fn run_until(
        &mut self,
        what: &'static str,
        patience: Duration,
        mut see: impl FnMut(&mut Self, Instant, Event) -> Result<bool>,
    ) -> Result<Instant> {
        let limit = self.now() + patience;
        while let Some((at, event)) = self.next(limit) {
            if see(self, at, event)? {
                return Ok(at);
            }
        }
        Err(StudyError::Stuck { what, at: limit })
    }

    /// Runs until the host knows all cards.
    ///
    /// # Errors
    /// If it does not within a minute.
    pub fn discover(&mut self) -> Result<()> {
        let wanted = self.cards.len();
        self.run_until("discovery", MINUTE, |rack, _, _| Ok(rack.host().cards().count() == wanted))?;
        Ok(())
    }

    /// Claims all cards.
    ///
    /// # Errors
    /// If one cannot be claimed.
    pub fn claim(&mut self) -> Result<()> {
        let options = ClaimOptions { lease: self.options.lease, ..ClaimOptions::default() };
        let cards = self.cards.clone();
        let ops = self.command(|host, now| cards.iter().map(|c| host.claim(now, *c, options)).collect());
        self.finish("claims", MINUTE, ops)?;
        Ok(())
    }

    /// Runs until these operations are complete. Their outcomes, and the time of the last.
    ///
    /// # Errors
    /// If one fails, or they take longer than `patience`.
    pub fn finish(
        &mut self,
        what: &'static str,
        patience: Duration,
        ops: Vec<OpId>,
    ) -> Result<(BTreeMap<OpId, Outcome>, Instant)> {
        let mut open: BTreeSet<OpId> = ops.into_iter().collect();
        let mut done = BTreeMap::new();
        if open.is_empty() {
            return Ok((done, self.now()));
        }
        let at = self.run_until(what, patience, |_, _, event| {
            if let Event::Completed { op, result } = event
                && open.remove(&op)
            {
                done.insert(op, result?);
            }
            Ok(open.is_empty())
        })?;
        Ok((done, at))
    }

    /// Loads an image into these cards at once.
    ///
    /// # Errors
    /// If a card does not take it, or it takes more than an hour.
    pub fn load(&mut self, cards: &[MacAddr], image: &Bytes) -> Result<Loaded> {
        let start = self.now();
        let load = self.command(|host, now| host.load(now, cards, image.clone(), Commit::Each));
        let (mut repair_rounds, mut before) = (0, LoadPhase::Begin);
        let mut report = None;
        let end = self.run_until("a load", MINUTE * 60, |_, _, event| {
            match event {
                Event::LoadProgress { op, phase, .. } if op == load => {
                    repair_rounds += u32::from(phase == LoadPhase::Repair && before != phase);
                    before = phase;
                }
                Event::Completed { op, result } if op == load => report = Some(result?),
                _ => {}
            }
            Ok(report.is_some())
        })?;
        let Some(Outcome::Loaded(report)) = report else { unreachable!("a load gives a load's outcome") };
        if let Some(why) = report.cards.values().find_map(|r| r.as_ref().err()) {
            return Err(why.clone().into());
        }
        Ok(Loaded { report, took: end - start, repair_rounds })
    }
}

/// Connects host and switches. The host's place, and the switches that take cards in the order in which they are
/// filled.
fn wire_up(rack: &mut SimRack<Host>, host: Host, options: &RackOptions, cards: usize) -> (Slot, Vec<SwitchId>) {
    let small = SwitchConfig { queue_bytes: options.queue_bytes, ..SwitchConfig::with_ports(PORTS) };
    if cards <= 20 {
        let first = rack.net.switch(small);
        let second = rack.net.switch(small);
        let host = rack.add_host(HOST, host, first, options.cable());
        let trunk = rack.net.free_port(second).expect("it has no cable yet");
        rack.net.plug(End::Switch(second, trunk), first, options.cable());
        return (host, vec![first, second]);
    }
    let leaves = cards.div_ceil(usize::from(PORTS) - 1);
    let core = rack.net.switch(SwitchConfig { ports: leaves as u16 + 1, ..small });
    let host = rack.add_host(HOST, host, core, options.cable());
    let leaves = (0..leaves).map(|_| {
        let leaf = rack.net.switch(small);
        rack.net.plug(End::Switch(leaf, 0), core, options.cable());
        leaf
    });
    (host, leaves.collect())
}

/// Ports of a Dell X4012, SAF's switch.
const PORTS: u16 = 12;
/// Most cards of a rack: the core switch then has 94 ports.
const CARDS_MAX: usize = 1024;
/// The host's address.
const HOST: MacAddr = MacAddr([0x02, 0x52, 0x4c, 0, 0, 1]);
const MINUTE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    fn rack(cards: usize) -> Rack {
        let mut rack = Rack::new(RackOptions::new(cards, 1), Maker::shared()).unwrap();
        rack.discover().unwrap();
        rack
    }

    #[test]
    fn twenty_cards_stand_at_two_switches_and_more_at_a_star() {
        // A cable for each card, for the host, and between switches: one, or one for each leaf of 11 cards.
        for (cards, switches, cables) in [(1, 2, 3), (10, 2, 12), (20, 2, 22), (21, 3, 24), (256, 25, 281)] {
            let rack = rack(cards);
            assert_eq!(rack.switches.len() + usize::from(cards > 20), switches, "{cards} cards");
            assert_eq!(rack.rack.net.links().count(), cables, "{cards} cards");
            assert_eq!(rack.host().cards().count(), cards);
        }
    }

    #[test]
    fn the_first_ten_cards_stand_with_the_host() {
        let mut rack = rack(20);
        rack.claim().unwrap();
        let read = |rack: &mut Rack, card: usize| {
            let (start, mac) = (rack.now(), rack.cards()[card]);
            let op = rack.command(|host, now| host.read(now, mac, 1 << 20, 8));
            rack.finish("a read", MINUTE, vec![op]).unwrap().1 - start
        };
        let times: Vec<_> = (0..20).map(|card| read(&mut rack, card)).collect();
        assert!(times[..10].iter().all(|t| *t == times[0]) && times[10..].iter().all(|t| *t == times[10]), "{times:?}");
        // One more switch each way: a microsecond, a cable, and a short frame once more on the wire.
        let more = times[10] - times[0];
        assert!(more > Duration::from_micros(2) && more < Duration::from_micros(3), "{more:?}");
    }

    #[test]
    fn a_card_plugged_in_later_is_discovered() {
        let options = RackOptions { cards_max: 3, ..RackOptions::new(2, 1) };
        let mut rack = Rack::new(options, Maker::shared()).unwrap();
        rack.discover().unwrap();
        let before = rack.now();
        let mac = rack.plug().unwrap();
        rack.discover().unwrap();
        assert!(rack.host().card(mac).is_some());
        assert!(rack.now() - before < Duration::from_micros(10));
    }

    #[test]
    fn what_never_happens_is_an_error() {
        let mut rack = rack(1);
        let error = rack.run_until("nothing", Duration::from_secs(1), |_, _, _| Ok(false)).unwrap_err();
        assert!(matches!(error, StudyError::Stuck { what: "nothing", .. }), "{error}");
    }
}
