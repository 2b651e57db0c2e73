//! `saf-ondemand`: table III, by doing it. A job of ten hours runs on four cards through the production [`Job`]; when
//! so many percent of its tiles are done, four more cards are plugged into the running network. They announce
//! themselves, the job claims and loads them, and they take their share. Every tile is really computed and its result
//! checked; only its cost is chosen.
//!
//! The clusters that the paper compares with cannot add a card to a running job. Both of their choices follow from two
//! of our runs: to stay is the run to which no card is added, to start again is the time lost plus the run on eight
//! cards.
//!
//! [`Job`]: rackloom_host::Job

mod burn;
mod energy;
mod measure;
mod report;

pub use energy::{Energies, Finding};
pub use report::{Report, Row, SCHEMA};

use bytes::Bytes;
use rackloom_image::TARGET_MODEL;
use rackloom_rolec::pad_image;
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::{Result, StudyError};
use crate::paper;
use crate::pool;
use rackloom_report::Progress;

/// What to measure.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Options {
    /// Hours that the job takes on the cards it starts with.
    pub hours: f64,
    /// Tiles of the job, a multiple of 100 so that each percentage is a whole number of them.
    pub tiles: usize,
    /// Cards at the start.
    pub cards: usize,
    /// Cards added.
    pub added: usize,
    /// Percent of the tiles done when cards are added; 100 adds none.
    pub percents: Vec<u32>,
    /// Bytes of the image's part.
    pub image_bytes: usize,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Rows simulated at the same time; the report does not depend on it.
    #[serde(skip)]
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            hours: 10.0,
            // 7.2 s a tile: when the last card finishes, the others have idled for a tile's time at most.
            tiles: 20_000,
            cards: 4,
            added: 4,
            percents: (0..=100).step_by(10).collect(),
            image_bytes: paper::IMAGE_BYTES,
            seed: 1,
            threads: pool::threads(),
        }
    }
}

impl Options {
    /// An hour instead of ten, and few rows: some seconds.
    pub fn quick() -> Self {
        let percents = vec![0, 10, 50, 90, 100];
        Self { hours: 1.0, tiles: 4000, percents, image_bytes: 1_000_000, ..Self::default() }
    }

    /// Role clock cycles of one tile.
    fn tile_cycles(&self) -> u64 {
        (self.hours * 3600.0 * self.cards as f64 / self.tiles as f64 * CLOCK_HZ).round() as u64
    }
}

/// Measures all rows.
///
/// # Errors
/// If an option is out of its range, a result is wrong, or the job cannot be finished.
pub fn run(options: &Options, progress: &mut dyn Progress) -> Result<Report> {
    let range = |option, why: &str| Err(StudyError::Option { option, why: why.into() });
    if options.tiles == 0 || !options.tiles.is_multiple_of(100) {
        return range("tiles", "a multiple of 100");
    }
    if !(options.percents.contains(&0) && options.percents.contains(&100)) {
        return range("percents", "0 and 100 among them, from which the clusters' times follow");
    }
    if options.percents.iter().any(|p| *p > 100) {
        return range("percents", "0 to 100");
    }
    if options.cards == 0 || options.added == 0 || options.cards + options.added > paper::CARDS {
        return range("cards, added", "1 or more each, at most 20 in all");
    }
    if !(1..=burn::CYCLES_MAX).contains(&options.tile_cycles()) {
        return range("hours, tiles", "a tile whose cycles fit 40 bits");
    }
    let image = Bytes::from(pad_image(
        rackloom_builtin_roles::image("burn").expect("a role of ours"),
        TARGET_MODEL,
        options.image_bytes,
    )?);
    let name = |percent: &u32| format!("cards added at {percent} %");
    let runs = pool::each(&options.percents, options.threads, progress, name, |percent| {
        measure::measure(*percent, options, &image)
    })?;
    Ok(Report::new(options, runs))
}

/// The clock of the role `burn`.
const CLOCK_HZ: f64 = 250e6;
