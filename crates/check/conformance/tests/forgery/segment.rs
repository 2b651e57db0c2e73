//! A segment on which everybody hears everything, in virtual time: a host with keys, two cards with keys, models or of
//! gateware, and a stranger who hears all, has every address, and is heard before anybody else.

use std::collections::VecDeque;

use bytes::Bytes;
use rackloom_card::{Config as CardConfig, Pace};
use rackloom_host::{Config, Event, Forged, Host, Job, JobEvent, JobOptions, OpError, Work};
use rackloom_node::{Duration, Frame, Instant, Node, Output, Rng};
use rackloom_rack::{AnyCard, Kind, Maker};
use rackloom_stranger::{Keyring, Stranger};
use rackloom_swarm::Hashes;
use rackloom_wire::{Announce, Counter, FromBytes, Head, IntoBytes, Kind as FrameKind, MacAddr, Solicit, Tagged, U32};

use crate::claimant::Claimant;
use crate::sums::Sums;

pub const CARDS: [MacAddr; 2] = [MacAddr([2, 0, 0, 0, 0, 1]), MacAddr([2, 0, 0, 0, 0, 2])];
pub const HOST: u16 = 1;
/// Who asks for counters.
const OBSERVER: MacAddr = MacAddr([2, 0, 0, 0, 7, 7]);
/// Time that a frame is under way.
const HOP: Duration = Duration::from_micros(5);

/// What a stranger makes of each frame that he hears: frames of his own.
pub type Attack<'a> = dyn FnMut(&Frame) -> Vec<Frame> + 'a;

/// What cards there are, and what they are given to do.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub kinds: [Kind; 2],
    /// The first so many cards are the job's.
    pub workers: usize,
    pub job: Task,
    pub tiles: usize,
    pub elements: usize,
    /// A bug of the cards of gateware, of those of `rl_planted`; 0: none.
    pub planted: u8,
    /// The host encrypts.
    pub encrypts: bool,
}

impl Shape {
    /// Model cards, with several frames for each tile in each direction.
    pub const MODELS: Self = Self {
        kinds: [Kind::Model; 2],
        workers: 2,
        job: Task::Hash,
        tiles: 6,
        elements: 500,
        planted: 0,
        encrypts: false,
    };
}

/// What a job computes, with a role of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    Hash,
    /// Gateware has its role, too.
    Add,
}

impl Task {
    pub fn image(self) -> &'static [u8] {
        rackloom_builtin_roles::image(if self == Self::Hash { "burn" } else { "vadd" }).unwrap()
    }

    fn work(self, tiles: usize, elements: usize) -> Box<dyn Work> {
        match self {
            Self::Hash => Box::new(Hashes::new(tiles, elements)),
            Self::Add => Box::new(Sums::new(tiles, elements)),
        }
    }

    fn check(self, work: Box<dyn Work>) -> Result<(), String> {
        match self {
            Self::Hash => Hashes::check(work),
            Self::Add => Sums::check(work),
        }
    }
}

pub struct Segment {
    pub shape: Shape,
    pub now: Instant,
    pub host: Host,
    pub cards: Vec<AnyCard>,
    pub beside: Option<Claimant>,
    /// All that was ever sent by host and cards.
    pub log: Vec<Frame>,
    wire: VecDeque<(Instant, Frame)>,
    /// Probability that a frame of host or cards is lost.
    pub loss: f64,
    rng: Rng,
    /// Frames that the stranger has sent.
    pub attacks: u64,
    boots: u32,
    hosts: u64,
}

/// One who hears all of this segment, and holds the keys of another host.
pub fn stranger(seed: u64) -> Stranger {
    keyring().stranger(seed)
}

pub fn keyring() -> Keyring {
    Keyring::new(CARDS)
}

impl Segment {
    pub fn new(seed: u64) -> Self {
        Self::of(Shape::MODELS, seed)
    }

    pub fn of(shape: Shape, seed: u64) -> Self {
        let mut segment = Self {
            shape,
            now: Instant::ZERO,
            host: host(seed, 1 << 40, shape.encrypts),
            cards: Vec::new(),
            beside: None,
            log: Vec::new(),
            wire: VecDeque::new(),
            loss: 0.0,
            rng: Rng::new(seed),
            attacks: 0,
            boots: 100,
            hosts: seed,
        };
        segment.restart_cards();
        segment
    }

