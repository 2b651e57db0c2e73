//! The report as text and as a picture.

use std::fmt;

use rackloom_report::{Chart, Claim, Legend, Series, StudyReport, Style, Table, claims_table, wrap};

use super::{Report, Row};

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "OPTWEB section 4: operations over a full mesh of links of 45 Gb/s\n")?;
        let mut table = Table::new(&["START-UP, 4 RANKS", ">us", ">PAPER"]);
        for latency in &self.latencies {
            table.row([latency.name.to_owned(), format!("{:.2}", latency.time_us), format!("{:.2}", latency.paper_us)]);
        }
        writeln!(f, "{table}")?;
        writeln!(f, "Four ranks, 64 MiB:\n{}", rows(&self.operations))?;
        let some = |row: &&Row| row.bytes.ilog2().is_multiple_of(3);
        let sizes: Vec<_> = self.sizes.iter().filter(some).cloned().collect();
        writeln!(f, "By size:\n{}", rows(&sizes))?;
        writeln!(f, "By ranks:\n{}", rows(&self.growth))?;
        let note = "BOUND: what links need at least. PAPER'S WAY: by one link for each pair, or a scatter and then a gather or \
                    an allgather. Copies and reductions in a card's own memory take no time here.";
        writeln!(f, "{}", wrap(note, ""))?;
        write!(f, "{}", claims_table(self.claims()))
    }
}

fn rows(rows: &[Row]) -> Table {
    let mut table =
        Table::new(&["OPERATION", ">RANKS", ">BYTES", ">us", ">BOUND", ">OF IT %", ">PAPER'S WAY", ">Gb/s"]);
    for row in rows {
        table.row([
            row.operation.to_owned(),
            row.ranks.to_string(),
            row.bytes.to_string(),
            format!("{:.2}", row.time_us),
            format!("{:.2}", row.bound_us),
            format!("{:.1}", 100.0 * row.share()),
            row.paper_us.map_or_else(String::new, |us| format!("{us:.2}")),
            format!("{:.1}", gbps(row)),
        ]);
    }
    table
}

/// Gb/s of a block, or of the whole.
fn gbps(row: &Row) -> f64 {
    row.bytes as f64 * 8.0 / row.time_us / 1e3
}

impl StudyReport for Report {
    fn json(&self) -> serde_json::Value {
        rackloom_report::json(self)
    }

    fn svg(&self) -> String {
        let of = |operation: &'static str, us: fn(&Row) -> Option<f64>| {
            let rows = self.growth.iter().filter(move |row| row.operation == operation);
            let point = |row: &Row| Some((row.ranks as f64, row.bytes as f64 * 8.0 / us(row)? / 1e3));
            rows.filter_map(point).collect::<Vec<_>>()
        };
        let ours = |row: &Row| Some(row.time_us);
        let series = vec![
            Series { name: "send over all links".into(), points: of("send", ours), style: Style::Ours(0) },
            Series { name: "broadcast over all links".into(), points: of("broadcast", ours), style: Style::Ours(1) },
            Series { name: "allreduce".into(), points: of("allreduce", ours), style: Style::Ours(2) },
            Series {
                name: "the paper's way of a send or a broadcast".into(),
                points: of("send", |row| row.paper_us),
                style: Style::Theirs(0),
            },
            Series {
                name: "all links of a card".into(),
                points: of("send", |row| Some(row.bound_us)),
                style: Style::Ideal,
            },
        ];
        Chart {
            title: "Operations over a full mesh (OPTWEB, figure 15)",
            x: "cards",
            y: "rate (Gb/s)",
            log: false,
            legend: Legend::UpperLeft,
            series,
        }
        .svg()
    }

    fn claims(&self) -> &[Claim] {
        &self.claims
    }
}
