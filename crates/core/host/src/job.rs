//! One piece of work spread over many cards: cut into tiles, each computed on whatever card is free.
//!
//! A card that vanishes loses nothing: its tiles go to others. A card that appears is claimed, loaded and used while
//! the others go on. Each card works on several tiles at a time, so that inputs and results travel while it computes.
//! A card that is silent or slow holds up nobody: see `stragglers`.

mod stragglers;
mod tiles;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bytes::Bytes;
use rackloom_node::{Duration, Instant};
use rackloom_wire::{IMAGE_BYTES_MAX, MacAddr, Scrub};

use crate::config::ClaimOptions;
use crate::error::OpError;
use crate::event::{Event, LaunchReport, OpId, Outcome};
use crate::host::Host;
use crate::loader::Commit;
use tiles::Working;

/// What a job computes.
pub trait Work: Send + std::any::Any {
    /// Tiles in all, numbered from 0. May not change.
    fn tiles(&self) -> usize;

    /// Card memory that the largest tile needs: its inputs and its output, each rounded up to 64 bytes.
    fn tile_bytes(&self) -> u64;

    /// The inputs of a tile. May be called again for a tile whose card was lost.
    fn inputs(&mut self, tile: usize) -> Tile;

    /// The output of a tile: called once for each.
    fn output(&mut self, tile: usize, output: Bytes);
}

/// One tile as it goes to a card.
#[derive(Debug, Clone)]
pub struct Tile {
    /// Number of the kernel in the image.
    pub kernel: u16,
    /// What is written to the card's memory.
    pub inputs: Vec<Bytes>,
    /// Bytes of the output.
    pub output: u64,
    /// The kernel's arguments.
    pub args: Vec<Arg>,
}

/// One argument of a tile's kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arg {
    /// The address of this input.
    Input(usize),
    /// The address of the output plus this offset in bytes.
    Output(u64),
    /// This word.
    Value(u64),
}

/// Options of a job.
#[derive(Debug, Clone)]
pub struct JobOptions {
    /// Cards it may use; `None`: all that are up and all that appear later.
    pub cards: Option<BTreeSet<MacAddr>>,
    /// Most cards it uses at a time.
    pub cards_max: usize,
    /// Tiles under way on each card: 2 overlaps transfers with computing.
    pub depth: usize,
    /// Options of its claims.
    pub claim: ClaimOptions,
    /// Attempts at a tile, in all, before its failure fails the job.
    pub attempts: u32,
}

impl Default for JobOptions {
    fn default() -> Self {
        Self { cards: None, cards_max: usize::MAX, depth: 2, claim: ClaimOptions::default(), attempts: 2 }
    }
}

/// Progress of a job.
#[derive(Debug, Clone, PartialEq)]
pub enum JobEvent {
    /// A card is ready to compute.
    Joined(MacAddr),
    /// A card is lost to the job, and why; its tiles go to others.
    Left(MacAddr, OpError),
    /// A card that has come back is not as the job left it. Its loss alone does not tell that.
    Found(MacAddr, Change),
    /// A tile is computed.
    Tile {
        /// Number of the tile.
        tile: usize,
        /// The card that computed it.
        card: MacAddr,
        /// Its execution.
        report: LaunchReport,
    },
    /// All tiles are computed.
    Finished,
    /// The job has failed: a kernel fails wherever it is run, or no card takes the image.
    Failed(OpError),
}

/// What has become of a card while the job did not hold it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It has started again.
    Restarted,
    /// Somebody has loaded another image.
    ImageReplaced,
}

