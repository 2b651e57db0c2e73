//! What `diad-throughput` found.

use std::fmt;

use rackloom_node::Duration;
use rackloom_report::{Chart, Claim, Legend, Series, StudyReport, Style, Table, claims_table, wrap};
use rackloom_wire::bridge::MESSAGE_JUMBO;
use schemars::JsonSchema;
use serde::Serialize;

use super::options::Options;
use crate::latencies::Latencies;
use crate::latency::PACKET;
use crate::paper;

/// The schema of [`Report`] as JSON.
pub const SCHEMA: &str = "rackloom.study.diad-throughput/1";

/// What the study found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// `rackloom.study.diad-throughput/1`
    schema: &'static str,
    /// What was measured.
    options: Options,
    /// In the order of the options: reads, writes, messages, streams.
    pub points: Vec<Point>,
    /// The claims, each with its bound and whether it holds.
    claims: Vec<Claim>,
}

/// How bytes go from one node to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// Requests to memory, so many under way at any time.
    Requests {
        /// Reads; otherwise writes.
        reads: bool,
        /// Bytes of each.
        bytes: usize,
        /// Under way.
        depth: usize,
    },
    /// Messages written to memory in packets of 4 KiB, the next when the last is answered.
    Messages {
        /// Bytes of each.
        bytes: usize,
    },
    /// Messages of a stream, as fast as they are taken.
    Stream {
        /// Bytes of each.
        bytes: usize,
    },
}

impl Way {
    /// Payload bytes of its full frames.
    fn payload(self) -> usize {
        match self {
            Self::Requests { bytes, .. } => bytes,
            Self::Messages { .. } => PACKET,
            Self::Stream { bytes } => bytes.min(MESSAGE_JUMBO.into()),
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Requests { reads: true, bytes, depth } => write!(f, "{depth} reads of {bytes} bytes"),
            Self::Requests { bytes, depth, .. } => write!(f, "{depth} writes of {bytes} bytes"),
            Self::Messages { bytes } => write!(f, "messages of {bytes} bytes"),
            Self::Stream { bytes } => write!(f, "a stream of {bytes} bytes"),
        }
    }
}

/// One measurement.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Point {
    /// How the bytes went.
    pub way: Way,
    /// Gb/s of payload.
    pub gbps: f64,
    /// The same over the link's rate.
    pub of_line: f64,
    /// The same over what headers leave of the link's rate, in frames of this size.
    pub of_headers: f64,
}

impl Point {
    pub(super) fn new(way: Way, bytes: usize, took: Duration, l: &Latencies) -> Self {
        let rate = bytes as f64 * 8.0 / took.as_secs_f64();
        let of_line = rate / l.link_rate as f64;
        Self { way, gbps: rate / 1e9, of_line, of_headers: of_line / Latencies::payload_share(way.payload()) }
    }
}

impl Report {
    pub(super) fn new(options: &Options, points: Vec<Point>) -> Self {
        let claims = claims(&points);
        Self { schema: SCHEMA, options: options.clone(), points, claims }
    }

    fn requests(&self, is_read: bool) -> impl Iterator<Item = (usize, usize, &Point)> {
        self.points.iter().filter_map(move |p| match p.way {
            Way::Requests { reads, bytes, depth } if reads == is_read => Some((bytes, depth, p)),
            _ => None,
        })
    }
}

