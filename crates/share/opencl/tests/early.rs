//! Blocking writes that return before their board has the bytes, and those that must not; over TCP, where a buffer's
//! memory is the board's alone.
#![allow(unsafe_code)]
#![allow(clippy::undocumented_unsafe_blocks, reason = "arguments are right, or wrong on purpose where that is checked")]

#[macro_use]
mod common;

use std::ptr::{null, null_mut};

use common::{Bench, Manager, SLOW, STEPS, open};
use opencl_sys::*;

#[test]
fn a_manager_process() {
    common::be_a_manager();
}

/// A board that is busy, as seen by a queue other than that of what it does.
struct Busy {
    bench: Bench,
    kernel: cl_kernel,
    /// Of the kernel.
    busy: cl_command_queue,
    /// What is used by the kernel, and what a write has reached.
    memory: [cl_mem; 2],
}

impl Busy {
    fn new(bench: Bench) -> Self {
        let kernel = bench.kernel(SLOW, "slow");
        let busy = make!(bench.cl, clCreateCommandQueue(bench.context, bench.devices[0], 0));
        let memory = [bench.filled(&[7; 4]), bench.buffer(0, 2 << 20)];
        bench.set(kernel, 0, &memory[0]);
        bench.set(kernel, 1, &STEPS);
        bench.write(bench.queue(), memory[1], &[1]);
        Self { bench, kernel, busy, memory }
    }

    /// Whether `call` returns before a kernel ends that was enqueued before it. The board does one after the other.
    fn returns_early(&self, queue: cl_command_queue, call: impl FnOnce()) -> bool {
        let event = self.bench.launch(queue, self.kernel, 1, &[]);
        ok!(self.bench.cl, clFlush(queue));
        call();
        let is_early = self.bench.status(event) != CL_COMPLETE;
        ok!(self.bench.cl, clWaitForEvents(1, &raw const event));
        ok!(self.bench.cl, clReleaseEvent(event));
        is_early
    }

    /// A blocking write of the first bytes of a buffer.
    fn write(&self, queue: cl_command_queue, to: cl_mem, bytes: &[u8], wait: Option<cl_event>, own: *mut cl_event) {
        let (count, list) = (u32::from(wait.is_some()), wait.as_ref().map_or(null(), |wait| &raw const *wait));
        let from = bytes.as_ptr().cast();
        ok!(self.bench.cl, clEnqueueWriteBuffer(queue, to, CL_TRUE, 0, bytes.len(), from, count, list, own));
    }
}

/// All in one, since the manager is lost at the end.
#[test]
fn a_blocking_write_returns_early_only_where_no_program_can_tell() {
    let mut manager = Manager::start(&["tcp:127.0.0.1:0"], &[]);
    let cl = open(&manager.endpoints);
    let devices = cl.devices();
    let busy = Busy::new(Bench::of(cl, &devices, 0));
    let (bench, queue, memory) = (&busy.bench, busy.bench.queue(), busy.memory[1]);

    let mut bytes = vec![0; 1 << 20];
    let mut early = 0;
    for (round, len) in [1, 1 << 14, (1 << 14) + 1, 100_000, 1 << 20].into_iter().enumerate() {
        let (bytes, round) = (&mut bytes[..len], round as u8 + 2);
        bytes.fill(round);
        let is_early = busy.returns_early(busy.busy, || {
            busy.write(queue, memory, bytes, None, null_mut());
            // The memory is the program's again.
            bytes.fill(0xee);
        });
        early += u32::from(is_early);
        assert_eq!(bench.read(busy.busy, memory, bytes.len()), vec![round; len], "another queue finds the bytes");
    }
    assert!(early > 0, "this test's thread may have waited for a processor, but not five times");

    waits(&busy);

    // Who loses the board after such a write hears of it, while a kernel takes seconds.
    bench.set(busy.kernel, 1, &(20 * STEPS));
    let event = bench.launch(busy.busy, busy.kernel, 1, &[]);
    ok!(cl, clFlush(busy.busy));
    busy.write(queue, memory, &[9], None, null_mut());
    assert_ne!(bench.status(event), CL_COMPLETE);
    manager.kill();
    assert_eq!(cl!(cl, clFinish(queue)), CL_DEVICE_NOT_AVAILABLE);
    ok!(cl, clReleaseEvent(event));
    busy.memory.iter().for_each(|m| ok!(cl, clReleaseMemObject(*m)));
    ok!(cl, clReleaseCommandQueue(busy.busy));
    ok!(cl, clReleaseKernel(busy.kernel));
}

fn waits(busy: &Busy) {
    let (bench, cl, queue, memory) = (&busy.bench, busy.bench.cl, busy.bench.queue(), busy.memory[1]);
    let write = |queue, to, bytes: &[u8]| busy.write(queue, to, bytes, None, null_mut());

    assert!(!busy.returns_early(queue, || write(queue, memory, &[1])), "a kernel before it has ended");
    let large = vec![1; (1 << 20) + 1];
    assert!(!busy.returns_early(busy.busy, || write(queue, memory, &large)), "it is large");
    let fresh = bench.buffer(0, 4);
    assert!(!busy.returns_early(busy.busy, || write(queue, fresh, &[1])), "there may be no memory for it");

    let mut own = null_mut();
    let asked = || {
        busy.write(queue, memory, &[1], None, &raw mut own);
        assert_eq!(bench.status(own), CL_COMPLETE, "as the call said");
    };
    assert!(!busy.returns_early(busy.busy, asked));
    let wait = Some(own);
    assert!(!busy.returns_early(busy.busy, || busy.write(queue, memory, &[1], wait, null_mut())), "it waits itself");

    let order = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    let loose = make!(cl, clCreateCommandQueue(bench.context, bench.devices[0], order));
    assert!(!busy.returns_early(busy.busy, || write(loose, memory, &[1])), "out of order");

    ok!(cl, clReleaseCommandQueue(loose));
    ok!(cl, clReleaseEvent(own));
    ok!(cl, clReleaseMemObject(fresh));
}
