//! What `diad-features` found.

use std::fmt;

use rackloom_report::{Chart, Claim, Legend, Series, StudyReport, Style, Table, claims_table, wrap};
use schemars::JsonSchema;
use serde::Serialize;

use super::Options;

/// The schema of [`Report`] as JSON.
pub const SCHEMA: &str = "rackloom.study.diad-features/1";

/// What the study found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// `rackloom.study.diad-features/1`
    schema: &'static str,
    /// What was asked.
    options: Options,
    /// The patterns that were seen at work, in the paper's order.
    pub shown: Vec<Shown>,
    /// The commands that do it, in the same order.
    commands: Vec<&'static str>,
    /// The claims, each with its bound and whether it holds.
    claims: Vec<Claim>,
}

/// A pattern at work.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Shown {
    /// Which.
    pub pattern: Pattern,
    /// What was seen and checked.
    pub evidence: String,
    /// What one operation of it took, microseconds of virtual time.
    pub took_us: f64,
}

/// The patterns of use of the paper's table I.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// A host's packets go through the card.
    HostNetworking,
    /// A host computes on its card.
    Compute,
    /// A role in the way of a host's packets.
    BumpInTheWire,
    /// A card that nodes of the network use, without a host.
    Disaggregated,
    /// Streams from role to role.
    Dataflow,
    /// Memory that nodes share.
    RemoteMemory,
}

impl Pattern {
    /// In the paper's order.
    pub const ALL: [Self; 6] = [
        Self::HostNetworking,
        Self::Compute,
        Self::BumpInTheWire,
        Self::Disaggregated,
        Self::Dataflow,
        Self::RemoteMemory,
    ];

    /// The paper's name for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HostNetworking => "host networking",
            Self::Compute => "compute acceleration",
            Self::BumpInTheWire => "bump in the wire",
            Self::Disaggregated => "disaggregated computing",
            Self::Dataflow => "point-to-point dataflow",
            Self::RemoteMemory => "distributed memory access",
        }
    }

    /// The command that a user gives for it.
    pub const fn command(self) -> &'static str {
        match self {
            Self::HostNetworking => "rackloom up --cards 2 --nic 0=rl0 --nic 1=rl1",
            Self::Compute => "rackloom run vadd x.npy y.npy -o z.npy",
            Self::BumpInTheWire => "rackloom up --cards 2 --nic 0=rl0 --nic 1=rl1,hook",
            Self::Disaggregated => "rackloom rma write card0 2M operands",
            Self::Dataflow => "rackloom stream connect --input card0:0 card0:0=card1:0",
            Self::RemoteMemory => "rackloom rma add card0 4M 5",
        }
    }

    /// Which of the others have it, as the paper says.
    const fn others(self) -> &'static str {
        match self {
            Self::HostNetworking | Self::BumpInTheWire => "all but EasyNet/VNx",
            Self::Compute | Self::Disaggregated => "EasyNet/VNx, FlexDriver, Catapult v2",
            Self::Dataflow | Self::RemoteMemory => "none",
        }
    }
}

impl Report {
    pub(super) fn new(options: &Options, shown: Vec<Shown>) -> Self {
        let claims = vec![Claim::at_least("patterns_at_work", shown.len() as f64, Pattern::ALL.len() as f64)];
        let commands = shown.iter().map(|s| s.pattern.command()).collect();
        Self { schema: SCHEMA, options: options.clone(), shown, commands, claims }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = "DiAD table I: six patterns of use, each run just now on emulated cards in virtual time and checked. DiAD \
                    has all of them; of the five that the paper compares it with:";
        writeln!(f, "{}", wrap(head, ""))?;
        let mut table = Table::new(&["PATTERN", ">ONE TAKES us", "ALSO IN, SAYS THE PAPER"]);
        for (n, s) in (1..).zip(&self.shown) {
            let name = format!("{n}. {}", s.pattern.name());
            table.row([name, format!("{:.2}", s.took_us), s.pattern.others().to_owned()]);
        }
        writeln!(f, "{table}")?;
        for (n, s) in (1..).zip(&self.shown) {
            write!(f, "{}", wrap(&format!("{n}. {}.", s.evidence), "   "))?;
            writeln!(f, "   $ {}", s.pattern.command())?;
        }
        writeln!(f)?;
        write!(f, "{}", claims_table(&self.claims))
    }
}

impl StudyReport for Report {
    fn json(&self) -> serde_json::Value {
        rackloom_report::json(self)
    }

    fn svg(&self) -> String {
        let points = (1..).zip(&self.shown).map(|(n, s)| (f64::from(n), s.took_us)).collect();
        Chart {
            title: "One operation of each pattern of use (DiAD, table I)",
            x: "pattern, by the paper's number",
            y: "microseconds",
            log: false,
            legend: Legend::UpperRight,
            series: vec![Series { name: "virtual time".into(), points, style: Style::Ours(0) }],
        }
        .svg()
    }

    fn claims(&self) -> &[Claim] {
        &self.claims
    }
}
