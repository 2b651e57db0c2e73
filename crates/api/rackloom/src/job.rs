//! A job in progress on a live rack.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use rackloom_host::{Change, ClaimOptions, Event, Host, Job, JobEvent, JobOptions, OpError, OpId, Tile, Work};
use rackloom_node::Instant;
use rackloom_sync::lock;
use rackloom_wire::MacAddr;

use crate::Error;
use crate::pending::Completer;
use crate::runner::Running;

/// Options of a job.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Cards it may use; `None`: all cards, and those that appear later.
    pub cards: Option<BTreeSet<MacAddr>>,
    /// Tiles in flight on each card, 1 or more: 2 overlaps transfers with computing.
    pub depth: usize,
    /// How cards are claimed.
    pub claim: ClaimOptions,
    /// The job fails if it takes longer than this in all.
    pub deadline: Option<Duration>,
    /// The job fails if no card works on it for this long.
    pub patience: Duration,
}

/// How long a job, or who claims cards in turn, waits for cards that others hold: three leases of a host that is gone.
pub const PATIENCE: Duration = Duration::from_secs(15);

impl Default for RunOptions {
    fn default() -> Self {
        Self { cards: None, depth: 2, claim: ClaimOptions::default(), deadline: None, patience: PATIENCE }
    }
}

/// What a job reports while it runs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum JobUpdate {
    /// A card is ready to compute.
    Joined(MacAddr),
    /// The job lost a card; its tiles go to other cards.
    Left(MacAddr, OpError),
    /// A card that came back is not as the job left it.
    Found(MacAddr, Change),
    /// A tile is computed.
    Tile {
        /// The card that computed it.
        card: MacAddr,
        /// Tiles computed so far.
        done: usize,
        /// Tiles in all.
        tiles: usize,
    },
}

/// What one card did for a job.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CardShare {
    /// Tiles it computed.
    pub tiles: usize,
    /// Bytes of their inputs and outputs.
    pub bytes: u64,
    /// Time that its kernels ran, by its own clock.
    pub busy: Duration,
    /// Cycles of the role's clock that its kernels took.
    pub cycles: u64,
    /// When it was first ready, from the job's start; `None` if it never was.
    pub joined: Option<Duration>,
    /// Why it left the job before its end, if it did.
    pub left: Option<OpError>,
    /// What happened to it, also where it came back: the first [`TROUBLES_MAX`].
    pub troubles: Vec<Trouble>,
    /// How much more happened to it.
    pub troubles_more: u64,
}

/// Something that happened to a card in a job.
#[derive(Debug, Clone, PartialEq)]
pub struct Trouble {
    /// When, from the job's start.
    pub at: Duration,
    /// What.
    pub what: Happening,
}

/// What may happen to a card in a job.
#[derive(Debug, Clone, PartialEq)]
pub enum Happening {
    /// The job lost it.
    Lost(OpError),
    /// It came back, and was not as the job had left it.
    Found(Change),
}

impl std::fmt::Display for Happening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Lost(why) => f.write_str(&why.reason()),
            Self::Found(Change::Restarted) => f.write_str("it had restarted"),
            Self::Found(Change::ImageReplaced) => f.write_str("another image had been loaded"),
        }
    }
}

/// Troubles of one card that a report lists. What is beyond says nothing new.
pub const TROUBLES_MAX: usize = 16;

impl CardShare {
    fn trouble(&mut self, at: Duration, what: Happening) {
        if self.troubles.len() < TROUBLES_MAX {
            self.troubles.push(Trouble { at, what });
        } else {
            self.troubles_more += 1;
        }
    }
}

/// How a job went.
#[derive(Debug, Clone, PartialEq)]
pub struct JobReport {
    /// From the start to the last tile.
    pub elapsed: Duration,
    /// From when the first card was ready to the last tile.
    pub computing: Duration,
    /// Tiles in all.
    pub tiles: usize,
    /// What each card did: those that the job was given by name, and those that joined, left or came back.
    pub cards: BTreeMap<MacAddr, CardShare>,
}

/// Bytes transferred for each tile that was begun.
pub(crate) type TileBytes = Arc<Mutex<BTreeMap<usize, u64>>>;

/// Keeps the work's own type for the job's owner, and counts what is transferred.
pub(crate) struct SharedWork<W> {
    pub(crate) work: Arc<Mutex<W>>,
    pub(crate) bytes: TileBytes,
}

impl<W: Work> SharedWork<W> {
    fn with<R>(&self, f: impl FnOnce(&mut W) -> R) -> R {
        f(&mut lock(&self.work))
    }
}

impl<W: Work> Work for SharedWork<W> {
    fn tiles(&self) -> usize {
        self.with(|w| w.tiles())
    }
    fn tile_bytes(&self) -> u64 {
        self.with(|w| w.tile_bytes())
    }
    fn inputs(&mut self, tile: usize) -> Tile {
        let t = self.with(|w| w.inputs(tile));
        let bytes = t.output + t.inputs.iter().map(|i| i.len() as u64).sum::<u64>();
        lock(&self.bytes).insert(tile, bytes);
        t
    }
    fn output(&mut self, tile: usize, output: Bytes) {
        self.with(|w| w.output(tile, output));
    }
}

/// A job, its observer, and what it has done so far.
pub(crate) struct RunningJob {
    job: Job,
    observe: Box<dyn FnMut(&JobUpdate) + Send>,
    done: Completer<JobReport>,
    report: JobReport,
    bytes: TileBytes,
    started: Instant,
    first_joined: Option<Instant>,
    idle_since: Option<Instant>,
    last_loss: Option<OpError>,
    end: Option<Result<(), Error>>,
    /// Releases in progress, once it has ended.
    releases: Option<BTreeSet<OpId>>,
    /// How long it waits for them at most.
    release_by: Option<Instant>,
    options: RunOptions,
}