    /// Power comes back: other boots, and an empty memory.
    pub fn restart_cards(&mut self) {
        self.restart_cards_with(|_| {});
    }

    /// The same with something else in their configuration.
    pub fn restart_cards_with(&mut self, change: impl Fn(&mut CardConfig)) {
        self.boots += 1;
        let (boot, shape) = (self.boots, self.shape);
        let card = |(unit, mac): (usize, MacAddr)| {
            let mut config = CardConfig::new(mac, Pace::Virtual);
            (config.unit, config.memory, config.boot, config.seed) = (unit as u16, 4 << 20, boot, boot.into());
            config.keys = Some(Keyring::of_card(mac, [HOST]));
            change(&mut config);
            let mut card = Maker::shared().make(shape.kinds[unit], config).unwrap();
            if let AnyCard::Rtl(card) = &mut card {
                card.plant(shape.planted);
            }
            card
        };
        self.cards = CARDS.into_iter().enumerate().map(card).collect();
    }

    /// The host's program ends and starts again, with the same address.
    pub fn restart_host(&mut self) {
        self.hosts += 1;
        self.host = host(self.hosts, (1 << 40) + self.now.as_nanos(), self.shape.encrypts);
    }

    /// The counters of a card, as it tells them to anybody.
    pub fn told(&mut self, card: usize) -> Vec<u64> {
        let (dst, src) = (CARDS[card], OBSERVER);
        let ask = Head { dst, src, kind: FrameKind::SessionCountersGet, flags: 0, epoch: 0, seq: 0, addr: 0 };
        let before = self.log.len();
        // After a flood its queue may be full.
        for _ in 0..10 {
            self.cards[card].handle_frame(self.now, 0, ask.frame(&[]));
            self.settle(Duration::from_millis(2), &mut None);
            let told = self.log[before..].iter().filter_map(|frame| Tagged::parse(frame).ok());
            let is_it = |t: &Tagged<'_>| t.packet.head.kind == FrameKind::SessionCounters && t.packet.head.src == dst;
            if let Some(told) = told.into_iter().find(is_it) {
                let values = told.packet.payload.chunks_exact(8);
                return values.map(|value| u64::from_be_bytes(value.try_into().expect("eight bytes"))).collect();
            }
        }
        panic!("{dst} does not tell its counters");
    }

    /// Whose a card is, as it tells anybody who asks.
    pub fn owner(&mut self, card: usize) -> Option<MacAddr> {
        let head = Head {
            dst: CARDS[card],
            src: OBSERVER,
            kind: FrameKind::DiscoverySolicit,
            flags: 0,
            epoch: 0,
            seq: 0,
            addr: 0,
        };
        let before = self.log.len();
        self.cards[card].handle_frame(
            self.now,
            0,
            head.frame(&[Solicit { window_us: U32::new(0), reserved: U32::new(0) }.as_bytes()]),
        );
        self.settle(Duration::from_millis(2), &mut None);
        let said = self.log[before..].iter().filter_map(|frame| Tagged::parse(frame).ok());
        let is_its =
            |t: &Tagged<'_>| t.packet.head.kind == FrameKind::DiscoveryAnnounce && t.packet.head.src == CARDS[card];
        let announced = said.filter(is_its).last().expect("it answers").packet.payload;
        let announced = Announce::ref_from_prefix(announced).expect("it is whole").0;
        Some(announced.owner).filter(|owner| !owner.is_zero())
    }

    /// Sum of a counter over the cards that are models.
    pub fn count(&self, counter: Counter) -> u64 {
        self.cards.iter().filter_map(AnyCard::as_model).map(|card| card.counters().get(counter)).sum()
    }

    pub fn forged(&self) -> Forged {
        self.host.forged()
    }

