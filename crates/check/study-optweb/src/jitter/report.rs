//! The report as text and as a picture.

use std::fmt;

use rackloom_report::{Chart, Claim, Legend, Series, StudyReport, Style, Table, claims_table, wrap};

use super::{Report, Row};

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "OPTWEB figure 9: nanoseconds between four cards' ends of barriers\n")?;
        let mut table = Table::new(&["BARRIERS", ">PAPER", ">ITS WAY, MEAN", ">WORST", ">GATEWARE"]);
        for row in &self.rows {
            let bound = if row.barriers > 1 { "< " } else { "" };
            table.row([
                row.barriers.to_string(),
                format!("{bound}{:.0}", row.paper_ns),
                format!("{:.0}", row.papers_way.mean_ns),
                format!("{:.0}", row.papers_way.worst_ns),
                format!("{:.0}", row.gateware_ns),
            ]);
        }
        writeln!(f, "{table}")?;
        let note = format!(
            "The third card comes a millisecond late to the first barrier, and the fourth two. ITS WAY: the event model \
             with the paper's times, of {} sets of clocks that are up to {} parts in a million off, and synchronizers. \
             GATEWARE: simulated, with one clock for all cards; these come 1000 and 2000 cycles late.",
            self.seeds, self.ppm
        );
        writeln!(f, "{}", wrap(&note, ""))?;
        write!(f, "{}", claims_table(self.claims()))
    }
}

impl StudyReport for Report {
    fn json(&self) -> serde_json::Value {
        rackloom_report::json(self)
    }

    fn svg(&self) -> String {
        let of = |ns: fn(&Row) -> f64| self.rows.iter().map(|row| (row.barriers as f64, ns(row))).collect();
        let series = vec![
            Series { name: "gateware of one clock".into(), points: of(|row| row.gateware_ns), style: Style::Ours(0) },
            Series {
                name: "the paper's way, mean".into(),
                points: of(|row| row.papers_way.mean_ns),
                style: Style::Ours(1),
            },
            Series { name: "the paper".into(), points: of(|row| row.paper_ns), style: Style::Theirs(0) },
        ];
        Chart {
            title: "Ends of barriers, one after the other (OPTWEB, figure 9)",
            x: "barriers",
            y: "apart (ns)",
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
