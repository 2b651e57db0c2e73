//! What the bench found: tables, claims, JSON, a chart.

use std::fmt;

use rackloom_report::{Chart, Claim, Legend, Series, Style, Table, claims_table};
use schemars::JsonSchema;
use serde::Serialize;

use super::loopback::Loopback;
use super::transfers::Step;
use super::workloads::Copies;
use crate::sample::Stat;

/// The schema of [`Report`] as JSON.
pub const SCHEMA: &str = "rackloom.bench-opencl-overhead/1";

/// One thing, in three ways.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// What kind of thing: `call`, `write and read`, `mapped`, or a program.
    pub group: &'static str,
    /// Which; a size.
    pub case: String,
    /// Bytes moved in each direction, if that is what it is about.
    pub bytes: Option<u64>,
    /// On the vendor's runtime itself.
    pub native: Stat,
    /// Through a manager, over shared memory.
    pub shared_memory: Stat,
    /// That beside native: the median over rounds.
    pub shared_memory_ratio: f64,
    /// Through a manager, over TCP on the loopback interface.
    pub network: Stat,
    /// That beside native: the median over rounds.
    pub network_ratio: f64,
    /// Of programs: medians of what writing and reading takes of it, by way, in microseconds.
    pub transfers_us: Option<[f64; 3]>,
}

/// What the bench found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// `rackloom.bench-opencl-overhead/1`
    schema: &'static str,
    /// The device.
    pub device: String,
    /// Whether this is an optimised build.
    pub release: bool,
    /// Whether this was only a check that everything works.
    pub quick: bool,
    /// All rows, in the order of measuring.
    pub rows: Vec<Row>,
    /// A write, an empty kernel and a read, by size.
    pub sweep: Vec<Step>,
    /// Transfers of 16 MiB over TCP beside iperf3 over the same interface.
    pub loopback: Option<Loopback>,
    /// Copies of bulk data over shared memory, counted.
    pub copies: Option<Copies>,
    /// The claims, each with its bound and whether it holds.
    claims: Vec<Claim>,
    /// Whether the device is a processor, which has no memory of its own.
    #[serde(skip)]
    is_processor: bool,
}

impl Report {
    pub(super) fn new(
        (device, is_processor): (String, bool),
        rows: Vec<Row>,
        sweep: Vec<Step>,
        loopback: Option<Loopback>,
        copies: Option<Copies>,
        quick: bool,
    ) -> Self {
        let mut this = Self {
            schema: SCHEMA,
            device,
            is_processor,
            release: !cfg!(debug_assertions),
            quick,
            rows,
            sweep,
            loopback,
            copies,
            claims: Vec::new(),
        };
        // The times of such a check say nothing.
        this.claims = if quick { Vec::new() } else { this.judge() };
        this
    }

    /// The claims that were checked.
    #[must_use]
    pub fn claims(&self) -> &[Claim] {
        &self.claims
    }

