//! Claims: a measured figure beside its bound.

use schemars::JsonSchema;
use serde::Serialize;

/// How a figure has to be to its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// At least the bound.
    AtLeast,
    /// At most the bound.
    AtMost,
}

/// A measured figure, its bound, and whether it holds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Claim {
    /// What is measured.
    pub name: &'static str,
    /// The figure.
    pub measured: f64,
    /// How it has to be to the bound.
    pub rule: Rule,
    /// The bound.
    pub bound: f64,
    /// Whether it is so.
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

/// The claims as lines of a table.
#[must_use]
pub fn rows(claims: &[Claim]) -> Vec<Vec<String>> {
    let sign = |rule| if rule == Rule::AtMost { "<=" } else { ">=" };
    let row = |c: &Claim| {
        vec![
            c.name.to_owned(),
            format!("{:.4}", c.measured),
            format!("{} {}", sign(c.rule), c.bound),
            if c.holds { "holds" } else { "FAILS" }.to_owned(),
        ]
    };
    claims.iter().map(row).collect()
}
