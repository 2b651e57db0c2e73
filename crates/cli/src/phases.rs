//! The phases of a load, as commands and benchmarks show them.

use rackloom::{LoadPhase, LoadReport};
use schemars::JsonSchema;
use serde::Serialize;

use crate::ui::Progress;

/// Time in each phase of a load, seconds.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct Phases {
    /// Announcing the image to each card.
    begin: f64,
    /// Sending the image to all cards.
    send: f64,
    /// Sending what some cards lack again.
    repair: f64,
    /// Cards check the digest and prepare the role.
    verify: f64,
    /// Cards write their configuration port.
    configure: f64,
}

impl Phases {
    pub(crate) fn of(report: &LoadReport) -> Self {
        let [begin, send, repair, verify, configure] = report.phases.map(|d| d.as_secs_f64());
        Self { begin, send, repair, verify, configure }
    }
}

/// Shows a load's progress.
pub(crate) fn show(progress: Progress, bytes: u64) -> impl FnMut(LoadPhase, u32, u32) + Send + 'static {
    move |phase, done, total| {
        let part = |done| bytes * u64::from(done) / u64::from(total).max(1);
        match phase {
            LoadPhase::Begin => progress.set(0, "begin"),
            LoadPhase::Send => progress.set(part(done), ""),
            LoadPhase::Repair => progress.set(bytes, "repair"),
            LoadPhase::Verify => progress.set(bytes, &format!("verify, {done} of {total} cards")),
            LoadPhase::Configure => progress.set(bytes, &format!("configure, {done} of {total} cards")),
        }
    }
}
