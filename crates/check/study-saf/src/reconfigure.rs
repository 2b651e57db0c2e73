//! `saf-reconfigure`: figure 6. How long until all cards of a rack run a new image, and why.
//!
//! Broadcast is the host's own load of many cards at once. Two baselines are simulated with the same host and cards:
//! one card after the other, as a host without broadcast would, and all cards at once but each by unicast. What the
//! paper measured of PCIe and of SAF itself is stated beside them.
//!
//! On cards of gateware, simulated cycle by cycle, images are small and racks too. Each load by broadcast is then done
//! on model cards as well: what the model says of large racks is worth what it says of these.

mod measure;
mod report;

pub use report::{Baseline, Limit, PhaseTimes, Point, Report, SCHEMA};

use bytes::Bytes;
use rackloom_image::{Layout, TARGET_MODEL, TARGET_RTL};
use rackloom_rack::Kind;
use rackloom_rolec::pad_image;
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::{Result, StudyError};
use crate::paper;
use crate::pool;
use crate::rack::RackOptions;
use rackloom_report::Progress;

/// What to measure.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Options {
    /// What runs the cards.
    pub kind: Kind,
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
            kind: Kind::Model,
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

    /// With 1, 2, 4 and so on up to `most` cards of this kind. Those of gateware get an image that takes them
    /// milliseconds.
    #[must_use]
    pub fn with_cards(self, kind: Kind, most: usize) -> Self {
        let mut cards: Vec<usize> = (0..10).map(|n| 1 << n).take_while(|n| *n < most).collect();
        cards.push(most);
        let small = Self { image_bytes: SMALL_IMAGE, losses: vec![0.0, 0.01], ..self.clone() };
        let usual = if kind == Kind::Model { self } else { small };
        Self { kind, cards, unicast_cards: most, ..usual }
    }
}

/// Bytes of the image's part for gateware.
const SMALL_IMAGE: usize = 200_000;

/// The image for cards of this kind, whose part has so many bytes.
fn image(kind: Kind, bytes: usize) -> Result<Bytes> {
    let target = match kind {
        Kind::Model | Kind::Flash => TARGET_MODEL,
        Kind::Rtl => TARGET_RTL,
    };
    Ok(pad_image(ptrans(), target, bytes)?.into())
}

/// An image for model cards with as many bytes on the wire and in the port as that for gateware: each part has the
/// other's size.
fn twin(bytes: usize) -> Result<Bytes> {
    let module =
        Layout::parse(ptrans()).and_then(|layout| layout.part_range(TARGET_MODEL)).expect("it was built by us");
    let swapped = pad_image(ptrans(), TARGET_RTL, module.len().next_multiple_of(8))?;
    Ok(pad_image(&swapped, TARGET_MODEL, bytes)?.into())
}

fn ptrans() -> &'static [u8] {
    rackloom_builtin_roles::image("ptrans").expect("a role of ours")
}

/// One simulated rack.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Job {
    Broadcast { kind: Kind, cards: usize, loss: f64 },
    Sequential { cards: usize, loss: f64 },
    AtOnce { cards: usize, loss: f64 },
}

/// Measures all points.
///
/// # Errors
/// If an option is out of its range, or a load fails.
pub fn run(options: &Options, progress: &mut dyn Progress) -> Result<Report> {
    if !options.cards.contains(&1) || !options.losses.contains(&0.0) {
        return Err(StudyError::Option {
            option: "cards, losses",
            why: "1 card and 0 loss among them, to compare with".into(),
        });
    }
    if options.kind == Kind::Flash {
        return Err(StudyError::Option {
            option: "kind",
            why: "model or rtl: the study is of cards that do not restart".into(),
        });
    }
    let image = image(options.kind, options.image_bytes)?;
    let for_models = if options.kind == Kind::Model { image.clone() } else { twin(options.image_bytes)? };
    let mut jobs = Vec::new();
    for &loss in &options.losses {
        for &cards in &options.cards {
            jobs.push(Job::Broadcast { kind: options.kind, cards, loss });
            if options.kind != Kind::Model {
                jobs.push(Job::Broadcast { kind: Kind::Model, cards, loss });
            }
        }
        let cards = options.unicast_cards;
        jobs.extend([Job::Sequential { cards, loss }, Job::AtOnce { cards, loss }]);
    }
    // The largest first, so that no processor is left alone with it at the end.
    jobs.sort_by_key(|job| std::cmp::Reverse(job.cards()));
    let measured = pool::each(&jobs, options.threads, progress, Job::name, |job| {
        let kind = job.kind(options);
        measure::measure(job, kind, options, if kind == Kind::Model { &for_models } else { &image })
    })?;
    Ok(Report::new(options, &image, jobs.into_iter().zip(measured).collect()))
}

impl Job {
    const fn cards(&self) -> usize {
        match *self {
            Self::Broadcast { cards, .. } | Self::Sequential { cards, .. } | Self::AtOnce { cards, .. } => cards,
        }
    }

    const fn kind(&self, options: &Options) -> Kind {
        match *self {
            Self::Broadcast { kind, .. } => kind,
            Self::Sequential { .. } | Self::AtOnce { .. } => options.kind,
        }
    }

    fn name(&self) -> String {
        let (how, cards, loss) = match *self {
            Self::Broadcast { kind: Kind::Rtl, cards, loss } => ("broadcast in gateware", cards, loss),
            Self::Broadcast { cards, loss, .. } => ("broadcast", cards, loss),
            Self::Sequential { cards, loss } => ("one by one", cards, loss),
            Self::AtOnce { cards, loss } => ("unicast at once", cards, loss),
        };
        format!("{how} to {cards} cards, {} % loss", loss * 100.0)
    }
}
