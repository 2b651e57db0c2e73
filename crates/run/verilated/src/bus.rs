//! The data bus of the memory: a beat in a cycle, one way or the other.

/// Which way a beat goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Read,
    Write,
}

/// It stays with one way while there is something to move, but not for ever while the other waits; to turn it round
/// takes a while.
#[derive(Debug)]
pub(crate) struct Bus {
    turnaround: u64,
    way: Way,
    /// Beats that have gone this way since it turned.
    run: u32,
    /// Until this cycle it turns.
    turned_at: u64,
}

impl Bus {
    pub(crate) fn new(turnaround: u32) -> Self {
        Self { turnaround: turnaround.into(), way: Way::Read, run: 0, turned_at: 0 }
    }

    /// Which way a beat goes in this cycle, if there is one to read, or one to write.
    pub(crate) fn next(&mut self, cycle: u64, reads: bool, writes: bool) -> Option<Way> {
        let (goes_on, other_waits, other) = match self.way {
            Way::Read => (reads, writes, Way::Write),
            Way::Write => (writes, reads, Way::Read),
        };
        if other_waits && (!goes_on || self.run >= RUN_MAX) {
            self.way = other;
            self.run = 0;
            self.turned_at = cycle + self.turnaround;
        } else if !goes_on {
            return None;
        }
        if cycle < self.turned_at {
            return None;
        }
        self.run += 1;
        Some(self.way)
    }
}

/// Beats that go one way while others wait to go the other.
const RUN_MAX: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    /// How many beats go each way, and cycles without one, while both wait.
    fn contend(turnaround: u32, cycles: u64) -> (u32, u32, u32) {
        let mut bus = Bus::new(turnaround);
        let (mut reads, mut writes, mut none) = (0, 0, 0);
        for cycle in 0..cycles {
            match bus.next(cycle, true, true) {
                Some(Way::Read) => reads += 1,
                Some(Way::Write) => writes += 1,
                None => none += 1,
            }
        }
        (reads, writes, none)
    }

    #[test]
    fn each_way_has_half_of_what_turning_leaves() {
        assert_eq!(contend(0, 320), (160, 160, 0));
        assert_eq!(contend(4, 400), (160, 160, 80));
    }

    #[test]
    fn one_way_alone_has_every_cycle() {
        let mut bus = Bus::new(5);
        assert!((0..100).all(|cycle| bus.next(cycle, true, false) == Some(Way::Read)));
        let first = (100..).find(|&cycle| bus.next(cycle, false, true).is_some());
        assert_eq!(first, Some(105));
        assert_eq!(bus.next(200, false, false), None);
    }
}
