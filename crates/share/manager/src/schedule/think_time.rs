//! Think time: the pause of a tenant between the end of a task and its next one, for which a board may be kept free.
//!
//! After Iyer and Druschel, "Anticipatory scheduling" (SOSP 2001): a tenant without a task when the board becomes
//! free is not always done; a program that waits for each task is back within microseconds.

/// Longest time, in nanoseconds, that a board is kept free in one piece.
pub(crate) const HOLD_MAX_NS: u64 = 1_000_000;

/// Added to the expected pause, in nanoseconds: threads wake up late.
const SLACK_NS: u64 = 50_000;

/// Longest mean pause, in nanoseconds, of a quick tenant.
const QUICK_NS: u64 = 300_000;

/// A tenant's pauses and tasks so far. Times are in nanoseconds of a monotonic clock.
#[derive(Debug, Default)]
pub(crate) struct ThinkTime {
    /// Mean time from the end of its last task to its next one; `None` before it has come again.
    pause_ns: Option<u64>,
    /// Mean time that a task takes.
    task_ns: u64,
    /// Since when it has had no task.
    resting_since: Option<u64>,
}

impl ThinkTime {
    /// It submits a task and had none.
    pub(crate) fn task_arrives(&mut self, now: u64) {
        let pause = self.resting_since.take().map(|since| now.saturating_sub(since).min(2 * HOLD_MAX_NS));
        self.pause_ns = pause.map(|pause| self.pause_ns.map_or(pause, |mean| mix(mean, pause)));
    }

    /// A task has ended after `cost_ns`; `rests`: it has no other task.
    pub(crate) fn task_ends(&mut self, now: u64, cost_ns: u64, rests: bool) {
        self.task_ns = if self.task_ns == 0 { cost_ns } else { mix(self.task_ns, cost_ns) };
        if rests {
            self.resting_since = Some(now);
        } else {
            self.pause_ns = Some(mix(self.pause_ns.unwrap_or(0), 0));
        }
    }

    /// The tenant is gone.
    pub(crate) const fn tenant_leaves(&mut self) {
        (self.resting_since, self.pause_ns) = (None, None);
    }

    /// Until when its next task is worth waiting for; `None` if its pauses are longer than its tasks: the board would
    /// be idle for most of its share.
    pub(crate) fn expected_until(&self, now: u64) -> Option<u64> {
        let (since, pause) = (self.resting_since?, self.pause_ns?);
        let until = since.saturating_add((2 * pause + SLACK_NS).min(HOLD_MAX_NS));
        (pause <= self.task_ns.min(HOLD_MAX_NS) && now < until).then_some(until)
    }

    /// Whether it returns sooner than the board could pass to another tenant and back.
    pub(crate) fn is_quick(&self) -> bool {
        self.pause_ns.is_some_and(|pause| pause <= QUICK_NS)
    }

    /// Whether it may return soon enough for this to be worth keeping.
    pub(crate) fn is_fresh(&self, now: u64) -> bool {
        self.resting_since.is_some_and(|since| now < since.saturating_add(2 * HOLD_MAX_NS))
    }

    /// Mean duration of its tasks.
    pub(crate) const fn task_ns(&self) -> u64 {
        self.task_ns
    }
}

/// A moving mean.
const fn mix(mean: u64, sample: u64) -> u64 {
    mean - mean / 4 + sample / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tenant with tasks and pauses of these lengths, at the end of its last task; and that time.
    fn after(rounds: &[(u64, u64)]) -> (ThinkTime, u64) {
        let (mut think_time, mut now) = (ThinkTime::default(), 0);
        for (task, pause) in rounds {
            think_time.task_arrives(now);
            now += task;
            think_time.task_ends(now, *task, true);
            now += pause;
        }
        now -= rounds.last().map_or(0, |(_, pause)| *pause);
        (think_time, now)
    }

    #[test]
    fn a_tenant_that_always_comes_soon_is_expected() {
        let (think_time, now) = after(&[(100_000, 20_000); 3]);
        assert_eq!(think_time.expected_until(now), Some(now + 90_000));
        assert_eq!(think_time.expected_until(now + 89_999), Some(now + 90_000));
        assert_eq!(think_time.expected_until(now + 90_000), None, "it did not come");
    }

    #[test]
    fn a_tenant_that_comes_within_a_hand_over_is_quick() {
        assert!(!ThinkTime::default().is_quick() && !after(&[(5_000, 0)]).0.is_quick(), "nobody knows");
        assert!(after(&[(5_000, 300_000); 3]).0.is_quick() && !after(&[(5_000, 300_004); 3]).0.is_quick());
    }

    #[test]
    fn a_new_slow_or_gone_tenant_is_not_expected() {
        assert_eq!(ThinkTime::default().expected_until(0), None);
        let (think_time, now) = after(&[(100_000, 0)]);
        assert_eq!(think_time.expected_until(now), None, "nobody knows");
        let (think_time, now) = after(&[(10_000, 20_000); 9]);
        assert_eq!(think_time.expected_until(now), None, "its pauses are longer than its tasks");
        let (think_time, now) = after(&[(9_000_000, 1_100_000); 9]);
        assert_eq!(think_time.expected_until(now), None, "longer than a board is kept free");
        let (mut think_time, now) = after(&[(100_000, 20_000); 3]);
        think_time.tenant_leaves();
        assert_eq!(think_time.expected_until(now), None);
    }

    #[test]
    fn think_times_change() {
        let mut rounds = vec![(1_000_000, 20_000); 5];
        rounds.extend([(1_000_000, 5_000_000); 5]);
        let (think_time, now) = after(&rounds);
        assert_eq!(think_time.expected_until(now), None);
        rounds.extend([(1_000_000, 20_000); 5]);
        let (think_time, now) = after(&rounds);
        assert!(think_time.expected_until(now).is_some(), "{think_time:?}");
    }

    #[test]
    fn a_task_that_waits_is_no_pause() {
        let mut think_time = ThinkTime::default();
        think_time.task_arrives(0);
        for now in 1..10 {
            think_time.task_ends(now * 1_000, 1_000, false);
        }
        think_time.task_ends(10_000, 1_000, true);
        assert!(think_time.expected_until(10_000).is_some());
    }
}
