//! `optweb-topologies`: more cards than links. The paper proposes a Dragonfly of 968 cards with 64 links (section 5.3,
//! figure 20); other arrangements of the same links have up to 4.3 times as many.
//!
//! Each arrangement is made, each card sends a block to each other by a static schedule, and the schedule is proven: it
//! moves every block, and no link or card is asked for too much. Then it is timed with the paper's links, each of which
//! sends its blocks in their order as soon as they have come.

use rackloom_report::{Claim, Progress};
use rackloom_topology::{Family, Order, Survey};
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::{Result, StudyError};
use crate::paper;
use crate::timing::Timing;

mod report;

/// The schema of [`Report`] as JSON.
pub const SCHEMA: &str = "rackloom.study.optweb-topologies/1";

/// What the study makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Links of a card.
    pub links: usize,
    /// Bytes of a block.
    pub block: u64,
}

impl Default for Options {
    /// The paper's 64 links.
    fn default() -> Self {
        Self { links: 64, block: 64 << 10 }
    }
}

impl Options {
    /// 16 links, in a second.
    pub fn quick() -> Self {
        Self { links: 16, ..Self::default() }
    }

    /// The arrangements with at most so many links: the paper's rule for a Dragonfly, a square grid, and the largest
    /// of each other family.
    fn families(&self) -> Vec<(&'static str, Family)> {
        let k = self.links;
        // Section 5.3: g groups of k - g + 2 cards, and k of at least 3 (g - 1).
        let groups = k / 3 + 1;
        let side = k / 2 + 1;
        let largest = |of: fn(usize) -> Family| {
            let fits = |q: &usize| of(*q).graph().is_ok_and(|graph| graph.degree() <= k);
            (2..=k).rev().find(fits).map(of)
        };
        let named = [
            ("Dragonfly of the paper", Some(Family::HyperX(vec![k - groups + 2, groups]))),
            ("square grid (HyperX)", Some(Family::HyperX(vec![side, side]))),
            ("Slim Fly", largest(Family::SlimFly)),
            ("PolarFly", largest(Family::PolarFly)),
            ("Kautz digraph, one-way", Some(Family::Kautz(k))),
        ];
        named.into_iter().filter_map(|(name, family)| Some((name, family?))).collect()
    }
}

/// What the study found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// `rackloom.study.optweb-topologies/1`
    schema: &'static str,
    /// Links of a card.
    pub links: usize,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// The arrangements.
    pub rows: Vec<Row>,
    /// The claims, each with its bound and whether it holds.
    claims: Vec<Claim>,
}

/// An arrangement and its schedules.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// What it is.
    pub name: &'static str,
    /// As `rackloom comm topology` takes it.
    pub topology: String,
    /// Cards.
    pub cards: usize,
    /// Links of a card, at most.
    pub links_of_a_card: usize,
    /// Links of a path on average.
    pub mean_path: f64,
    /// Slots of the schedule with fewest.
    pub slots: usize,
    /// Slots that any schedule needs at least, on any paths.
    pub slots_bound: f64,
    /// Slots if all links were always full: the mean path by links.
    pub slots_full: f64,
    /// Links that a card's own blocks fill: cards by slots.
    pub rate_links: f64,
    /// Blocks of others that a card keeps at once, at most.
    pub kept_blocks: usize,
    /// Slots of the schedule in which cards keep few blocks of others.
    pub lean_slots: usize,
    /// Blocks that they keep in that, at most.
    pub lean_kept_blocks: usize,
    /// Microseconds of an alltoall with the paper's links.
    pub time_us: f64,
    /// Gb/s of blocks that a card sends in that, by its links' 45 Gb/s each: as links.
    pub timed_rate_links: f64,
}

