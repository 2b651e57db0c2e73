//! Requests at a rate, one at a time, as the paper's load generator sends them.
//!
//! That is `hey -c 1 -q RATE`: one connection, which takes a tick of a Go ticker before each request. Ticks come
//! whatever the function does; one tick may wait, and those that come meanwhile are lost. So a function that falls
//! behind is not buried in requests that nobody waits for any more: it gets the next as soon as it has answered, and
//! what it does not process of its target is lost ticks.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Result;

/// What answers requests.
pub(super) trait Function: Send {
    /// Does one, and returns when it is done.
    fn request(&mut self) -> Result<()>;
}

/// A ticker with room for one tick.
#[derive(Debug)]
struct Ticker {
    rate: u32,
    /// When tick 0 is due, in parts of the time between two.
    phase: f64,
    next: u64,
    end: u64,
}

/// A tick.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Tick {
    due: Duration,
    /// Ticks lost because it waited.
    lost: u64,
}

impl Ticker {
    /// Ticks from 0 to `seconds`: just `rate` times `seconds` of them.
    fn new(rate: u32, phase: f64, seconds: u32) -> Self {
        assert!(rate > 0 && (0.0..1.0).contains(&phase), "a rate, and a phase within one tick");
        Self { rate, phase, next: 0, end: u64::from(rate) * u64::from(seconds) }
    }

    fn due(&self, tick: u64) -> Duration {
        Duration::from_secs_f64((tick as f64 + self.phase) / f64::from(self.rate))
    }

    /// The tick that a receiver gets that is ready at `now`: one that waits, or else the next to come.
    fn take(&mut self, now: Duration) -> Option<Tick> {
        if self.next == self.end {
            return None;
        }
        let due = self.due(self.next);
        let first = self.next + 1;
        self.next = first;
        while self.next < self.end && self.due(self.next) <= now {
            self.next += 1;
        }
        Some(Tick { due, lost: self.next - first })
    }
}

/// Latencies of requests, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, JsonSchema)]
pub struct Latency {
    /// Mean.
    pub mean_ms: f64,
    /// Half were no longer.
    pub p50_ms: f64,
    /// 99 of 100 were no longer.
    pub p99_ms: f64,
    /// Longest.
    pub max_ms: f64,
}

impl Latency {
    /// Of times in milliseconds; all 0 without any.
    #[must_use]
    pub fn of(mut ms: Vec<f64>) -> Self {
        if ms.is_empty() {
            return Self::default();
        }
        ms.sort_by(f64::total_cmp);
        let at = |part: f64| ms[((ms.len() - 1) as f64 * part).round() as usize];
        let mean_ms = ms.iter().sum::<f64>() / ms.len() as f64;
        Self { mean_ms, p50_ms: at(0.5), p99_ms: at(0.99), max_ms: at(1.0) }
    }
}

/// What became of a function's requests.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Served {
    /// Ticks.
    pub(super) asked: u64,
    /// Requests answered; one that is under way at the end is waited for, and counts.
    pub(super) answered: u64,
    /// From sending to the answer, milliseconds: what `hey` measures.
    pub(super) latencies: Vec<f64>,
    /// From when the tick was due to the answer, milliseconds: what somebody waits whose time does not stand still
    /// while the connection is busy.
    pub(super) since_due: Vec<f64>,
}

/// Sends requests for so many seconds from `start` on, `rate` in each.
///
/// # Errors
/// The function's.
pub(super) fn drive(
    function: &mut dyn Function,
    rate: u32,
    phase: f64,
    start: Instant,
    seconds: u32,
) -> Result<Served> {
    let mut ticker = Ticker::new(rate, phase, seconds);
    let mut served = Served { asked: ticker.end, ..Served::default() };
    let end = Duration::from_secs(seconds.into());
    while let Some(tick) = ticker.take(start.elapsed()) {
        std::thread::sleep((start + tick.due).saturating_duration_since(Instant::now()));
        let sent = start.elapsed();
        if sent >= end {
            break; // It waited until the time was over.
        }
        function.request()?;
        let answered = start.elapsed();
        served.answered += 1;
        served.latencies.push((answered - sent).as_secs_f64() * 1e3);
        served.since_due.push((answered - tick.due).as_secs_f64() * 1e3);
    }
    Ok(served)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn one_tick_waits_and_the_others_are_lost() {
        let mut ticker = Ticker::new(100, 0.0, 1);
        assert_eq!(ticker.take(ms(0)), Some(Tick { due: ms(0), lost: 0 }));
        // Ready before the next: it will come.
        assert_eq!(ticker.take(ms(3)), Some(Tick { due: ms(10), lost: 0 }));
        // Ready at 47: that of 20 has waited, those of 30 and 40 are lost, and 50 comes after it.
        assert_eq!(ticker.take(ms(47)), Some(Tick { due: ms(20), lost: 2 }));
        assert_eq!(ticker.take(ms(48)), Some(Tick { due: ms(50), lost: 0 }));
    }

    #[test]
    fn no_tick_is_forgotten() {
        let mut ticker = Ticker::new(7, 0.4, 3);
        let (mut taken, mut lost, mut now) = (0, 0, ms(0));
        while let Some(tick) = ticker.take(now) {
            assert!(tick.due < ms(3000));
            (taken, lost) = (taken + 1, lost + tick.lost);
            now = tick.due.max(now) + ms(250);
        }
        assert_eq!(taken + lost, 21);
        assert!(lost > 5, "a request of 250 ms, seven in a second: {lost} lost");
    }

    /// Takes a fixed time for each request.
    struct Sleeper(Duration);

    impl Function for Sleeper {
        fn request(&mut self) -> Result<()> {
            std::thread::sleep(self.0);
            Ok(())
        }
    }

    #[test]
    fn a_function_that_is_too_slow_works_all_the_time() {
        let served = drive(&mut Sleeper(ms(30)), 100, 0.5, Instant::now(), 1).unwrap();
        assert_eq!(served.asked, 100);
        assert!((20..=34).contains(&served.answered), "30 ms each, in a second: {}", served.answered);
        assert_eq!(served.latencies.len() as u64, served.answered);
        assert!(served.since_due.iter().zip(&served.latencies).all(|(due, sent)| due >= sent));
    }

    #[test]
    fn latencies_in_figures() {
        let found = Latency::of((1..=101).rev().map(f64::from).collect());
        assert_eq!(found, Latency { mean_ms: 51.0, p50_ms: 51.0, p99_ms: 100.0, max_ms: 101.0 });
        assert_eq!(Latency::of(Vec::new()), Latency::default());
    }
}
