//! What `saf-reconfigure` found.

use std::fmt;

use bytes::Bytes;
use rackloom_node::Duration;
use rackloom_rack::Kind;
use rackloom_sim::Cable;
use rackloom_wire::{BULK_STANDARD, HEADER_END};
use schemars::JsonSchema;
use serde::Serialize;

use super::measure::Measured;
use super::{Job, Options};
use crate::paper;
use crate::rack::Loaded;
use rackloom_report::{Chart, Claim, Legend, Series, StudyReport, Style, Table, claims_table, wrap};

/// The schema of [`Report`] as JSON.
pub const SCHEMA: &str = "rackloom.study.saf-reconfigure/2";

/// What the study found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// `rackloom.study.saf-reconfigure/2`
    schema: &'static str,
    /// What was measured.
    options: Options,
    /// What physics allows.
    pub limit: Limit,
    /// Loads by broadcast.
    pub broadcast: Vec<Point>,
    /// The same loads of model cards, where cards are gateware.
    pub model: Vec<Point>,
    /// What broadcast is compared with.
    pub baselines: Vec<Baseline>,
    /// The claims, each with its bound and whether it holds.
    claims: Vec<Claim>,
}

/// The time that no protocol can beat: the image's chunks on the wire once, then the configuration port. Activation
/// follows verification, so the two do not overlap.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Limit {
    /// Frames of image data.
    pub frames: u64,
    /// Their bytes on the wire, with preamble, check sequence and gap.
    pub wire_bytes: u64,
    /// Seconds that these take.
    pub wire_s: f64,
    /// Seconds that the port takes for the image's part.
    pub port_s: f64,
    /// The sum.
    pub total_s: f64,
}

/// Seconds in each phase of a load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct PhaseTimes {
    /// Telling each card what will come.
    pub begin_s: f64,
    /// Sending the image.
    pub send_s: f64,
    /// Sending again what was lost.
    pub repair_s: f64,
    /// Waiting for reports: what is missing, digest checked.
    pub verify_s: f64,
    /// Commit and configuration port.
    pub configure_s: f64,
}

/// One load by broadcast.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Point {
    /// Cards loaded.
    pub cards: usize,
    /// Loss on each card's cable.
    pub loss: f64,
    /// Seconds from the call to the last card's activation.
    pub seconds: f64,
    /// Where they went.
    pub phases: PhaseTimes,
    /// Data frames sent, repairs included.
    pub data_frames: u64,
    /// Those that repaired.
    pub repair_frames: u64,
    /// Passes that repaired.
    pub repair_rounds: u32,
    /// Bytes that the load put on the host's wire.
    pub wire_bytes: u64,
    /// The same over the limit's.
    pub volume_factor: f64,
    /// Time over the limit's.
    pub to_limit: f64,
    /// Time over that of one card without loss.
    pub to_one_card: f64,
    /// How many times faster than one card after the other, at the same loss, where that was simulated.
    pub speedup: Option<f64>,
}

/// Something that broadcast is compared with.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Baseline {
    /// What.
    pub name: &'static str,
    /// `simulated` here, or `paper`.
    pub source: &'static str,
    /// Loss on each card's cable, where simulated.
    pub loss: f64,
    /// Cards and seconds.
    pub points: Vec<(usize, f64)>,
}

impl Report {
    pub(super) fn new(options: &Options, image: &Bytes, measured: Vec<(Job, Measured)>) -> Self {
        let limit = Limit::new(options, image.len());
        let (mut loads, mut models) = (Vec::new(), Vec::new());
        let mut baselines = Vec::new();
        for (job, measured) in measured {
            match (job, measured) {
                (Job::Broadcast { kind, cards, loss }, Measured::Broadcast(loaded)) if kind == options.kind => {
                    loads.push((cards, loss, loaded));
                }
                (Job::Broadcast { cards, loss, .. }, Measured::Broadcast(loaded)) => models.push((cards, loss, loaded)),
                (Job::Sequential { loss, .. }, Measured::Sequential(times)) => {
                    let points = (1..).zip(times.iter().map(Duration::as_secs_f64)).collect();
                    baselines.push(Baseline { name: SEQUENTIAL, source: SIMULATED, loss, points });
                }
                (Job::AtOnce { cards, loss }, Measured::AtOnce(time)) => {
                    let points = vec![(cards, time.as_secs_f64())];
                    baselines.push(Baseline { name: AT_ONCE, source: SIMULATED, loss, points });
                }
                (job, _) => unreachable!("another job's figures: {job:?}"),
            }
        }
        baselines.sort_by(|a, b| a.name.cmp(b.name).then(a.loss.total_cmp(&b.loss)));
        let sequential = |cards: usize, loss: f64| {
            let line = baselines.iter().find(|b| b.name == SEQUENTIAL && b.loss == loss)?;
            line.points.iter().find(|p| p.0 == cards).map(|p| p.1)
        };
        let broadcast = points(loads, &limit, sequential);
        let model = points(models, &limit, |_, _| None);
        baselines.extend(stated(options));
        let mut claims = claims(&broadcast);
        claims.extend(agreement(&broadcast, &model));
        Self { schema: SCHEMA, options: options.clone(), limit, broadcast, model, baselines, claims }
    }
}

