//! How arrays are cut into tiles.

use std::collections::BTreeMap;

use rackloom_image::{Dir, Kernel};

use super::ArrayError;

/// A cut of a kernel's dimensions: every tile is a box of them; those at the far ends are smaller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    dims: BTreeMap<char, Cut>,
    tiles: usize,
    tile_bytes: u64,
}

/// One dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cut {
    extent: usize,
    /// Extent of each tile but the last.
    step: usize,
}

/// The cards that a plan is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizing {
    /// Number of cards to keep busy; 0 counts as 1.
    pub cards: usize,
    /// Bytes that each card has for one tile.
    pub room: u64,
}

/// Tiles per card, at least if possible: with fewer, the last card to finish keeps the others waiting.
const TILES_PER_CARD: usize = 4;
/// Smaller tiles would spend most of their time in transfer: a launch costs about as much as 16 frames.
const TILE_BYTES_MIN: u64 = 16 << 10;
/// Tiles are cut at multiples of this where that is possible: 16 elements of 4 bytes are one DDR beat.
const STEP_UNIT: usize = 16;

impl Plan {
    /// Cuts dimensions of these extents.
    pub(super) fn new(kernel: &Kernel, extents: &BTreeMap<char, usize>, sizing: Sizing) -> Result<Self, ArrayError> {
        let room = sizing.room;
        let step = |dim: char, extent: usize| kernel.tile.get(&dim).map_or(extent, |&t| extent.min(t as usize));
        let dims = extents.iter().map(|(&dim, &extent)| (dim, Cut { extent, step: step(dim, extent) })).collect();
        let mut plan = Self { dims, tiles: 0, tile_bytes: 0 };
        let wanted = sizing.cards.max(1).saturating_mul(TILES_PER_CARD);
        loop {
            let (bytes, fits) = (plan.bytes(kernel), plan.bytes(kernel) <= room);
            if fits && (plan.count() >= wanted || bytes < 2 * TILE_BYTES_MIN) {
                break;
            }
            // The longest side first: square tiles need the fewest input bytes for their output.
            let longest =
                kernel.tile.keys().copied().filter(|d| plan.dims[d].step > 1).max_by_key(|d| plan.dims[d].step);
            match longest {
                Some(dim) => plan.shrink(dim),
                None if fits => break,
                None => return Err(ArrayError::Room { kernel: kernel.name.clone(), need: bytes, room }),
            }
        }
        plan.even_out();
        plan.tiles = plan.count();
        plan.tile_bytes = plan.bytes(kernel);
        Ok(plan)
    }

    /// Number of tiles.
    pub const fn tiles(&self) -> usize {
        self.tiles
    }

    /// Bytes of the largest tile on a card.
    pub const fn tile_bytes(&self) -> u64 {
        self.tile_bytes
    }

    /// The whole extent of a dimension.
    ///
    /// # Panics
    /// If the kernel has no such dimension.
    pub fn extent(&self, dim: char) -> usize {
        self.dims[&dim].extent
    }

    /// The extents of the largest tile.
    pub fn tile_extents(&self) -> BTreeMap<char, usize> {
        self.dims.iter().map(|(&dim, cut)| (dim, cut.step)).collect()
    }

    /// The span of a tile in each dimension: its first element and its number of elements.
    pub fn spans(&self, tile: usize) -> BTreeMap<char, (usize, usize)> {
        let mut rest = tile;
        let mut spans = BTreeMap::new();
        for (&dim, cut) in self.dims.iter().rev() {
            let start = rest % cut.count() * cut.step;
            rest /= cut.count();
            spans.insert(dim, (start, cut.step.min(cut.extent - start)));
        }
        spans
    }

    fn count(&self) -> usize {
        self.dims.values().fold(1, |n: usize, cut| n.saturating_mul(cut.count()))
    }

    fn shrink(&mut self, dim: char) {
        let cut = self.dims.get_mut(&dim).expect("a dimension of the kernel");
        let half = cut.step.div_ceil(2);
        let rounded = half.next_multiple_of(STEP_UNIT);
        cut.step = if rounded < cut.step { rounded } else { half };
    }

    /// Makes the tiles of each dimension as equal as their number and the unit allow.
    fn even_out(&mut self) {
        for cut in self.dims.values_mut() {
            let even = cut.extent.div_ceil(cut.count());
            let rounded = even.next_multiple_of(STEP_UNIT);
            cut.step = if rounded <= cut.step { rounded } else { cut.step };
        }
    }

    /// Bytes of the largest tile: each array rounded up to a beat.
    fn bytes(&self, kernel: &Kernel) -> u64 {
        let array = |a: &rackloom_image::Array| {
            let side = |d| self.dims[&d].step as u64 + 2 * u64::from(kernel.halo_of(a, d));
            let bytes = a.dims().fold(a.dtype.bytes() as u64, |n, d| n.saturating_mul(side(d)));
            bytes.checked_next_multiple_of(64).unwrap_or(u64::MAX)
        };
        let of = |dir| kernel.arrays.iter().filter(move |a| a.dir == dir).map(array);
        of(Dir::In).chain(of(Dir::Out)).fold(0, u64::saturating_add)
    }
}

impl Cut {
    const fn count(&self) -> usize {
        self.extent.div_ceil(self.step)
    }
}
