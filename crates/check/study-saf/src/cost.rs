//! `saf-cost`: table II from unit prices, and where the table contradicts itself or the paper's text.
//!
//! The paper gives no unit prices. SAF's first two rows do: one host and one card, one host and two cards. Every other
//! cell of the table must then follow from its number of hosts and cards.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Result;
use crate::paper::{Row2, TABLE_2};
use rackloom_report::{Chart, Claim, Legend, Progress, Series, StudyReport, Style, Table, claims_table, wrap};

/// The schema of [`Report`] as JSON.
pub const SCHEMA: &str = "rackloom.study.saf-cost/2";

/// There is nothing to choose: the table is the paper's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options;

/// What the study found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// `rackloom.study.saf-cost/2`
    schema: &'static str,
    /// Dollars for a host, derived.
    pub host_usd: f64,
    /// Dollars for a card, derived.
    pub card_usd: f64,
    /// The table, recomputed.
    pub rows: Vec<Row>,
    /// Where the paper's table or text contradicts itself.
    pub inconsistencies: Vec<Inconsistency>,
    /// What the table leaves out without contradicting itself.
    pub omissions: Vec<&'static str>,
    /// The claims, each with its bound and whether it holds.
    claims: Vec<Claim>,
}

/// A row: the same number of cards in each of the three clusters.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// Cards.
    pub cards: u32,
    /// Hosts of Noctua (one a card), ESSPER (one for two cards) and SAF (one).
    pub hosts: [u32; 3],
    /// Their costs.
    pub usd: [f64; 3],
    /// What SAF saves of the cheaper of the other two, percent.
    pub savings_percent: f64,
}

/// A cell or a sentence of the paper that does not fit the rest.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Inconsistency {
    /// Where in the paper.
    pub place: String,
    /// What it states.
    pub stated: String,
    /// What follows from the rest.
    pub follows: String,
    /// Whether the savings or the costs would change.
    pub changes_result: bool,
}

/// Recomputes the table.
///
/// # Errors
/// None; the type is that of all studies.
pub fn run(_: &Options, progress: &mut dyn Progress) -> Result<Report> {
    let (host, card) = unit_prices();
    let rows: Vec<Row> = TABLE_2.iter().map(|stated| row(stated.cards, host, card)).collect();
    let inconsistencies: Vec<_> =
        TABLE_2.iter().zip(&rows).flat_map(|(stated, row)| compare(stated, row, host, card)).chain(in_text()).collect();
    let off = |(stated, row): (&Row2, &Row)| {
        let each = stated.usd.iter().zip(&row.usd).map(|(a, b)| (a - b).abs());
        each.fold(0.0, f64::max)
    };
    let off = TABLE_2.iter().zip(&rows).map(off).fold(0.0, f64::max);
    let most = rows.iter().map(|r| r.savings_percent).fold(0.0, f64::max);
    let claims = vec![
        Claim::at_most("largest_difference_to_the_papers_costs_usd", off, 0.005),
        Claim::at_least("largest_savings_percent", most, 38.0),
    ];
    progress.step(1, 1, "table II");
    Ok(Report {
        schema: SCHEMA,
        host_usd: dollars(host),
        card_usd: dollars(card),
        rows,
        inconsistencies,
        omissions: OMISSIONS.to_vec(),
        claims,
    })
}

/// Cents for a host and for a card: SAF has one host, so its second row has one card more than its first.
fn unit_prices() -> (i64, i64) {
    let saf = |row: usize| cents(TABLE_2[row].usd[2]);
    let card = (saf(1) - saf(0)) / i64::from(TABLE_2[1].cards - TABLE_2[0].cards);
    (saf(0) - card * i64::from(TABLE_2[0].cards), card)
}

fn row(cards: u32, host: i64, card: i64) -> Row {
    let hosts = [cards, cards.div_ceil(2), 1];
    let cost = hosts.map(|h| i64::from(h) * host + i64::from(cards) * card);
    let cheaper = cost[0].min(cost[1]);
    let savings_percent = 100.0 * (cheaper - cost[2]) as f64 / cheaper as f64;
    Row { cards, hosts, usd: cost.map(dollars), savings_percent }
}

fn compare(stated: &Row2, row: &Row, host: i64, card: i64) -> Vec<Inconsistency> {
    let Row2 { cards, hosts, usd, savings_percent: savings } = *stated;
    let mut found = Vec::new();
    for (i, cluster) in CLUSTERS.iter().enumerate() {
        let place = format!("table II, {cards} cards, {cluster}");
        let by_hosts = i64::from(hosts[i]) * host + i64::from(cards) * card;
        if hosts[i] != row.hosts[i] {
            let implied = (cents(usd[i]) - i64::from(cards) * card) / host;
            found.push(Inconsistency {
                place: place.clone(),
                stated: format!("{} hosts, ${:.2}", hosts[i], usd[i]),
                follows: format!(
                    "the cost is that of {implied} hosts; {} hosts would cost ${:.2}",
                    hosts[i],
                    dollars(by_hosts)
                ),
                changes_result: false,
            });
        } else if by_hosts != cents(usd[i]) {
            found.push(Inconsistency {
                place,
                stated: format!("${:.2}", usd[i]),
                follows: format!("{} hosts and {cards} cards cost ${:.2}", hosts[i], dollars(by_hosts)),
                changes_result: true,
            });
        }
    }
    if (savings - row.savings_percent).abs() > 0.0051 {
        found.push(Inconsistency {
            place: format!("table II, {cards} cards, savings"),
            stated: format!("{savings:.2} %"),
            follows: format!("{:.2} %", row.savings_percent),
            changes_result: true,
        });
    }
    found
}

