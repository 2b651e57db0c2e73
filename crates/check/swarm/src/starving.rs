//! Hosts and cards that get no processor for a while, and what a host may make of the time that it did not have.

use rackloom_host::Config as HostConfig;
use rackloom_node::{Duration, Instant, Rng};
use rackloom_wire::MacAddr;

use crate::plan::Starvation;

/// Settings of every host: how long it waits for a silent card, and how often it pings.
const HOST: HostConfig = HostConfig::simulated(MacAddr::ZERO, 0, 0);

/// Who gets no processor next, and when each host had none. It draws from numbers of its own, so that the rest of a run
/// stays what it is without it.
#[derive(Debug)]
pub(crate) struct Starving {
    plan: Starvation,
    rng: Rng,
    next: Instant,
    /// For each host, the stretches without a processor in order, none of which overlap.
    absences: Vec<Vec<(Instant, Instant)>>,
}

/// A node of a rack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Member {
    Host(usize),
    Card(usize),
}

impl Starving {
    pub(crate) fn new(plan: Starvation, seed: u64, hosts: usize) -> Self {
        let mut starving =
            Self { plan, rng: Rng::new(seed ^ SALT), next: Instant::ZERO, absences: vec![Vec::new(); hosts] };
        starving.next = Instant::ZERO + starving.draw(2 * plan.pause);
        starving
    }

    /// Who of so many hosts and cards loses its processor now and until when, if anybody does.
    pub(crate) fn draw_next(&mut self, now: Instant, cards: usize) -> Option<(Member, Instant)> {
        if now < self.next {
            return None;
        }
        self.next = now + self.draw(2 * self.plan.pause);
        let hosts = self.absences.len();
        let number = self.rng.below((hosts + cards) as u64) as usize;
        let (member, longest) = if number < hosts {
            (Member::Host(number), self.plan.host_max)
        } else {
            (Member::Card(number - hosts), self.plan.card_max)
        };
        let length = self.draw(longest);
        (!length.is_zero()).then_some((member, now + length))
    }

    /// A host has no processor from `from` to `until`.
    pub(crate) fn note(&mut self, host: usize, from: Instant, until: Instant) {
        let absences = &mut self.absences[host];
        assert!(absences.last().is_none_or(|(_, end)| *end <= from), "host {host} has no processor already");
        absences.push((from, until));
    }

    /// Everybody has a processor from now on.
    pub(crate) fn calm(&mut self, now: Instant) {
        for (_, until) in self.absences.iter_mut().flatten() {
            *until = now.min(*until);
        }
        self.next = Instant::from_nanos(u64::MAX);
    }

    /// How much of the time from `from` to `to` may count as a card's silence towards a host. Of each stretch without a
    /// processor that is a ping interval at most: a host has not listened in it, and has not asked.
    pub(crate) fn counts(&self, host: usize, from: Instant, to: Instant) -> Duration {
        let absent = |(start, end): &(Instant, Instant)| *end.min(&to) - *start.max(&from);
        let uncounted = |stretch| absent(stretch).saturating_sub(HOST.ping_interval);
        (to - from).saturating_sub(self.absences[host].iter().map(uncounted).sum())
    }

    fn draw(&mut self, longest: Duration) -> Duration {
        Duration::from_nanos(self.rng.below(longest.as_nanos() as u64))
    }
}

/// Whether a host may take a card for gone whose silence counts for so long.
pub(crate) fn is_silent(counts: Duration) -> bool {
    counts >= HOST.silence
}

/// Sets the random numbers apart from all others of a seed.
const SALT: u64 = 0x57A2_5E00_0000_0001;

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn a_stretch_without_a_processor_counts_for_a_ping_interval_at_most() {
        let plan = Starvation {
            pause: Duration::from_millis(1),
            host_max: Duration::ZERO,
            card_max: Duration::ZERO,
            one_machine: false,
        };
        let mut starving = Starving::new(plan, 1, 1);
        starving.note(0, ms(1000), ms(3000));
        starving.note(0, ms(4000), ms(4100));
        let counts = |from, to| starving.counts(0, ms(from), ms(to)).as_millis();
        assert_eq!(counts(0, 900), 900);
        assert_eq!(counts(0, 3500), 1500 + 200);
        assert_eq!(counts(2900, 4500), 1600, "each stretch is shorter than an interval");
        assert_eq!(counts(1100, 2500), 200);
        starving.calm(ms(4050));
        assert!(starving.draw_next(ms(1_000_000), 1).is_none());
        assert!(!is_silent(Duration::from_millis(999)) && is_silent(Duration::from_millis(1000)));
    }
}
