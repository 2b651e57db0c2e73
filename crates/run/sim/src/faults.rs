//! Which faults a cable has: the parameters, and how a seed draws them.

use core::fmt;
use core::time::Duration;

use rackloom_node::Rng;

use crate::spells::{Span, Spells};

/// Faults of one direction of a cable. Probabilities are per frame, from 0 to 1. The default has none.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Faults {
    /// Lost, each frame for itself.
    pub loss: f64,
    /// Lost in bursts, besides.
    pub burst: Option<Burst>,
    /// Bits flip and the check sequence tells: the receiver drops the frame.
    pub corrupt: f64,
    /// Bits flip and the check sequence does not tell: one to eight bits of the delivered frame are wrong. A protocol
    /// without a checksum of its own cannot survive this with every byte right; set it to 0 to test what is
    /// promised without one.
    pub flip: f64,
    /// The frame is delivered without its end: any number of its bytes are left, from 1 to all but one.
    pub truncate: f64,
    /// The frame is delivered with 1 to 64 random bytes after its end.
    pub pad: f64,
    /// A second copy arrives, delayed by up to `delay.max`.
    pub duplicate: f64,
    /// The frame is held back by a draw from `delay`, so that later ones overtake it.
    pub reorder: f64,
    /// How long a reordered frame is held back.
    pub delay: Option<Span>,
    /// Nothing gets through for a time, though the cable looks up: a partition.
    pub outage: Option<Outage>,
    /// The sender's wire stands still for a time; its queue fills.
    pub clog: Option<Spells>,
}

/// Loss in bursts (Gilbert-Elliott): the cable is in a good or a bad state, and frames are lost in the bad one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Burst {
    /// Probability, per frame, to turn from good to bad.
    pub enter: f64,
    /// Probability, per frame, to turn from bad to good; its inverse is the mean length of a burst in frames.
    pub leave: f64,
    /// Probability that a frame is lost in the bad state.
    pub loss: f64,
}

impl Burst {
    /// The share of frames lost in the long run.
    pub fn mean_loss(&self) -> f64 {
        self.loss * self.enter / (self.enter + self.leave)
    }
}

/// Partitions that come and go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outage {
    /// When, and how long.
    pub spells: Spells,
    /// Whether both directions of a cable fail together; otherwise each on its own.
    pub symmetric: bool,
}

impl Faults {
    /// No faults.
    pub const NONE: Self = Self {
        loss: 0.0,
        burst: None,
        corrupt: 0.0,
        flip: 0.0,
        truncate: 0.0,
        pad: 0.0,
        duplicate: 0.0,
        reorder: 0.0,
        delay: None,
        outage: None,
        clog: None,
    };

    /// Independent loss and nothing else.
    pub const fn loss(probability: f64) -> Self {
        Self { loss: probability, ..Self::NONE }
    }

    /// Draws a set of faults: each kind is off in half of all draws, so that kinds are met alone, in pairs and all
    /// together.
    ///
    /// Probabilities favour small values: where every frame meets a fault, the rare paths behind the first one stay
    /// unseen.
    pub fn swarm(rng: &mut Rng) -> Self {
        let delay = Span::new(Duration::from_micros(1), log_uniform(rng, 10_000, 100_000_000));
        Self {
            loss: sometimes(rng, 0.30),
            burst: rng.chance(0.5).then(|| Burst {
                enter: skewed(rng, 0.02),
                leave: 0.05 + skewed(rng, 0.45),
                loss: 0.5 + skewed(rng, 0.5),
            }),
            corrupt: sometimes(rng, 0.05),
            flip: sometimes(rng, 0.001),
            truncate: sometimes(rng, 0.05),
            pad: sometimes(rng, 0.05),
            duplicate: sometimes(rng, 0.50),
            reorder: sometimes(rng, 0.30),
            delay: Some(delay),
            outage: rng
                .chance(0.5)
                .then(|| Outage { spells: spells(rng, 10_000_000_000, 2_000_000_000), symmetric: rng.chance(0.5) }),
            clog: rng.chance(0.5).then(|| spells(rng, 20_000_000_000, 5_000_000_000)),
        }
    }

    /// Whether any fault can happen.
    pub fn any(&self) -> bool {
        let probabilities = [self.loss, self.corrupt, self.flip, self.truncate, self.pad, self.duplicate, self.reorder];
        probabilities.iter().any(|p| *p > 0.0) || self.burst.is_some() || self.outage.is_some() || self.clog.is_some()
    }

    /// Panics unless every probability is one and what belongs together is there: the caller's own mistake.
    pub(crate) fn check(&self) {
        let burst = self.burst.unwrap_or(Burst { enter: 0.0, leave: 0.0, loss: 0.0 });
        for p in [
            self.loss,
            self.corrupt,
            self.flip,
            self.truncate,
            self.pad,
            self.duplicate,
            self.reorder,
            burst.enter,
            burst.leave,
            burst.loss,
        ] {
            assert!((0.0..=1.0).contains(&p), "{p} is no probability: {self}");
        }
        assert!(self.reorder == 0.0 || self.delay.is_some(), "reordering needs a delay: {self}");
    }
}

