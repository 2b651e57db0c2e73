//! Cards of any kinds in virtual time, a host that has claimed them, and what may happen to them.

use std::collections::BTreeMap;

use rackloom_card::{Config, Pace};
use rackloom_collective::{Group, SURVEY_BYTES};
use rackloom_host::{ClaimOptions, Config as HostConfig, Event, Host, OpError, OpId, Outcome};
use rackloom_node::{Duration, Either, Instant};
use rackloom_rack::{FarEnd, Kind, Links, Maker, RackSpec, SimRack, Slot, Topology};
use rackloom_sim::{Cable, DropReason, Faults, LinkId, Way};
use rackloom_wire::{BULK_STANDARD, MacAddr};

const HOST: MacAddr = MacAddr([2, 0, 0, 0, 0, 99]);

/// A cable between two cards.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Joint {
    pub(crate) a: usize,
    pub(crate) b: usize,
    link: LinkId,
}

impl Joint {
    pub(crate) fn joins(&self, a: usize, b: usize) -> bool {
        [(a, b), (b, a)].contains(&(self.a, self.b))
    }

    /// Whether it is a cable between two of these.
    pub(crate) fn is_among(&self, members: &[usize]) -> bool {
        members.contains(&self.a) && members.contains(&self.b)
    }
}

pub(crate) struct Yard {
    rack: SimRack<Host>,
    host: Slot,
    kinds: Vec<Kind>,
    pub(crate) joints: Vec<Joint>,
    /// The port of each card whose cable leads to each other.
    ports: Vec<Vec<Option<u8>>>,
    ended: BTreeMap<OpId, (Instant, Result<Outcome, OpError>)>,
    boots: u32,
    pub(crate) gos: u32,
}

impl Yard {
    /// Cards of 16 MiB, their kinds in turns, whose cables damage this share of all frames. The host's cables are well.
    pub(crate) fn new(kinds: [Kind; 2], cards: u16, links: &Links, seed: u64, damaged: f64) -> Self {
        let host = Host::new(HostConfig::simulated(HOST, seed, Cable::TEN_GIGABIT.rate_bps));
        let topology = Topology::default().with_links(links, cards).unwrap();
        let size = usize::from(cards);
        let kinds: Vec<_> = (0..size).map(|unit| kinds[unit % 2]).collect();
        let mut ports = vec![vec![None; size]; size];
        let mut pairs = Vec::new();
        for cable in topology.cables() {
            let FarEnd::Card(far) = &cable.1 else { unreachable!("a link joins two cards") };
            let (a, b) = (usize::from(cable.0.unit), usize::from(far.unit));
            (ports[a][b], ports[b][a]) = (Some(cable.0.port), Some(far.port));
            pairs.push((a, b));
        }
        let card = |(unit, kind): (u16, &Kind)| {
            let mut config = Config::new(MacAddr([2, 0, 0, 0, 1, unit as u8]), Pace::Virtual);
            (config.unit, config.memory, config.boot) = (unit, 16 << 20, 100 + u32::from(unit));
            // Frames of standard length, which all kinds take.
            config.bulk = BULK_STANDARD;
            config.seed = seed ^ u64::from(unit);
            (*kind, config)
        };
        let mut of = RackSpec::new(seed);
        (of.hosts, of.cards, of.topology) = (vec![(HOST, host)], (0..).zip(&kinds).map(card).collect(), topology);
        let mut rack = SimRack::build(of, Maker::shared()).unwrap();
        rack.net.hash_off();
        // Cables between cards come behind those of the host and the cards.
        let links: Vec<_> = rack.net.links().skip(1 + size).collect();
        assert_eq!(links.len(), pairs.len());
        for link in &links {
            rack.net.set_faults(*link, Faults { corrupt: damaged, ..Faults::NONE });
        }
        let joints = pairs.into_iter().zip(links).map(|((a, b), link)| Joint { a, b, link }).collect();
        let (host, ended) = (rack.hosts()[0], BTreeMap::new());
        let mut made = Self { rack, host, kinds, joints, ports, ended, boots: 1000, gos: 0 };
        (0..size).for_each(|card| made.claim(card));
        made
    }

    pub(crate) fn size(&self) -> usize {
        self.kinds.len()
    }

    pub(crate) fn now(&self) -> Instant {
        self.rack.net.now()
    }

    pub(crate) fn mac(&self, card: usize) -> MacAddr {
        self.rack.cards()[card].mac
    }

    /// Some of the cards, rank by rank.
    pub(crate) fn group(&self, members: &[usize]) -> Group {
        Group::new(members.iter().map(|a| members.iter().map(|b| self.ports[*a][*b]).collect()).collect())
    }