/// A job under way. Feed it each [`Event`] of its host.
pub struct Job {
    image: Bytes,
    digest: [u8; 32],
    work: Box<dyn Work>,
    options: JobOptions,
    todo: VecDeque<usize>,
    attempts: BTreeMap<usize, u32>,
    /// Which of them are computed.
    finished: Vec<bool>,
    /// How often each tile's launch was called off by nobody here.
    called_off: BTreeMap<usize, u32>,
    left: usize,
    /// Cards that the job has computed on, and the boot that they had.
    known: BTreeMap<MacAddr, u32>,
    members: BTreeMap<MacAddr, Member>,
    /// Which card and slot each operation belongs to.
    ops: BTreeMap<OpId, (MacAddr, Option<usize>)>,
    loads: BTreeSet<OpId>,
    /// Cards to be claimed again at once: the claim got no answer in time, or was lost though the card is there.
    again: BTreeSet<MacAddr>,
    /// When the first card was claimed that waits for others to be loaded with it.
    claimed_at: Option<Instant>,
    /// For how long.
    claim_grace: Duration,
    /// How often each card has acknowledged what was never sent.
    out_of_step: BTreeMap<MacAddr, u32>,
    ended: bool,
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job").field("left", &self.left).field("members", &self.members).finish_non_exhaustive()
    }
}

#[derive(Debug)]
enum Member {
    Claiming,
    /// Claimed; the image has to be loaded.
    Claimed,
    Loading(OpId),
    Working(Working),
    /// It cannot be used until it is free again, or announces itself anew.
    Out,
    /// It does not take the image. That may change when it restarts.
    Refusing,
}

impl Job {
    /// Starts on all cards that are there and may be used.
    ///
    /// # Panics
    /// If the image is larger than any card takes, or `options.depth` is 0.
    pub fn start(now: Instant, host: &mut Host, image: Bytes, work: Box<dyn Work>, options: JobOptions) -> Self {
        assert!(image.len() as u64 <= IMAGE_BYTES_MAX);
        assert!(options.depth > 0);
        let tiles = work.tiles();
        let mut job = Self {
            digest: *blake3::hash(&image).as_bytes(),
            image,
            work,
            options,
            todo: (0..tiles).collect(),
            attempts: BTreeMap::new(),
            finished: vec![false; tiles],
            called_off: BTreeMap::new(),
            left: tiles,
            known: BTreeMap::new(),
            members: BTreeMap::new(),
            ops: BTreeMap::new(),
            loads: BTreeSet::new(),
            again: BTreeSet::new(),
            claimed_at: None,
            claim_grace: Duration::ZERO,
            out_of_step: BTreeMap::new(),
            ended: false,
        };
        let cards: Vec<_> = host.cards().map(|c| c.mac).collect();
        for card in cards {
            job.join(now, host, card);
        }
        job
    }

    /// Tiles not yet computed.
    pub const fn left(&self) -> usize {
        self.left
    }

    /// True when it has finished or failed.
    pub const fn is_over(&self) -> bool {
        self.ended
    }

    /// Cards that compute for it now.
    pub fn cards(&self) -> impl Iterator<Item = MacAddr> {
        self.members.iter().filter(|(_, m)| matches!(m, Member::Working(_))).map(|(card, _)| *card)
    }

    /// The work, with all outputs once the job has finished.
    pub fn into_work(self) -> Box<dyn Work> {
        self.work
    }

    /// Gives all cards back, whether the job is over or not. The releases are the host's operations from here on.
    pub fn release(&mut self, now: Instant, host: &mut Host) -> Vec<OpId> {
        self.ended = true;
        let cards: Vec<_> = std::mem::take(&mut self.members).into_keys().collect();
        let held: Vec<_> = cards.into_iter().filter(|c| host.claim_epoch(*c).is_some()).collect();
        held.into_iter().map(|c| host.release(now, c, Scrub::Keep)).collect()
    }

    /// Goes on after an event of the host.
    pub fn handle(&mut self, now: Instant, host: &mut Host, event: &Event) -> Vec<JobEvent> {
        let mut out = Vec::new();
        if self.ended {
            return out;
        }
        match event {
            Event::CardUp(info) => {
                self.members.retain(|card, m| *card != info.mac || !matches!(m, Member::Out | Member::Refusing));
                self.join(now, host, info.mac);
            }
            // Another host has given it back.
            Event::CardChanged(info) if info.owner.is_none() => {
                self.members.retain(|card, m| *card != info.mac || !matches!(m, Member::Out));
                self.join(now, host, info.mac);
            }
            Event::ClaimLost { card } => {
                self.again.insert(*card);
            }
            // The others of its load need not be as far.
            Event::Loaded { op, card } => {
                if matches!(self.members.get(card), Some(Member::Loading(load)) if load == op) {
                    self.loaded_on(*card, host, &mut out);
                }
            }
            Event::Completed { op, result } => {
                if self.loads.remove(op) {
                    self.loaded(*op, host, result, &mut out);
                } else if let Some((card, slot)) = self.ops.remove(op) {
                    match slot {
                        None => self.claimed(card, host, result, &mut out),
                        Some(slot) => self.computed(now, card, slot, *op, result, &mut out),
                    }
                }
            }
            _ => {}
        }
        self.go_on(now, host, &mut out);
        out
    }

