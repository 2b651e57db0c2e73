//! Adaptive spinning: a short bounded spin before a sleep, whose length depends on how recent spins ended.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::limits::Spin;

/// The state of one waiting side.
#[derive(Debug)]
pub(crate) struct Spinner {
    max: Duration,
    now: Duration,
    /// Sleeps since the last spin, after spinning was given up.
    sleeps: u32,
    /// Sleeps until the next try; doubled when that fails.
    patience: u32,
}

/// Sleeps until spinning is tried again: initially, and at most. The first suits processes that have just got a
/// processor each; the last keeps failed tries out of the 99th percentile.
const PATIENCE: [u32; 2] = [32, 1024];

/// Longest time of looks by calls, in microseconds.
const CALLS_US: u32 = 80;

impl Spinner {
    /// For one who looks at memory.
    pub(crate) fn new(spin: Spin) -> Self {
        Self::with_processors(spin, 2)
    }

    /// For one whose every look is a call of the system. The kernel's half of the connection wants a processor as well:
    /// on two, a thread that looks delays the answer that it waits for.
    pub(crate) fn by_calls(spin: Spin) -> Self {
        Self::with_processors(Spin { us_max: spin.us_max.min(CALLS_US) }, 4)
    }

    /// Spins if there are so many processors, else not at all.
    fn with_processors(spin: Spin, least: usize) -> Self {
        static CPUS: OnceLock<usize> = OnceLock::new();
        let cpus = *CPUS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from));
        let max = if cpus >= least { Duration::from_micros(u64::from(spin.us_max)) } else { Duration::ZERO };
        Self { max, now: max, sleeps: 0, patience: PATIENCE[0] }
    }

    /// Calls `ready` until it returns true or the time has passed. Returns whether it did.
    pub(crate) fn until(&mut self, mut ready: impl FnMut() -> bool) -> bool {
        if self.max.is_zero() {
            return false;
        }
        if self.now < MIN {
            self.sleeps += 1;
            if self.sleeps < self.patience {
                return false;
            }
            self.sleeps = 0;
            self.patience = (self.patience * 2).min(PATIENCE[1]);
            self.now = self.max;
        }
        let start = Instant::now();
        loop {
            for _ in 0..16 {
                if ready() {
                    self.now = self.max;
                    self.patience = PATIENCE[0];
                    return true;
                }
                std::hint::spin_loop();
            }
            if start.elapsed() >= self.now {
                self.now /= 2;
                return false;
            }
        }
    }
}

/// Shorter spins are not worth reading the clock.
const MIN: Duration = Duration::from_micros(2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_spins_are_given_up_and_tried_again() {
        let max = Duration::from_micros(16);
        let mut spinner = Spinner { max, now: max, sleeps: 0, patience: PATIENCE[0] };
        let mut looks = 0;
        let mut vain = |s: &mut Spinner| {
            let before = looks;
            assert!(!s.until(|| {
                looks += 1;
                false
            }));
            looks > before
        };
        let spun = (0..200).filter(|_| vain(&mut spinner)).count();
        assert!((8..40).contains(&spun), "{spun} of 200");
        spinner.now = MIN;
        assert!(spinner.until(|| true));
        assert_eq!(spinner.now, spinner.max);
        assert!(!Spinner::new(Spin::OFF).until(|| true), "off looks not even once");
    }

    #[test]
    fn who_looks_by_calls_needs_more_processors() {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        assert_eq!(Spinner::new(Spin::default()).until(|| true), cpus >= 2);
        assert_eq!(Spinner::by_calls(Spin::default()).until(|| true), cpus >= 4);
    }
}
