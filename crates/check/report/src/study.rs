//! What the reports of all studies have in common.

use std::fmt::Display;

use serde::Serialize;

use crate::Claim;

/// What a study found: prints itself as text, serializes, draws itself.
pub trait StudyReport: Display {
    /// As JSON; its field `schema` names the layout.
    fn json(&self) -> serde_json::Value;

    /// As a picture.
    fn svg(&self) -> String;

    /// The claims that it checked.
    fn claims(&self) -> &[Claim];
}

/// A report as JSON.
///
/// # Panics
/// If the report has maps whose keys are no strings.
#[must_use]
pub fn json(report: &impl Serialize) -> serde_json::Value {
    serde_json::to_value(report).expect("a report has only plain fields and string keys")
}
