//! The report as text and as a picture.

use std::fmt;

use rackloom_report::{Chart, Claim, Legend, Series, StudyReport, Style, Table, claims_table, wrap};

use super::Report;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "OPTWEB section 5.2: programs on 16 cards of 800 Gb/s\n")?;
        let mut table =
            Table::new(&["PROGRAM", ">COMPUTES", ">MESH ms", ">TORUS", ">SWITCH", ">BY TORUS", ">BY SWITCH"]);
        for row in &self.rows {
            let [mesh, torus, switch] = row.time_ms;
            let ratio = |i: usize| format!("{:.2} ({})", row.faster[i], row.paper[i]);
            table.row([
                row.program.to_owned(),
                format!("{:.3}", row.compute_ms),
                format!("{mesh:.3}"),
                format!("{torus:.3}"),
                format!("{switch:.3}"),
                ratio(0),
                ratio(1),
            ]);
        }
        writeln!(f, "{table}")?;
        let notes = [
            "BY TORUS, BY SWITCH: how many times as fast the full mesh is; the paper's in brackets.",
            "An alltoall on this torus takes twice what it takes on the mesh if all links are always full, so six times do \
             not follow from the rates; static routes of SimGrid that use some links more than others, or links that \
             carry one way at a time, would explain more.",
            "The mesh has 15 links where the switch's port has the rate of 16, so an alltoall through an ideal switch is \
             faster. What the mesh gains over a switch in a broadcast depends on how the switch's library does that.",
            "The mean of the paper's own ratios by switch is 1.185; it states 7.1 %.",
        ];
        notes.iter().try_for_each(|note| write!(f, "{}", wrap(&format!("- {note}"), "  ")))?;
        write!(f, "\n{}", claims_table(self.claims()))
    }
}

impl StudyReport for Report {
    fn json(&self) -> serde_json::Value {
        rackloom_report::json(self)
    }

    fn svg(&self) -> String {
        let of = |y: fn(&super::Row) -> f64| {
            let points = self.rows.iter().enumerate().map(|(i, row)| (i as f64 + 1.0, y(row)));
            points.collect::<Vec<_>>()
        };
        let series = vec![
            Series { name: "by the torus".into(), points: of(|row| row.faster[0]), style: Style::Ours(0) },
            Series { name: "by the switch".into(), points: of(|row| row.faster[1]), style: Style::Ours(1) },
            Series { name: "by the torus, paper".into(), points: of(|row| row.paper[0]), style: Style::Theirs(0) },
            Series { name: "by the switch, paper".into(), points: of(|row| row.paper[1]), style: Style::Theirs(1) },
        ];
        Chart {
            title: "Full mesh by torus and by switch (OPTWEB, figure 19)",
            x: "IS, FT, Graph500, MM",
            y: "times as fast",
            log: false,
            legend: Legend::UpperRight,
            series,
        }
        .svg()
    }

    fn claims(&self) -> &[Claim] {
        &self.claims
    }
}
