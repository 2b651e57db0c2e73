//! What `diad-latency` found.

use std::fmt;

use rackloom_node::Duration;
use rackloom_report::{Chart, Claim, Legend, Series, StudyReport, Style, Table, claims_table, wrap};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Options, PACKET, PIECE};
use crate::latencies::Latencies;
use crate::paper;

/// The schema of [`Report`] as JSON.
pub const SCHEMA: &str = "rackloom.study.diad-latency/1";

/// What the study found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// `rackloom.study.diad-latency/1`
    schema: &'static str,
    /// What was measured.
    options: Options,
    /// By size and operation.
    pub points: Vec<Point>,
    /// The claims, each with its bound and whether it holds.
    claims: Vec<Claim>,
}

/// What goes there and back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// A read of a card's memory.
    Read,
    /// A write to it.
    Write,
    /// A message to another fabric, and one of the same size back: what the paper's figure shows.
    Exchange,
}

impl Operation {
    pub(super) const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Exchange];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Exchange => "exchange",
        }
    }

    /// The least time that its frames take on wires: one after the other on the first, the last of them on the second
    /// as well, since the switch stores frames whole.
    fn frames_ns(self, size: usize, l: &Latencies) -> f64 {
        let packet = if self == Self::Exchange { PIECE } else { PACKET };
        let data: f64 = (0..size).step_by(packet).map(|at| l.wire_ns(packet.min(size - at))).sum();
        let last = l.wire_ns((size - 1) % packet + 1);
        match self {
            Self::Exchange => 2.0 * (data + last),
            Self::Read | Self::Write => data + last + 2.0 * l.wire_ns(0),
        }
    }
}

/// A round trip and its parts, nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Point {
    /// What was done.
    pub operation: Operation,
    /// Bytes of the request, or of each of the two messages.
    pub bytes: usize,
    /// From the request to the end of its answer.
    pub round_trip_ns: f64,
    /// Twice through the switch.
    pub switch_ns: f64,
    /// Four times through a fabric.
    pub fabric_ns: f64,
    /// Four cables.
    pub cable_ns: f64,
    /// The card's memory.
    pub memory_ns: f64,
    /// The least time that the frames take on wires.
    pub frames_ns: f64,
    /// All the rest: what frames wait for each other, and for acknowledgements.
    pub waits_ns: f64,
}

impl Point {
    pub(super) fn new(operation: Operation, bytes: usize, took: Duration, l: &Latencies) -> Self {
        let round_trip_ns = took.as_secs_f64() * 1e9;
        let memory = if operation == Operation::Exchange { 0 } else { l.card_memory_ns };
        let parts = [2 * l.switch_ns, 4 * l.fabric_ns, 4 * l.cable_ns, memory].map(|ns| ns as f64);
        let frames_ns = operation.frames_ns(bytes, l);
        let [switch_ns, fabric_ns, cable_ns, memory_ns] = parts;
        let waits_ns = round_trip_ns - parts.iter().sum::<f64>() - frames_ns;
        Self { operation, bytes, round_trip_ns, switch_ns, fabric_ns, cable_ns, memory_ns, frames_ns, waits_ns }
    }
}

impl Report {
    pub(super) fn new(options: &Options, points: Vec<Point>) -> Self {
        let smallest = points.iter().filter(|p| p.operation == Operation::Exchange).min_by_key(|p| p.bytes);
        let waits = points.iter().map(|p| p.waits_ns / p.round_trip_ns).fold(0.0, f64::max);
        let mut claims = Vec::new();
        claims.extend(smallest.map(|p| {
            let bound = (paper::SMALL_ROUND_TRIP_US * 110.0).round() / 100.0;
            Claim::at_most("smallest_exchange_us", p.round_trip_ns / 1e3, bound)
        }));
        // Long exchanges wait most: more frames than a stream has credit for, and acknowledgements between them.
        claims.push(Claim::at_most("waits_share_most", waits, 0.1));
        Self { schema: SCHEMA, options: options.clone(), points, claims }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let l = &self.options.latencies;
        let head = format!(
            "DiAD figure 4: round trips over one switch at {:.0} Gb/s, in virtual time. Endpoints and card are the ones \
             that run live. Switch ({} ns), fabric ({} ns a pass), cables and memory are constants.",
            l.link_rate as f64 / 1e9,
            l.switch_ns,
            l.fabric_ns,
        );
        writeln!(f, "{}", wrap(&head, ""))?;
        writeln!(f, "There and back, half of it, and the parts of it in ns")?;
        let header =
            ["WHAT", ">BYTES", ">ROUND us", ">HALF us", ">SWITCH", ">FABRIC", ">CABLE", ">MEM", ">FRAMES", ">WAITS"];
        let mut table = Table::new(&header);
        for p in &self.points {
            let mut cells = vec![p.operation.name().to_owned(), p.bytes.to_string()];
            cells.extend([p.round_trip_ns / 1e3, p.round_trip_ns / 2e3].map(|us| format!("{us:.3}")));
            let parts = [p.switch_ns, p.fabric_ns, p.cable_ns, p.memory_ns, p.frames_ns, p.waits_ns];
            cells.extend(parts.map(|ns| format!("{:.0}", ns + 0.0)));
            table.row(cells);
        }
        writeln!(f, "{table}")?;
        let note = "The paper states 1.8 us there and back for small packets, and cites 2.759 us for VNx and 4.3 us for \
                    EasyNet (IV.B.1). FABRIC is concluded from that very 1.8 us, so that the smallest sizes agree is no \
                    finding; what a size adds is FRAMES and WAITS, and these are ours. FRAMES: the least time on wires, each \
                    frame stored whole at the switch. WAITS: all the rest.";
        writeln!(f, "{}", wrap(note, ""))?;
        write!(f, "{}", claims_table(&self.claims))
    }
}

impl StudyReport for Report {
    fn json(&self) -> serde_json::Value {
        rackloom_report::json(self)
    }

    fn svg(&self) -> String {
        let line = |at: usize, operation: Operation| Series {
            name: operation.name().into(),
            points: self
                .points
                .iter()
                .filter(|p| p.operation == operation)
                .map(|p| (p.bytes as f64, p.round_trip_ns / 2e3))
                .collect(),
            style: Style::Ours(at),
        };
        let mut series: Vec<_> = Operation::ALL.into_iter().enumerate().map(|(at, o)| line(at, o)).collect();
        let small = vec![(64.0, paper::SMALL_ROUND_TRIP_US / 2.0)];
        series.push(Series { name: "DiAD, small packets".into(), points: small, style: Style::Points });
        Chart {
            title: "Half a round trip by size (DiAD, figure 4, whose other points are not stated)",
            x: "bytes",
            y: "microseconds",
            log: true,
            legend: Legend::UpperLeft,
            series,
        }
        .svg()
    }

    fn claims(&self) -> &[Claim] {
        &self.claims
    }
}
