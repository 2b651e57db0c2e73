//! Registered arenas: a client's memory that the runtime has pinned, once. Transfers from and to it take what the bus
//! takes; other memory a runtime copies through memory of its own first, at a fraction of the rate.
//!
//! OpenCL has no call for this. A buffer in the client's memory (`CL_MEM_USE_HOST_PTR`) that is mapped and never used
//! does it with the runtimes for which it pays; so whether it does is tried on each board.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::time::{Duration, Instant};

use opencl_sys::{
    CL_MAP_FAILURE, CL_MAP_WRITE_INVALIDATE_REGION, CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR, CL_TRUE, cl_mem,
};

use super::handles::{Memory, Queue};
use super::objects::NativeSpace;
use super::runtime::{Table, call, make};
use crate::code::Code;
use crate::quota::Charge;

/// Memory that is registered until this is dropped, which must be before it is unmapped.
#[derive(Debug)]
pub(super) struct Registration {
    memory: Memory,
    queue: Arc<Queue>,
    table: Table,
    at: *mut c_void,
    _charge: Option<Charge>,
}

// SAFETY: OpenCL's objects belong to no thread, and the pointer is only passed back to the runtime.
unsafe impl Send for Registration {}
// SAFETY: as above.
unsafe impl Sync for Registration {}

impl Registration {
    /// Registers `len` bytes at `at`. A client may write to them meanwhile.
    ///
    /// # Errors
    /// The runtime's: it can pin no more, or does not map such buffers in place.
    pub(super) fn new(space: &NativeSpace, at: *mut u8, len: usize, charge: Option<Charge>) -> Result<Self, Code> {
        let (table, context, at) = (space.table, space.context.raw(), at.cast::<c_void>());
        let queue = space.registrar()?;
        let memory = make!(table, clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, len, at))?;
        let memory = Memory::new(table, memory);
        // What is there is the client's: nothing of the buffer's own may be copied over it.
        let (raw, flags) = (memory.raw(), CL_MAP_WRITE_INVALIDATE_REGION);
        let mapped = make!(table, clEnqueueMapBuffer(queue.raw(), raw, CL_TRUE, flags, 0, len, 0, null(), null_mut()))?;
        let this = Self { memory, queue, table, at: mapped, _charge: charge };
        if mapped == at { Ok(this) } else { Err(Code(CL_MAP_FAILURE)) }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        // What fails here leaves memory pinned until the process ends, as it would without a word.
        let (queue, raw) = (self.queue.raw(), self.memory.raw());
        let _ = call!(self.table, clEnqueueUnmapMemObject(queue, raw, self.at, 0, null(), null_mut()));
        let _ = call!(self.table, clFinish(queue));
    }
}

/// What was found out about a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Trial {
    /// Writing and reading [`LEN`] bytes from and to memory that is not registered.
    pub(super) plain: Duration,
    /// The same with registered memory.
    pub(super) registered: Duration,
}

/// Bytes of a transfer on trial.
pub(super) const LEN: usize = 4 << 20;

/// Rounds of a trial; the fastest counts, since others may have the board, or the processor, in between.
const ROUNDS: usize = 5;

/// How much of the time must be left for the pinned memory to be worth it: what is gained must be more than chance.
const WORTHWHILE: f64 = 0.8;

impl Trial {
    /// Whether registered memory pays.
    pub(super) fn pays(&self) -> bool {
        self.registered.as_secs_f64() <= WORTHWHILE * self.plain.as_secs_f64()
    }

    /// Bytes that the board moves in a second with registered memory.
    pub(super) fn rate(&self) -> u64 {
        (2.0 * LEN as f64 / self.registered.as_secs_f64().max(1e-9)) as u64
    }
}

/// Memory as an arena's: pages of its own.
#[repr(align(4096))]
struct Block([u8; LEN]);

