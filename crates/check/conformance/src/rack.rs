//! A rack: the host as programs use it, cards of any kinds, and a network between them that loses frames by a seed.

use std::collections::BTreeMap;

use bytes::Bytes;
use rackloom_card::{Config as CardConfig, Pace};
use rackloom_host::{
    ClaimOptions, Commit, Config, Event, Host, Launch, LaunchReport, LoadReport, OpError, OpId, Outcome,
};
use rackloom_node::{Duration, Either, Instant};
use rackloom_rack::{AnyCard, Kind, Maker, SimRack, Slot};
use rackloom_sim::{Cable, Faults, SwitchConfig, SwitchId};
use rackloom_wire::MacAddr;

use crate::{Specimen, bench};

/// Kinds of the cards of a rack.
pub trait Kinds {
    /// The first cards of it.
    const KINDS: &'static [Kind];

    /// As [`Specimen::lacks`].
    fn lacks(_group: &str, _case: &str) -> Option<&'static str> {
        None
    }
}

impl<S: Specimen> Kinds for S {
    const KINDS: &'static [Kind] = &[S::KIND; 2];

    fn lacks(group: &str, case: &str) -> Option<&'static str> {
        <S as Specimen>::lacks(group, case)
    }
}

/// Two cards of gateware and two models.
#[derive(Debug)]
pub struct Mixed;

impl Kinds for Mixed {
    const KINDS: &'static [Kind] = &[Kind::Rtl, Kind::Model, Kind::Rtl, Kind::Model];
}

/// A rack in virtual time.
#[derive(Debug)]
pub struct Rack {
    rack: SimRack<Host>,
    host: Slot,
    switch: SwitchId,
    cards: Vec<(Kind, Slot)>,
    /// What the host told beside the ends of operations.
    told: Vec<Event>,
}

impl Rack {
    /// A rack of these kinds of cards, discovered and claimed.
    pub fn claimed<K: Kinds>(seed: u64) -> Self {
        let mut rack = Self::new(seed);
        for &kind in K::KINDS {
            rack.plug(kind);
        }
        let cards = rack.cards();
        rack.discovered(&cards);
        rack.claim(&cards);
        rack
    }

    /// A rack without cards. The seed says which frames get lost.
    pub fn new(seed: u64) -> Self {
        let mut rack = SimRack::new(seed, Maker::shared());
        rack.net.hash_off();
        let host = Host::new(Config::simulated(bench::HOST, seed, Cable::TEN_GIGABIT.rate_bps));
        let switch = rack.net.switch(SwitchConfig::with_ports(PORTS));
        let host = rack.add_host(bench::HOST, host, switch, Cable::TEN_GIGABIT);
        Self { rack, host, switch, cards: Vec::new(), told: Vec::new() }
    }

    /// Plugs a card in and switches it on; its place in the rack.
    pub fn plug(&mut self, kind: Kind) -> usize {
        let at = self.cards.len();
        let config = config(MacAddr([2, 0, 0, 0, 1, at as u8]), 1);
        let slot = self.rack.add_card(kind, config, self.switch, Cable::TEN_GIGABIT).expect("a sound configuration");
        self.cards.push((kind, slot));
        at
    }

    /// Places of all cards.
    pub fn cards(&self) -> Vec<usize> {
        (0..self.cards.len()).collect()
    }

    /// Each frame may get lost from now on, on each card's cable and in each direction for itself.
    pub fn lose(&mut self, probability: f64) {
        for (_, slot) in &self.cards {
            self.rack.net.set_faults(slot.link, Faults::loss(probability));
        }
    }

    /// A card's cable is pulled.
    pub fn pull_cable(&mut self, at: usize) {
        self.rack.net.down(self.cards[at].1.link);
    }

    /// It is plugged in again.
    pub fn plug_cable(&mut self, at: usize) {
        self.rack.net.up(self.cards[at].1.link);
    }

