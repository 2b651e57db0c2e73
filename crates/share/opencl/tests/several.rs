//! One context with several devices, of different managers: what one writes, the other reads.
#![allow(unsafe_code)]
#![allow(clippy::undocumented_unsafe_blocks, reason = "arguments are right, or wrong on purpose where that is checked")]

#[macro_use]
mod common;

use std::ptr::{null, null_mut};

use common::{Bench, NEXT, pattern, shared};
use opencl_sys::*;

#[test]
fn a_manager_process() {
    common::be_a_manager();
}

#[test]
fn a_buffer_follows_the_commands_from_device_to_device() {
    let cl = shared();
    let bench = Bench::of(cl, &cl.devices(), 0);
    let kernel = bench.kernel(NEXT, "next");
    for size in [100, 100_000, 3 << 20] {
        let mut model = pattern(size, 1);
        let buffer = bench.filled(&model);
        bench.set(kernel, 0, &buffer);
        let mut last: Vec<cl_event> = Vec::new();
        for turn in 0..5 {
            // The event is what orders two queues.
            let event = bench.launch(bench.queues[turn % 2], kernel, size, &last);
            last.drain(..).for_each(|e| ok!(cl, clReleaseEvent(e)));
            last.push(event);
        }
        ok!(cl, clWaitForEvents(1, last.as_ptr()));
        model.iter_mut().for_each(|b| *b = b.wrapping_add(5));
        assert!(bench.read(bench.queues[1], buffer, size) == model);
        assert!(bench.read(bench.queues[0], buffer, size) == model);
        ok!(cl, clEnqueueMigrateMemObjects(bench.queues[1], 1, &raw const buffer, 0, 0, null(), null_mut()));
        bench.write(bench.queues[1], buffer, &[9; 10]);
        model[..10].fill(9);
        assert!(bench.read(bench.queues[0], buffer, size) == model, "a part was written elsewhere");
        last.drain(..).for_each(|e| ok!(cl, clReleaseEvent(e)));
        ok!(cl, clReleaseMemObject(buffer));
    }
    ok!(cl, clReleaseKernel(kernel));
}

#[test]
fn mappings_and_parts_of_a_buffer_follow_too() {
    let cl = shared();
    let bench = Bench::of(cl, &cl.devices(), 0);
    let kernel = bench.kernel(NEXT, "next");
    let size = 100_000;
    for flags in [0, CL_MEM_ALLOC_HOST_PTR] {
        let buffer = bench.buffer(flags, size);
        let mut model = pattern(size, 3);
        bench.write(bench.queues[0], buffer, &model);
        let region = cl_buffer_region { origin: 4096, size: 512 };
        let (kind, info) = (CL_BUFFER_CREATE_TYPE_REGION, (&raw const region).cast());
        let part = make!(cl, clCreateSubBuffer(buffer, 0, kind, info));
        bench.set(kernel, 0, &part);
        ok!(cl, clReleaseEvent(bench.launch(bench.queues[1], kernel, 512, &[])));
        ok!(cl, clFinish(bench.queues[1]));
        model[4096..4608].iter_mut().for_each(|b| *b = b.wrapping_add(1));
        let both = CL_MAP_READ | CL_MAP_WRITE;
        let queue = bench.queues[0];
        let at = make!(cl, clEnqueueMapBuffer(queue, buffer, CL_TRUE, both, 0, size, 0, null(), null_mut()));
        let seen = unsafe { std::slice::from_raw_parts_mut(at.cast::<u8>(), size) };
        assert!(seen == model);
        seen[..100].fill(1);
        model[..100].fill(1);
        ok!(cl, clEnqueueUnmapMemObject(queue, buffer, at, 0, null(), null_mut()));
        ok!(cl, clFinish(queue));
        assert!(bench.read(bench.queues[1], buffer, size) == model);
        [part, buffer].iter().for_each(|m| ok!(cl, clReleaseMemObject(*m)));
    }
    ok!(cl, clReleaseKernel(kernel));
}

#[test]
fn an_event_of_another_device_holds_a_command_back() {
    let cl = shared();
    let bench = Bench::of(cl, &cl.devices(), 0);
    let (a, b) = (bench.filled(&[1]), bench.filled(&[1]));
    let gate = bench.user_event();
    let (mut first, mut second) = (null_mut(), null_mut());
    let byte = 7u8;
    let from = (&raw const byte).cast();
    ok!(cl, clEnqueueWriteBuffer(bench.queues[0], a, 0, 0, 1, from, 1, &raw const gate, &raw mut first));
    ok!(cl, clEnqueueWriteBuffer(bench.queues[1], b, 0, 0, 1, from, 1, &raw const first, &raw mut second));
    ok!(cl, clFlush(bench.queues[0]));
    ok!(cl, clFlush(bench.queues[1]));
    assert_eq!((bench.status(first), bench.status(second)), (CL_QUEUED, CL_QUEUED));
    ok!(cl, clSetUserEventStatus(gate, 0));
    ok!(cl, clWaitForEvents(1, [second].as_ptr()));
    assert_eq!(bench.status(first), CL_COMPLETE);
    assert_eq!((bench.read(bench.queues[1], a, 1), bench.read(bench.queues[0], b, 1)), (vec![7], vec![7]));
    [gate, first, second].iter().for_each(|e| ok!(cl, clReleaseEvent(*e)));
    [a, b].iter().for_each(|m| ok!(cl, clReleaseMemObject(*m)));
}