/// Tries what registered memory gains.
///
/// # Errors
/// The runtime cannot register memory, or does not leave its content alone.
pub(super) fn try_out(space: &NativeSpace) -> Result<Trial, Code> {
    let (mut plain, mut arena) = (block(), block());
    let memory = Memory::new(
        space.table,
        make!(space.table, clCreateBuffer(space.context.raw(), CL_MEM_READ_WRITE, LEN, null_mut()))?,
    );
    let (plain_at, at) = (plain.0.as_mut_ptr(), arena.0.as_mut_ptr());
    let pattern = |i: usize| (i.wrapping_mul(0x9e37_79b9) >> 11) as u8;
    (0..LEN).for_each(|i| arena.0[i] = pattern(i));
    // Dropped before the block.
    let registration = Registration::new(space, at, LEN, None)?;
    let mut trial = Trial { plain: Duration::MAX, registered: Duration::MAX };
    for _ in 0..ROUNDS {
        trial.registered = trial.registered.min(round(space, memory.raw(), at, at)?);
        // Reads what came from the arena; so both directions are checked.
        trial.plain = trial.plain.min(round(space, memory.raw(), plain_at, plain_at)?);
        call!(
            space.table,
            clEnqueueWriteBuffer(space.queue().raw(), memory.raw(), CL_TRUE, 0, LEN, at.cast(), 0, null(), null_mut())
        )?;
        call!(
            space.table,
            clEnqueueReadBuffer(
                space.queue().raw(),
                memory.raw(),
                CL_TRUE,
                0,
                LEN,
                plain_at.cast(),
                0,
                null(),
                null_mut()
            )
        )?;
    }
    drop(registration);
    let kept = |block: &Block| (0..LEN).all(|i| block.0[i] == pattern(i));
    if kept(&plain) && kept(&arena) { Ok(trial) } else { Err(Code(CL_MAP_FAILURE)) }
}

fn block() -> Box<Block> {
    // SAFETY: bytes of any value are bytes; made in place, since it is larger than a stack.
    unsafe { Box::<Block>::new_zeroed().assume_init() }
}

/// Time of a write and a read.
fn round(space: &NativeSpace, memory: cl_mem, from: *const u8, to: *mut u8) -> Result<Duration, Code> {
    let (queue, start) = (space.queue().raw(), Instant::now());
    call!(space.table, clEnqueueWriteBuffer(queue, memory, CL_TRUE, 0, LEN, from.cast(), 0, null(), null_mut()))?;
    call!(space.table, clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, LEN, to.cast(), 0, null(), null_mut()))?;
    Ok(start.elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::runtime::{Device, Runtime, installed};

    /// On PoCL, which has nothing to pin: what is tried is right, though it gains nothing.
    #[test]
    fn what_is_there_survives_registering_and_the_end_of_it() {
        let library = installed().into_iter().find(|l| l.to_string_lossy().contains("pocl"));
        let library = library.expect("PoCL is installed (apt-get install pocl-opencl-icd)");
        let runtime = Runtime::open(&library).unwrap().remove(0);
        let device = Device(runtime.devices().unwrap()[0]);
        let space = NativeSpace::new(runtime, device).unwrap();
        let mut arena = block();
        let at = arena.0.as_mut_ptr();
        let registration = Registration::new(&space, at, LEN, None).unwrap();
        arena.0[LEN - 1] = 9; // The client goes on writing.
        drop(registration);
        assert!(arena.0[..LEN - 1].iter().all(|byte| *byte == 0) && arena.0[LEN - 1] == 9);
        assert!(Registration::new(&space, at, 0, None).is_err(), "what a runtime refuses is an error");
        let trial = try_out(&space).expect("its content is checked");
        assert!(trial.rate() > 0);
    }

    #[test]
    fn what_gains_little_does_not_pay() {
        let of = |plain, registered| Trial {
            plain: Duration::from_micros(plain),
            registered: Duration::from_micros(registered),
        };
        assert!(of(550, 156).pays() && !of(200, 170).pays() && !of(200, 300).pays());
        assert_eq!(of(0, 8389).rate() / 1_000_000, 999, "eight MiB in as many milliseconds");
    }
}
