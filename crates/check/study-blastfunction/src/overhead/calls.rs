//! Single calls: what each costs when nothing else goes on.

use super::Bench;
use crate::error::Result;
use crate::sample::{in_turn, timed};

/// How many rows these are.
pub(super) const ROWS: usize = 6;

/// Writes or kernels of a batch.
const BATCH: usize = 10;

impl Bench<'_> {
    /// Blocking calls of 64 bytes, ten such writes behind each other, an empty kernel, and ten in a batch and in a
    /// command buffer.
    pub(super) fn calls(&mut self) -> Result<()> {
        let effort = self.effort(200, 4000, 1000);
        let lanes = &self.lanes;
        let mut buffers = Vec::new();
        for lane in lanes {
            buffers.push(lane.buffer(0, 64)?);
        }
        let bytes = [0x5a; 64];
        // A write that has returned may be on its way still.
        let write = in_turn(effort, |way| {
            let alone = timed(|| lanes[way].write(&mut buffers[way], &bytes))?;
            lanes[way].finish()?;
            Ok(alone)
        })?;
        let writes = in_turn(effort, |way| {
            let all = timed(|| {
                (0..BATCH).try_for_each(|_| lanes[way].write(&mut buffers[way], &bytes))?;
                lanes[way].finish()
            })?;
            Ok(all / BATCH as f64)
        })?;
        let mut back = [0; 64];
        let read = in_turn(effort, |way| timed(|| lanes[way].read(&buffers[way], &mut back)))?;
        let launch = |way: usize, count: usize| {
            timed(|| {
                (0..count).try_for_each(|_| lanes[way].launch())?;
                lanes[way].finish()
            })
        };
        let one = in_turn(effort, |way| launch(way, 1))?;
        let batch = in_turn(effort, |way| Ok(launch(way, BATCH)? / BATCH as f64))?;
        let mut recorded = Vec::new();
        for lane in lanes {
            recorded.push(lane.record(BATCH)?);
        }
        let recorded = in_turn(effort, |way| match &recorded[way] {
            Some(commands) => {
                let all = timed(|| {
                    commands.enqueue()?;
                    lanes[way].finish()
                })?;
                Ok(all / BATCH as f64)
            }
            // What the program would do there.
            None => Ok(launch(way, BATCH)? / BATCH as f64),
        })?;
        self.row("call", "blocking write of 64 B".into(), Some(64), write);
        self.row("call", "each of ten writes, and finish".into(), Some(64), writes);
        self.row("call", "blocking read of 64 B".into(), Some(64), read);
        self.row("call", "empty kernel and finish".into(), None, one);
        self.row("call", "each of ten kernels".into(), None, batch);
        self.row("call", "each of ten recorded kernels".into(), None, recorded);
        Ok(())
    }
}