    /// A card is pulled out in good order.
    pub fn unplug(&mut self, at: usize) {
        self.rack.with_card(self.cards[at].1, AnyCard::unplug);
    }

    /// A card's power fails and comes back: another boot of it, which remembers nothing.
    pub fn restart(&mut self, at: usize) {
        let (kind, slot) = self.cards[at];
        self.rack.net.take(slot.node);
        self.rack.restart_card(slot, kind, config(slot.mac, 2)).expect("a sound configuration");
    }

    /// A beat of a card's memory breaks.
    pub fn break_memory(&mut self, at: usize, addr: u64) {
        self.rack.with_card(self.cards[at].1, |card, _| card.ddr().fail(Some(addr)));
    }

    /// The host.
    pub fn host(&self) -> &Host {
        self.rack.host(self.host)
    }

    /// A card's address.
    pub fn mac(&self, at: usize) -> MacAddr {
        self.cards[at].1.mac
    }

    /// Digest of a card's image, as the card told the host.
    pub fn digest(&self, at: usize) -> Option<[u8; 32]> {
        self.host().card(self.mac(at))?.digest
    }

    /// What the host told since this was last asked, beside the ends of operations.
    pub fn told(&mut self) -> Vec<Event> {
        core::mem::take(&mut self.told)
    }

    /// Lets time pass.
    pub fn pass(&mut self, time: Duration) {
        let end = self.rack.net.now() + time;
        while let Some((_, event)) = self.next(end) {
            self.told.push(event);
        }
        self.check();
    }

    /// Waits until the host knows these cards, and only these, to be of their kinds.
    ///
    /// # Panics
    /// If it does not within half a minute.
    pub fn discovered(&mut self, cards: &[usize]) {
        let wanted: BTreeMap<_, _> = cards.iter().map(|&at| (self.mac(at), self.cards[at].0.announced())).collect();
        for _ in 0..3000 {
            let known: BTreeMap<_, _> = self.host().cards().map(|card| (card.mac, card.kind)).collect();
            if known == wanted {
                return;
            }
            self.pass(Duration::from_millis(10));
        }
        panic!("the host knows {:?}", self.host().cards().collect::<Vec<_>>());
    }

    /// Claims these cards.
    ///
    /// # Panics
    /// If one is not granted.
    pub fn claim(&mut self, cards: &[usize]) {
        for &at in cards {
            let op = self.command(|host, now, macs| host.claim(now, macs[at], ClaimOptions::default()));
            assert!(matches!(self.end(op), Ok(Outcome::Claimed { .. })), "card {at} cannot be claimed");
        }
    }

    /// Begins to load an image into these cards at once.
    pub fn begin_load(&mut self, cards: &[usize], image: &[u8]) -> OpId {
        let image = Bytes::copy_from_slice(image);
        self.command(|host, now, macs| {
            let cards: Vec<_> = cards.iter().map(|&at| macs[at]).collect();
            host.load(now, &cards, image, Commit::Each)
        })
    }

    /// Waits for the end of a load.
    ///
    /// # Panics
    /// If it ends as no load does.
    pub fn end_load(&mut self, op: OpId) -> LoadReport {
        match self.end(op) {
            Ok(Outcome::Loaded(report)) => report,
            other => panic!("a load ended as {other:?}"),
        }
    }

    /// Loads an image into these cards at once; each must take it.
    ///
    /// # Panics
    /// If one does not.
    pub fn load(&mut self, cards: &[usize], image: &[u8]) -> LoadReport {
        let op = self.begin_load(cards, image);
        let report = self.end_load(op);
        assert!(report.fault().is_none(), "{report:?}");
        let digest = Some(*blake3::hash(image).as_bytes());
        // The card tells its new digest in an announcement, which may come after the load's last frame.
        self.pass(Duration::from_millis(5));
        cards.iter().for_each(|&at| assert!(self.host().card(self.mac(at)).is_some(), "card {at} is gone"));
        self.wait("each card tells its digest", |rack| cards.iter().all(|&at| rack.digest(at) == digest));
        report
    }

