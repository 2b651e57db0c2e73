//! Functions under load for some seconds, and what came of it.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;

use super::load::{Function, Latency, Served, drive};
use super::paper::{Figures, sum};
use crate::error::Result;

/// A function and what is asked of it.
pub(super) struct Player<'a> {
    pub(super) function: &'a mut dyn Function,
    /// Requests a second.
    pub(super) rate: u32,
}

/// A function's row of a table.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FunctionRow {
    /// Its name, as in the paper: `sobel-1`.
    pub name: String,
    /// Its board's node.
    pub node: &'static str,
    /// The paper's columns; the latency is from sending to the answer, as its load generator measures it.
    pub figures: Figures,
    /// Ticks of its rate.
    pub asked: u64,
    /// Requests answered. The others' ticks were lost: the connection was busy, and another tick waited already.
    pub answered: u64,
    /// `answered` of `asked`.
    pub ratio: f64,
    /// From sending to the answer.
    pub latency: Latency,
    /// From when its tick was due to the answer.
    pub since_due: Latency,
    /// What the paper has here, where it tells functions apart.
    pub paper: Option<Figures>,
}

/// Several functions at the same time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Scenario {
    /// Each of them.
    pub functions: Vec<FunctionRow>,
    /// Together, in the paper's columns; the latency is the mean over requests.
    pub sum: Figures,
    /// What the paper has.
    pub paper: Option<Figures>,
}

impl Scenario {
    pub(super) fn new(functions: Vec<FunctionRow>, paper: Option<Figures>) -> Self {
        let rows: Vec<Figures> = functions.iter().map(|row| row.figures).collect();
        Self { functions, sum: sum(&rows), paper }
    }
}

impl FunctionRow {
    /// From what was served, and the seconds of board time that it took.
    pub(super) fn new(name: String, node: &'static str, busy: f64, seconds: u32, served: Served) -> Self {
        let Served { asked, answered, latencies, since_due } = served;
        let latency = Latency::of(latencies);
        let seconds = f64::from(seconds);
        Self {
            name,
            node,
            figures: Figures {
                utilisation: busy / seconds * 100.0,
                latency_ms: latency.mean_ms,
                processed: answered as f64 / seconds,
                target: asked as f64 / seconds,
            },
            asked,
            answered,
            ratio: answered as f64 / asked as f64,
            latency,
            since_due: Latency::of(since_due),
            paper: None,
        }
    }
}

/// How long before their first tick functions learn of it.
const LEAD: Duration = Duration::from_millis(20);

/// Parts of a tick between the phases of two functions: no few of them keep step (it is the golden ratio's).
const PHASE: f64 = 0.618_033_988_749_895;

/// Puts functions under load, all at the same time, each by a thread of its own. `reading` is taken at the beginning
/// and at the end; its increase is given beside what was served.
///
/// # Errors
/// A function's.
pub(super) fn play(
    players: Vec<Player<'_>>,
    seconds: u32,
    reading: impl Fn() -> Vec<f64>,
) -> Result<(Vec<Served>, Vec<f64>)> {
    let start = Instant::now() + LEAD;
    std::thread::scope(|scope| {
        let threads: Vec<_> = players
            .into_iter()
            .enumerate()
            .map(|(number, player)| {
                let phase = (number as f64 * PHASE).fract();
                scope.spawn(move || {
                    sleep_until(start);
                    drive(player.function, player.rate, phase, start, seconds)
                })
            })
            .collect();
        sleep_until(start);
        let before = reading();
        sleep_until(start + Duration::from_secs(seconds.into()));
        let after = reading();
        let served = threads.into_iter().map(|thread| thread.join().expect("a load generator does not panic"));
        let served = served.collect::<Result<Vec<_>>>()?;
        Ok((served, before.iter().zip(after).map(|(before, after)| after - before).collect()))
    })
}

fn sleep_until(then: Instant) {
    std::thread::sleep(then.saturating_duration_since(Instant::now()));
}
