//! A kernel on whole arrays, as work for many cards: cut into tiles according to the role's manifest.
//!
//! A kernel's arrays name their dimensions: for `c[ij] = b[ij] + a[ji]` the tile of `c` at rows i and columns j needs
//! the same tile of `b` and the transposed one of `a`, read as it is stored. The inputs' shapes give the extents;
//! [`Plan`] chooses how to cut; [`block`] copies.

mod block;
mod error;
pub(crate) mod extents;
mod plan;
mod scalar;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use bytes::Bytes;
use rackloom_host::{Arg, Tile, Work};
use rackloom_image::{Dir, Dtype, Kernel};

use self::block::{Block, gather, scatter};
pub use self::error::ArrayError;
pub use self::plan::{Plan, Sizing};
pub use self::scalar::scalar_word;

/// A dense array in memory: row-major, little-endian. Clones share the bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Array {
    /// Type of the elements.
    pub dtype: Dtype,
    /// Extents, slowest first.
    pub shape: Vec<usize>,
    /// The bytes of the elements; their number follows from type and shape.
    pub data: Bytes,
}

impl Array {
    /// An array of these bytes.
    ///
    /// # Errors
    /// The number of bytes does not match type and shape.
    pub fn new(dtype: Dtype, shape: Vec<usize>, data: Bytes) -> Result<Self, ArrayError> {
        let expected = shape.iter().try_fold(dtype.bytes(), |n, &extent| n.checked_mul(extent));
        match expected == Some(data.len()) {
            true => Ok(Self { dtype, shape, data }),
            false => Err(ArrayError::Length { shape, length: data.len() }),
        }
    }
}

/// The work of one kernel on whole arrays.
#[derive(Debug)]
pub struct ArrayWork {
    number: u16,
    kernel: Kernel,
    inputs: BTreeMap<String, Array>,
    scalars: BTreeMap<String, u64>,
    outputs: BTreeMap<String, Output>,
    plan: Plan,
}

#[derive(Debug)]
struct Output {
    dtype: Dtype,
    shape: Vec<usize>,
    data: Vec<u8>,
}

impl ArrayWork {
    /// The work of `kernel`, number `number` in its image, on these inputs and scalars (argument words, see
    /// [`scalar_word`]), cut for these cards.
    ///
    /// # Errors
    /// An array or a scalar is missing or unknown; an array's type or shape does not fit the kernel and the other
    /// arrays; or no tile fits into the room.
    pub fn new(
        number: u16,
        kernel: &Kernel,
        inputs: BTreeMap<String, Array>,
        scalars: BTreeMap<String, u64>,
        sizing: Sizing,
    ) -> Result<Self, ArrayError> {
        let extents = extents::infer(kernel, &inputs)?;
        scalar::check(kernel, &scalars)?;
        let plan = Plan::new(kernel, &extents, sizing)?;
        let mut outputs = BTreeMap::new();
        for array in kernel.arrays.iter().filter(|a| a.dir == Dir::Out) {
            let shape: Vec<_> = array.dims().map(|d| extents[&d]).collect();
            let bytes = shape.iter().try_fold(array.dtype.bytes(), |n, &extent| n.checked_mul(extent));
            let bytes = bytes.ok_or_else(|| ArrayError::TooLarge { array: array.name.clone() })?;
            outputs.insert(array.name.clone(), Output { dtype: array.dtype, shape, data: vec![0; bytes] });
        }
        Ok(Self { number, kernel: kernel.clone(), inputs, scalars, outputs, plan })
    }

    /// The plan of its tiles.
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The outputs by name, with zeros where no tile was computed.
    pub fn into_outputs(self) -> BTreeMap<String, Array> {
        let array = |o: Output| Array { dtype: o.dtype, shape: o.shape, data: o.data.into() };
        self.outputs.into_iter().map(|(name, output)| (name, array(output))).collect()
    }

    fn block(&self, array: &rackloom_image::Array, tile: usize) -> Block {
        let spans = self.plan.spans(tile);
        let halo = |d| self.kernel.halo_of(array, d) as usize;
        Block::new(array.dtype.bytes(), array.dims().map(|d| (self.plan.extent(d), spans[&d], halo(d))))
    }
}

impl Work for ArrayWork {
    fn tiles(&self) -> usize {
        self.plan.tiles()
    }

    fn tile_bytes(&self) -> u64 {
        self.plan.tile_bytes()
    }

    fn inputs(&mut self, tile: usize) -> Tile {
        let spans = self.plan.spans(tile);
        let (mut inputs, mut output) = (Vec::new(), 0);
        let mut addresses = BTreeMap::new();
        for array in &self.kernel.arrays {
            let block = self.block(array, tile);
            let address = match array.dir {
                Dir::In => {
                    inputs.push(gather(&self.inputs[&array.name].data, &block));
                    Arg::Input(inputs.len() - 1)
                }
                Dir::Out => {
                    let at = output;
                    output = (at + block.bytes() as u64).next_multiple_of(64);
                    Arg::Output(at)
                }
            };
            addresses.insert(array.name.as_str(), address);
        }
        let word = |arg| match arg {
            rackloom_image::Arg::Address(array) => addresses[array.name.as_str()],
            rackloom_image::Arg::Value(scalar) => Arg::Value(self.scalars[&scalar.name]),
            rackloom_image::Arg::Extent(dim) => Arg::Value(spans[&dim].1 as u64),
        };
        let args = self.kernel.resolved_args().map(word).collect();
        Tile { kernel: self.number, inputs, output, args }
    }

    fn output(&mut self, tile: usize, output: Bytes) {
        let mut at = 0;
        let outs: Vec<_> = self.kernel.arrays.iter().filter(|a| a.dir == Dir::Out).cloned().collect();
        for array in outs {
            let block = self.block(&array, tile);
            let data = &mut self.outputs.get_mut(&array.name).expect("made in new").data;
            scatter(&output[at..at + block.bytes()], data, &block);
            at = (at + block.bytes()).next_multiple_of(64);
        }
    }
}