fn claims(points: &[Point]) -> Vec<Claim> {
    let least = |name, is: fn(&Way) -> bool, bound| {
        let found = points.iter().filter(|p| is(&p.way)).map(|p| p.gbps);
        found.reduce(f64::min).map(|gbps| Claim::at_least(name, gbps, bound))
    };
    let eight = |w: &Way| matches!(w, Way::Requests { bytes: 4096, depth: 8, .. });
    let fourteen = |w: &Way| matches!(w, Way::Requests { bytes: 2048, depth: 14, .. });
    let two = |w: &Way| matches!(w, Way::Messages { bytes: 8192 });
    let mut claims = Vec::new();
    claims.extend(least("gbps_8_of_4k", eight, paper::MEMORY_GBPS));
    claims.extend(least("gbps_14_of_2k", fourteen, paper::MEMORY_GBPS));
    // A message of two packets is a round trip, and ours ends in a card's memory: some less than the paper's.
    claims.extend(least("gbps_message_8k", two, paper::MESSAGE_8K_GBPS * 0.85));
    let stream = points.iter().filter(|p| matches!(p.way, Way::Stream { bytes: 65_536 })).map(|p| p.of_headers);
    claims.extend(stream.map(|share| Claim::at_least("stream_64k_of_headers", share, 0.975)));
    claims
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let o = &self.options;
        let head = format!(
            "DiAD figure 5: payload between two fabrics over one switch, links of {:.0} Gb/s, virtual time. Endpoints and \
             card are the ones that run live.",
            o.latencies.link_rate as f64 / 1e9
        );
        writeln!(f, "{}", wrap(&head, ""))?;
        for (reads, what) in [(true, "Reads"), (false, "Writes")] {
            writeln!(f, "{what} of a card's memory, Gb/s, by requests under way")?;
            let depths: Vec<String> = o.depths.iter().map(|d| format!(">{d}")).collect();
            let header: Vec<&str> =
                [">BYTES"].into_iter().chain(depths.iter().map(String::as_str)).chain([">HEADERS LEAVE"]).collect();
            let mut table = Table::new(&header);
            for &bytes in &o.requests {
                let mut cells = vec![bytes.to_string()];
                let row = self.requests(reads).filter(|(b, ..)| *b == bytes);
                cells.extend(row.map(|(_, _, p)| format!("{:.2}", p.gbps)));
                cells.push(format!("{:.1}", Latencies::payload_share(bytes) * o.latencies.link_rate as f64 / 1e9));
                table.row(cells);
            }
            writeln!(f, "{table}")?;
        }
        writeln!(f, "Messages: to memory in packets of 4 KiB, one message at a time; streams")?;
        let mut table = Table::new(&["WAY", ">BYTES", ">Gb/s", ">OF LINE", ">OF HEADERS", "DIAD STATES Gb/s"]);
        for p in &self.points {
            let (name, bytes, paper) = match p.way {
                Way::Requests { .. } => continue,
                Way::Messages { bytes: 8192 } => ("memory", 8192, format!("{:.0}", paper::MESSAGE_8K_GBPS)),
                Way::Messages { bytes } => ("memory", bytes, format!("at most {:.0}", paper::MEMORY_GBPS)),
                Way::Stream { bytes } => ("stream", bytes, format!("at most {:.1}", paper::STREAM_GBPS)),
            };
            let shares = [p.of_line, p.of_headers].map(|s| format!("{:.1}%", s * 100.0));
            let [line, headers] = shares;
            table.row([name.to_owned(), bytes.to_string(), format!("{:.2}", p.gbps), line, headers, paper]);
        }
        writeln!(f, "{table}")?;
        let note = "The paper states 87 Gb/s with 8 requests of 4 KiB under way or 14 of 2 KiB, about 25 Gb/s in messages of 8 \
                    KiB, and 99.6 Gb/s in streams (IV.B.2). Its memory packets carry metadata of more than an eighth; ours have \
                    a header of 96 bytes. Our streams have it too, and every frame 24 bytes around it, so no more than 98.7 % of \
                    the line can be payload. A message of 8 KiB is mostly one round trip; ours goes to a card's memory, the \
                    paper's to a traffic generator.";
        writeln!(f, "{}", wrap(note, ""))?;
        write!(f, "{}", claims_table(&self.claims))
    }
}

impl StudyReport for Report {
    fn json(&self) -> serde_json::Value {
        rackloom_report::json(self)
    }

    fn svg(&self) -> String {
        let mut series: Vec<Series> = self
            .options
            .depths
            .iter()
            .enumerate()
            .map(|(at, &depth)| Series {
                name: format!("{depth} writes under way"),
                points: self.requests(false).filter(|r| r.1 == depth).map(|(b, _, p)| (b as f64, p.gbps)).collect(),
                style: Style::Ours(at),
            })
            .collect();
        let streams = self.points.iter().filter_map(|p| match p.way {
            Way::Stream { bytes } => Some((bytes as f64, p.gbps)),
            _ => None,
        });
        series.push(Series { name: "stream".into(), points: streams.collect(), style: Style::Ideal });
        let stated = vec![(4096.0, paper::MEMORY_GBPS), (8192.0, paper::MESSAGE_8K_GBPS)];
        series.push(Series { name: "DiAD, as stated".into(), points: stated, style: Style::Points });
        Chart {
            title: "Payload between two fabrics (DiAD, figure 5)",
            x: "bytes",
            y: "Gb/s",
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
