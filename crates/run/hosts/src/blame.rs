//! Whom a group's ranks name when an operation fails: all the same one, which the first of them has found, and not each
//! the one that it happened to wait for, which may have waited in turn.

use crate::HostError;

/// As it stands in shared memory: a kind, and the rank.
pub(crate) fn encode(error: &HostError) -> u64 {
    let (kind, rank) = match error {
        HostError::Gone { rank, .. } => (1, *rank),
        HostError::Left { rank, .. } => (2, *rank),
        HostError::Timeout { rank, .. } => (3, *rank),
        HostError::Stopped { rank, .. } => (4, *rank),
        _ => return 0,
    };
    kind << 8 | rank as u64
}

/// What this rank says of it; `None`: nobody is to blame, or this rank itself, which knows nothing of that.
pub(crate) fn decode(blame: u64, own: usize, size: usize, process: impl Fn(usize) -> u32) -> Option<HostError> {
    let rank = (blame & 0xff) as usize;
    if rank == own || rank >= size {
        return None;
    }
    let process = process(rank);
    match blame >> 8 {
        1 => Some(HostError::Gone { rank, process }),
        2 => Some(HostError::Left { rank, process }),
        3 => Some(HostError::Timeout { rank, process }),
        4 => Some(HostError::Stopped { rank, process }),
        _ => None,
    }
}
