//! An exchange in progress on a live rack.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use rackloom_host::{Event, Exchange, ExchangeEvent, Host, OpId, Share};
use rackloom_node::Instant;
use rackloom_sync::lock;
use rackloom_wire::MacAddr;

use super::ExchangeWork;
use crate::Error;
use crate::job::{JobReport, JobUpdate, RunOptions};
use crate::pending::Completer;
use crate::runner::Running;

/// What an exchange begins with.
pub(crate) struct ExchangeStart {
    pub(crate) image: Bytes,
    pub(crate) cards: Vec<MacAddr>,
    pub(crate) work: Arc<Mutex<ExchangeWork>>,
    pub(crate) options: RunOptions,
    pub(crate) observe: Box<dyn FnMut(&JobUpdate) + Send>,
    pub(crate) done: Completer<JobReport>,
}

/// An exchange, its observer, and what it has done so far. Each card counts as one tile.
pub(crate) struct RunningExchange {
    exchange: Exchange,
    work: Arc<Mutex<ExchangeWork>>,
    observe: Box<dyn FnMut(&JobUpdate) + Send>,
    done: Completer<JobReport>,
    report: JobReport,
    /// Cards whose results have not come.
    left: usize,
    started: Instant,
    ready: Option<Instant>,
    allowed: Option<Duration>,
    end: Option<Result<(), Error>>,
    /// Releases in progress, once it has ended.
    releases: Option<BTreeSet<OpId>>,
}

impl RunningExchange {
    pub(crate) fn start(now: Instant, host: &mut Host, start: ExchangeStart) -> Self {
        let ExchangeStart { image, cards, work, options, observe, done } = start;
        let shares = lock(&work).shares();
        let bytes =
            |share: &Share| share.output.1 + share.writes.iter().map(|(_, data)| data.len() as u64).sum::<u64>();
        let mut report = JobReport {
            elapsed: Duration::ZERO,
            computing: Duration::ZERO,
            tiles: shares.len(),
            cards: BTreeMap::new(),
        };
        for (card, share) in cards.iter().zip(&shares) {
            report.cards.entry(*card).or_default().bytes = bytes(share);
        }
        let exchange = Exchange::start(now, host, image, cards.into_iter().zip(shares).collect(), options.claim);
        Self {
            exchange,
            work,
            observe,
            done,
            left: report.tiles,
            report,
            started: now,
            ready: None,
            allowed: options.deadline,
            end: None,
            releases: None,
        }
    }

    fn note(&mut self, now: Instant, event: ExchangeEvent) {
        match event {
            ExchangeEvent::Ready => {
                self.ready = Some(now);
                for card in self.exchange.cards() {
                    self.report.cards.entry(*card).or_default().joined = Some(now - self.started);
                    (self.observe)(&JobUpdate::Joined(*card));
                }
            }
            ExchangeEvent::Step { place, report } => {
                let share = self.report.cards.entry(self.exchange.cards()[place]).or_default();
                share.busy += Duration::from_nanos(report.finished_ns.saturating_sub(report.started_ns));
                share.cycles += report.cycles;
            }
            ExchangeEvent::Output { place, data } => {
                lock(&self.work).output(place, &data);
                self.left -= 1;
                let (card, tiles) = (self.exchange.cards()[place], self.report.tiles);
                self.report.cards.entry(card).or_default().tiles = 1;
                (self.observe)(&JobUpdate::Tile { card, done: tiles - self.left, tiles });
            }
            ExchangeEvent::Finished => self.end = Some(Ok(())),
            ExchangeEvent::Failed(why) => self.end = Some(Err(why.into())),
            ExchangeEvent::Written | ExchangeEvent::Computed => {}
        }
    }
}

impl Running for RunningExchange {
    fn tend(&mut self, now: Instant, host: &mut Host, event: Option<&Event>) -> bool {
        if let Some(event) = event.filter(|_| self.end.is_none()) {
            for update in self.exchange.handle(now, host, event) {
                self.note(now, update);
            }
        }
        if let Some(allowed) = self.allowed.filter(|allowed| self.end.is_none() && now - self.started >= *allowed) {
            self.end = Some(Err(Error::JobDeadline { allowed, left: self.left, tiles: self.report.tiles }));
        }
        if self.end.is_none() {
            return false;
        }
        match (&mut self.releases, event) {
            (None, _) => {
                self.report.elapsed = now - self.started;
                self.report.computing = self.ready.map_or(Duration::ZERO, |at| now - at);
                self.releases = Some(self.exchange.release(now, host).into_iter().collect());
            }
            (Some(releases), Some(Event::Completed { op, .. })) => _ = releases.remove(op),
            (Some(_), _) => {}
        }
        self.releases.as_ref().is_some_and(BTreeSet::is_empty)
    }

    fn conclude(self: Box<Self>) {
        let Self { work, done, end, report, .. } = *self;
        drop(work); // From here on the owner can have it back.
        done.complete(end.expect("it has ended").map(|()| report));
    }

    fn cancel(&mut self) {
        self.end.get_or_insert(Err(Error::JobCancelled));
    }

    fn deadline(&self) -> Option<Instant> {
        self.allowed.filter(|_| self.end.is_none()).map(|allowed| self.started + allowed)
    }
}