    /// The port of a card whose cable leads to another.
    pub(crate) fn port(&self, card: usize, to: usize) -> u8 {
        self.ports[card][to].expect("they are joined")
    }

    /// The card to which a card's port leads.
    pub(crate) fn neighbour(&self, card: usize, port: u8) -> Option<usize> {
        self.ports[card].iter().position(|of| *of == Some(port))
    }

    /// What a card's survey has to find.
    pub(crate) fn neighbours(&self, card: usize) -> Vec<u8> {
        let mut table = vec![0; SURVEY_BYTES as usize];
        for (other, port) in self.ports[card].iter().enumerate().filter_map(|(other, port)| Some((other, (*port)?))) {
            let row = &mut table[usize::from(port) * 16..][..8];
            row[..6].copy_from_slice(&self.mac(other).0);
            (row[6], row[7]) = (self.ports[other][card].expect("a cable has two ends"), 1);
        }
        table
    }

    pub(crate) fn command<R>(&mut self, command: impl FnOnce(&mut Host, Instant) -> R) -> R {
        self.rack.with_host(self.host, command)
    }

    fn note<E>(&mut self, at: Instant, event: Either<Event, E>) {
        if let Either::A(Event::Completed { op, result }) = event {
            self.ended.insert(op, (at, result));
        }
    }

    pub(crate) fn pass(&mut self, time: Duration) {
        let end = self.now() + time;
        while let Some((at, _, event)) = self.rack.run_until(end) {
            self.note(at, event);
        }
    }

    /// When an operation of the host has ended, and how. At most ten seconds pass.
    pub(crate) fn end(&mut self, op: OpId) -> (Instant, Result<Outcome, OpError>) {
        let limit = self.now() + Duration::from_secs(10);
        loop {
            if let Some(ended) = self.ended.remove(&op) {
                return ended;
            }
            let (at, _, event) = self.rack.run_until(limit).expect("everything ends");
            self.note(at, event);
        }
    }

    pub(crate) fn write(&mut self, card: usize, addr: u64, bytes: Vec<u8>) {
        let mac = self.mac(card);
        let op = self.command(|host, now| host.write(now, mac, addr, bytes.into()));
        self.end(op).1.unwrap();
    }

    pub(crate) fn read(&mut self, card: usize, addr: u64, length: u64) -> Result<Vec<u8>, OpError> {
        let mac = self.mac(card);
        let op = self.command(|host, now| host.read(now, mac, addr, length));
        self.end(op).1.map(|outcome| match outcome {
            Outcome::Data(data) => data.into(),
            other => unreachable!("{other:?}"),
        })
    }

    /// Claims a card as soon as the host knows it, and it is free.
    pub(crate) fn claim(&mut self, card: usize) {
        let mac = self.mac(card);
        for _ in 0..1000 {
            if self.rack.host(self.host).card(mac).is_some() {
                let op = self.command(|host, now| host.claim(now, mac, ClaimOptions::default()));
                if self.end(op).1.is_ok() {
                    return;
                }
            }
            self.command(|host, now| host.solicit(now, Duration::from_micros(100)));
            self.pass(Duration::from_millis(5));
        }
        panic!("card {card} cannot be claimed");
    }

    /// A card's power is gone. What it was like.
    pub(crate) fn pull(&mut self, card: usize) -> Config {
        let slot = self.rack.cards()[card];
        let config = self.rack.card(slot).config().clone();
        self.rack.net.take(slot.node);
        config
    }

    /// Its power comes back: another boot of it.
    pub(crate) fn boot(&mut self, card: usize, config: Config) {
        self.boots += 1;
        let config = Config { boot: self.boots, ..config };
        self.rack.restart_card(self.rack.cards()[card], self.kinds[card], config).unwrap();
    }

    /// Cuts a cable between two cards.
    pub(crate) fn down(&mut self, joint: usize) {
        self.rack.net.down(self.joints[joint].link);
    }

    pub(crate) fn up(&mut self, joint: usize) {
        self.rack.net.up(self.joints[joint].link);
    }

    /// For some time nothing gets through a cable, one way (from its first card to its second, or back) or both.
    pub(crate) fn cut(&mut self, joint: usize, ways: &[Way], time: Duration) {
        let now = self.now();
        for way in ways {
            self.rack.net.cut(self.joints[joint].link, *way, now, now + time);
        }
    }

    /// Frames between cards that were damaged.
    pub(crate) fn damaged(&self) -> u64 {
        let of = |link, way| self.rack.net.link_stats(link, way).drops[DropReason::Corrupt];
        self.joints.iter().flat_map(|joint| Way::BOTH.map(|way| of(joint.link, way))).sum()
    }
}
