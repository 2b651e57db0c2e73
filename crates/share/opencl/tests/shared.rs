//! Buffers in memory that program and board both see: what goes past the manager keeps its place among the commands,
//! and nobody gets memory that an operation still uses. Over TCP the same has to hold, for other reasons.
#![allow(unsafe_code)]
#![allow(clippy::undocumented_unsafe_blocks, reason = "arguments are right")]

#[macro_use]
mod common;

use std::ptr::{null, null_mut};

use common::{ADD, Bench, pattern};
use opencl_sys::*;

#[test]
fn a_manager_process() {
    common::be_a_manager();
}

/// A kernel that takes its time before it writes.
const LATE: &str = "kernel void late(global uchar *v, uchar byte, int rounds) {
    uint x = get_global_id(0);
    for (int i = 0; i < rounds; i++) x = x * 1664525u + 1013904223u;
    v[get_global_id(0)] = x == 12345u ? 0 : byte;
}";

const LEN: usize = 64 << 10;

/// Tens of milliseconds on one processor.
const ROUNDS: i32 = 3000;

/// Enqueues the kernel for a buffer.
fn late(bench: &Bench, kernel: cl_kernel, buffer: cl_mem, byte: u8) {
    bench.set(kernel, 0, &buffer);
    bench.set(kernel, 1, &byte);
    bench.set(kernel, 2, &ROUNDS);
    let event = bench.launch(bench.queue(), kernel, LEN, &[]);
    ok!(bench.cl, clReleaseEvent(event));
    ok!(bench.cl, clFlush(bench.queue()));
}

fn write(bench: &Bench, buffer: cl_mem, bytes: &[u8]) {
    let (queue, from) = (bench.queue(), bytes.as_ptr().cast());
    ok!(bench.cl, clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, bytes.len(), from, 0, null(), null_mut()));
}

fn read(bench: &Bench, buffer: cl_mem, bytes: &mut [u8]) {
    let (queue, to) = (bench.queue(), bytes.as_mut_ptr().cast());
    ok!(bench.cl, clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, bytes.len(), to, 0, null(), null_mut()));
}

#[test]
fn transfers_keep_their_place_between_kernels() {
    for bench in Bench::each(0) {
        let kernel = bench.kernel(LATE, "late");
        let buffer = bench.buffer(0, LEN);
        let (first, second) = (pattern(LEN, 1), pattern(LEN, 2));
        bench.write(bench.queue(), buffer, &first);
        assert!(bench.read(bench.queue(), buffer, LEN) == first);
        late(&bench, kernel, buffer, 0xEE);
        // Behind the kernel, blocking or not.
        assert!(bench.read(bench.queue(), buffer, LEN) == [0xEE; LEN]);
        late(&bench, kernel, buffer, 0xDD);
        write(&bench, buffer, &second);
        assert!(bench.read(bench.queue(), buffer, LEN) == second);
        // Before the next kernel, and before the next write.
        let (mut before, mut between) = (vec![0; LEN], vec![0; LEN]);
        late(&bench, kernel, buffer, 0xCC);
        read(&bench, buffer, &mut before);
        write(&bench, buffer, &first);
        read(&bench, buffer, &mut between);
        late(&bench, kernel, buffer, 0xBB);
        bench.write(bench.queue(), buffer, &second);
        assert!(before == [0xCC; LEN] && between == first);
        assert!(bench.read(bench.queue(), buffer, LEN) == second);
        ok!(bench.cl, clReleaseMemObject(buffer));
        ok!(bench.cl, clReleaseKernel(kernel));
    }
}

#[test]
fn mapped_memory_is_the_buffers_in_its_turn() {
    for bench in Bench::each(0) {
        let kernel = bench.kernel(LATE, "late");
        for flags in [0, CL_MEM_ALLOC_HOST_PTR] {
            let buffer = bench.buffer(flags, LEN);
            let map = |flags| {
                let queue = bench.queue();
                let at =
                    make!(bench.cl, clEnqueueMapBuffer(queue, buffer, CL_TRUE, flags, 0, LEN, 0, null(), null_mut()));
                unsafe { std::slice::from_raw_parts_mut(at.cast::<u8>(), LEN) }
            };
            let unmap = |slice: &mut [u8]| {
                let at = slice.as_mut_ptr().cast();
                ok!(bench.cl, clEnqueueUnmapMemObject(bench.queue(), buffer, at, 0, null(), null_mut()));
            };
            late(&bench, kernel, buffer, 0x11);
            let seen = map(CL_MAP_READ | CL_MAP_WRITE);
            assert!(*seen == [0x11; LEN]);
            seen.copy_from_slice(&pattern(LEN, 3));
            unmap(seen);
            assert!(bench.read(bench.queue(), buffer, LEN) == pattern(LEN, 3));
            ok!(bench.cl, clReleaseMemObject(buffer));
        }
        ok!(bench.cl, clReleaseKernel(kernel));
    }
}