    /// Launches a kernel on a card and waits for its end.
    ///
    /// # Errors
    /// What the host says of it.
    pub fn launch(&mut self, at: usize, kernel: u64, args: &[u64]) -> Result<LaunchReport, OpError> {
        let launch = Launch { kernel: kernel as u16, args: args.to_vec(), fuel: BOUND, ..Launch::default() };
        let op = self.command(|host, now, macs| host.launch(now, macs[at], launch));
        match self.end(op)? {
            Outcome::Launched(report) => Ok(report),
            other => panic!("a launch ended as {other:?}"),
        }
    }

    /// Writes to a card and waits for the end.
    ///
    /// # Errors
    /// What the host says of it.
    pub fn write(&mut self, at: usize, addr: u64, bytes: &[u8]) -> Result<(), OpError> {
        let op = self.command(|host, now, macs| host.write(now, macs[at], addr, Bytes::copy_from_slice(bytes)));
        self.end(op).map(drop)
    }

    /// Reads from a card and waits for the end.
    ///
    /// # Errors
    /// What the host says of it.
    pub fn read(&mut self, at: usize, addr: u64, length: u64) -> Result<Bytes, OpError> {
        let op = self.command(|host, now, macs| host.read(now, macs[at], addr, length));
        match self.end(op)? {
            Outcome::Data(bytes) => Ok(bytes),
            other => panic!("a read ended as {other:?}"),
        }
    }

    /// Lets time pass until something is so.
    ///
    /// # Panics
    /// If it is not so within half a minute.
    pub fn wait(&mut self, what: &str, mut is_so: impl FnMut(&Self) -> bool) {
        for _ in 0..3000 {
            if is_so(self) {
                return;
            }
            self.pass(Duration::from_millis(10));
        }
        panic!("waited half a minute until {what}");
    }

    fn command<R>(&mut self, command: impl FnOnce(&mut Host, Instant, &[MacAddr]) -> R) -> R {
        let macs: Vec<_> = self.cards.iter().map(|(_, slot)| slot.mac).collect();
        self.rack.with_host(self.host, |host, now| command(host, now, &macs))
    }

    /// Runs until an operation has ended.
    fn end(&mut self, op: OpId) -> Result<Outcome, OpError> {
        let limit = self.rack.net.now() + Duration::from_secs(60);
        while let Some((_, event)) = self.next(limit) {
            match event {
                Event::Completed { op: done, result } if done == op => return result,
                other => self.told.push(other),
            }
        }
        panic!("{op:?} does not end: {:?}", self.told);
    }

    /// The next thing that the host tells.
    fn next(&mut self, limit: Instant) -> Option<(Instant, Event)> {
        loop {
            // What models tell beside frames, gateware does not.
            if let (at, _, Either::A(event)) = self.rack.run_until(limit)? {
                return Some((at, event));
            }
        }
    }

    /// What holds for each card at any time.
    fn check(&self) {
        for (_, place) in self.rack.net.nodes() {
            match place {
                Either::A(_) => {}
                Either::B(AnyCard::Model(card)) => Specimen::check(card.as_ref()),
                Either::B(AnyCard::Rtl(card)) => Specimen::check(card.as_ref()),
            }
        }
    }
}

/// Of a card in virtual time.
fn config(mac: MacAddr, boot: u32) -> CardConfig {
    let seed = u64::from(boot) << 8 | u64::from(mac.0[5]);
    let rates = CardConfig { config_rate: 400_000_000, digest_rate: 1_250_000_000, ..bench::config() };
    CardConfig { mac, boot, seed, pace: Pace::Virtual, ..rates }
}

/// Ports of the switch: the host's and those for cards.
const PORTS: u16 = 8;
/// Cycles after which a kernel that never ends is ended.
const BOUND: u64 = 20_000;