    /// Goes on when [`next_deadline`](Self::next_deadline) has come.
    pub fn handle_timeout(&mut self, now: Instant, host: &mut Host) -> Vec<JobEvent> {
        let mut out = Vec::new();
        if !self.ended {
            self.go_on(now, host, &mut out);
        }
        out
    }

    fn go_on(&mut self, now: Instant, host: &mut Host, out: &mut Vec<JobEvent>) {
        self.let_go(now, host);
        self.load(now, host);
        self.feed(now, host);
        if !self.ended && self.left == 0 {
            self.ended = true;
            out.push(JobEvent::Finished);
        }
    }

    /// Gives back what is claimed and of no use: the card is then free, tells so, and is tried anew. A card whose claim
    /// got no answer or was lost is asked again at once; if another host has it, its refusal ends that.
    fn let_go(&mut self, now: Instant, host: &mut Host) {
        let out: Vec<_> =
            self.members.iter().filter(|(_, m)| matches!(m, Member::Out)).map(|(card, _)| *card).collect();
        for card in out {
            if host.claim_epoch(card).is_some() {
                host.release(now, card, Scrub::Keep);
            }
        }
        for card in std::mem::take(&mut self.again) {
            if host.card(card).is_some() && matches!(self.members.get(&card), Some(Member::Out)) {
                self.members.remove(&card);
                self.join(now, host, card);
            }
        }
    }

    fn join(&mut self, now: Instant, host: &mut Host, card: MacAddr) {
        let wanted = self.options.cards.as_ref().is_none_or(|c| c.contains(&card));
        let used = self.members.values().filter(|m| !matches!(m, Member::Out | Member::Refusing)).count();
        if !wanted || used >= self.options.cards_max || self.members.contains_key(&card) {
            return;
        }
        let op = host.claim(now, card, self.options.claim);
        self.ops.insert(op, (card, None));
        self.members.insert(card, Member::Claiming);
    }

    fn claimed(&mut self, card: MacAddr, host: &Host, result: &Result<Outcome, OpError>, out: &mut Vec<JobEvent>) {
        let Some(info) = host.card(card).filter(|_| result.is_ok()) else {
            let why = result.clone().err().unwrap_or_else(|| OpError::UnknownCard { card: host.name(card) });
            if matches!(why, OpError::Deadline { .. }) {
                self.again.insert(card);
            }
            let is_useless = matches!(why, OpError::Absurd { .. } | OpError::Unencrypted { .. });
            self.lose(card, why, out);
            if is_useless {
                self.members.insert(card, Member::Refusing);
            }
            return;
        };
        let is_loaded = info.digest == Some(self.digest);
        match self.known.get(&card) {
            Some(boot) if *boot != info.boot => out.push(JobEvent::Found(card, Change::Restarted)),
            Some(_) if !is_loaded => out.push(JobEvent::Found(card, Change::ImageReplaced)),
            _ => {}
        }
        if is_loaded {
            self.work_on(card, info, out);
        } else {
            self.members.insert(card, Member::Claimed);
        }
    }

    /// Loads the image into all cards that wait for it, unless more are about to be ready for the same load.
    fn load(&mut self, now: Instant, host: &mut Host) {
        let is_claimed = |m: &Member| matches!(m, Member::Claimed);
        if !self.members.values().any(is_claimed) {
            self.claimed_at = None;
            return;
        }
        let since = *self.claimed_at.get_or_insert(now);
        self.claim_grace = host.config.rto_min * CLAIM_WAITS;
        if self.members.values().any(|m| matches!(m, Member::Claiming)) && now < since + self.claim_grace {
            return;
        }
        self.claimed_at = None;
        let cards: Vec<_> = self.members.iter().filter(|(_, m)| is_claimed(m)).map(|(card, _)| *card).collect();
        let op = host.load(now, &cards, self.image.clone(), Commit::Each);
        for card in cards {
            self.members.insert(card, Member::Loading(op));
        }
        self.loads.insert(op);
    }