/// Makes, proves and times the arrangements.
///
/// # Errors
/// [`StudyError::Survey`], which is a bug.
pub fn run(options: &Options, progress: &mut dyn Progress) -> Result<Report> {
    let families = options.families();
    let mut rows = Vec::new();
    for (i, (name, family)) in families.iter().enumerate() {
        rows.push(row(options, name, family)?);
        progress.step(i + 1, families.len(), name);
    }
    let share = |of: fn(&Row) -> f64| rows.iter().map(of).fold(f64::INFINITY, f64::min);
    // Of the paper's Dragonfly and of Slim Fly some links have more to do than others, on any paths.
    let even: Vec<_> = rows.iter().filter(|row| row.slots_bound < row.slots_full * 1.001).collect();
    let full = even.iter().map(|row| row.slots_full / row.slots as f64).fold(f64::INFINITY, f64::min);
    let most = rows.iter().map(|row| row.cards).max().unwrap_or(0) as f64;
    let claims = vec![
        Claim::at_least("least_share_of_what_any_paths_allow", share(|row| row.slots_bound / row.slots as f64), 0.95),
        Claim::at_least("least_share_of_full_links_where_links_are_alike", full, 0.95),
        Claim::at_least("least_share_when_timed", share(|row| row.timed_rate_links / row.rate_links), 0.9),
        Claim::at_least("most_cards_by_the_papers", most / rows[0].cards as f64, 2.5),
    ];
    Ok(Report { schema: SCHEMA, links: options.links, block_bytes: options.block, rows, claims })
}

fn row(options: &Options, name: &'static str, family: &Family) -> Result<Row> {
    let survey = |order| {
        let failed = |source| StudyError::Survey { family: family.to_string(), source };
        Survey::new(family, order).map_err(failed)
    };
    let lean = survey(Order::ByBlock)?.checked;
    let fast = survey(Order::ByLink)?;
    let timing = Timing::PAPER;
    // What comes goes on from memory: it is read as at the first card.
    let hop = timing.migration_ps + timing.setup_ps;
    let time_ps = fast.schedule.time(&fast.graph, timing.link_ps(options.block), hop);
    let sent = (fast.graph.cards() - 1) as f64 * options.block as f64 * 8.0;
    Ok(Row {
        name,
        topology: family.to_string(),
        cards: fast.graph.cards(),
        links_of_a_card: fast.graph.degree(),
        mean_path: fast.schedule.paths().mean(),
        slots: fast.checked.slots,
        slots_bound: fast.bound,
        slots_full: fast.schedule.paths().links() as f64 / fast.graph.links() as f64,
        rate_links: fast.rate(),
        kept_blocks: fast.checked.kept,
        lean_slots: lean.slots,
        lean_kept_blocks: lean.kept,
        time_us: time_ps as f64 / 1e6,
        timed_rate_links: sent / (time_ps as f64 / 1e12) / paper::LINK_BPS as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rackloom_report::{Silent, StudyReport as _};

    #[test]
    fn the_paper_s_dragonfly_is_beaten_by_others_of_as_many_links() {
        let report = run(&Options::quick(), &mut Silent).unwrap();
        assert!(report.claims().iter().all(|claim| claim.holds), "{report}");
        let cards: Vec<_> = report.rows.iter().map(|row| row.cards).collect();
        // The facts that other authors give for 16 links; the paper's rule gives 6 groups of 12.
        assert_eq!(cards, [72, 81, 162, 183, 272]);
        let [dragonfly, grid, ..] = &report.rows[..] else { unreachable!("there are five") };
        assert_eq!((dragonfly.slots, grid.slots), (12, 9));
        assert!(report.rows.iter().all(|row| row.links_of_a_card <= 16));
        assert!(report.to_string().lines().all(|line| line.chars().count() <= 80), "{report}");
        assert!(report.svg().contains("</svg>"));
    }

    #[test]
    fn with_64_links_they_are_those_of_the_paper_and_of_the_facts() {
        let names: Vec<_> = Options::default().families().into_iter().map(|(_, family)| family.to_string()).collect();
        assert_eq!(names, ["hyperx:44x22", "hyperx:33x33", "slim-fly:41", "polar-fly:61", "kautz:64"]);
        let paper = Options::default().families()[0].1.graph().unwrap();
        assert_eq!((paper.cards(), paper.degree()), (paper::DRAGONFLY_CARDS, 64));
    }
}
