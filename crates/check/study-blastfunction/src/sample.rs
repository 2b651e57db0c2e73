//! Times of the same thing done in several ways, taken in turn so that what else the machine does hits all alike.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Result;

/// How often something is done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Times at least, in each way.
    pub least: usize,
    /// Times at most.
    pub most: usize,
    /// Between these, as often as there is time for, in each way.
    pub time: Duration,
}

/// Times of one thing, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Stat {
    /// Times taken.
    pub samples: usize,
    /// Shortest.
    pub min_us: f64,
    /// Half were no longer.
    pub median_us: f64,
    /// 99 of 100 were no longer.
    pub p99_us: f64,
    /// Longest.
    pub max_us: f64,
}

impl Stat {
    /// Of times in microseconds.
    ///
    /// # Panics
    /// There are none.
    #[must_use]
    pub fn of(mut us: Vec<f64>) -> Self {
        us.sort_by(f64::total_cmp);
        let at = |part: f64| us[((us.len() - 1) as f64 * part).round() as usize];
        Self { samples: us.len(), min_us: at(0.0), median_us: at(0.5), p99_us: at(0.99), max_us: at(1.0) }
    }
}

/// Times of one thing in several ways.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turns<const N: usize> {
    /// All times, by way.
    pub stats: [Stat; N],
    /// How long each way takes beside the first: the median over all rounds, in each of which medians are compared. So
    /// a machine that gets slower meanwhile is no slower way.
    pub ratios: [f64; N],
}

impl<const N: usize> Turns<N> {
    /// Of rounds, each with times in all ways, in microseconds.
    ///
    /// # Panics
    /// There is no round, or one of them lacks times.
    #[must_use]
    pub fn of(rounds: Vec<[Vec<f64>; N]>) -> Self {
        let medians: Vec<[f64; N]> =
            rounds.iter().map(|round| std::array::from_fn(|way| Stat::of(round[way].clone()).median_us)).collect();
        let ratio = |way: usize| Stat::of(medians.iter().map(|round| round[way] / round[0]).collect()).median_us;
        let ratios = std::array::from_fn(ratio);
        let mut all: [Vec<f64>; N] = std::array::from_fn(|_| Vec::new());
        rounds.into_iter().flatten().enumerate().for_each(|(at, times)| all[at % N].extend(times));
        Self { stats: all.map(Stat::of), ratios }
    }
}

/// Does something in `N` ways, in turn; `once` does it in one way, and gives its time in microseconds. In each round
/// each way is done some times, once if it is not done often at all; another way begins each time. What comes before
/// the first round warms up and does not count.
///
/// # Errors
/// That of the first that fails.
pub fn in_turn<const N: usize>(effort: Effort, mut once: impl FnMut(usize) -> Result<f64>) -> Result<Turns<N>> {
    let (mut rounds, mut count) = (Vec::new(), 0);
    let round = (effort.most / 40).clamp(1, 100);
    for way in 0..N {
        for _ in 0..round.min(10) {
            once(way)?;
        }
    }
    let started = Instant::now();
    while count < effort.most {
        if count >= effort.least && started.elapsed() > effort.time * N as u32 {
            break;
        }
        let mut times: [Vec<f64>; N] = std::array::from_fn(|_| Vec::with_capacity(round));
        for way in (0..N).map(|i| (i + rounds.len()) % N) {
            for _ in 0..round {
                times[way].push(once(way)?);
            }
        }
        rounds.push(times);
        count += round;
    }
    Ok(Turns::of(rounds))
}

/// How long something takes, in microseconds.
pub(crate) fn timed(what: impl FnOnce() -> Result<()>) -> Result<f64> {
    let started = Instant::now();
    what()?;
    Ok(started.elapsed().as_secs_f64() * 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_is_done_as_often_and_in_turn() {
        let mut order = Vec::new();
        let effort = Effort { least: 3, most: 3, time: Duration::ZERO };
        let turns = in_turn::<2>(effort, |way| {
            order.push(way);
            Ok(order.len() as f64)
        });
        assert_eq!(order, [0, 1, 0, 1, 1, 0, 0, 1], "a round to warm up, and three that count");
        let Turns { stats: [first, second], ratios } = turns.unwrap();
        assert_eq!((first.samples, first.min_us, first.median_us, first.max_us), (3, 3.0, 6.0, 7.0));
        assert_eq!(second.median_us, 5.0);
        assert_eq!(ratios, [1.0, 8.0 / 7.0], "of 4/3, 5/6 and 8/7");
    }
}