/// Every parameter that is on, in one line: what a failing seed prints.
impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut gap = "";
        let mut item = |f: &mut fmt::Formatter<'_>, text: fmt::Arguments<'_>| {
            let result = write!(f, "{gap}{text}");
            gap = ", ";
            result
        };
        for (name, p) in [
            ("loss", self.loss),
            ("corrupt", self.corrupt),
            ("flip", self.flip),
            ("truncate", self.truncate),
            ("pad", self.pad),
            ("duplicate", self.duplicate),
            ("reorder", self.reorder),
        ] {
            if p > 0.0 {
                item(f, format_args!("{name} {p:.6}"))?;
            }
        }
        if let Some(delay) = self.delay.filter(|_| self.reorder > 0.0 || self.duplicate > 0.0) {
            item(f, format_args!("delay {delay}"))?;
        }
        if let Some(b) = self.burst {
            item(f, format_args!("burst enter {:.6} leave {:.6} loss {:.6}", b.enter, b.leave, b.loss))?;
        }
        if let Some(o) = self.outage {
            let ways = if o.symmetric { "both ways" } else { "each way" };
            item(f, format_args!("outage {} {ways}", o.spells))?;
        }
        if let Some(clog) = self.clog {
            item(f, format_args!("clog {clog}"))?;
        }
        if gap.is_empty() { f.write_str("no faults") } else { Ok(()) }
    }
}

/// Zero in half of all draws.
fn sometimes(rng: &mut Rng, max: f64) -> f64 {
    if rng.chance(0.5) { skewed(rng, max) } else { 0.0 }
}

/// From just above 0 to `max`, small values more often. Exact arithmetic only: the same on every machine.
fn skewed(rng: &mut Rng, max: f64) -> f64 {
    let unit = (rng.below(1 << 20) + 1) as f64 / (1u64 << 20) as f64;
    max * unit * unit
}

/// Nanoseconds between `min` and `max` whose order of magnitude is uniform. No logarithm: libraries round those
/// differently.
fn log_uniform(rng: &mut Rng, min: u64, max: u64) -> Duration {
    let octave = u64::from(min.ilog2()) + rng.below(u64::from(max.ilog2() - min.ilog2()) + 1);
    let low = 1u64 << octave;
    Duration::from_nanos((low + rng.below(low)).clamp(min, max))
}

/// Spells of at most `length_max` ns with pauses of at most `pause_max` ns and at least 1 ms.
fn spells(rng: &mut Rng, pause_max: u64, length_max: u64) -> Spells {
    let pause = log_uniform(rng, 1_000_000, pause_max);
    let length = log_uniform(rng, 10_000, length_max);
    Spells { pause: Span::new(pause / 2, pause), length: Span::new(length / 4, length) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swarm_turns_each_kind_off_in_half_of_the_seeds_and_keeps_to_its_ranges() {
        const SEEDS: u64 = 2_000;
        let mut on = [0u64; 10];
        for seed in 0..SEEDS {
            let f = Faults::swarm(&mut Rng::new(seed));
            f.check();
            assert!(f.loss <= 0.30 && f.duplicate <= 0.50 && f.corrupt <= 0.05 && f.flip <= 0.001, "{f}");
            assert!(f.delay.unwrap().max <= Duration::from_millis(100));
            assert!(f.clog.is_none_or(|c| c.length.max <= Duration::from_secs(5)));
            let kinds = [
                f.loss > 0.0,
                f.burst.is_some(),
                f.corrupt > 0.0,
                f.flip > 0.0,
                f.truncate > 0.0,
                f.pad > 0.0,
                f.duplicate > 0.0,
                f.reorder > 0.0,
                f.outage.is_some(),
                f.clog.is_some(),
            ];
            for (n, k) in on.iter_mut().zip(kinds) {
                *n += u64::from(k);
            }
        }
        // Five standard deviations of 2,000 fair coins.
        for (kind, n) in on.into_iter().enumerate() {
            assert!(n.abs_diff(SEEDS / 2) < 112, "kind {kind} was on in {n} of {SEEDS}");
        }
    }

    #[test]
    fn the_text_names_what_is_on_and_nothing_else() {
        assert_eq!(Faults::NONE.to_string(), "no faults");
        assert_eq!(Faults::loss(0.25).to_string(), "loss 0.250000");
        let us = Duration::from_micros;
        let all = Faults {
            loss: 0.1,
            burst: Some(Burst { enter: 0.01, leave: 0.1, loss: 1.0 }),
            corrupt: 0.2,
            flip: 0.3,
            truncate: 0.4,
            pad: 0.5,
            duplicate: 0.6,
            reorder: 0.7,
            delay: Some(Span::new(us(1), us(9))),
            outage: Some(Outage {
                spells: Spells { pause: Span::new(us(2), us(3)), length: Span::new(us(4), us(5)) },
                symmetric: true,
            }),
            clog: Some(Spells { pause: Span::new(us(6), us(7)), length: Span::new(us(8), us(8)) }),
        };
        assert_eq!(
            all.to_string(),
            "loss 0.100000, corrupt 0.200000, flip 0.300000, truncate 0.400000, pad 0.500000, duplicate 0.600000, \
             reorder 0.700000, delay 1µs..9µs, burst enter 0.010000 leave 0.100000 loss 1.000000, \
             outage 4µs..5µs after 2µs..3µs both ways, clog 8µs..8µs after 6µs..7µs"
        );
    }

    #[test]
    fn different_seeds_draw_different_faults() {
        let text = |seed| Faults::swarm(&mut Rng::new(seed)).to_string();
        assert_eq!(text(1), text(1));
        assert_ne!(text(1), text(2));
    }
}
