//! Work for the role `vadd`, which models and gateware have, whose results are compared.

use bytes::Bytes;
use rackloom_host::{Arg, Tile, Work};

/// Tiles of sums. Each output is kept, and compared at the end.
#[derive(Debug)]
pub struct Sums {
    elements: usize,
    got: Vec<Option<Bytes>>,
}

impl Sums {
    pub fn new(tiles: usize, elements: usize) -> Self {
        Self { elements, got: vec![None; tiles] }
    }

    /// Whether a job that has ended gave the right bytes for every tile, and which not.
    pub fn check(work: Box<dyn Work>) -> Result<(), String> {
        let work: Box<dyn std::any::Any> = work;
        let Self { elements, got } = *work.downcast().expect("a job of sums");
        for (tile, got) in got.iter().enumerate() {
            let right = floats((0..elements).map(|i| element(tile, i) + element(tile, i + 1)));
            if got.as_deref() != Some(&right[..]) {
                return Err(format!("tile {tile} is wrong"));
            }
        }
        Ok(())
    }
}

/// Small whole numbers, whose sums are exact.
fn element(tile: usize, i: usize) -> f32 {
    (tile * 1000 + i) as f32
}

fn floats(values: impl Iterator<Item = f32>) -> Vec<u8> {
    values.flat_map(f32::to_le_bytes).collect()
}

impl Work for Sums {
    fn tiles(&self) -> usize {
        self.got.len()
    }

    fn tile_bytes(&self) -> u64 {
        3 * (self.elements as u64 * 4).next_multiple_of(64)
    }

    fn inputs(&mut self, tile: usize) -> Tile {
        let from = |first: usize| floats((0..self.elements).map(move |i| element(tile, first + i))).into();
        let args = vec![Arg::Input(0), Arg::Input(1), Arg::Output(0), Arg::Value(self.elements as u64)];
        Tile { kernel: 0, inputs: vec![from(0), from(1)], output: self.elements as u64 * 4, args }
    }

    fn output(&mut self, tile: usize, output: Bytes) {
        assert!(self.got[tile].replace(output).is_none(), "tile {tile} was given twice");
    }
}
