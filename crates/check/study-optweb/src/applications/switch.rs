//! Operations through one ideal switch, which only the ports of cards limit.

use super::CARDS;
use super::programs::Step;
use crate::paper;
use crate::timing::Timing;

/// Picoseconds of a step: by the best of the ways that libraries have.
pub(super) fn time(step: Step) -> u64 {
    let timing = Timing { link_bps: paper::SWITCH_BPS, ..Timing::PAPER };
    let (start, port) = (|bytes| timing.start_ps(bytes), |bytes| timing.link_ps(bytes));
    let others = CARDS as u64 - 1;
    let part = |bytes: u64| bytes.div_ceil(CARDS as u64);
    // A card's port carries all that it sends one after the other.
    let each = |block: u64| start(block) + port(others * block);
    let doubling = u64::from(CARDS.ilog2());
    match step {
        Step::Compute { .. } => step.compute_ps(),
        Step::Alltoall(block) | Step::Allgather(block) => each(block),
        Step::Allreduce(bytes) => (2 * each(part(bytes))).min(doubling * (start(bytes) + port(bytes))),
        Step::Broadcast(bytes) => {
            let in_two = start(part(bytes)) + port(others * part(bytes)) + each(part(bytes));
            let tree = doubling * (start(bytes) + port(bytes));
            // From card to card, in pieces.
            let chain = (0..12).map(|bits| {
                let piece = bytes.div_ceil(1 << bits);
                ((1 << bits) + others - 1) * (start(piece) + port(piece))
            });
            chain.chain([in_two, tree]).min().expect("there are several")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_operations_take_what_a_port_takes() {
        let second = 1_000_000_000_000u64;
        let gigabyte = 1u64 << 30;
        let port = |bytes: u64| bytes * 8 * (second / 1_000_000) / (paper::SWITCH_BPS / 1_000_000);
        let near = |time: u64, due: u64| time.abs_diff(due) * 100 < due;
        assert!(near(time(Step::Alltoall(gigabyte)), port(15 * gigabyte)));
        assert!(near(time(Step::Allreduce(gigabyte)), port(2 * gigabyte / 16 * 15)));
        let broadcast = time(Step::Broadcast(gigabyte));
        assert!((port(gigabyte)..port(gigabyte) * 107 / 100).contains(&broadcast), "{broadcast}");
        assert_eq!(time(Step::Allreduce(8)), 2 * (710_000 + 150), "a byte to each of 15, and a byte back");
    }
}
