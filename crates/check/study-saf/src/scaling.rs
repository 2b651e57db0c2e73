//! `saf-scaling`: figure 7. PTRANS, C = B + A^T, strong (one order for all) and weak (constant memory for each card).
//!
//! The matrices are cut into strips of rows of C, as equal as rows allow, one for each card in each round. A round
//! writes the inputs into the cards' memories, launches a held kernel on every card, lets all go with one multicast,
//! waits for the last to finish, and reads the results back. Every byte travels in frames, every kernel is executed,
//! every element of C is compared with what the host computes from the indices.
//!
//! The compute phase is from Go to the last completion that the host hears of, with operands and results in card
//! memory: what the paper's figure shows. It is the sum over the rounds. A round holds as many tiles as the cards have
//! memory for, but no more in all than [`Options::resident`], which bounds the memory of the machine that simulates;
//! more rounds make the figure worse, not better. End to end is the whole thing, phase after phase, beside the time
//! that the host's link alone takes.
//!
//! After it the study compares two ways in which blocks come to the cards that need them, for PTRANS and the matrix
//! product: from the host, and from card to card. See `exchange.rs`.

mod exchange;
mod matrix;
mod measure;
mod report;
mod strip;

pub use exchange::{Exchanged, Kernels};
pub use measure::Phases;
pub use report::{Kind, Point, Report, SCHEMA};

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
    /// Order of the matrices for strong scaling.
    pub order: usize,
    /// Order of the matrices for weak scaling on one card.
    pub weak_order: usize,
    /// Order of the matrices for PTRANS with either exchange; the matrix product has half of it.
    pub exchange_order: usize,
    /// Numbers of cards.
    pub cards: Vec<usize>,
    /// Memory of each card, bytes.
    pub memory: u64,
    /// Bytes of operands and results on all cards at once, at most.
    pub resident: u64,
    /// Frames of 8960 bytes of payload instead of 1472.
    pub jumbo: bool,
    /// Bytes of the image's part.
    pub image_bytes: usize,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Racks simulated at the same time; the report does not depend on it.
    #[serde(skip)]
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            order: 32_768,
            weak_order: 8192,
            exchange_order: 4096,
            cards: vec![1, 2, 4, 8, 12, 16, 20],
            memory: 4 << 30,
            resident: 2 << 30,
            jumbo: true,
            image_bytes: paper::IMAGE_BYTES,
            seed: 1,
            threads: pool::threads(),
        }
    }
}

impl Options {
    /// Small matrices: some seconds.
    pub fn quick() -> Self {
        let full = Self::default();
        Self {
            order: 4096,
            weak_order: 1024,
            exchange_order: 1024,
            cards: vec![1, 8, 20],
            image_bytes: 1_000_000,
            ..full
        }
    }
}

/// One rack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Job {
    kind: Kind,
    cards: usize,
    order: usize,
}

/// Measures all points.
///
/// # Errors
/// If an option is out of its range, an operation fails, or a result is wrong.
pub fn run(options: &Options, progress: &mut dyn Progress) -> Result<Report> {
    let range = |option, why: String| Err(StudyError::Option { option, why });
    if options.cards.first() != Some(&1) || options.cards.iter().any(|n| !(1..=paper::CARDS).contains(n)) {
        return range("cards", format!("1 first, to compare with, and at most {}", paper::CARDS));
    }
    let orders = ORDER_MIN..=ORDER_MAX;
    if !orders.contains(&options.order) || !orders.contains(&options.weak_order) {
        return range("order", format!("{ORDER_MIN} to {ORDER_MAX}"));
    }
    if !(64..=8192).contains(&options.exchange_order) {
        return range("exchange_order", "64 to 8192".to_owned());
    }
    let jobs: Vec<Job> = options.cards.iter().rev().flat_map(|&cards| jobs(options, cards)).collect();
    let largest = jobs.iter().map(|j| j.order).max().unwrap_or(0);
    let row = strip::bytes(1, largest);
    if options.memory <= rackloom_wire::ROLE_PRIVATE + row || options.resident < row * paper::CARDS as u64 {
        return range("memory, resident", format!("room for a row of each matrix, {row} bytes, on every card"));
    }
    let image = Bytes::from(pad_image(
        rackloom_builtin_roles::image("ptrans").expect("a role of ours"),
        TARGET_MODEL,
        options.image_bytes,
    )?);
    let name = |job: &Job| format!("{} scaling, order {}, {} cards", job.kind.name(), job.order, job.cards);
    let phases = pool::each(&jobs, options.threads, progress, name, |job| {
        measure::measure(job.cards, job.order, options, &image)
    })?;
    let both: Vec<_> =
        [Kernels::Ptrans, Kernels::Gemm].into_iter().flat_map(|k| options.cards.iter().map(move |n| (k, *n))).collect();
    let name = |(kernel, cards): &(Kernels, usize)| format!("exchange, {}, {cards} cards", kernel.name());
    let exchanges = pool::each(&both, options.threads, progress, name, |(kernel, cards)| {
        exchange::measure(*kernel, *cards, options)
    })?;
    Ok(Report::new(options, jobs.into_iter().zip(phases).collect(), exchanges))
}

/// Strong and weak scaling on so many cards. The weak order gives each card as many elements as one card has, to a row.
fn jobs(options: &Options, cards: usize) -> [Job; 2] {
    let weak = (options.weak_order as f64 * (cards as f64).sqrt()).round() as usize;
    [Job { kind: Kind::Weak, cards, order: weak }, Job { kind: Kind::Strong, cards, order: options.order }]
}

/// Below this, strips are a few rows and nothing of interest is measured.
const ORDER_MIN: usize = 256;
/// Above this, offsets in a matrix would not fit the kernel's 32 bits.
const ORDER_MAX: usize = 1 << 16;