    /// Runs the job to its end; how long it took, or why it failed. All results are compared.
    pub fn run(&mut self, mut attack: Option<&mut Attack<'_>>) -> Result<Duration, OpError> {
        let began = self.now;
        let task = self.shape.job;
        let image = Bytes::from_static(task.image());
        self.host.solicit(self.now, Duration::from_micros(100));
        self.settle(Duration::from_millis(1), &mut None);
        let cards = Some(CARDS[..self.shape.workers].iter().copied().collect());
        let options = JobOptions { cards, ..JobOptions::default() };
        let work = task.work(self.shape.tiles, self.shape.elements);
        let mut job = Job::start(self.now, &mut self.host, image, work, options);
        let limit = self.now + Duration::from_secs(30);
        while !job.is_over() {
            assert!(self.now < limit, "the job does not end: {job:?}");
            let events = self.settle(Duration::from_micros(200), &mut attack);
            let mut told = job.handle_timeout(self.now, &mut self.host);
            for event in &events {
                told.extend(job.handle(self.now, &mut self.host, event));
            }
            for told in told {
                if let JobEvent::Failed(why) = told {
                    return Err(why);
                }
            }
        }
        let took = self.now - began;
        job.release(self.now, &mut self.host);
        self.settle(Duration::from_millis(2), &mut attack);
        task.check(job.into_work()).expect("and nobody says so");
        for card in &self.cards {
            assert!(
                !matches!(card, AnyCard::Rtl(card) if card.restarts() != 0),
                "its watchdog has started a card again"
            );
        }
        Ok(took)
    }

    /// Lets this time pass; what the host has told.
    pub fn settle(&mut self, time: Duration, attack: &mut Option<&mut Attack<'_>>) -> Vec<Event> {
        let end = self.now + time;
        let mut events = Vec::new();
        loop {
            self.poll(&mut events, attack);
            let next = self.wire.front().map(|(at, _)| *at);
            let beside = self.beside.as_ref().and_then(Claimant::next_deadline);
            let hosts = self.host.next_deadline().into_iter().chain(beside);
            let timers = self.cards.iter().filter_map(Node::next_deadline).chain(hosts).min();
            let due = next.into_iter().chain(timers).min().filter(|at| *at <= end);
            let Some(due) = due else { break };
            self.now = self.now.max(due);
            while self.wire.front().is_some_and(|(at, _)| *at <= self.now) {
                let (_, frame) = self.wire.pop_front().unwrap();
                self.host.handle_frame(self.now, 0, frame.clone());
                if let Some(beside) = &mut self.beside {
                    beside.hear(self.now, frame.clone());
                }
                self.poll(&mut events, attack);
                for card in &mut self.cards {
                    card.handle_frame(self.now, 0, frame.clone());
                }
                self.poll(&mut events, attack);
            }
            self.host.handle_timeout(self.now);
            if let Some(beside) = &mut self.beside {
                beside.handle_timeout(self.now);
            }
            for card in &mut self.cards {
                card.handle_timeout(self.now);
            }
        }
        self.now = end;
        events
    }

    fn poll(&mut self, events: &mut Vec<Event>, attack: &mut Option<&mut Attack<'_>>) {
        let mut sent = Vec::new();
        while let Some(output) = self.host.poll(self.now) {
            match output {
                Output::Transmit(_, frame) => sent.push(frame),
                Output::Event(event) => events.push(event),
            }
        }
        sent.extend(self.beside.iter_mut().flat_map(|beside| beside.poll(self.now)));
        for card in &mut self.cards {
            while let Some(output) = card.poll(self.now) {
                if let Output::Transmit(0, frame) = output {
                    sent.push(frame);
                }
            }
        }
        for frame in sent {
            let strange = attack.as_mut().map(|attack| attack(&frame)).unwrap_or_default();
            self.attacks += strange.len() as u64;
            // He is quicker than the frame that he has heard.
            self.wire.extend(strange.into_iter().map(|frame| (self.now + HOP, frame)));
            if !self.rng.chance(self.loss) {
                self.wire.push_back((self.now + HOP, frame.clone()));
            }
            self.log.push(frame);
        }
    }
}

fn host(seed: u64, claims_from: u64, encrypts: bool) -> Host {
    let keys = keyring().of_host(HOST, claims_from).encrypting(encrypts);
    let mut config = Config::simulated(keys.address([0; 3]), seed, 10_000_000_000);
    config.keys = Some(keys);
    Host::new(config)
}
