//! What the programs compute and exchange.

/// A program: its steps, each with how often it is done, and the paper's ratios (figure 19).
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) steps: &'static [(Step, u64)],
    /// How many times as fast OPTWEB is as a torus and as one switch.
    pub(super) paper: [f64; 2],
}

/// A step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// All cards compute, together so many operations.
    Compute { flop: u64 },
    /// A block from each to each.
    Alltoall(u64),
    /// A block of each to all.
    Allgather(u64),
    /// So many bytes from one to all.
    Broadcast(u64),
    /// So many bytes of each, added.
    Allreduce(u64),
}

/// Operations a second of a card (section 5.2).
const FLOPS: u64 = 50_000_000_000_000;
const CARDS: u64 = 16;

impl Step {
    pub(super) const fn compute_ps(self) -> u64 {
        match self {
            Self::Compute { flop } => (flop as u128 * 1_000_000_000_000 / (FLOPS * CARDS) as u128) as u64,
            _ => 0,
        }
    }
}

/// Of IS 2^27 keys of 4 bytes; of FT 512^3 complex numbers of 16 bytes, 5 N log2 N operations a transform.
pub(super) const PROGRAMS: [Program; 4] = [
    Program {
        name: "IS, class C",
        // Eleven times: 1,024 buckets are added, their counts exchanged, and the keys.
        steps: &[
            (Step::Allreduce(4 << 10), 11),
            (Step::Alltoall(4), 11),
            (Step::Alltoall((1 << 29) / (CARDS * CARDS)), 11),
            (Step::Compute { flop: 11 << 27 }, 1),
        ],
        paper: [6.0, 1.0],
    },
    Program {
        name: "FT, class C",
        // One transform, and twenty back, of which each has a checksum.
        steps: &[
            (Step::Alltoall((1 << 31) / (CARDS * CARDS)), 21),
            (Step::Allreduce(16), 20),
            (Step::Compute { flop: 5 * 27 * (1 << 27) }, 21),
        ],
        paper: [6.0, 1.0],
    },
    Program {
        name: "Graph500, scale 20",
        // Seven levels, after each of which all have the front as a bit for each vertex, and its size.
        steps: &[
            (Step::Allgather((1 << 20) / 8 / CARDS), 7),
            (Step::Allreduce(8), 7),
            (Step::Compute { flop: 1 << 25 }, 1),
        ],
        paper: [4.8, 1.24],
    },
    Program {
        name: "MM, 8192 x 8192",
        // Each card has a panel of rows that all others need: f32.
        steps: &[(Step::Broadcast(8192 * 512 * 4), CARDS), (Step::Compute { flop: 2 * 8192 * 8192 * 8192 }, 1)],
        paper: [3.5, 1.5],
    },
];
