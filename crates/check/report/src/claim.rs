//! Claims: measured figures beside their bounds. Every report lists its claims under this word.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Table;

/// How a figure must relate to its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// At least the bound.
    AtLeast,
    /// At most the bound.
    AtMost,
}

/// A measured figure, its bound, and whether it keeps to the bound.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Claim {
    /// What is measured.
    pub name: &'static str,
    /// The figure.
    pub measured: f64,
    /// How the figure must relate to the bound.
    pub rule: Rule,
    /// The bound.
    pub bound: f64,
    /// Whether it does: whether the claim holds.
    pub holds: bool,
}

impl Claim {
    /// That `measured` is at most `bound`.
    #[must_use]
    pub fn at_most(name: &'static str, measured: f64, bound: f64) -> Self {
        Self { name, measured, rule: Rule::AtMost, bound, holds: measured <= bound }
    }

    /// That `measured` is at least `bound`.
    #[must_use]
    pub fn at_least(name: &'static str, measured: f64, bound: f64) -> Self {
        Self { name, measured, rule: Rule::AtLeast, bound, holds: measured >= bound }
    }
}

/// The claims as a table.
#[must_use]
pub fn claims_table(claims: &[Claim]) -> Table {
    let mut table = Table::new(&["CLAIM", ">MEASURED", ">BOUND", ">"]);
    for claim in claims {
        let sign = if claim.rule == Rule::AtMost { "<=" } else { ">=" };
        table.row([
            claim.name.to_owned(),
            format!("{:.4}", claim.measured),
            format!("{sign} {}", claim.bound),
            if claim.holds { "holds" } else { "FAILS" }.to_owned(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_at_its_bound_holds_and_one_beyond_it_fails() {
        let claims = [Claim::at_most("time", 1.0, 1.0), Claim::at_least("speed-up", 17.9, 18.0)];
        assert_eq!(
            claims_table(&claims).to_string(),
            "CLAIM     MEASURED  BOUND\ntime        1.0000   <= 1  holds\nspeed-up   17.9000  >= 18  FAILS\n"
        );
        assert!(!Claim::at_most("nothing measured", f64::NAN, 1.0).holds);
    }
}
