//! Work whose results can be checked: hashes of numbered words.

use bytes::Bytes;
use rackloom_host::{Arg, Tile, Work};
use rackloom_node::Rng;

/// Tiles of hashes for the role `burn`. Each output is kept, and compared at the end.
#[derive(Debug)]
pub struct Hashes {
    elements: usize,
    got: Vec<Option<Bytes>>,
}

impl Hashes {
    /// So many tiles of so many words, 8 bytes each; a word takes 50 cycles of the role's clock.
    pub fn new(tiles: usize, elements: usize) -> Self {
        Self { elements, got: vec![None; tiles] }
    }

    /// Whether a job that has ended gave the right bytes for every tile.
    ///
    /// # Errors
    /// One did not, and which.
    ///
    /// # Panics
    /// If the job's work was none of these.
    pub fn check(work: Box<dyn Work>) -> Result<(), String> {
        let work: Box<dyn std::any::Any> = work;
        let Self { elements, got } = *work.downcast().expect("a job of hashes");
        for (tile, got) in got.iter().enumerate() {
            let right: Vec<u8> = (0..elements).flat_map(|i| hash(element(tile, i)).to_le_bytes()).collect();
            if got.as_deref() != Some(&right[..]) {
                return Err(format!("tile {tile} is wrong"));
            }
        }
        Ok(())
    }
}

/// One of a tile's elements: the low 40 bits are the cycles that it takes.
fn element(tile: usize, i: usize) -> u64 {
    (tile as u64) << 52 | (i as u64) << 40 | 50
}

/// What the role makes of an element: 64 rounds of SplitMix64, computed by another implementation.
fn hash(element: u64) -> u64 {
    (0..64).fold(element, |z, _| Rng::new(z).next_u64())
}

impl Work for Hashes {
    fn tiles(&self) -> usize {
        self.got.len()
    }

    fn tile_bytes(&self) -> u64 {
        2 * (self.elements as u64 * 8).next_multiple_of(64)
    }

    fn inputs(&mut self, tile: usize) -> Tile {
        let words: Vec<u8> = (0..self.elements).flat_map(|i| element(tile, i).to_le_bytes()).collect();
        let args = vec![Arg::Input(0), Arg::Output(0), Arg::Value(self.elements as u64)];
        Tile { kernel: 0, inputs: vec![words.into()], output: self.elements as u64 * 8, args }
    }

    fn output(&mut self, tile: usize, output: Bytes) {
        assert!(self.got[tile].replace(output).is_none(), "tile {tile} was given twice");
    }
}