    fn loaded(&mut self, op: OpId, host: &Host, result: &Result<Outcome, OpError>, out: &mut Vec<JobEvent>) {
        let is_in = |m: &Member| matches!(m, Member::Loading(load) if *load == op);
        let report = match result {
            Ok(Outcome::Loaded(report)) => report,
            Ok(_) => unreachable!("a load gives a load's outcome"),
            Err(why) => {
                // A card was lost between its claim and the load: the others load again.
                self.lose(why.card(), why.clone(), out);
                for m in self.members.values_mut().filter(|m| is_in(m)) {
                    *m = Member::Claimed;
                }
                return;
            }
        };
        let mut refusal = None;
        for (card, result) in &report.cards {
            // Since it left this load it may have been lost, and be in another.
            if !self.members.get(card).is_some_and(is_in) {
                continue;
            }
            match result {
                Ok(()) => self.loaded_on(*card, host, out),
                Err(why) => {
                    self.lose(*card, why.clone(), out);
                    if !why.is_card_loss() {
                        // A card that lies about what it has says nothing of the image.
                        if !matches!(why, OpError::Fruitless { .. }) {
                            refusal = Some(why.clone());
                        }
                        self.members.insert(*card, Member::Refusing);
                    }
                }
            }
        }
        let hope = self.members.values().any(|m| !matches!(m, Member::Out | Member::Refusing));
        if let Some(why) = refusal.filter(|_| !hope) {
            self.ended = true;
            out.push(JobEvent::Failed(why));
        }
    }

    /// This card runs the image now.
    fn loaded_on(&mut self, card: MacAddr, host: &Host, out: &mut Vec<JobEvent>) {
        match host.card(card).filter(|_| host.claim_epoch(card).is_some()) {
            Some(info) => self.work_on(card, info, out),
            None => self.lose(card, OpError::UnknownCard { card: host.name(card) }, out),
        }
    }

    /// A tile's launch was called off. True if that has happened to it too often: then it counts as a failure.
    fn is_over_called_off(&mut self, card: MacAddr, slot: usize) -> bool {
        let Some(Member::Working(w)) = self.members.get(&card) else { return false };
        let Some(busy) = &w.slots[slot].busy else { return false };
        let times = self.called_off.entry(busy.tile).or_insert(0);
        *times += 1;
        *times >= CALLED_OFF_MAX
    }

    /// The card computes for this job no more: its tiles go back.
    fn lose(&mut self, card: MacAddr, why: OpError, out: &mut Vec<JobEvent>) {
        let Some(m) = self.members.get_mut(&card) else { return };
        if matches!(m, Member::Out | Member::Refusing) {
            return;
        }
        if let Member::Working(w) = std::mem::replace(m, Member::Out) {
            for tile in w.slots.into_iter().filter_map(|s| s.busy).map(|busy| busy.tile) {
                if !self.finished[tile] && !self.is_under_way(tile) {
                    self.todo.push_front(tile);
                }
            }
        }
        self.ops.retain(|_, (c, _)| *c != card);
        if matches!(why, OpError::OutOfStep { .. }) {
            let times = self.out_of_step.entry(card).or_insert(0);
            *times += 1;
            if *times >= OUT_OF_STEP_MAX {
                self.members.insert(card, Member::Refusing);
            }
        }
        out.push(JobEvent::Left(card, why));
    }
}

/// How long claimed cards wait for those whose claim is not answered yet, in times of the shortest wait before
/// something is sent again: the claim has then been sent twice.
const CLAIM_WAITS: u32 = 4;
/// A card that falls out of step with its claims so often does it on purpose, and is not claimed again.
const OUT_OF_STEP_MAX: u32 = 3;
/// A tile whose launch was called off this often by nobody here is not tried on yet another card: somebody means it.
const CALLED_OFF_MAX: u32 = 8;