/// What the text says against the table or itself.
fn in_text() -> Vec<Inconsistency> {
    let found = |place: &str, stated: &str, follows: &str| Inconsistency {
        place: place.into(),
        stated: stated.into(),
        follows: follows.into(),
        changes_result: false,
    };
    vec![
        found(
            "section III and figure 1 against table II, Noctua",
            "\"each local host CPU is connected to two FPGAs\" in what represents Noctua and ESSPER",
            "table II gives Noctua a host for each card; with two cards a host its costs are ESSPER's. The savings do not \
             change, since they are taken against the cheaper of the two",
        ),
        found(
            "abstract, sections I and VI.B",
            "SAF saves 38 %; \"21.15% - 38.08%\"",
            "that is the range from 4 to 20 cards; for 1 and 2 cards table II has 0.00 %, for there one host serves as well",
        ),
    ]
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "SAF table II: cost of hosts and cards (USD)")?;
        writeln!(f, "unit prices that the table implies: host {:.2}, card {:.2}\n", self.host_usd, self.card_usd)?;
        let header = ["CARDS", ">HOSTS N/E/S", ">NOCTUA", ">ESSPER", ">SAF", ">SAVES %", ">PAPER %"];
        let mut table = Table::new(&header);
        for (row, stated) in self.rows.iter().zip(&TABLE_2) {
            let [n, e, s] = row.hosts;
            let mut cells = vec![row.cards.to_string(), format!("{n}/{e}/{s}")];
            cells.extend(row.usd.iter().map(|usd| format!("{usd:.2}")));
            cells.extend([format!("{:.2}", row.savings_percent), format!("{:.2}", stated.savings_percent)]);
            table.row(cells);
        }
        writeln!(f, "{table}")?;
        writeln!(f, "Where the paper is inconsistent:")?;
        for i in &self.inconsistencies {
            write!(f, "{}", wrap(&format!("- {}: it states {}; {}.", i.place, i.stated, i.follows), "  "))?;
        }
        writeln!(f, "\nWhat the table leaves out:")?;
        for o in &self.omissions {
            write!(f, "{}", wrap(&format!("- {o}"), "  "))?;
        }
        write!(f, "\n{}", claims_table(&self.claims))
    }
}

impl StudyReport for Report {
    fn json(&self) -> serde_json::Value {
        rackloom_report::json(self)
    }

    fn svg(&self) -> String {
        let ours = |i: usize| self.rows.iter().map(|r| (f64::from(r.cards), r.usd[i] / 1000.0)).collect();
        let theirs = |i: usize| TABLE_2.iter().map(move |r| (f64::from(r.cards), r.usd[i] / 1000.0));
        let mut series = Vec::new();
        for (i, name) in CLUSTERS.iter().enumerate() {
            series.push(Series { name: format!("{name}, recomputed"), points: ours(i), style: Style::Ours(i) });
        }
        let stated = (0..CLUSTERS.len()).flat_map(theirs).collect();
        series.push(Series { name: "paper".into(), points: stated, style: Style::Points });
        Chart {
            title: "Cost of hosts and cards (SAF, table II)",
            x: "cards",
            y: "cost (1000 USD)",
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

fn cents(usd: f64) -> i64 {
    (usd * 100.0).round() as i64
}

fn dollars(cents: i64) -> f64 {
    cents as f64 / 100.0
}

const CLUSTERS: [&str; 3] = ["Noctua", "ESSPER", "SAF"];
const OMISSIONS: [&str; 3] = [
    "The network: SAF's 20 cards need two 12-port 10 GbE switches, 20 adapters and cables; the clusters' hosts need a \
     network too. The paper states that it compares hosts and cards only.",
    "PCIe switches, by which one host could hold more than two cards: the paper's own PCIe-tree set-up (VI.A) has 20 cards \
     on one host and would cost what SAF costs.",
    "Hosts differ: the clusters' hosts feed cards by PCIe, SAF's one host feeds all by one 10 GbE port; table II takes the \
     same price for both.",
];

#[cfg(test)]
mod tests {
    use super::*;
    use rackloom_report::Silent;

    #[test]
    fn unit_prices_follow_from_the_table() {
        assert_eq!(unit_prices(), (109_999, 74_999));
    }

    #[test]
    fn every_cost_of_the_table_is_met_to_the_cent_and_the_wrong_host_count_is_found() {
        let report = run(&Options, &mut Silent).unwrap();
        assert!(report.claims.iter().all(|c| c.holds), "{:?}", report.claims);
        for (row, stated) in report.rows.iter().zip(&TABLE_2) {
            assert_eq!(row.usd.map(cents), stated.usd.map(cents), "{} cards", row.cards);
            assert!((row.savings_percent - stated.savings_percent).abs() < 0.0051, "{} cards", row.cards);
        }
        let in_table: Vec<_> = report.inconsistencies.iter().filter(|i| i.place.starts_with("table")).collect();
        let [only] = in_table[..] else { panic!("{in_table:?}") };
        assert_eq!(only.place, "table II, 20 cards, ESSPER");
        assert!(only.follows.starts_with("the cost is that of 10 hosts"), "{only:?}");
    }

    #[test]
    fn a_wrong_cell_is_found() {
        let (host, card) = unit_prices();
        let mut stated = TABLE_2[3];
        stated.usd[0] += 1.0;
        stated.savings_percent = 31.0;
        let found = compare(&stated, &row(8, host, card), host, card);
        let places: Vec<_> = found.iter().map(|i| i.place.as_str()).collect();
        assert_eq!(places, ["table II, 8 cards, Noctua", "table II, 8 cards, savings"]);
        assert!(found.iter().all(|i| i.changes_result));
    }
}
