//! `optweb-cost`: what a network costs and how many fibres it has (section 5.1, figures 17 and 18), from the prices
//! that the paper states.
//!
//! The paper states unit prices and totals, and no prices of wiring. So the totals are added up from the unit prices,
//! and of wiring the fibres and connectors are counted that follow from its three ways to join cards.

use std::fmt;

use rackloom_report::{Chart, Claim, Legend, Progress, Series, StudyReport, Style, Table, claims_table, wrap};
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Result;
use crate::paper;

/// The schema of [`Report`] as JSON.
pub const SCHEMA: &str = "rackloom.study.optweb-cost/1";

/// There is nothing to choose: prices are the paper's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options;

/// What the study found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// `rackloom.study.optweb-cost/1`
    schema: &'static str,
    /// Dollars a Gb/s, part by part, of OPTWEB through a wavelength router.
    pub parts: Vec<Part>,
    /// Their sum.
    pub usd_per_gbps: f64,
    /// What that saves of a packet network, percent.
    pub savings_percent: f64,
    /// Fibres by cards.
    pub wiring: Vec<Wiring>,
    /// What the paper leaves out, or what does not fit.
    pub remarks: Vec<&'static str>,
    /// The claims, each with its bound and whether it holds.
    claims: Vec<Claim>,
}

/// A part of the cost.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Part {
    /// What it is.
    pub name: &'static str,
    /// Dollars a Gb/s.
    pub usd_per_gbps: f64,
}

/// What joins so many cards.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Wiring {
    /// Cards.
    pub cards: u64,
    /// Fibres if each pair has two: also those in a sheet.
    pub direct_fibres: u64,
    /// Fibres of all ribbons between cards and a sheet: two for each card of each ribbon.
    pub sheet_fibres: u64,
    /// Ribbons, one for each card.
    pub sheet_connectors: u64,
    /// Fibres to a wavelength router: two for each card.
    pub router_fibres: u64,
}

/// Adds it up.
///
/// # Errors
/// None; the type is that of all studies.
pub fn run(_: &Options, progress: &mut dyn Progress) -> Result<Report> {
    let parts = vec![
        Part { name: "optical transceivers", usd_per_gbps: paper::TRANSCEIVER_USD },
        Part { name: "light sources, filters, amplifiers", usd_per_gbps: paper::LIGHT_USD },
        Part {
            name: "the network's share of the FPGAs",
            usd_per_gbps: paper::FPGA_USD * paper::LOGIC_SHARE / paper::COST_GBPS,
        },
    ];
    let usd_per_gbps: f64 = parts.iter().map(|part| part.usd_per_gbps).sum();
    let savings_percent = 100.0 * (1.0 - usd_per_gbps / paper::PACKET_USD);
    let wiring = [4, 8, 16, 32, 64].map(|cards| Wiring {
        cards,
        direct_fibres: cards * (cards - 1),
        sheet_fibres: 2 * cards * cards,
        sheet_connectors: cards,
        router_fibres: 2 * cards,
    });
    let claims = vec![
        Claim::at_most("difference_to_the_papers_usd_per_gbps", (usd_per_gbps - paper::OPTWEB_USD).abs(), 0.7),
        Claim::at_least("savings_percent", savings_percent, 38.0),
    ];
    progress.step(1, 1, "figures 17 and 18");
    Ok(Report {
        schema: SCHEMA,
        parts,
        usd_per_gbps,
        savings_percent,
        wiring: wiring.to_vec(),
        remarks: REMARKS.to_vec(),
        claims,
    })
}

const REMARKS: [&str; 4] = [
    "The parts that the paper prices add up to 4.9 $/Gbps; it states 5.5, and does not say what the rest is.",
    "The price of an FPGA decides: each $1,000 more add 0.72 $/Gbps, and at $6,900 nothing is saved.",
    "A packet network needs logic on the FPGA as well, by the paper's section 1 more than OPTWEB; its 9 $/Gbps have none.",
    "The abstract and 5.1.2 say that 40 % are saved; 5.5 of 9 $/Gbps save 38.9 %.",
];

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "OPTWEB section 5.1: cost of {} cards of {} Gb/s\n", paper::COST_CARDS, paper::COST_GBPS)?;
        let mut table = Table::new(&["PART", ">$/Gbps", ">PAPER"]);
        for part in &self.parts {
            table.row([part.name.to_owned(), format!("{:.2}", part.usd_per_gbps), String::new()]);
        }
        let sum = [format!("{:.2}", self.usd_per_gbps), format!("{:.2}", paper::OPTWEB_USD)];
        table.row(["OPTWEB, wavelength router".to_owned(), sum[0].clone(), sum[1].clone()]);
        table.row(["packet network".to_owned(), String::new(), format!("{:.2}", paper::PACKET_USD)]);
        let saved = format!("{:.1} %", self.savings_percent);
        table.row(["saved".to_owned(), saved, format!("{:.0} %", paper::SAVINGS_PERCENT)]);
        writeln!(f, "{table}")?;
        let mut table =
            Table::new(&[">CARDS", ">PAIRS' FIBRES", ">SHEET'S RIBBONS", ">THEIR FIBRES", ">ROUTER'S FIBRES"]);
        for row in &self.wiring {
            let numbers = [row.cards, row.direct_fibres, row.sheet_connectors, row.sheet_fibres, row.router_fibres];
            table.row(numbers.map(|n| n.to_string()));
        }
        writeln!(f, "{table}")?;
        self.remarks.iter().try_for_each(|remark| write!(f, "{}", wrap(&format!("- {remark}"), "  ")))?;
        write!(f, "\n{}", claims_table(&self.claims))
    }
}

impl StudyReport for Report {
    fn json(&self) -> serde_json::Value {
        rackloom_report::json(self)
    }

    fn svg(&self) -> String {
        let of = |y: fn(&Wiring) -> u64| self.wiring.iter().map(|row| (row.cards as f64, y(row) as f64)).collect();
        let series = vec![
            Series { name: "each pair".into(), points: of(|row| row.direct_fibres), style: Style::Ours(0) },
            Series { name: "fibre sheet".into(), points: of(|row| row.sheet_fibres), style: Style::Ours(1) },
            Series { name: "wavelength router".into(), points: of(|row| row.router_fibres), style: Style::Ours(2) },
        ];
        Chart {
            title: "Fibres of a full mesh (OPTWEB, section 5.1)",
            x: "cards",
            y: "fibres",
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

#[cfg(test)]
mod tests {
    use super::*;
    use rackloom_report::Silent;

    #[test]
    fn the_papers_prices_add_up_to_less_than_it_states() {
        let report = run(&Options, &mut Silent).unwrap();
        assert!(report.claims.iter().all(|claim| claim.holds), "{report}");
        assert!((4.85..4.95).contains(&report.usd_per_gbps) && report.usd_per_gbps < paper::OPTWEB_USD);
        assert!((100.0 * (1.0 - paper::OPTWEB_USD / paper::PACKET_USD) - 38.9).abs() < 0.1, "it states 40 %");
        let of = |cards| report.wiring.iter().find(|row| row.cards == cards).unwrap();
        assert_eq!((of(paper::SHEET_CARDS).direct_fibres, of(64).router_fibres), (992, 128));
        assert!(report.to_string().lines().all(|line| line.chars().count() <= 80), "{report}");
        assert!(report.svg().contains("</svg>"));
    }
}
