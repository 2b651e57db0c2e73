//! Copies between the program's memory and arenas that a board moves bytes from at the rate of its bus: then these
//! copies are what a transfer takes, and worth several processors.

mod helpers;
mod streaming;
mod tuning;

use std::sync::Mutex;
use std::time::Instant;

use rackloom_sync::lock;

use self::helpers::{BLOCK, Helpers};
use self::streaming::Store;
use self::tuning::Tuning;
use crate::config::{Copies, log};
use crate::process::PerProcess;
use crate::stats;

/// The copier of this process.
pub fn copier() -> &'static Copier {
    static COPIER: PerProcess<Copier> = PerProcess::new();
    COPIER.get()
}

/// Copies, with helpers.
pub struct Copier {
    helpers: Helpers,
    /// By direction and size of the transfer.
    tunings: [[Mutex<Tuning>; SIZES.len() + 1]; 2],
    /// Bytes of a piece, if somebody says so.
    piece: Option<usize>,
}

/// The direction of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Into an arena.
    In,
    /// Out of one.
    Out,
}

/// Transfers up to one of these sizes, in bytes, share a way: whether past the caches is better depends on whether the
/// program's bytes are in them.
const SIZES: [usize; 2] = [1 << 20, 16 << 20];

/// Pieces of a transfer: enough of them that the bus soon has something to do and copies go beside it, none so small
/// that its message takes longer than it does, none larger than [`PIECE_MAX`].
const PIECES: usize = 4;
const PIECE_MIN: usize = 512 << 10;
const PIECE_MAX: usize = 2 << 20;

/// Shorter copies tell nothing about ways.
const TELLING: usize = 4 * BLOCK;

/// Most helpers that anybody may ask for.
const HELPERS_MAX: usize = 7;

/// Most that are tried: with four processors a copy is faster than the bus (H200: 62 GB/s to 54), and more of them take
/// what the driver's threads need.
const TRIED_MAX: usize = 3;

impl Default for Copier {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self::new(&Copies::from_environment(), processors)
    }
}

impl Copier {
    fn new(copies: &Copies, processors: usize) -> Self {
        let helpers = copies.helpers.map_or_else(|| numbers(processors), |n| vec![n.min(HELPERS_MAX)]);
        let tuning = |size: usize| {
            let stores = match copies.streaming_from {
                Some(from) if size >= from => &[Store::Streaming][..],
                Some(_) => &[Store::Cached],
                None => &[Store::Cached, Store::Streaming],
            };
            Mutex::new(Tuning::new(&helpers, stores))
        };
        let each = || [tuning(SIZES[0]), tuning(SIZES[1]), tuning(usize::MAX)];
        Self { helpers: Helpers::default(), tunings: [each(), each()], piece: copies.piece }
    }

    /// Bytes of the pieces of a transfer.
    pub fn piece(&self, transfer: usize) -> usize {
        self.piece.unwrap_or_else(|| (transfer / PIECES).next_multiple_of(BLOCK).clamp(PIECE_MIN, PIECE_MAX))
    }

    /// Copies `len` bytes of a transfer of `transfer`.
    ///
    /// # Safety
    /// `from` is good for reading so many bytes, `to` for writing, and they do not overlap.
    #[allow(unsafe_code)]
    pub unsafe fn copy(&'static self, direction: Direction, transfer: usize, from: *const u8, to: *mut u8, len: usize) {
        let size = SIZES.iter().position(|most| transfer <= *most).unwrap_or(SIZES.len());
        let tuning = &self.tunings[usize::from(direction == Direction::Out)][size];
        let (way, is_over) = {
            let tuning = lock(tuning);
            (tuning.next(), tuning.is_over())
        };
        let start = Instant::now();
        // SAFETY: as the caller says.
        unsafe { self.helpers.copy(from, to, len, way.store, way.helpers) };
        let time = start.elapsed();
        stats::COPYING_NS.add(time.as_nanos() as usize);
        if !is_over && len >= TELLING {
            let mut tuning = lock(tuning);
            tuning.took(way, len, time);
            if tuning.is_over() {
                let most = SIZES.get(size).map_or_else(String::new, |most| format!(" up to {} MiB", most >> 20));
                log(|| format!("copies {direction:?} of transfers{most}: {tuning}"));
            }
        }
    }
}

/// Numbers of helpers to try on a machine with so many processors: half of them is left to others, the manager among
/// them. On a small machine there are none: a helper would take the processor that the manager needs.
fn numbers(processors: usize) -> Vec<usize> {
    let most = (processors / 2).saturating_sub(1).min(TRIED_MAX);
    [0, 1, TRIED_MAX].into_iter().filter(|n| *n <= most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_machine_has_no_helpers_and_none_has_more_than_half_of_its_processors() {
        let most = [1, 2, 3, 4, 8, 16, 64].map(|processors| numbers(processors).pop());
        assert_eq!(most, [0, 0, 0, 1, 3, 3, 3].map(Some));
    }

    #[test]
    fn pieces_suit_their_transfer() {
        let copier = Copier::new(&Copies::default(), 16);
        let mib = 1 << 20;
        let above = PIECES * (PIECE_MIN + 1);
        assert_eq!([17 << 10, mib, above].map(|n| copier.piece(n)), [mib / 2, mib / 2, mib / 2 + BLOCK]);
        assert_eq!([16 * mib, 1 << 30].map(|n| copier.piece(n)), [2 * mib; 2]);
        let copies = Copies { piece: Some(5), ..Copies::default() };
        assert_eq!(Copier::new(&copies, 16).piece(mib), 5);
    }
}