/// What a job begins with.
pub(crate) struct Start {
    pub(crate) image: Bytes,
    pub(crate) work: Box<dyn Work>,
    pub(crate) bytes: TileBytes,
    pub(crate) options: RunOptions,
    pub(crate) observe: Box<dyn FnMut(&JobUpdate) + Send>,
    pub(crate) done: Completer<JobReport>,
}

impl RunningJob {
    pub(crate) fn start(now: Instant, host: &mut Host, start: Start) -> Self {
        let Start { image, work, bytes, options, observe, done } = start;
        let tiles = work.tiles();
        let job_options = JobOptions {
            cards: options.cards.clone(),
            depth: options.depth,
            claim: options.claim,
            ..JobOptions::default()
        };
        let job = Job::start(now, host, image, work, job_options);
        // Also those that will not be ready before the last tile is done.
        let named = options.cards.iter().flatten().map(|card| (*card, CardShare::default()));
        let cards = named.collect();
        let report = JobReport { elapsed: Duration::ZERO, computing: Duration::ZERO, tiles, cards };
        Self {
            job,
            observe,
            done,
            report,
            bytes,
            started: now,
            first_joined: None,
            idle_since: Some(now),
            last_loss: None,
            end: None,
            releases: None,
            release_by: None,
            options,
        }
    }

    fn note(&mut self, now: Instant, event: JobEvent) {
        let update = match event {
            JobEvent::Joined(card) => {
                self.first_joined.get_or_insert(now);
                let share = self.report.cards.entry(card).or_default();
                share.joined.get_or_insert(now - self.started);
                share.left = None;
                JobUpdate::Joined(card)
            }
            JobEvent::Left(card, why) => {
                let share = self.report.cards.entry(card).or_default();
                share.left = Some(why.clone());
                share.trouble(now - self.started, Happening::Lost(why.clone()));
                self.last_loss = Some(why.clone());
                JobUpdate::Left(card, why)
            }
            JobEvent::Found(card, change) => {
                let share = self.report.cards.entry(card).or_default();
                share.trouble(now - self.started, Happening::Found(change));
                JobUpdate::Found(card, change)
            }
            JobEvent::Tile { tile, card, report } => {
                let bytes = lock(&self.bytes).remove(&tile);
                let share = self.report.cards.entry(card).or_default();
                share.tiles += 1;
                share.bytes += bytes.unwrap_or(0);
                share.busy += Duration::from_nanos(report.finished_ns.saturating_sub(report.started_ns));
                share.cycles += report.cycles;
                JobUpdate::Tile { card, done: self.report.tiles - self.job.left(), tiles: self.report.tiles }
            }
            JobEvent::Finished => {
                self.end = Some(Ok(()));
                return;
            }
            JobEvent::Failed(why) => {
                self.end = Some(Err(why.into()));
                return;
            }
        };
        (self.observe)(&update);
    }

    fn check_time(&mut self, now: Instant) {
        if self.end.is_some() {
            return;
        }
        let (left, tiles) = (self.job.left(), self.report.tiles);
        if self.job.cards().next().is_some() {
            self.idle_since = None;
        } else {
            let since = *self.idle_since.get_or_insert(now);
            if now - since >= self.options.patience {
                let last = self.last_loss.take();
                self.end = Some(Err(Error::NoCards { waited: self.options.patience, left, tiles, last }));
            }
        }
        if let Some(allowed) = self.options.deadline.filter(|d| now - self.started >= *d) {
            self.end.get_or_insert(Err(Error::JobDeadline { allowed, left, tiles }));
        }
    }
}

impl Running for RunningJob {
    fn tend(&mut self, now: Instant, host: &mut Host, event: Option<&Event>) -> bool {
        if self.end.is_none() {
            let updates = match event {
                Some(event) => self.job.handle(now, host, event),
                None => self.job.handle_timeout(now, host),
            };
            updates.into_iter().for_each(|update| self.note(now, update));
        }
        self.check_time(now);
        if self.end.is_none() {
            return false;
        }
        match (&mut self.releases, event) {
            (None, _) => {
                self.report.elapsed = now - self.started;
                self.report.computing = self.first_joined.map_or(Duration::ZERO, |at| now - at);
                self.releases = Some(self.job.release(now, host).into_iter().collect());
                self.release_by = Some(now + RELEASE + self.report.elapsed / RELEASE_PART);
            }
            (Some(releases), Some(Event::Completed { op, .. })) => _ = releases.remove(op),
            (Some(_), _) => {}
        }
        // The job ends when its cards are free, so that its owner can use them at once. A card that does not answer is
        // not waited for: its lease runs out.
        self.releases.as_ref().is_some_and(BTreeSet::is_empty) || self.release_by.is_some_and(|at| at <= now)
    }

    fn conclude(self: Box<Self>) {
        let Self { job, done, end, report, .. } = *self;
        drop(job); // From here on the owner can have the work back.
        done.complete(end.expect("it has ended").map(|()| report));
    }

    fn cancel(&mut self) {
        self.end.get_or_insert(Err(Error::JobCancelled));
    }

    fn deadline(&self) -> Option<Instant> {
        if self.end.is_some() {
            return self.release_by;
        }
        let idle = self.idle_since.map(|at| at + self.options.patience);
        let over = self.options.deadline.map(|d| self.started + d);
        [idle, over, self.job.next_deadline()].into_iter().flatten().min()
    }
}

/// How long the end of a job waits for its cards to be free: thousands of round trips, and a tenth of a lease.
const RELEASE: Duration = Duration::from_millis(500);
/// And this part of the job's time.
const RELEASE_PART: u32 = 32;
