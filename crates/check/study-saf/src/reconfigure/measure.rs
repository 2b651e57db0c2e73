//! One rack, loaded.

use bytes::Bytes;
use rackloom_host::{Commit, Event, Outcome};
use rackloom_node::Duration;
use rackloom_rack::{Kind, Maker};

use super::{Job, Options};
use crate::error::Result;
use crate::rack::{Loaded, Rack, RackOptions};

/// What was measured of a rack.
#[derive(Debug)]
pub(super) enum Measured {
    Broadcast(Box<Loaded>),
    /// When the first card, the first two, ... were active.
    Sequential(Vec<Duration>),
    AtOnce(Duration),
}

pub(super) fn measure(job: &Job, kind: Kind, options: &Options, image: &Bytes) -> Result<Measured> {
    match *job {
        Job::Broadcast { cards, loss, .. } => {
            let mut rack = ready(kind, cards, loss, options)?;
            let all = rack.cards().to_vec();
            Ok(Measured::Broadcast(Box::new(rack.load(&all, image)?)))
        }
        Job::Sequential { cards, loss } => {
            let mut rack = ready(kind, cards, loss, options)?;
            let start = rack.now();
            let mut times = Vec::new();
            for card in rack.cards().to_vec() {
                rack.load(&[card], image)?;
                times.push(rack.now() - start);
            }
            Ok(Measured::Sequential(times))
        }
        Job::AtOnce { cards, loss } => {
            let mut rack = ready(kind, cards, loss, options)?;
            let start = rack.now();
            let all = rack.cards().to_vec();
            let mut loads: std::collections::BTreeSet<_> = rack
                .command(|host, now| all.iter().map(|c| host.load(now, &[*c], image.clone(), Commit::Each)).collect());
            let end = rack.run_until("loads", HOUR, |_, _, event| {
                if let Event::Completed { op, result } = event
                    && loads.remove(&op)
                    && let Outcome::Loaded(report) = result?
                {
                    report.cards.into_values().collect::<std::result::Result<Vec<_>, _>>()?;
                }
                Ok(loads.is_empty())
            })?;
            Ok(Measured::AtOnce(end - start))
        }
    }
}

/// A rack whose cards are claimed.
fn ready(kind: Kind, cards: usize, loss: f64, o: &Options) -> Result<Rack> {
    let options = RackOptions {
        kind,
        link_rate: o.link_rate,
        config_rate: o.config_rate,
        digest_rate: o.digest_rate,
        queue_bytes: o.queue_bytes,
        loss,
        ..RackOptions::new(cards, o.seed)
    };
    let mut rack = Rack::new(options, Maker::shared())?;
    rack.discover()?;
    rack.claim()?;
    Ok(rack)
}

const HOUR: Duration = Duration::from_secs(3600);
