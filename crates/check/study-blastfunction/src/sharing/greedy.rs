//! A light tenant beside a greedy one: alone, with fair queueing, and by FIFO as in the paper.
//!
//! The light one's requests are a task of 2 ms each; the greedy one always has ten tasks of 10 ms under way. The three
//! boards run at the same time, so that what else this machine does hits all alike.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rackloom_manager::paced::{Pace, PacedBoard};
use rackloom_manager::scheduler::Policy;
use schemars::JsonSchema;
use serde::Serialize;

use super::Tools;
use super::host::Host;
use super::load::Latency;
use super::program::{Busy, Program, Reach};
use super::scenario::{Player, play};
use crate::error::{BenchError, Result};

/// What a launch takes.
const STEP: Duration = Duration::from_millis(2);
/// Launches of a greedy task.
const LAUNCHES: &str = "5";
/// The board time of a greedy task, milliseconds.
pub(super) const TASK_MS: f64 = 10.0;
/// Greedy tasks under way.
const DEPTH: &str = "10";
/// Requests of the light tenant in a second: no part of the greedy one's tasks, so that all phases occur.
const RATE: u32 = 53;
/// More than there will be time for.
const FOREVER: &str = "1000000";

/// A light tenant's requests.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LightRow {
    /// `alone`, `fair` or `fifo`.
    pub case: &'static str,
    /// Requests asked for; what was not answered found the connection busy and another waiting.
    pub asked: u64,
    /// Requests answered.
    pub answered: u64,
    /// From sending to the answer.
    pub latency: Latency,
    /// The board's time used, percent.
    pub utilisation: f64,
    /// All latencies in order, milliseconds, for a curve of them; at most 60 that lie equally far apart.
    pub curve_ms: Vec<f64>,
}

/// Measures the three.
pub(super) fn light(seconds: u32, tools: &Tools) -> Result<Vec<LightRow>> {
    let room = tools.room("greedy")?;
    let program = tools.programs.join("burst");
    let cases = [("alone", Policy::Fair, false), ("fair", Policy::Fair, true), ("fifo", Policy::Fifo, true)];
    let (mut hosts, mut greedy, mut light) = (Vec::new(), Vec::new(), Vec::new());
    for (case, policy, contended) in cases {
        let pace = Pace { kernels: BTreeMap::from([("advance".to_owned(), STEP)]), rate: 6.4e9 };
        let host = Host::start(case, PacedBoard::accelerator(case, pace), policy, &room)?;
        let reach = Reach::manager(&tools.library, host.endpoint());
        light.push(Program::serve(&format!("light-{case}"), &program, &["--check", "none"], &reach, &room)?);
        if contended {
            let options = ["--launches", LAUNCHES, "--depth", DEPTH, "--iterations", FOREVER, "--check", "none"];
            greedy.push(Busy::start(&program, &options, &reach, &room)?);
            wait_until_busy(&host)?;
        }
        hosts.push(host);
    }
    let players = light.iter_mut().map(|function| Player { function, rate: RATE }).collect();
    let (served, busy) = play(players, seconds, || hosts.iter().map(Host::busy).collect())?;
    if !greedy.iter_mut().all(Busy::is_alive) {
        let said = std::fs::read_to_string(room.join("busy.errors")).unwrap_or_default();
        return Err(BenchError::Site(format!("a greedy program has ended: {}", said.trim())));
    }
    let row = |((case, ..), (served, busy)): ((&'static str, _, _), (super::load::Served, f64))| LightRow {
        case,
        asked: served.asked,
        answered: served.answered,
        curve_ms: curve(served.latencies.clone()),
        latency: Latency::of(served.latencies),
        utilisation: busy / f64::from(seconds) * 100.0,
    };
    Ok(cases.into_iter().zip(served.into_iter().zip(busy)).map(row).collect())
}

fn wait_until_busy(host: &Host) -> Result<()> {
    let started = Instant::now();
    while host.busy() < 10.0 * TASK_MS / 1e3 {
        if started.elapsed() > Duration::from_secs(30) {
            return Err(BenchError::Site("the greedy program does not use its board".into()));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// At most 60 of the times, in order, with the first and the last.
fn curve(mut ms: Vec<f64>) -> Vec<f64> {
    const MOST: usize = 60;
    ms.sort_by(f64::total_cmp);
    if ms.len() <= MOST {
        return ms;
    }
    (0..MOST).map(|i| ms[i * (ms.len() - 1) / (MOST - 1)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_has_both_ends() {
        let found = curve((0..1001).rev().map(f64::from).collect());
        assert_eq!((found.len(), found[0], found[59]), (60, 0.0, 1000.0));
        assert!(found.is_sorted());
        assert_eq!(curve(vec![2.0, 1.0]), [1.0, 2.0]);
    }
}