/// Loads by cards and loss, with what follows from them.
fn points(
    mut loads: Vec<(usize, f64, Box<Loaded>)>,
    limit: &Limit,
    sequential: impl Fn(usize, f64) -> Option<f64>,
) -> Vec<Point> {
    loads.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    let Some(one) = loads.iter().find(|l| l.0 == 1 && l.1 == 0.0).map(|l| l.2.took) else { return Vec::new() };
    let point = |(cards, loss, loaded): &(usize, f64, Box<Loaded>)| {
        let [begin_s, send_s, repair_s, verify_s, configure_s] = loaded.report.phases.map(|p| p.as_secs_f64());
        let seconds = loaded.took.as_secs_f64();
        Point {
            cards: *cards,
            loss: *loss,
            seconds,
            phases: PhaseTimes { begin_s, send_s, repair_s, verify_s, configure_s },
            data_frames: loaded.report.data_frames,
            repair_frames: loaded.report.repair_frames,
            repair_rounds: loaded.repair_rounds,
            wire_bytes: loaded.report.wire_bytes,
            volume_factor: loaded.report.wire_bytes as f64 / limit.wire_bytes as f64,
            to_limit: seconds / limit.total_s,
            to_one_card: seconds / one.as_secs_f64(),
            speedup: sequential(*cards, *loss).map(|s| s / seconds),
        }
    };
    loads.iter().map(point).collect()
}

/// What is promised of gateware: the model tells its times. With loss, both draw other losses.
fn agreement(gateware: &[Point], model: &[Point]) -> Option<Claim> {
    let same = |p: &Point| model.iter().find(|m| (m.cards, m.loss) == (p.cards, p.loss)).map(|m| m.seconds);
    let lossless = gateware.iter().filter(|p| p.loss == 0.0);
    let apart = lossless.filter_map(|p| Some(100.0 * (p.seconds / same(p)? - 1.0).abs())).reduce(f64::max)?;
    Some(Claim::at_most("largest_difference_to_the_models_time_percent", apart, 5.0))
}

impl Limit {
    fn new(options: &Options, image_bytes: usize) -> Self {
        let chunk = usize::from(BULK_STANDARD);
        let (whole, rest) = (image_bytes / chunk, image_bytes % chunk);
        let frames = (whole + usize::from(rest > 0)) as u64;
        let tail = if rest > 0 { Cable::wire_bytes(rest + HEADER) } else { 0 };
        let wire_bytes = whole as u64 * Cable::wire_bytes(chunk + HEADER) + tail;
        let wire_s = wire_bytes as f64 * 8.0 / options.link_rate as f64;
        let port_s = options.image_bytes as f64 / options.config_rate as f64;
        Self { frames, wire_bytes, wire_s, port_s, total_s: wire_s + port_s }
    }
}

/// What the paper measured.
fn stated(options: &Options) -> [Baseline; 3] {
    let line = |name, time: fn(usize) -> f64| {
        let cards = options.cards.iter().filter(|c| **c <= paper::CARDS);
        Baseline { name, source: "paper", loss: 0.0, points: cards.map(|&c| (c, time(c))).collect() }
    };
    [
        line("PCIe, two cards a host", paper::pcie_s),
        line("PCIe tree, one host", paper::pcie_tree_s),
        line("SAF, Ethernet broadcast", |_| paper::SAF_S),
    ]
}

