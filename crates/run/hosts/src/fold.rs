//! Elements of all ranks become one, in the order of ranks.
#![allow(unsafe_code)]

use std::slice::{from_raw_parts, from_raw_parts_mut};

use rackloom_collective::{Datatype, Op, combine, reduce, reduce_before};

use crate::HostError;
use crate::ring::Turn;
use crate::segment::PIECE;

/// How elements are reduced.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reduction {
    pub(crate) op: Op,
    pub(crate) datatype: Datatype,
}

impl Reduction {
    /// `to` becomes what `first` and `second` are together. `to` may be either of them.
    ///
    /// # Safety
    /// All have `len` bytes, of which only this call uses those of `to`; they are the same or do not overlap.
    unsafe fn join(self, to: *mut u8, first: *const u8, second: *const u8, len: usize) {
        let Self { op, datatype } = self;
        // SAFETY: as the caller says; what is `to` is made a slice once.
        unsafe {
            let into = from_raw_parts_mut(to, len);
            if std::ptr::eq(to, first) {
                reduce(op, datatype, into, from_raw_parts(second, len));
            } else if std::ptr::eq(to, second) {
                reduce_before(op, datatype, into, from_raw_parts(first, len));
            } else {
                combine(op, datatype, into, from_raw_parts(first, len), from_raw_parts(second, len));
            }
        }
    }
}

/// Reduces this rank's bytes with the next piece of each other's ring, to `to`, which may be where its own are.
/// `around` says how many pieces of a ring are for others before that for this rank, and behind it.
///
/// # Safety
/// `own` and `to` have `len` bytes, which only this call uses; they are the same or do not overlap.
pub(crate) unsafe fn fold(
    turn: &mut Turn<'_>,
    how: Reduction,
    (own, to, len): (*const u8, *mut u8, usize),
    around: impl Fn(usize) -> (usize, usize),
) -> Result<(), HostError> {
    let (rank, size) = (turn.roster.rank, turn.roster.members.len());
    let mut take = |ring: usize, f: &mut dyn FnMut(*const u8)| {
        let (before, behind) = around(ring);
        turn.skip(ring, before);
        turn.take(ring, f)?;
        turn.skip(ring, behind);
        Ok::<_, HostError>(())
    };
    // SAFETY: the caller has the bytes at `own` and `to`; a piece has at least `len` and stays as it is until it was
    // taken; the scratch is ours, and used only where `to` has this rank's own bytes.
    unsafe {
        match rank {
            0 if size == 1 => {
                std::ptr::copy(own, to, len);
                return Ok(());
            }
            0 => take(1, &mut |piece| how.join(to, own, piece, len))?,
            1 => take(0, &mut |piece| how.join(to, piece, own, len))?,
            _ => {
                let mut room = if std::ptr::eq(own, to) { vec![0; PIECE] } else { Vec::new() };
                let so_far = if std::ptr::eq(own, to) { room.as_mut_ptr() } else { to };
                take(0, &mut |piece| std::ptr::copy_nonoverlapping(piece, so_far, len))?;
                for ring in 1..rank {
                    take(ring, &mut |piece| how.join(so_far, so_far, piece, len))?;
                }
                how.join(to, so_far, own, len);
            }
        }
        for ring in rank.max(1) + 1..size {
            take(ring, &mut |piece| how.join(to, to, piece, len))?;
        }
    }
    Ok(())
}
