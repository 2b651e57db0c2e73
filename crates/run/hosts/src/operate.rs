//! Operations of a group, piece by piece.
#![allow(unsafe_code)]

use rackloom_collective::Kind;

use crate::HostError;
use crate::fold::{Reduction, fold};
use crate::moves;
use crate::prepared::HostPrepared;
use crate::ring::Turn;
use crate::segment::{PIECE, SLOTS};

/// Bytes from which on more than two ranks share the work of a reduction: below, meeting twice costs more.
const PARTS: usize = 16 << 10;
/// Processors up to which the root of a reduce does all the work if there are more ranks: while it reduces on the one,
/// the others give it more on the other, and wait for nobody but the root. In parts each waits for each.
const FEW: usize = 2;

/// Does an operation.
///
/// # Safety
/// `give` and `get` have what this rank gives and gets. They are the same or do not overlap; the same only where
/// [`HostPrepared::is_done_in_place`] says so.
pub(crate) unsafe fn operate(
    turn: &mut Turn<'_>,
    prepared: &HostPrepared,
    give: *const u8,
    get: *mut u8,
) -> Result<(), HostError> {
    let operation = &prepared.operation;
    let how = Reduction { op: operation.op, datatype: operation.datatype };
    let bytes = operation.bytes() as usize;
    let share = prepared.size > 2 && prepared.size <= SLOTS && bytes >= PARTS;
    let root_does_all = turn.processors <= FEW && turn.processors < prepared.size;
    // SAFETY: as the caller says.
    unsafe {
        match operation.kind {
            Kind::Barrier => barrier(turn),
            Kind::Reduce if share && !root_does_all => parts(turn, how, (give, get, bytes), Some(operation.root)),
            Kind::Allreduce if share => parts(turn, how, (give, get, bytes), None),
            Kind::Reduce => whole(turn, how, (give, get, bytes), Some(operation.root)),
            Kind::Allreduce => whole(turn, how, (give, get, bytes), None),
            Kind::ReduceScatter => blocks(turn, how, prepared, give, get),
            _ => moves::run(turn, prepared, give, get),
        }
    }
}

fn barrier(turn: &mut Turn<'_>) -> Result<(), HostError> {
    let (others, size) = (turn.others(), turn.roster.members.len());
    if others == 0 {
        return Ok(());
    }
    // SAFETY: there are no bytes.
    unsafe { turn.publish(std::ptr::null(), 0, others) }?;
    (0..size).filter(|ring| others >> ring & 1 != 0).try_for_each(|ring| turn.take(ring, |_| ()))
}

/// All give all they have to all, or to the root, and each reduces everything.
unsafe fn whole(
    turn: &mut Turn<'_>,
    how: Reduction,
    (give, get, bytes): (*const u8, *mut u8, usize),
    root: Option<usize>,
) -> Result<(), HostError> {
    let rank = turn.roster.rank;
    let readers = root.map_or_else(|| turn.others(), |root| 1 << root & turn.others());
    for at in (0..bytes).step_by(PIECE) {
        let len = (bytes - at).min(PIECE);
        let own = give.wrapping_add(at);
        // SAFETY: the caller has the bytes, and room for the result. A piece is published before a result comes to it.
        unsafe {
            if readers != 0 {
                turn.publish(own, len, readers)?;
            }
            match root {
                Some(root) if root != rank => {
                    let others = (0..turn.roster.members.len()).filter(|ring| *ring != rank && *ring != root);
                    others.collect::<Vec<_>>().into_iter().for_each(|ring| turn.skip(ring, 1));
                }
                _ => fold(turn, how, (own, get.wrapping_add(at), len), |_| (0, 0))?,
            }
        }
    }
    Ok(())
}

