//! Operations that move bytes as they are.
#![allow(unsafe_code)]

use crate::HostError;
use crate::prepared::HostPrepared;
use crate::ring::Turn;
use crate::steps::Move;

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
    let (steps, most) = (&prepared.steps, prepared.longest);
    let piece = prepared.piece(most, turn.processors);
    for m in steps.iter().flatten().filter(|m| m.from == rank && m.to >> rank & 1 != 0) {
        // SAFETY: the caller has the bytes; they may be where they belong already.
        unsafe { own(give.wrapping_add(m.give), get.wrapping_add(m.get), m.bytes) };
    }
    let can = turn.roster.is_direct;
    let is_direct = |m: &Move| can && m.bytes >= DIRECT;
    for at in (0..most).step_by(piece) {
        for step in steps {
            let goes = |m: &&Move| m.to & !(1 << m.from) != 0 && at < if is_direct(m) { 1 } else { m.bytes };
            let here = || step.iter().filter(goes);
            let len = |m: &Move| (m.bytes - at).min(piece);
            for m in here().filter(|m| m.from == rank) {
                let (from, readers) = (give.wrapping_add(m.give + at), m.to & !(1 << rank));
                match is_direct(m) {
                    true => turn.offer(from, readers)?,
                    // SAFETY: the caller has the bytes.
                    false => unsafe { turn.publish(from, len(m), readers) }?,
                }
            }
            for m in here().filter(|m| m.from != rank) {
                let to = get.wrapping_add(m.get + at);
                match (m.to >> rank & 1, is_direct(m)) {
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
    match steps.iter().flatten().any(is_direct) {
        true => turn.settle(),
        false => Ok(()),
    }
}

/// A rank's bytes for itself. The library's copy does it again where they are in their place.
unsafe fn own(from: *const u8, to: *mut u8, bytes: usize) {
    if !std::ptr::eq(from, to) {
        // SAFETY: as the caller says.
        unsafe { std::ptr::copy(from, to, bytes) };
    }
}
