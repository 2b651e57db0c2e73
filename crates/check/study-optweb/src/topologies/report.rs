//! The report as text and as a picture.

use std::fmt;

use rackloom_report::{Chart, Claim, Legend, Series, StudyReport, Style, Table, claims_table, wrap};

use super::Report;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "OPTWEB section 5.3: alltoall on cards with {} links\n", self.links)?;
        let mut table = Table::new(&["", ">CARDS", ">LINKS", ">PATH", ">SLOTS", ">LEAST", ">FULL", ">RATE", ">TIMED"]);
        for row in &self.rows {
            table.row([
                row.name.to_owned(),
                row.cards.to_string(),
                row.links_of_a_card.to_string(),
                format!("{:.3}", row.mean_path),
                row.slots.to_string(),
                format!("{:.1}", row.slots_bound),
                format!("{:.1}", row.slots_full),
                format!("{:.1}", row.rate_links),
                format!("{:.1}", row.timed_rate_links),
            ]);
        }
        writeln!(f, "{table}")?;
        let notes = [
            "PATH: links of a path on average. SLOTS: of the schedule; LEAST: that any schedule needs, on any paths; FULL: \
             if all links were always full."
                .to_owned(),
            format!(
                "RATE: links that a card's own blocks fill, by slots; TIMED: with blocks of {} KiB on links of 45 Gb/s.",
                self.block_bytes >> 10
            ),
        ];
        notes.iter().try_for_each(|note| write!(f, "{}", wrap(note, "")))?;
        let mut table = Table::new(&["BLOCKS OF OTHERS THAT A CARD KEEPS", ">SLOTS", ">KEPT", ">SLOTS", ">KEPT"]);
        for row in &self.rows {
            let [slots, kept] = [row.slots, row.kept_blocks].map(|n| n.to_string());
            let [lean_slots, lean_kept] = [row.lean_slots, row.lean_kept_blocks].map(|n| n.to_string());
            table.row([row.topology.clone(), slots, kept, lean_slots, lean_kept]);
        }
        writeln!(f, "\n{table}")?;
        write!(f, "{}", claims_table(self.claims()))
    }
}

impl StudyReport for Report {
    fn json(&self) -> serde_json::Value {
        rackloom_report::json(self)
    }

    fn svg(&self) -> String {
        let points = |y: fn(&super::Row) -> f64| {
            let mut points: Vec<_> = self.rows.iter().map(|row| (row.cards as f64, y(row))).collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            points
        };
        let series = vec![
            Series { name: "schedule".into(), points: points(|row| row.rate_links), style: Style::Ours(0) },
            Series { name: "timed".into(), points: points(|row| row.timed_rate_links), style: Style::Ours(1) },
            Series {
                name: "all links always full".into(),
                points: points(|row| (row.cards - 1) as f64 / row.slots_full),
                style: Style::Ideal,
            },
        ];
        Chart {
            title: "Alltoall on arrangements of cards (OPTWEB, section 5.3)",
            x: "cards",
            y: "rate of a card (links)",
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
