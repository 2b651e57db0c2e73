//! Operations that move bytes as they are.
#![allow(unsafe_code)]

use rackloom_collective::Kind;

use crate::HostError;
use crate::prepared::HostPrepared;
use crate::ring::Turn;

/// Bytes of one rank for some.
#[derive(Debug, Clone, Copy)]
struct Move {
    from: usize,
    /// A bit for each rank of the group; also for the one that gives them.
    to: u64,
    bytes: usize,
    /// Where they are in what the one gives, and in what the others get.
    give: usize,
    get: usize,
}

/// What moves, in steps in each of which a rank publishes at most as many pieces as a ring has: then nobody waits for
/// room that only its own taking would make.
fn steps(prepared: &HostPrepared) -> Vec<Vec<Move>> {
    let (n, operation) = (prepared.size, &prepared.operation);
    let (root, bytes) = (operation.root, operation.bytes() as usize);
    let all = u64::MAX >> (64 - n);
    let block = |i: usize| prepared.block(i);
    match operation.kind {
        Kind::Send { to } => vec![vec![Move { from: root, to: 1 << to, bytes, give: 0, get: 0 }]],
        Kind::Sendrecv { by } => {
            let to = |from: usize| 1 << ((from + by % n) % n);
            vec![(0..n).map(|from| Move { from, to: to(from), bytes, give: 0, get: 0 }).collect()]
        }
        Kind::Broadcast => vec![vec![Move { from: root, to: all, bytes, give: 0, get: 0 }]],
        Kind::Scatter => {
            let part = |q: usize| Move { from: root, to: 1 << q, bytes: block(q).1, give: block(q).0, get: 0 };
            (0..n).map(|q| vec![part(q)]).collect()
        }
        Kind::Gather | Kind::Allgather => {
            let to = if operation.kind == Kind::Gather { 1 << root } else { all };
            let part = |from: usize| Move { from, to, bytes: block(from).1, give: 0, get: block(from).0 };
            vec![(0..n).map(part).collect()]
        }
        Kind::Alltoall => {
            // Blocks lie by rank, of what is given by that which gets them and of what is got by that which gave them.
            let step = |s: usize| {
                let part = |from: usize| {
                    let q = (from + s) % n;
                    let give = (0..q).map(|i| block(from * n + i).1).sum();
                    let get = (0..from).map(|i| block(i * n + q).1).sum();
                    Move { from, to: 1 << q, bytes: block(from * n + q).1, give, get }
                };
                (0..n).map(part).collect()
            };
            (0..n).map(step).collect()
        }
        Kind::Barrier | Kind::Reduce | Kind::Allreduce | Kind::ReduceScatter => Vec::new(),
    }
}

/// Messages from which on the readers fetch them where they lie, if they can.
const DIRECT: usize = 32 << 10;

/// Does an operation that moves bytes.
///
/// # Safety
/// `give` and `get` have what this rank gives and gets; where they overlap, each byte is published before another
/// comes to its place.
pub(crate) unsafe fn run(
    turn: &mut Turn<'_>,
    prepared: &HostPrepared,
    give: *const u8,
    get: *mut u8,
) -> Result<(), HostError> {
    let rank = turn.roster.rank;
    let steps = steps(prepared);
    let most = steps.iter().flatten().map(|m| m.bytes).max().unwrap_or(0);
    let piece = prepared.piece(most);
    for m in steps.iter().flatten().filter(|m| m.from == rank && m.to >> rank & 1 != 0) {
        // SAFETY: the caller has the bytes; they may be where they belong already.
        unsafe { std::ptr::copy(give.wrapping_add(m.give), get.wrapping_add(m.get), m.bytes) };
    }
    let is_direct = |m: &Move| turn.roster.is_direct && m.bytes >= DIRECT;
    let direct: Vec<Vec<bool>> = steps.iter().map(|step| step.iter().map(is_direct).collect()).collect();
    for at in (0..most).step_by(piece) {
        for (step, direct) in steps.iter().zip(&direct) {
            let goes = |m: &Move, direct: bool| m.to & !(1 << m.from) != 0 && at < if direct { 1 } else { m.bytes };
            let here =
                || step.iter().zip(direct).map(|(m, direct)| (m, *direct)).filter(|(m, direct)| goes(m, *direct));
            let len = |m: &Move| (m.bytes - at).min(piece);
            for (m, direct) in here().filter(|(m, _)| m.from == rank) {
                let (from, readers) = (give.wrapping_add(m.give + at), m.to & !(1 << rank));
                match direct {
                    true => turn.offer(from, readers)?,
                    // SAFETY: the caller has the bytes.
                    false => unsafe { turn.publish(from, len(m), readers) }?,
                }
            }
            for (m, direct) in here().filter(|(m, _)| m.from != rank) {
                let to = get.wrapping_add(m.get + at);
                match (m.to >> rank & 1, direct) {
                    (0, _) => turn.skip(m.from, 1),
                    // SAFETY: the caller has room for them.
                    (_, true) => unsafe { turn.fetch(m.from, to, m.bytes) }?,
                    // SAFETY: a piece has as many bytes, and the caller has room for them.
                    (_, false) => turn.take(m.from, |bytes| unsafe {
                        std::ptr::copy_nonoverlapping(bytes, to, len(m));
                    })?,
                }
            }
        }
    }
    match direct.iter().flatten().any(|direct| *direct) {
        true => turn.settle(),
        false => Ok(()),
    }
}