/// What is promised of each point that was measured.
fn claims(points: &[Point]) -> Vec<Claim> {
    let at = |cards: usize, loss: f64| points.iter().find(|p| p.cards == cards && p.loss == loss);
    let mut claims = Vec::new();
    if let Some(twenty) = at(20, 0.0) {
        claims.push(Claim::at_most("time_20_cards_over_1_card", twenty.to_one_card, 1.05));
        claims.push(Claim::at_most("time_20_cards_over_limit", twenty.to_limit, 1.10));
        if let Some(speedup) = twenty.speedup {
            claims.push(Claim::at_least("speedup_20_cards_over_sequential", speedup, 18.0));
        }
        if let Some(lossy) = at(20, 0.01) {
            let volume = lossy.wire_bytes as f64 / twenty.wire_bytes as f64;
            claims.push(Claim::at_most("volume_20_cards_1_percent_loss_over_none", volume, 1.25));
            let time = lossy.seconds / twenty.seconds;
            claims.push(Claim::at_most("time_20_cards_1_percent_loss_over_none", time, 1.35));
        }
    }
    if let Some(many) = at(256, 0.0) {
        claims.push(Claim::at_most("time_256_cards_over_1_card", many.to_one_card, 1.2));
    }
    claims
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (o, l) = (&self.options, &self.limit);
        let head = format!(
            "SAF figure 6: reconfiguration{}. Image {:.1} MB, links {} Gb/s, configuration port {} MB/s, digest {} MB/s, \
             standard frames, seed {}.",
            if o.kind == Kind::Rtl { " of gateware in Verilator" } else { "" },
            o.image_bytes as f64 / 1e6,
            o.link_rate / 1_000_000_000,
            o.config_rate / 1_000_000,
            o.digest_rate / 1_000_000,
            o.seed,
        );
        write!(f, "{}", wrap(&head, ""))?;
        let limit = format!(
            "Physical limit: {:.4} s = {:.4} s on the wire ({} frames) + {:.4} s in the port.",
            l.total_s, l.wire_s, l.frames, l.port_s
        );
        writeln!(f, "{}", wrap(&limit, ""))?;
        let header =
            ["CARDS", ">LOSS %", ">TIME s", ">/LIMIT", ">/1 CARD", ">VOLUME", ">REPAIRS", ">ROUNDS", ">VS 1 BY 1"];
        let mut table = Table::new(&header);
        for p in &self.broadcast {
            table.row(vec![
                p.cards.to_string(),
                format!("{}", p.loss * 100.0),
                format!("{:.4}", p.seconds),
                format!("{:.4}", p.to_limit),
                format!("{:.4}", p.to_one_card),
                format!("{:.4}", p.volume_factor),
                p.repair_frames.to_string(),
                p.repair_rounds.to_string(),
                p.speedup.map_or_else(|| "-".into(), |s| format!("{s:.2}x")),
            ]);
        }
        writeln!(f, "{table}")?;
        writeln!(f, "Where the time goes (ms)\n{}", phases(&self.broadcast))?;
        if !self.model.is_empty() {
            writeln!(f, "The same on model cards (ms)\n{}", phases(&self.model))?;
        }
        writeln!(f, "Beside it")?;
        let mut table = Table::new(&["BASELINE", ">SOURCE", ">LOSS %", ">CARDS", ">TIME s"]);
        for b in &self.baselines {
            for (cards, seconds) in b.points.iter().filter(|p| b.source != SIMULATED || b.is_shown(p.0)) {
                table.row(vec![
                    b.name.to_owned(),
                    b.source.to_owned(),
                    format!("{}", b.loss * 100.0),
                    cards.to_string(),
                    format!("{seconds:.4}"),
                ]);
            }
        }
        writeln!(f, "{table}")?;
        write!(f, "{}", claims_table(&self.claims))
    }
}

/// The table of where loads spend their time.
fn phases(points: &[Point]) -> Table {
    let mut table = Table::new(&["CARDS", ">LOSS %", ">BEGIN", ">SEND", ">REPAIR", ">VERIFY", ">CONFIGURE", ">ALL"]);
    for p in points {
        let h = &p.phases;
        let mut cells = vec![p.cards.to_string(), format!("{}", p.loss * 100.0)];
        let times = [h.begin_s, h.send_s, h.repair_s, h.verify_s, h.configure_s, p.seconds];
        cells.extend(times.map(|s| format!("{:.3}", s * 1e3)));
        table.row(cells);
    }
    table
}

impl Baseline {
    /// Of a line of 20 points, those that the text shows.
    fn is_shown(&self, cards: usize) -> bool {
        [1, 2, 4, 8, 12, 16, 20].contains(&cards) || self.points.last().is_some_and(|p| p.0 == cards)
    }
}

impl StudyReport for Report {
    fn json(&self) -> serde_json::Value {
        rackloom_report::json(self)
    }

    fn svg(&self) -> String {
        let mut series = Vec::new();
        for (i, loss) in self.options.losses.iter().enumerate() {
            let points =
                self.broadcast.iter().filter(|p| p.loss == *loss).map(|p| (p.cards as f64, p.seconds)).collect();
            let name = format!("broadcast, {} % loss", loss * 100.0);
            series.push(Series { name, points, style: Style::Ours(i) });
        }
        let mut theirs = 0;
        for b in self.baselines.iter().filter(|b| b.name != AT_ONCE && b.loss == 0.0) {
            let points = b.points.iter().map(|p| (p.0 as f64, p.1)).collect();
            let style = if b.source == SIMULATED { Style::Ours(3) } else { Style::Theirs(theirs) };
            theirs += usize::from(b.source != SIMULATED);
            series.push(Series { name: format!("{} ({})", b.name, b.source), points, style });
        }
        let most = self.options.cards.iter().max().map_or(1.0, |c| *c as f64);
        let points = vec![(1.0, self.limit.total_s), (most, self.limit.total_s)];
        series.push(Series { name: "physical limit".into(), points, style: Style::Ideal });
        let title = format!("Reconfiguration, {:.1} MB image (SAF, figure 6)", self.options.image_bytes as f64 / 1e6);
        Chart { title: &title, x: "cards", y: "time (s)", log: true, legend: Legend::UpperRight, series }.svg()
    }

    fn claims(&self) -> &[Claim] {
        &self.claims
    }
}

const SEQUENTIAL: &str = "one card after the other";
const AT_ONCE: &str = "unicast, all at once";
const SIMULATED: &str = "simulated";
/// Bytes of Ethernet's and our header.
const HEADER: usize = HEADER_END as usize;
