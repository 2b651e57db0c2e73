//! Two cards under the same traffic, and the first difference between them.

use core::fmt;

use rackloom_card::Config;
use rackloom_node::{Duration, Rng};
use rackloom_wire::{Announce, Counter, Head, Kind, MacAddr, Packet};

use super::flows::{Flows, Past};
use super::{Burst, Traffic};
use crate::Specimen;
use crate::bench::{BASE, Bench, HOST, MEMORY, OBSERVER, Sent};

/// One of the two.
#[derive(Debug)]
pub struct Side<S: Specimen> {
    bench: Bench<S>,
    past: Past,
    delivery: Delivery,
    counters: Vec<u64>,
    /// Frames that it saw with a wrong check sequence, their bytes and words.
    garbled: [u64; 3],
}

/// How the frames of a burst reach a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// The card comes to rest before the next one arrives.
    OneByOne,
    /// On each other's heels: they wait for each other in the card.
    Together,
}

/// What came of a burst.
#[derive(Debug)]
struct Outcome {
    sent: Vec<Sent>,
    flows: Flows,
    claim_changed: bool,
    facts: Announce,
    pong: Vec<u8>,
    counters: Vec<u64>,
}

/// Two cards.
#[derive(Debug)]
pub struct Pair<A: Specimen, B: Specimen> {
    a: Side<A>,
    b: Side<B>,
    traffic: Traffic,
    seed: u64,
    bursts: u64,
}

/// Two cards have not done the same.
#[derive(Debug)]
pub struct Difference {
    /// Seed of the traffic.
    pub seed: u64,
    /// Number of the burst, from 0.
    pub burst: u64,
    /// Frames until then.
    pub frames: u64,
    /// What is different.
    pub what: String,
    /// The burst, a line for each frame.
    pub lines: Vec<String>,
}

impl<S: Specimen> Side<S> {
    /// A card that is about to be switched on.
    pub fn new(card: S, delivery: Delivery) -> Self {
        let bench = Bench::of(card);
        Self { bench, past: Past::default(), delivery, counters: vec![0; Counter::COUNT], garbled: [0; 3] }
    }

    /// Epoch of the first claim, which is made and given up by this.
    pub fn first_epoch(&mut self) -> u16 {
        self.bench.claim(HOST, 1)
    }

    /// Its bench, for whoever wants to look at the card itself.
    pub const fn bench(&mut self) -> &mut Bench<S> {
        &mut self.bench
    }

    /// Handles a burst and lets the traffic hear what came of it.
    pub fn follow(&mut self, burst: &Burst, traffic: &mut Traffic) {
        let outcome = self.handle(burst);
        traffic.hear(&outcome.sent, &self.past, outcome.facts.owner);
    }

    fn handle(&mut self, burst: &Burst) -> Outcome {
        for (frame, sound) in &burst.frames {
            let now = self.bench.now;
            if *sound {
                self.bench.hand(frame.clone());
            } else if self.bench.card.handle_garbled(now, frame.clone()) {
                let bytes = frame.len() as u64;
                self.garbled = core::array::from_fn(|i| self.garbled[i] + [1, bytes, bytes.div_ceil(8)][i]);
            }
            if self.delivery == Delivery::OneByOne {
                self.bench.settle();
            }
        }
        self.bench.settle();
        self.bench.pass(burst.pause);
        self.bench.settle();
        let sent: Vec<Sent> = self.bench.sent.drain(..).collect();
        self.bench.clear();
        let (flows, claim_changed) = Flows::new(&sent, &mut self.past);
        let facts = self.bench.facts();
        let pong = self.pong();
        Outcome { sent, flows, claim_changed, facts, pong, counters: self.counts() }
    }

    /// What a ping tells, without the time.
    fn pong(&mut self) -> Vec<u8> {
        let ping = Head { src: OBSERVER, ..self.bench.head(Kind::SessionPing, 0, 0) };
        self.bench.frame(ping.frame(&[]));
        let pong = self.bench.last(Kind::SessionPong);
        let mut told = pong.payload;
        told.truncate(8);
        told.extend(pong.head.epoch.to_be_bytes());
        told
    }

    /// What was counted since the last burst, without what does not compare.
    fn counts(&mut self) -> Vec<u64> {
        let mut now = self.bench.counters();
        for (counter, garbled) in [Counter::RxFrames, Counter::RxBytes, Counter::RxWords].into_iter().zip(self.garbled)
        {
            now[counter as usize] -= garbled;
        }
        now[Counter::DropCheck as usize] -= self.garbled[0];
        let since = now.iter().zip(&self.counters).map(|(now, before)| now.wrapping_sub(*before)).collect();
        self.counters = now;
        since
    }
}

impl<A: Specimen, B: Specimen> Pair<A, B> {
    /// Two cards that are about to be switched on. Both must grant the same epochs: see [`seed_of_epoch`].
    pub fn new(a: Side<A>, b: Side<B>, seed: u64) -> Self {
        Self { a, b, traffic: Traffic::new(seed), seed, bursts: 0 }
    }

    /// Frames so far.
    pub const fn frames(&self) -> u64 {
        self.traffic.frames()
    }

    /// The first card.
    pub const fn first(&mut self) -> &mut Side<A> {
        &mut self.a
    }

