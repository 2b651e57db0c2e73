//! How the card's cycles relate to the time of whoever drives it.

use rackloom_card::Pace;
use rackloom_node::{Duration, Instant};

/// The card's time.
#[derive(Debug, Clone)]
pub(crate) struct Clock {
    boot: Instant,
    live: bool,
    /// The present: when live, the driver's time since boot; in virtual time, that of the next cycle.
    ns: u64,
    /// In virtual time, number of the next cycle since boot.
    cycle: u64,
}

impl Clock {
    pub(crate) const fn new(pace: Pace, boot: Instant) -> Self {
        Self { boot, live: pace.is_live(), ns: 0, cycle: 0 }
    }

    /// Live, time is what the driver says. In virtual time it goes on with the cycles, up to what the driver says.
    pub(crate) const fn is_live(&self) -> bool {
        self.live
    }

    /// Microseconds since boot, as the gateware has them.
    pub(crate) const fn micros(&self) -> u64 {
        self.ns / 1000
    }

    /// Nanoseconds since boot.
    pub(crate) const fn nanos(&self) -> u64 {
        self.ns
    }

    /// The driver says what time it is.
    pub(crate) fn set(&mut self, now: Instant) {
        if self.live {
            self.ns = self.ns.max(self.since_boot(now));
        }
    }

    /// True if, in virtual time, the next cycle is not after `now`.
    pub(crate) fn is_before(&self, now: Instant) -> bool {
        self.ns <= self.since_boot(now)
    }

    /// A cycle has passed.
    pub(crate) const fn tick(&mut self) {
        if !self.live {
            self.cycle += 1;
            self.ns = cycle_ns(self.cycle);
        }
    }

    /// Passes over the cycles before `at`, in which nothing happens.
    pub(crate) fn skip_to(&mut self, at: Instant) {
        if !self.live {
            self.cycle = self.cycle.max(cycle_at(self.since_boot(at)));
            self.ns = cycle_ns(self.cycle);
        }
    }

    /// The time so many cycles from now, for the driver.
    pub(crate) fn after(&self, cycles: u64) -> Instant {
        let ns = if self.live { self.ns } else { cycle_ns(self.cycle + cycles) };
        self.boot + Duration::from_nanos(ns)
    }

    /// When the gateware's time has these low 32 bits, for the driver: now, if it had them in the last half hour.
    pub(crate) fn when(&self, low_us: u32) -> Instant {
        let ahead = low_us.wrapping_sub(self.micros() as u32).cast_signed();
        let us = self.micros() + u64::try_from(ahead).unwrap_or(0);
        self.boot + Duration::from_nanos((us * 1000).max(self.ns))
    }

    fn since_boot(&self, at: Instant) -> u64 {
        u64::try_from((at - self.boot).as_nanos()).unwrap_or(u64::MAX)
    }
}

/// When a cycle is: 6.4 ns each, at 156.25 MHz.
const fn cycle_ns(cycle: u64) -> u64 {
    cycle.saturating_mul(32) / 5
}

/// The first cycle that is not before this time.
const fn cycle_at(ns: u64) -> u64 {
    let cycle = (ns as u128 * 5).div_ceil(32);
    if cycle > u64::MAX as u128 { u64::MAX } else { cycle as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(ns: u64) -> Instant {
        Instant::from_nanos(ns)
    }

    #[test]
    fn virtual_cycles_take_6_4_ns() {
        let mut clock = Clock::new(Pace::Virtual, at(100));
        let mut cycles = 0;
        while clock.is_before(at(100 + 6400)) {
            clock.tick();
            cycles += 1;
        }
        assert_eq!(cycles, 1001);
        clock.skip_to(at(100 + 64_000));
        assert_eq!((clock.cycle, clock.micros()), (10_000, 64));
        clock.skip_to(at(200));
        assert_eq!((clock.cycle, clock.after(5)), (10_000, at(100 + 64_032)));
        // A cycle is never before the time that was skipped to.
        for ns in 64_000..64_100 {
            clock.skip_to(at(100 + ns));
            assert!(clock.nanos() >= ns && clock.nanos() < ns + 7);
        }
    }

    #[test]
    fn live_time_is_the_drivers() {
        let mut clock = Clock::new(Pace::Live, at(1000));
        clock.set(at(5_001_000));
        clock.tick();
        assert_eq!((clock.micros(), clock.after(64)), (5000, at(5_001_000)));
        clock.set(at(2000));
        assert_eq!(clock.micros(), 5000, "it does not go back");
    }

    #[test]
    fn alarms_are_times_of_32_bits() {
        let mut clock = Clock::new(Pace::Live, at(0));
        let hours = 5 * (1 << 31);
        clock.set(at(hours * 1000));
        let low = hours as u32;
        assert_eq!(clock.when(low.wrapping_add(7)), at((hours + 7) * 1000));
        assert_eq!(clock.when(low.wrapping_sub(7)), at(hours * 1000));
    }
}
