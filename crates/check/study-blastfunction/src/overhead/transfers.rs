//! Bytes to a device and back, by size.

use opencl3::memory::CL_MEM_ALLOC_HOST_PTR;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Bench, Options};
use crate::error::{BenchError, Result};
use crate::sample::{Stat, Turns, in_turn, timed};
use crate::site::WAYS;

/// A size of the sweep.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Step {
    /// Bytes.
    pub bytes: u64,
    /// Natively.
    pub native: Stat,
    /// Over shared memory.
    pub shared_memory: Stat,
    /// Over TCP.
    pub network: Stat,
}

/// Largest transfer of the sweep.
const SWEEP: usize = 1 << 20;
/// Largest transfer through a mapping: three sets of buffers and the program's own have to find room.
const MAPPED: usize = 256 << 20;

fn sizes(most: usize) -> impl Iterator<Item = usize> {
    (0..).map(|i| 1024 << (2 * i)).take_while(move |bytes| *bytes <= most)
}

/// How many rows these are.
pub(super) fn rows(options: &Options) -> usize {
    sizes(options.bytes).count() + sizes(options.bytes.min(MAPPED)).count()
}

impl Bench<'_> {
    /// A write, a kernel and a read, from 1 byte to 1 MiB, in steps of less than a factor of two: what stalls at some
    /// size shows here.
    pub(super) fn sweep(&self) -> Result<Vec<Step>> {
        let effort = self.effort(20, 100, 40);
        let mut buffers = Vec::new();
        for lane in &self.lanes {
            buffers.push(lane.buffer(0, SWEEP)?);
        }
        let bytes = pattern(SWEEP);
        let mut back = vec![0; SWEEP];
        let mut steps = Vec::new();
        let sizes = (0..=20).flat_map(|i| [1 << i, 3 << i >> 1]).filter(|n| *n <= SWEEP);
        let mut sizes: Vec<usize> = sizes.collect();
        sizes.dedup();
        for size in sizes {
            let turns = in_turn(effort, |way| {
                let (lane, buffer) = (&self.lanes[way], &mut buffers[way]);
                timed(|| lane.write_launch_read(buffer, &bytes[..size], &mut back[..size]))
            })?;
            let [native, shared_memory, network] = turns.stats;
            steps.push(Step { bytes: size as u64, native, shared_memory, network });
        }
        Ok(steps)
    }

    /// A blocking write and a blocking read of the same bytes, of a buffer of that size.
    pub(super) fn transfers(&mut self) -> Result<()> {
        for size in sizes(self.options.bytes) {
            let stats = self.round_trips(size, false)?;
            self.row("write and read", bytes_as_text(size), Some(size as u64), stats);
        }
        for size in sizes(self.options.bytes.min(MAPPED)) {
            let stats = self.round_trips(size, true)?;
            self.row("mapped", bytes_as_text(size), Some(size as u64), stats);
        }
        Ok(())
    }

    fn round_trips(&self, size: usize, mapped: bool) -> Result<Turns<3>> {
        let effort = self.effort(5, 1000, 700);
        let mut buffers = Vec::new();
        for lane in &self.lanes {
            buffers.push(lane.buffer(if mapped { CL_MEM_ALLOC_HOST_PTR } else { 0 }, size)?);
        }
        let bytes = pattern(size);
        let mut back = vec![0; size];
        for (way, buffer) in buffers.iter_mut().enumerate() {
            back.fill(0);
            self.trip(way, buffer, mapped, &bytes, &mut back)?;
            if back != bytes {
                return Err(BenchError::Wrong(format!("a transfer of {size} bytes ({:?})", WAYS[way])));
            }
        }
        in_turn(effort, |way| timed(|| self.trip(way, &mut buffers[way], mapped, &bytes, &mut back)))
    }

    fn trip(
        &self,
        way: usize,
        buffer: &mut crate::lane::Bytes,
        mapped: bool,
        bytes: &[u8],
        back: &mut [u8],
    ) -> Result<()> {
        let lane = &self.lanes[way];
        if mapped {
            return lane.through_map(buffer, bytes, back);
        }
        lane.write(buffer, bytes)?;
        lane.read(buffer, back)
    }
}

/// Bytes that no other offset has in the same place.
fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 11) as u8).collect()
}

/// As people write it.
pub(super) fn bytes_as_text(bytes: usize) -> String {
    match bytes {
        n if n >= 1 << 30 => format!("{} GiB", n >> 30),
        n if n >= 1 << 20 => format!("{} MiB", n >> 20),
        n if n >= 1 << 10 => format!("{} KiB", n >> 10),
        n => format!("{n} B"),
    }
}