    /// The second card.
    pub const fn second(&mut self) -> &mut Side<B> {
        &mut self.b
    }

    /// Sends bursts until so many frames were sent in all, or something differs.
    ///
    /// # Errors
    /// The first difference.
    pub fn run(&mut self, frames: u64) -> Result<(), Difference> {
        while self.frames() < frames {
            let burst = self.traffic.burst();
            let (a, b) = (self.a.handle(&burst), self.b.handle(&burst));
            let differs = difference(&a, &b).or_else(|| self.memory_differs());
            if let Some(what) = differs {
                let lines = burst.frames.iter().map(|(frame, sound)| line(frame, *sound)).collect();
                let (seed, burst, frames) = (self.seed, self.bursts, self.frames());
                return Err(Difference { seed, burst, frames, what, lines });
            }
            self.bursts += 1;
            self.traffic.hear(&a.sent, &self.a.past, a.facts.owner);
        }
        Ok(())
    }

    fn memory_differs(&self) -> Option<String> {
        let length = (MEMORY - BASE) as usize;
        let (a, b) = (self.a.bench.card.ddr(), self.b.bench.card.ddr());
        let mut mine = vec![0; length];
        a.read(BASE, &mut mine).expect("it is inside");
        let at = b.view(BASE, length as u64, |theirs| {
            if mine == theirs { None } else { mine.iter().zip(theirs).position(|(a, b)| a != b) }
        });
        at.expect("it is inside").map(|at| format!("memory at {:#x}", BASE + at as u64))
    }
}

fn difference(a: &Outcome, b: &Outcome) -> Option<String> {
    if a.flows != b.flows {
        let names = a.flows.0.keys().chain(b.flows.0.keys());
        let (dst, kind) = names.into_iter().find(|flow| a.flows.0.get(flow) != b.flows.0.get(flow))?;
        let of = |outcome: &Outcome| outcome.flows.0.get(&(*dst, *kind)).cloned().unwrap_or_default();
        let (mine, theirs) = (of(a), of(b));
        let at = mine.iter().zip(&theirs).take_while(|(a, b)| a == b).count();
        let tell = |items: &[Vec<u8>]| items.get(at).map_or_else(|| "nothing".into(), |item| hex(item));
        return Some(format!("{kind} to {dst}, item {at}: {} | {}", tell(&mine), tell(&theirs)));
    }
    let facts = |o: &Outcome| (o.facts.state, o.facts.owner, o.facts.digest, o.facts.kernels);
    if facts(a) != facts(b) {
        return Some(format!("facts: {:?} | {:?}", facts(a), facts(b)));
    }
    if a.pong != b.pong {
        return Some(format!("pong: {} | {}", hex(&a.pong), hex(&b.pong)));
    }
    let is = |list: &[Counter], c: &usize| list.iter().any(|&counter| counter as usize == *c);
    // An image that was whole in this burst: while gateware checks it, chunks and reports are still looked at.
    let whole = [Kind::ImageConfirmStaged, Kind::ImageConfirmFailed].map(Kind::name);
    let whole = a.flows.0.keys().any(|(_, kind)| whole.contains(kind));
    let compares = |c: &usize| {
        let own = is(&OWN, c);
        let of_claim = a.claim_changed && is(&[Counter::Reads, Counter::ReadBytes, Counter::ResultChunks], c);
        let of_load = whole && is(&[Counter::DropMalformed, Counter::DropDuplicate], c);
        !(own || of_claim || of_load)
    };
    // Of the parts that the other counters belong to one of the cards may have none.
    let at = (0..Counter::COMMON).filter(compares).find(|&c| a.counters[c] != b.counters[c])?;
    Some(format!("counter {}: {} | {}", Counter::NAMES[at], a.counters[at], b.counters[at]))
}

/// The seed with which a model card grants `epoch` to its first claim.
pub fn seed_of_epoch(epoch: u16) -> u64 {
    let before = u64::from(epoch.wrapping_sub(1));
    (0..).find(|&seed| Rng::new(seed).below(1 << 16) == before).expect("each number comes up")
}

/// The configuration of cards that are compared: patient, so that few results are sent twice.
pub fn config() -> Config {
    Config { resend_after: Duration::from_millis(400), ..crate::bench::config() }
}

fn line(frame: &[u8], sound: bool) -> String {
    let kind = match Packet::parse(frame) {
        Ok(packet) => packet.head.kind.name(),
        Err(_) => "not a packet",
    };
    let dst = frame.get(..6).map_or_else(|| "short".into(), |b| MacAddr(b.try_into().expect("six bytes")).to_string());
    let check = if sound { "" } else { " with a wrong check sequence" };
    format!("{kind} to {dst}, {} bytes{check}: {}", frame.len(), hex(&frame[..frame.len().min(96)]))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}, burst {}, after {} frames: {}", self.seed, self.burst, self.frames, self.what)?;
        self.lines.iter().try_for_each(|line| writeln!(f, "  {line}"))
    }
}

/// Counters that tell how quick a card is, or how often it says the same.
const OWN: [Counter; 6] = [
    Counter::TxFrames,
    Counter::TxBytes,
    Counter::TxWords,
    Counter::Announces,
    Counter::KernelCycles,
    Counter::ResultResends,
];
