//! Real time as nodes count it.

use std::time::Instant as StdInstant;

use rackloom_node::Instant;

/// Real, monotonic time since a beginning. Copies agree; nodes that are compared share one.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    beginning: StdInstant,
}

impl Clock {
    /// A clock that begins now.
    #[must_use]
    pub fn start() -> Self {
        Self { beginning: StdInstant::now() }
    }

    /// Time since the beginning.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.at(StdInstant::now())
    }

    /// What a node calls this moment; the beginning, if it lies before.
    #[must_use]
    pub fn at(&self, moment: StdInstant) -> Instant {
        let since = moment.saturating_duration_since(self.beginning);
        Instant::from_nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
    }

    /// What the operating system calls this moment, or `None` if it is too far off to be expressed (never).
    #[must_use]
    pub fn std(&self, instant: Instant) -> Option<StdInstant> {
        self.beginning.checked_add(instant.saturating_since(Instant::ZERO))
    }
}