    fn find(&self, group: &str, case: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.group == group && row.case == case)
    }

    fn judge(&self) -> Vec<Claim> {
        let mut claims = Vec::new();
        let mut added = |name, case, bound| {
            let row = self.find("call", case);
            claims.extend(row.map(|row| Claim::at_most(name, row.shared_memory.added(&row.native), bound)));
        };
        added("64 B write over shared memory: added us", "blocking write of 64 B", 25.0);
        added("empty kernel over shared memory: added us", "empty kernel and finish", 25.0);
        added("each of ten kernels: added us", "each of ten kernels", 3.0);
        let kernel = self.find("call", "empty kernel and finish");
        claims.extend(kernel.map(|row| Claim::at_most("empty kernel over TCP: us", row.network.median_us, 60.0)));
        claims.push(Claim::at_most("largest step of the sweep: us", self.largest_step(), 5000.0));
        let mut ratio = |name, group, case, bound| {
            let row = self.find(group, case);
            claims.extend(row.map(|row| Claim::at_most(name, row.shared_memory_ratio, bound)));
        };
        if self.is_processor {
            ratio("16 MiB write and read / native", "write and read", "16 MiB", 1.5);
        } else {
            // Beside a driver that copies with one thread.
            ratio("1 MiB write and read / native", "write and read", "1 MiB", 0.8);
            ratio("16 MiB write and read / native", "write and read", "16 MiB", 0.6);
            ratio("256 MiB write and read / native", "write and read", "256 MiB", 0.5);
        }
        ratio("16 MiB through a mapping / native", "mapped", "16 MiB", 1.1);
        ratio("Sobel 1920x1080 / native", "sobel", "1920x1080", 1.03);
        ratio("AlexNet / native", "alexnet", "1", 1.05);
        // A kernel of a quarter of a second varies by a percent from one time to the next: what the manager adds to it
        // is found in what it adds to the calls around it.
        let matmul = self.find("matmul", "2048").and_then(|row| Some((row.transfers_us?, row.native.median_us)));
        if let (Some(([before, shared, _], total)), Some(kernel)) = (matmul, kernel) {
            let added = shared - before + kernel.shared_memory.added(&kernel.native);
            claims.push(Claim::at_most("matrices of 2048: added around the kernel / all", added / total, 0.001));
        }
        let least = |found: Loopback| found.write.min(found.read) / found.iperf3;
        claims.extend(self.loopback.map(|found| Claim::at_least("16 MiB over TCP / iperf3", least(found), 0.8)));
        claims.extend(self.copies.map(|counted| Claim::at_most("copies of bulk data", counted.copies, 1.0)));
        claims
    }

    /// Most that a size of the sweep takes longer than the one before it through the manager, in microseconds.
    fn largest_step(&self) -> f64 {
        let ways: [fn(&Step) -> f64; 2] = [|s| s.shared_memory.median_us, |s| s.network.median_us];
        let steps = ways.into_iter().flat_map(|of| self.sweep.windows(2).map(move |two| of(&two[1]) - of(&two[0])));
        steps.fold(0.0, f64::max)
    }

    /// Round trips by size.
    #[must_use]
    pub fn svg(&self) -> String {
        let line = |name: &str, group: &str, of: fn(&Row) -> &Stat, style| Series {
            name: name.to_owned(),
            points: self
                .rows
                .iter()
                .filter(|row| row.group == group)
                .filter_map(|row| Some((row.bytes? as f64, of(row).median_us)))
                .collect(),
            style,
        };
        let group = "write and read";
        let chart = Chart {
            title: "Write and read of a buffer",
            x: "bytes",
            y: "microseconds",
            log: true,
            legend: Legend::UpperLeft,
            series: vec![
                line("native", group, |r| &r.native, Style::Theirs(0)),
                line("shared memory", group, |r| &r.shared_memory, Style::Ours(0)),
                line("TCP", group, |r| &r.network, Style::Ours(1)),
                line("native, mapped", "mapped", |r| &r.native, Style::Theirs(1)),
                line("shared memory, mapped", "mapped", |r| &r.shared_memory, Style::Ours(2)),
            ],
        };
        chart.svg()
    }
}

impl Stat {
    /// What this median has more than another, microseconds.
    fn added(&self, to: &Self) -> f64 {
        self.median_us - to.median_us
    }
}

/// A time in three digits, with its unit.
fn time(us: f64) -> String {
    match us {
        us if us < 1e3 => format!("{us:.1} us"),
        us if us < 1e6 => format!("{:.2} ms", us / 1e3),
        us => format!("{:.2} s", us / 1e6),
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: medians natively, over shared memory, over TCP on loopback\n", self.device)?;
        let mut table = Table::new(&["", ">NATIVE", ">SHARED", ">RATIO", ">TCP", ">RATIO"]);
        for row in &self.rows {
            table.row(vec![
                format!("{} {}", row.group, row.case),
                time(row.native.median_us),
                time(row.shared_memory.median_us),
                format!("{:.3}", row.shared_memory_ratio),
                time(row.network.median_us),
                format!("{:.3}", row.network_ratio),
            ]);
        }
        writeln!(f, "{table}")?;
        let worst = |of: fn(&Step) -> &Stat| self.sweep.iter().map(|s| of(s).max_us).fold(0.0, f64::max);
        let [native, shared, network] =
            [worst(|s| &s.native), worst(|s| &s.shared_memory), worst(|s| &s.network)].map(time);
        let count = self.sweep.len();
        writeln!(f, "Write, kernel, read of 1 B to 1 MiB ({count} sizes): longest {native}, {shared}, {network}")?;
        if let Some(Loopback { iperf3, write, read }) = &self.loopback {
            let [iperf3, write, read] = [iperf3, write, read].map(|rate| format!("{:.2} GB/s", rate / 1e9));
            writeln!(f, "Over TCP: iperf3 {iperf3}; writes of 16 MiB {write}, reads {read}")?;
        }
        if let Some(copies) = &self.copies {
            writeln!(f, "Bulk over shared memory: {} bytes, {} copied", copies.bytes, copies.copied)?;
        }
        if !self.claims.is_empty() {
            write!(f, "\n{}", claims_table(&self.claims))?;
        }
        Ok(())
    }
}
