//! In which order the edges of the card's clocks come: each clock has a period and a beginning of its own.
//!
//! Time here is what the clocks count among themselves. While the card sleeps it stands still, and goes on where it
//! was.

use rackloom_node::Rng;

use crate::Clocks;
use crate::ffi::Edges;

/// The edges to come.
#[derive(Debug)]
pub(crate) struct Schedule {
    /// None when all come together.
    ticks: Option<[Tick; 4]>,
    /// Femtoseconds to either side.
    jitter: u64,
    rng: Rng,
}

#[derive(Debug)]
struct Tick {
    clock: Edges,
    period: u64,
    /// The next edge where it belongs, and where it comes: femtoseconds.
    due: u64,
    at: u64,
}

impl Schedule {
    pub(crate) fn new(clocks: Clocks, rng: Rng) -> Self {
        let mut schedule = Self { ticks: None, jitter: u64::from(clocks.jitter) * 1000, rng };
        if clocks != Clocks::TOGETHER {
            let Clocks { ddr, role, cfg, .. } = clocks;
            let all = [(Edges::NET, 1000), (Edges::DDR, ddr), (Edges::ROLE, role), (Edges::CFG, cfg)];
            schedule.ticks = Some(all.map(|(clock, frequency)| {
                let period = NET_PERIOD * 1000 / u64::from(frequency);
                let due = schedule.rng.below(period);
                Tick { clock, period, due, at: due }
            }));
        }
        schedule
    }

    /// The clocks that have the next edge.
    pub(crate) fn next(&mut self) -> Edges {
        let Some(ticks) = &mut self.ticks else { return Edges::ALL };
        let first = ticks.iter().map(|tick| tick.at).min().expect("there are four");
        let mut edges = Edges::NONE;
        for tick in ticks.iter_mut().filter(|tick| tick.at == first) {
            edges = edges.and(tick.clock);
            tick.due += tick.period;
            tick.at = tick.due - self.jitter + self.rng.below(2 * self.jitter + 1);
        }
        edges
    }
}

/// Of 156.25 MHz, in femtoseconds.
const NET_PERIOD: u64 = 6_400_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_wish_all_edges_come_together() {
        let mut schedule = Schedule::new(Clocks::TOGETHER, Rng::new(1));
        assert!((0..100).all(|_| schedule.next() == Edges::ALL));
    }

    #[test]
    fn each_clock_has_its_own_frequency_whatever_the_jitter() {
        for jitter in [0, 500] {
            let mut schedule = Schedule::new(Clocks { ddr: 2100, role: 1370, cfg: 700, jitter }, Rng::new(7));
            let (mut counts, mut together) = ([0u32; 4], 0);
            while counts[0] < 10_000 {
                let edges = schedule.next();
                let clocks = [Edges::NET, Edges::DDR, Edges::ROLE, Edges::CFG];
                let has = clocks.map(|clock| u32::from(edges.has(clock)));
                together += u32::from(has.iter().sum::<u32>() > 1);
                counts = core::array::from_fn(|i| counts[i] + has[i]);
            }
            for (count, wanted) in counts.into_iter().zip([10_000, 21_000, 13_700, 7_000]) {
                assert!(count.abs_diff(wanted) <= 2, "{counts:?}");
            }
            assert!(together < 100, "{together}");
        }
    }

    #[test]
    fn one_seed_one_order() {
        let edges = |seed| {
            let mut schedule = Schedule::new(Clocks { jitter: 300, ..Clocks::TOGETHER }, Rng::new(seed));
            core::array::from_fn::<_, 64, _>(|_| schedule.next())
        };
        assert_eq!(edges(3), edges(3));
        assert_ne!(edges(3), edges(4));
    }
}