#[test]
fn the_memory_of_a_released_buffer_is_not_given_away_while_an_operation_uses_it() {
    for bench in Bench::each(0) {
        let kernel = bench.kernel(LATE, "late");
        let (bytes, idle) = (pattern(LEN, 4), bench.buffer(0, LEN));
        for _ in 0..5 {
            let old = bench.buffer(0, LEN);
            late(&bench, kernel, old, 0xEE);
            // The kernel's argument would keep it.
            bench.set(kernel, 0, &idle);
            ok!(bench.cl, clReleaseMemObject(old));
            // Neither a new buffer nor bytes on their way may stand where the kernel still writes.
            let new = bench.filled(&bytes);
            let other = bench.buffer(0, LEN);
            write(&bench, other, &bytes);
            assert!(bench.read(bench.queue(), new, LEN) == bytes);
            assert!(bench.read(bench.queue(), other, LEN) == bytes);
            ok!(bench.cl, clReleaseMemObject(new));
            ok!(bench.cl, clReleaseMemObject(other));
        }
        ok!(bench.cl, clReleaseMemObject(idle));
        ok!(bench.cl, clReleaseKernel(kernel));
    }
}

#[test]
fn threads_with_queues_of_their_own_do_not_disturb_each_other() {
    for bench in Bench::each(0) {
        std::thread::scope(|scope| {
            for thread in 0..3_i32 {
                let bench = &bench;
                scope.spawn(move || {
                    let queue = make!(bench.cl, clCreateCommandQueue(bench.context, bench.devices[0], 0));
                    let kernel = bench.kernel(ADD, "add");
                    let buffer = bench.buffer(0, 400);
                    bench.set(kernel, 0, &buffer);
                    for round in 0..200_i32 {
                        let from = [thread * 1000 + round; 100].map(i32::to_ne_bytes).concat();
                        bench.write(queue, buffer, &from);
                        bench.set(kernel, 1, &7);
                        ok!(bench.cl, clReleaseEvent(bench.launch(queue, kernel, 100, &[])));
                        let want = [thread * 1000 + round + 7; 100].map(i32::to_ne_bytes).concat();
                        assert_eq!(bench.read(queue, buffer, 400), want);
                    }
                    ok!(bench.cl, clReleaseMemObject(buffer));
                    ok!(bench.cl, clReleaseKernel(kernel));
                    ok!(bench.cl, clReleaseCommandQueue(queue));
                });
            }
        });
    }
}

#[test]
fn boxes_go_as_they_do_through_the_manager() {
    let mut results = Vec::new();
    for bench in Bench::each(0) {
        let bytes = pattern(LEN, 5);
        let buffer = bench.filled(&bytes);
        let some = cl_buffer_region { origin: 4096, size: 8192 };
        let part =
            make!(bench.cl, clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, (&raw const some).cast()));
        let (origin, host, region) = ([3_usize, 2, 1], [1_usize, 1, 0], [17_usize, 9, 3]);
        let mut memory = vec![0xAB_u8; 4000];
        ok!(
            bench.cl,
            clEnqueueReadBufferRect(
                bench.queue(),
                part,
                CL_TRUE,
                origin.as_ptr(),
                host.as_ptr(),
                region.as_ptr(),
                40,
                600,
                25,
                400,
                memory.as_mut_ptr().cast(),
                0,
                null(),
                null_mut()
            )
        );
        ok!(
            bench.cl,
            clEnqueueWriteBufferRect(
                bench.queue(),
                part,
                CL_TRUE,
                [0_usize; 3].as_ptr(),
                origin.as_ptr(),
                region.as_ptr(),
                100,
                1000,
                30,
                510,
                memory.as_ptr().cast(),
                0,
                null(),
                null_mut()
            )
        );
        for z in 0..3 {
            for y in 0..9 {
                let from = 4096 + (z + 1) * 600 + (y + 2) * 40 + 3;
                let to = z * 400 + (y + 1) * 25 + 1;
                assert_eq!(memory[to..to + 17], bytes[from..from + 17], "row {y} of slice {z}");
            }
        }
        results.push((memory, bench.read(bench.queue(), buffer, LEN)));
        ok!(bench.cl, clReleaseMemObject(part));
        ok!(bench.cl, clReleaseMemObject(buffer));
    }
    assert!(results[0] == results[1], "shared memory and TCP do the same");
}
