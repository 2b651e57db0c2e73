//! The report as text and as a picture.

use std::fmt;

use rackloom_report::{Chart, Claim, Legend, Series, StudyReport, Style, Table, claims_table, wrap};

use super::{Report, Row};

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "The event model beside gateware: cycles of 64-bit words\n")?;
        writeln!(f, "Alone on cards:\n{}", rows(&self.alone))?;
        writeln!(f, "Operations:\n{}", rows(&self.operations))?;
        let note = "GATEWARE, MODEL: cycles from the Go to the report of the card that takes longest. OFF: the most that \
                    the model is off for any card of the row.";
        writeln!(f, "{}", wrap(note, ""))?;
        write!(f, "{}", claims_table(self.claims()))
    }
}

fn rows(rows: &[Row]) -> Table {
    let mut table = Table::new(&["PROGRAMS", ">CARDS", ">BYTES", ">GATEWARE", ">MODEL", ">OFF", ">OFF %"]);
    for row in rows {
        let [gateware, model] = row.slowest();
        table.row([
            row.operation.to_owned(),
            row.ranks.to_string(),
            row.bytes.to_string(),
            gateware.to_string(),
            model.to_string(),
            row.off_cycles().to_string(),
            format!("{:.2}", 100.0 * row.off()),
        ]);
    }
    table
}

impl StudyReport for Report {
    fn json(&self) -> serde_json::Value {
        rackloom_report::json(self)
    }

    fn svg(&self) -> String {
        let of = |operation: &str, which: usize| {
            let rows = self.operations.iter().filter(|row| row.operation == operation && row.ranks == 4);
            rows.map(|row| (row.bytes as f64, row.slowest()[which] as f64)).collect::<Vec<_>>()
        };
        let shown = ["send", "sendrecv", "alltoall", "allreduce"];
        let mut series: Vec<Series> = shown
            .iter()
            .enumerate()
            .map(|(n, name)| Series { name: format!("{name}, model"), points: of(name, 1), style: Style::Ours(n) })
            .collect();
        let points = shown.iter().flat_map(|name| of(name, 0)).collect();
        series.push(Series { name: "gateware".into(), points, style: Style::Points });
        Chart {
            title: "Four cards of gateware, and the event model",
            x: "bytes",
            y: "cycles",
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
