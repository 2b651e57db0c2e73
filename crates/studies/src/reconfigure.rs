//! `saf-reconfigure`: figure 6. How long until all cards of a rack run a new image, and why.
//!
//! Broadcast is the host's own load of many cards at once. Two baselines are simulated with the same host and cards:
//! one card after the other, as a host without broadcast would, and all cards at once but each by unicast. What the
//! paper measured of PCIe and of SAF itself is stated beside them.

mod measure;
mod report;

pub use report::{Baseline, Limit, PhaseTimes, Point, Report, SCHEMA};

use std::sync::Arc;

use bytes::Bytes;
use rackloom_image::TARGET_MODEL;
use rackloom_role::{Sandbox, WasmSandbox};
use rackloom_rolec::pad_image;
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::{Result, StudyError};
use crate::paper;
use crate::pool;
use crate::progress::Progress;
use crate::rack::RackOptions;

/// What to measure.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Options {
    /// Bytes of the image's part, that is of the bitstream.
    pub image_bytes: usize,
    /// Numbers of cards that are loaded by broadcast.
    pub cards: Vec<usize>,
    /// Cards that are loaded one after the other, and each by unicast at the same time.
    pub unicast_cards: usize,
    /// Probabilities that a frame is lost, on each card's cable and in each direction for itself.
    pub losses: Vec<f64>,
    /// Rate of every cable, bits a second.
    pub link_rate: u64,
    /// Rate of the configuration port, bytes a second.
    pub config_rate: u64,
    /// Rate of the digest pipelines, bytes a second.
    pub digest_rate: u64,
    /// Size of the switches' output queues, bytes.
    pub queue_bytes: u32,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Racks simulated at the same time; the report does not depend on it.
    #[serde(skip)]
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        let rack = RackOptions::new(1, 1);
        Self {
            image_bytes: paper::IMAGE_BYTES,
            cards: vec![1, 2, 4, 8, 12, 16, 20, 64, 256],
            unicast_cards: paper::CARDS,
            losses: vec![0.0, 0.001, 0.01],
            link_rate: rack.link_rate,
            config_rate: rack.config_rate,
            digest_rate: rack.digest_rate,
            queue_bytes: rack.queue_bytes,
            seed: 1,
            threads: pool::threads(),
        }
    }
}

impl Options {
    /// A tenth of the image and few points: some seconds.
    pub fn quick() -> Self {
        let full = Self::default();
        Self { image_bytes: full.image_bytes / 10, cards: vec![1, 4, 20, 256], losses: vec![0.0, 0.01], ..full }
    }
}

/// One simulated rack.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Job {
    Broadcast { cards: usize, loss: f64 },
    Sequential { cards: usize, loss: f64 },
    AtOnce { cards: usize, loss: f64 },
}

/// Measures all points.
///
/// # Errors
/// If an option is out of its range, or a load fails.
pub fn run(options: &Options, progress: &mut dyn Progress) -> Result<Report> {
    if !options.cards.contains(&1) || !options.losses.contains(&0.0) {
        return Err(StudyError::Option { option: "cards, losses", why: "with 1 and 0, to compare with".into() });
    }
    let image = Bytes::from(pad_image(
        rackloom_roles::image("ptrans").expect("a role of ours"),
        TARGET_MODEL,
        options.image_bytes,
    )?);
    let sandbox: Arc<dyn Sandbox> = Arc::new(WasmSandbox::default());
    let mut jobs = Vec::new();
    for &loss in &options.losses {
        jobs.extend(options.cards.iter().map(|&cards| Job::Broadcast { cards, loss }));
        let cards = options.unicast_cards;
        jobs.extend([Job::Sequential { cards, loss }, Job::AtOnce { cards, loss }]);
    }
    // The largest first, so that no processor is left alone with it at the end.
    jobs.sort_by_key(|job| std::cmp::Reverse(job.cards()));
    let measured = pool::each(&jobs, options.threads, progress, Job::name, |job| {
        measure::measure(job, options, &image, &sandbox)
    })?;
    Ok(Report::new(options, &image, jobs.into_iter().zip(measured).collect()))
}

impl Job {
    const fn cards(&self) -> usize {
        match *self {
            Self::Broadcast { cards, .. } | Self::Sequential { cards, .. } | Self::AtOnce { cards, .. } => cards,
        }
    }

    fn name(&self) -> String {
        let (how, cards, loss) = match *self {
            Self::Broadcast { cards, loss } => ("broadcast", cards, loss),
            Self::Sequential { cards, loss } => ("one by one", cards, loss),
            Self::AtOnce { cards, loss } => ("unicast at once", cards, loss),
        };
        format!("{how} to {cards} cards, {} % loss", loss * 100.0)
    }
}
