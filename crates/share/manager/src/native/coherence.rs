//! The test of a device's coherence: whether it works correctly in memory passed with a buffer, as CPUs do. Then a
//! client can write and read its buffers without the manager.
//!
//! OpenCL guarantees that for mapped memory only, so it is tried: the memory must contain what an operation wrote, and
//! the next operation must read what was written there, each time.
#![allow(unsafe_code)]

use std::ptr::{null, null_mut};

use opencl_sys::{CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR, CL_TRUE};

use super::handles::Memory;
use super::objects::NativeSpace;
use super::runtime::{call, make};
use crate::code::Code;

/// Bytes of the test memory: several pages.
const LEN: usize = 64 << 10;

/// Memory as a client's: aligned as spans are.
#[repr(align(128))]
struct Block([u8; LEN]);

/// Whether the device is coherent; `false` if the test fails to run.
pub(super) fn is_coherent(space: &NativeSpace) -> bool {
    try_out(space).unwrap_or(false)
}

fn try_out(space: &NativeSpace) -> Result<bool, Code> {
    let mut block = Box::new(Block([0; LEN]));
    let at = block.0.as_mut_ptr();
    let flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
    let (context, queue) = (space.context.raw(), space.queue().raw());
    let memory = make!(space.table, clCreateBuffer(context, flags, LEN, at.cast()))?;
    // Dropped before the block, which it uses.
    let memory = Memory::new(space.table, memory);
    for byte in [0x5a_u8, 0xc3, 0x17] {
        let pattern = (&raw const byte).cast();
        call!(space.table, clEnqueueFillBuffer(queue, memory.raw(), pattern, 1, 0, LEN, 0, null(), null_mut()))?;
        call!(space.table, clFinish(queue))?;
        // SAFETY: the block's, and no operation is under way; volatile, since the device wrote it.
        let seen = |i: usize| unsafe { at.add(i).read_volatile() };
        if !(0..LEN).all(|i| seen(i) == byte) {
            return Ok(false);
        }
        let mine = |i: usize| (i.wrapping_mul(31) >> 3) as u8 ^ byte;
        // SAFETY: as above.
        (0..LEN).for_each(|i| unsafe { at.add(i).write_volatile(mine(i)) });
        let mut back = vec![0_u8; LEN];
        call!(
            space.table,
            clEnqueueReadBuffer(queue, memory.raw(), CL_TRUE, 0, LEN, back.as_mut_ptr().cast(), 0, null(), null_mut())
        )?;
        if !back.iter().enumerate().all(|(i, got)| *got == mine(i)) {
            return Ok(false);
        }
    }
    Ok(true)
}
