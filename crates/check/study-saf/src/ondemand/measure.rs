//! One run of the job.

use bytes::Bytes;
use rackloom_host::{ClaimOptions, Event, Job, JobEvent, JobOptions};
use rackloom_node::{Duration, Instant};
use rackloom_rack::Maker;
use rackloom_wire::MacAddr;
use std::collections::{BTreeMap, BTreeSet};

use super::Options;
use super::burn::Burn;
use crate::error::{Result, StudyError};
use crate::rack::{Rack, RackOptions};

/// What was measured.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Run {
    pub(super) percent: u32,
    /// From the job's start to its last result.
    pub(super) took: Duration,
    /// From the job's start to the new cards' plugging in.
    pub(super) plugged: Option<Duration>,
    /// From plugging in to the last new card's readiness.
    pub(super) joining: Option<Duration>,
    /// Tiles that the new cards computed.
    pub(super) tiles_added: usize,
}

pub(super) fn measure(percent: u32, options: &Options, image: &Bytes) -> Result<Run> {
    let rack_options = RackOptions {
        cards_max: options.cards + options.added,
        // Ten hours of virtual time: a busy card is asked each second how its launch is, and need not be pinged
        // besides.
        lease: Duration::from_secs(60),
        ping_interval: Duration::from_secs(10),
        announce_interval: Duration::from_secs(600),
        ..RackOptions::new(options.cards, options.seed)
    };
    let mut rack = Rack::new(rack_options, Maker::shared())?;
    rack.discover()?;
    let (work, tally) = Burn::new(options.tiles, options.tile_cycles());
    let job_options = JobOptions {
        claim: ClaimOptions { lease: Duration::from_secs(60), ..ClaimOptions::default() },
        ..JobOptions::default()
    };
    let start = rack.now();
    let job = rack.command(|host, now| Job::start(now, host, image.clone(), Box::new(work), job_options));
    let mut run =
        Observed { job, start, percent, added: BTreeSet::new(), tiles: BTreeMap::new(), plugged: None, joined: None };
    let limit = Duration::from_secs_f64(options.hours * 3600.0 * 2.0);
    run.add_if_due(&mut rack, options)?;
    let end = rack.run_until("the job", limit, |rack, at, event| run.see(rack, at, &event, options))?;
    let (right, wrong) = tally.counts();
    if (right, wrong) != (options.tiles, 0) {
        return Err(StudyError::Wrong { what: format!("{right} of {} tiles are right, {wrong} wrong", options.tiles) });
    }
    Ok(Run {
        percent,
        took: end - start,
        plugged: run.plugged.map(|t| t - start),
        joining: run.plugged.zip(run.joined).map(|(plugged, joined)| joined - plugged),
        tiles_added: run.tiles.iter().filter(|(card, _)| run.added.contains(card)).map(|(_, n)| n).sum(),
    })
}

/// A job under way, and what its observer notes.
struct Observed {
    job: Job,
    start: Instant,
    percent: u32,
    added: BTreeSet<MacAddr>,
    /// Tiles by card.
    tiles: BTreeMap<MacAddr, usize>,
    plugged: Option<Instant>,
    joined: Option<Instant>,
}

impl Observed {
    /// True when the job is over.
    fn see(&mut self, rack: &mut Rack, at: Instant, event: &Event, options: &Options) -> Result<bool> {
        let news = rack.command(|host, now| self.job.handle(now, host, event));
        for event in news {
            match event {
                JobEvent::Joined(card) if self.added.contains(&card) => self.joined = Some(at),
                JobEvent::Joined(_) | JobEvent::Found(..) => {}
                JobEvent::Tile { card, .. } => *self.tiles.entry(card).or_insert(0) += 1,
                JobEvent::Left(_, why) | JobEvent::Failed(why) => return Err(why.into()),
                JobEvent::Finished => return Ok(true),
            }
        }
        self.add_if_due(rack, options)?;
        Ok(false)
    }

    /// Plugs the new cards in once so much is done.
    fn add_if_due(&mut self, rack: &mut Rack, options: &Options) -> Result<()> {
        let done = options.tiles - self.job.left();
        let due = options.tiles / 100 * self.percent as usize;
        if self.percent < 100 && self.plugged.is_none() && done >= due {
            assert!(rack.now() >= self.start);
            self.plugged = Some(rack.now());
            for _ in 0..options.added {
                self.added.insert(rack.plug()?);
            }
        }
        Ok(())
    }
}