/// Each reduces a part, and gives the result to all, or to the root.
unsafe fn parts(
    turn: &mut Turn<'_>,
    how: Reduction,
    (give, get, bytes): (*const u8, *mut u8, usize),
    root: Option<usize>,
) -> Result<(), HostError> {
    let (rank, size) = (turn.roster.rank, turn.roster.members.len());
    let part = bytes.div_ceil(size).next_multiple_of(64).min(PIECE);
    // A rank that gets no result has its own part somewhere.
    let mut aside = if root.is_some_and(|root| root != rank) { vec![0; part] } else { Vec::new() };
    for round in (0..bytes).step_by(part * size) {
        let len = |q: usize| bytes.saturating_sub(round + q * part).min(part);
        let at = |q: usize| round + q * part;
        for q in (0..size).filter(|q| *q != rank && len(*q) > 0) {
            // SAFETY: the caller has the bytes.
            unsafe { turn.publish(give.wrapping_add(at(q)), len(q), 1 << q) }?;
        }
        let gets = root.is_none_or(|root| root == rank);
        let reduced = if gets { get.wrapping_add(at(rank)) } else { aside.as_mut_ptr() };
        // The pieces for others in a ring before that for this rank, and behind it; results come after them.
        let count = |ring: usize, of: std::ops::Range<usize>| of.filter(|q| *q != ring && len(*q) > 0).count();
        if len(rank) > 0 {
            let around = |ring: usize| (count(ring, 0..rank), count(ring, rank + 1..size));
            // SAFETY: the caller has the bytes and room for the result; others have their pieces of what it replaces.
            unsafe { fold(turn, how, (give.wrapping_add(at(rank)), reduced, len(rank)), around) }?;
            let readers = root.map_or_else(|| turn.others(), |root| 1 << root & turn.others());
            if readers != 0 {
                // SAFETY: it was just made.
                unsafe { turn.publish(reduced, len(rank), readers) }?;
            }
        } else {
            (0..size).filter(|ring| *ring != rank).for_each(|ring| turn.skip(ring, count(ring, 0..size)));
        }
        for ring in (0..size).filter(|ring| *ring != rank && len(*ring) > 0) {
            match (gets, root) {
                // The root publishes no result of its own.
                (_, Some(root)) if root == ring => {}
                (false, _) => turn.skip(ring, 1),
                // SAFETY: the caller has room for it.
                (true, _) => turn.take(ring, |from| unsafe {
                    std::ptr::copy_nonoverlapping(from, get.wrapping_add(at(ring)), len(ring));
                })?,
            }
        }
    }
    Ok(())
}

/// Each gets its own block of the result, for which all give it theirs.
unsafe fn blocks(
    turn: &mut Turn<'_>,
    how: Reduction,
    prepared: &HostPrepared,
    give: *const u8,
    get: *mut u8,
) -> Result<(), HostError> {
    let (rank, size) = (turn.roster.rank, turn.roster.members.len());
    let most = (0..size).map(|q| prepared.block(q).1).max().unwrap_or(0);
    for at in (0..most).step_by(PIECE) {
        let is_there = |q: usize| prepared.block(q).1 > at;
        let part = |q: usize| {
            let (start, bytes) = prepared.block(q);
            (give.wrapping_add(start + at), (bytes - at).min(PIECE))
        };
        // The pieces of a ring for some ranks; for its own it has none.
        let count = |ring: usize, of: std::ops::Range<usize>| of.filter(|q| *q != ring && is_there(*q)).count();
        // If a ring has room for a piece for each rank, all publish theirs before they wait for others'. In a larger
        // group each waits between: nobody needs room that only its own taking would make.
        let is_early = size <= SLOTS;
        for q in (0..size).filter(|q| is_there(*q)) {
            let (own, len) = part(q);
            // SAFETY: the caller has the bytes, and room for the result.
            unsafe {
                if q != rank {
                    turn.publish(own, len, 1 << q)?;
                } else if !is_early {
                    fold(turn, how, (own, get.wrapping_add(at), len), |_| (0, 0))?;
                }
            }
            if q != rank && !is_early {
                (0..size).filter(|ring| *ring != rank && *ring != q).for_each(|ring| turn.skip(ring, 1));
            }
        }
        if is_early && is_there(rank) {
            let (own, len) = part(rank);
            let around = |ring: usize| (count(ring, 0..rank), count(ring, rank + 1..size));
            // SAFETY: as above.
            unsafe { fold(turn, how, (own, get.wrapping_add(at), len), around) }?;
        } else if is_early {
            (0..size).filter(|ring| *ring != rank).for_each(|ring| turn.skip(ring, count(ring, 0..size)));
        }
    }
    Ok(())
}
