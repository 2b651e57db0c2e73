//! The work: tiles of a stated cost whose results can be checked.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use rackloom_host::{Arg, Tile, Work};
use rackloom_node::Rng;

/// Tiles of the role `burn`, one element each.
#[derive(Debug)]
pub(super) struct Burn {
    tiles: usize,
    cycles: u64,
    tally: Arc<Tally>,
}

/// What came of the tiles, for whoever started the job.
#[derive(Debug, Default)]
pub(super) struct Tally {
    right: AtomicUsize,
    wrong: AtomicUsize,
}

impl Burn {
    pub(super) fn new(tiles: usize, cycles: u64) -> (Self, Arc<Tally>) {
        assert!(cycles <= CYCLES_MAX);
        let tally = Arc::new(Tally::default());
        (Self { tiles, cycles, tally: tally.clone() }, tally)
    }

    /// The element of a tile: its number, and its cycles in the low bits.
    fn element(&self, tile: usize) -> u64 {
        (tile as u64) << CYCLES_BITS | self.cycles
    }
}

impl Tally {
    /// Tiles with the right result, and with a wrong one.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.right.load(Ordering::Relaxed), self.wrong.load(Ordering::Relaxed))
    }
}

impl Work for Burn {
    fn tiles(&self) -> usize {
        self.tiles
    }

    fn tile_bytes(&self) -> u64 {
        128 // One element in, one out, each in a beat of its own.
    }

    fn inputs(&mut self, tile: usize) -> Tile {
        Tile {
            kernel: 0,
            inputs: vec![Bytes::copy_from_slice(&self.element(tile).to_le_bytes())],
            output: 8,
            args: vec![Arg::Input(0), Arg::Output(0), Arg::Value(1)],
        }
    }

    fn output(&mut self, tile: usize, output: Bytes) {
        let right = output[..] == hash(self.element(tile)).to_le_bytes();
        let count = if right { &self.tally.right } else { &self.tally.wrong };
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// What the kernel makes of an element: 64 rounds of SplitMix64, here with the generator of the cores.
fn hash(element: u64) -> u64 {
    (0..64).fold(element, |z, _| Rng::new(z).next_u64())
}

/// Bits of an element that hold its cycles.
const CYCLES_BITS: u32 = 40;
/// Most cycles of an element. A launch's own bound is one more.
pub(super) const CYCLES_MAX: u64 = (1 << CYCLES_BITS) - 1;
