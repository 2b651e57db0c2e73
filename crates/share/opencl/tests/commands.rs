//! Commands on buffers, each against what the bytes have to be; over both transports.
#![allow(unsafe_code)]
#![allow(clippy::undocumented_unsafe_blocks, reason = "arguments are right, or wrong on purpose where that is checked")]

#[macro_use]
mod common;

use std::ptr::{null, null_mut};

use common::{ADD, Bench, NEXT, pattern};
use opencl_sys::*;

#[test]
fn a_manager_process() {
    common::be_a_manager();
}

/// Around the bounds of what goes in a message, in one piece, in several.
const SIZES: [usize; 10] =
    [1, 4096, 16 << 10, (16 << 10) + 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 5 << 20, 9_999_999, 70 << 20];

#[test]
fn what_is_written_is_read_at_any_size() {
    for bench in Bench::each(0) {
        for size in SIZES {
            let bytes = pattern(size, size as u32);
            let buffer = bench.buffer(0, size + 10);
            let mut to = vec![0; size];
            let (from, out) = (bytes.as_ptr().cast(), to.as_mut_ptr().cast());
            let queue = bench.queue();
            ok!(bench.cl, clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 7, size, from, 0, null(), null_mut()));
            ok!(bench.cl, clEnqueueReadBuffer(queue, buffer, CL_FALSE, 7, size, out, 0, null(), null_mut()));
            ok!(bench.cl, clFinish(queue));
            assert!(to == bytes, "{size} bytes");
            let blocking = bench.read(queue, buffer, size);
            let some = size.saturating_sub(7);
            assert!(size < 7 || blocking[7..] == bytes[..some], "{size} bytes");
            ok!(bench.cl, clReleaseMemObject(buffer));
        }
    }
}

#[test]
fn buffers_begin_with_the_bytes_of_the_program() {
    for bench in Bench::each(0) {
        for size in [5, 20_000, 3 << 20] {
            let bytes = pattern(size, 1);
            let buffer = bench.filled(&bytes);
            assert!(bench.read(bench.queue(), buffer, size) == bytes);
            ok!(bench.cl, clReleaseMemObject(buffer));
        }
    }
}

#[test]
fn launches_take_the_arguments_as_they_are_then() {
    for bench in Bench::each(0) {
        let kernel = bench.kernel(ADD, "add");
        let (a, b) = (bench.filled(&[0; 400]), bench.filled(&[0; 400]));
        let mut events = Vec::new();
        for (buffer, n) in [(a, 1), (b, 10), (a, 100), (a, 100), (b, 1000)] {
            bench.set(kernel, 0, &buffer);
            bench.set(kernel, 1, &n);
            events.push(bench.launch(bench.queue(), kernel, 100, &[]));
        }
        // Set, and never used.
        bench.set(kernel, 1, &7);
        let ints = |buffer| {
            let bytes = bench.read(bench.queue(), buffer, 400);
            bytes.as_chunks().0.iter().map(|b| i32::from_ne_bytes(*b)).collect::<Vec<_>>()
        };
        assert_eq!(ints(a), [201; 100]);
        assert_eq!(ints(b), [1010; 100]);
        let copy = make!(bench.cl, clCloneKernel(kernel));
        bench.set(copy, 1, &3);
        events.push(bench.launch(bench.queue(), copy, 100, &[]));
        events.push(bench.launch(bench.queue(), kernel, 100, &[]));
        assert_eq!(ints(b), [1020; 100]);
        for event in events {
            assert_eq!(bench.status(event), CL_COMPLETE);
            assert_eq!(bench.event_info::<u32>(event, CL_EVENT_COMMAND_TYPE), CL_COMMAND_NDRANGE_KERNEL);
            ok!(bench.cl, clReleaseEvent(event));
        }
        [a, b].iter().for_each(|m| ok!(bench.cl, clReleaseMemObject(*m)));
        [kernel, copy].iter().for_each(|k| ok!(bench.cl, clReleaseKernel(*k)));
    }
}

#[test]
fn copies_and_fills_change_what_they_should() {
    for bench in Bench::each(0) {
        let queue = bench.queue();
        let (mut x, mut y) = (pattern(1000, 3), pattern(1000, 4));
        let (a, b) = (bench.filled(&x), bench.filled(&y));
        ok!(bench.cl, clEnqueueCopyBuffer(queue, a, b, 10, 500, 300, 0, null(), null_mut()));
        y[500..800].copy_from_slice(&x[10..310]);
        ok!(bench.cl, clEnqueueFillBuffer(queue, a, b"abcd".as_ptr().cast(), 4, 8, 16, 0, null(), null_mut()));
        x[8..24].copy_from_slice(b"abcdabcdabcdabcd");
        ok!(bench.cl, clEnqueueCopyBuffer(queue, a, a, 0, 900, 100, 0, null(), null_mut()));
        x.copy_within(0..100, 900);
        assert_eq!((bench.read(queue, a, 1000), bench.read(queue, b, 1000)), (x, y));
        let overlap = cl!(bench.cl, clEnqueueCopyBuffer(queue, a, a, 0, 99, 100, 0, null(), null_mut()));
        assert_eq!(overlap, CL_MEM_COPY_OVERLAP);
        [a, b].iter().for_each(|m| ok!(bench.cl, clReleaseMemObject(*m)));
    }
}

#[test]
fn boxes_go_where_they_belong() {
    for bench in Bench::each(0) {
        // Small enough for a message; in pieces of slices; in pieces of rows.
        for (region, pitch) in [([3, 4, 2], 10), ([1000, 100, 30], 1200), ([700_000, 5, 1], 700_001)] {
            boxes(&bench, region, pitch);
        }
    }
}

fn boxes(bench: &Bench, region: [usize; 3], pitch: usize) {
    let queue = bench.queue();
    let (there, here) = ([2, 1, 1], [1, 0, 0]);
    let slice = pitch * (region[1] + 1);
    let size = slice * (region[2] + 1) + 10;
    let (mut model, host) = (pattern(size, 5), pattern(size, 6));
    let buffer = bench.filled(&model);
    let each = |mut f: Box<dyn FnMut(usize, usize) + '_>| {
        for z in 0..region[2] {
            for y in 0..region[1] {
                f((z + 1) * slice + (y + 1) * pitch + 2, z * slice + y * pitch + 1);
            }
        }
    };
    each(Box::new(|to, from| model[to..to + region[0]].copy_from_slice(&host[from..from + region[0]])));
    let code = cl!(
        bench.cl,
        clEnqueueWriteBufferRect(
            queue,
            buffer,
            CL_FALSE,
            there.as_ptr(),
            here.as_ptr(),
            region.as_ptr(),
            pitch,
            slice,
            pitch,
            slice,
            host.as_ptr().cast(),
            0,
            null(),
            null_mut()
        )
    );
    assert_eq!(code, 0);
    assert!(bench.read(queue, buffer, size) == model, "written {region:?}");
    let mut back = vec![0; size];
    let mut wanted = back.clone();
    each(Box::new(|from, to| wanted[to..to + region[0]].copy_from_slice(&model[from..from + region[0]])));
    let code = cl!(
        bench.cl,
        clEnqueueReadBufferRect(
            queue,
            buffer,
            CL_TRUE,
            there.as_ptr(),
            here.as_ptr(),
            region.as_ptr(),
            pitch,
            slice,
            pitch,
            slice,
            back.as_mut_ptr().cast(),
            0,
            null(),
            null_mut()
        )
    );
    assert_eq!(code, 0);
    assert!(back == wanted, "read {region:?}");
    let other = bench.filled(&vec![0; size]);
    let code = cl!(
        bench.cl,
        clEnqueueCopyBufferRect(
            queue,
            buffer,
            other,
            there.as_ptr(),
            here.as_ptr(),
            region.as_ptr(),
            pitch,
            slice,
            pitch,
            slice,
            0,
            null(),
            null_mut()
        )
    );
    assert_eq!(code, 0);
    assert!(bench.read(queue, other, size) == wanted, "copied {region:?}");
    [buffer, other].iter().for_each(|m| ok!(bench.cl, clReleaseMemObject(*m)));
}

#[test]
fn every_kind_of_mapping_shows_the_content_and_takes_changes() {
    for bench in Bench::each(0) {
        let kernel = bench.kernel(NEXT, "next");
        let queue = bench.queue();
        for size in [100, 100_000, 3 << 20] {
            let mut own = pattern(size, 8);
            let given = own.as_mut_ptr().cast();
            for flags in [0, CL_MEM_ALLOC_HOST_PTR, CL_MEM_USE_HOST_PTR] {
                let used = flags == CL_MEM_USE_HOST_PTR;
                let pointer = if used { given } else { null_mut() };
                let buffer = make!(bench.cl, clCreateBuffer(bench.context, flags, size, pointer));
                let mut model = pattern(size, 9);
                bench.write(queue, buffer, &model);
                let map = |flags, offset, len, blocking| {
                    let at = make!(
                        bench.cl,
                        clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, len, 0, null(), null_mut())
                    );
                    at.cast::<u8>()
                };
                let unmap = |at: *mut u8| {
                    ok!(bench.cl, clEnqueueUnmapMemObject(queue, buffer, at.cast(), 0, null(), null_mut()));
                };
                let seen = |at: *mut u8, len| unsafe { std::slice::from_raw_parts_mut(at, len) };
                let at = map(CL_MAP_READ | CL_MAP_WRITE, 10, size - 20, CL_TRUE);
                assert!(!used || at == given.cast::<u8>().wrapping_add(10));
                assert!(seen(at, size - 20) == &model[10..size - 10], "{flags} {size}");
                assert_eq!(bench.mem_info::<u32>(buffer, CL_MEM_MAP_COUNT), 1);
                // A second one, of a part, for reading.
                let second = map(CL_MAP_READ, 20, 30, CL_TRUE);
                assert_eq!(seen(second, 30), &model[20..50]);
                unmap(second);
                seen(at, size - 20).fill(200);
                model[10..size - 10].fill(200);
                unmap(at);
                assert_eq!(bench.mem_info::<u32>(buffer, CL_MEM_MAP_COUNT), 0);
                let code = cl!(bench.cl, clEnqueueUnmapMemObject(queue, buffer, at.cast(), 0, null(), null_mut()));
                assert_eq!(code, CL_INVALID_VALUE);
                bench.set(kernel, 0, &buffer);
                let event = bench.launch(queue, kernel, size, &[]);
                ok!(bench.cl, clReleaseEvent(event));
                model.iter_mut().for_each(|b| *b = b.wrapping_add(1));
                assert!(bench.read(queue, buffer, size) == model, "{flags} {size}");
                // What is replaced need not be shown.
                let at = map(CL_MAP_WRITE_INVALIDATE_REGION, 0, size, CL_FALSE);
                ok!(bench.cl, clFinish(queue));
                seen(at, size).fill(7);
                unmap(at);
                assert!(bench.read(queue, buffer, size) == vec![7; size]);
                ok!(bench.cl, clReleaseMemObject(buffer));
            }
        }
        ok!(bench.cl, clReleaseKernel(kernel));
    }
}

#[test]
fn parts_of_buffers_are_windows_into_them() {
    for bench in Bench::each(0) {
        let kernel = bench.kernel(NEXT, "next");
        let queue = bench.queue();
        let mut model = pattern(4096, 2);
        let whole = bench.filled(&model);
        let part = |origin, size| {
            let region = cl_buffer_region { origin, size };
            let info = (&raw const region).cast();
            let mut code = 1;
            let made = cl!(bench.cl, clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, info, &raw mut code));
            (code, made)
        };
        assert_eq!(part(1, 10).0, CL_MISALIGNED_SUB_BUFFER_OFFSET);
        assert_eq!(part(4096, 1).0, CL_INVALID_VALUE);
        assert_eq!(part(0, 0).0, CL_INVALID_BUFFER_SIZE);
        let (code, window) = part(1024, 512);
        assert_eq!(code, 0);
        assert_eq!(bench.mem_info::<usize>(window, CL_MEM_OFFSET), 1024);
        assert_eq!(bench.mem_info::<usize>(window, CL_MEM_ASSOCIATED_MEMOBJECT), whole.addr());
        bench.set(kernel, 0, &window);
        ok!(bench.cl, clReleaseEvent(bench.launch(queue, kernel, 512, &[])));
        model[1024..1536].iter_mut().for_each(|b| *b = b.wrapping_add(1));
        assert!(bench.read(queue, whole, 4096) == model);
        assert!(bench.read(queue, window, 512) == model[1024..1536]);
        // The part keeps the whole.
        ok!(bench.cl, clReleaseMemObject(whole));
        bench.write(queue, window, &[1; 512]);
        assert!(bench.read(queue, window, 512) == [1; 512]);
        ok!(bench.cl, clReleaseMemObject(window));
        ok!(bench.cl, clReleaseKernel(kernel));
    }
}

#[test]
fn commands_on_buffers_fail_as_documented() {
    let benches = Bench::each(0);
    let (bench, other) = (&benches[0], &benches[1]);
    let (cl, queue) = (bench.cl, bench.queue());
    let make = |flags, size, pointer| {
        let mut code = 1;
        let made = cl!(cl, clCreateBuffer(bench.context, flags, size, pointer, &raw mut code));
        assert_eq!(made.is_null(), code != 0);
        code
    };
    let mut bytes = [0u8; 64];
    let pointer = bytes.as_mut_ptr().cast();
    assert_eq!(make(1 << 50, 10, null_mut()), CL_INVALID_VALUE);
    assert_eq!(make(CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 10, null_mut()), CL_INVALID_VALUE);
    assert_eq!(make(CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR, 10, pointer), CL_INVALID_VALUE);
    assert_eq!(make(0, 0, null_mut()), CL_INVALID_BUFFER_SIZE);
    assert_eq!(make(0, usize::MAX, null_mut()), CL_INVALID_BUFFER_SIZE);
    assert_eq!(make(CL_MEM_COPY_HOST_PTR, 10, null_mut()), CL_INVALID_HOST_PTR);
    assert_eq!(make(0, 10, pointer), CL_INVALID_HOST_PTR);

    let (buffer, foreign) = (bench.buffer(0, 64), other.buffer(0, 64));
    let read = |mem, offset, size, to| {
        cl!(cl, clEnqueueReadBuffer(queue, mem, CL_TRUE, offset, size, to, 0, null(), null_mut()))
    };
    assert_eq!(read(buffer, 0, 64, null_mut()), CL_INVALID_VALUE);
    assert_eq!(read(buffer, 1, 64, pointer), CL_INVALID_VALUE);
    assert_eq!(read(buffer, usize::MAX, 2, pointer), CL_INVALID_VALUE);
    assert_eq!(read(foreign, 0, 64, pointer), CL_INVALID_CONTEXT);
    assert_eq!(read(bench.context, 0, 64, pointer), CL_INVALID_MEM_OBJECT);
    assert_eq!(read(buffer, 0, 0, pointer), CL_SUCCESS);
    let closed = bench.buffer(CL_MEM_HOST_NO_ACCESS, 64);
    assert_eq!(read(closed, 0, 64, pointer), CL_INVALID_OPERATION);
    let fill = |size, offset, len| {
        cl!(cl, clEnqueueFillBuffer(queue, buffer, pointer, size, offset, len, 0, null(), null_mut()))
    };
    assert_eq!(fill(3, 0, 3), CL_INVALID_VALUE);
    assert_eq!(fill(256, 0, 0), CL_INVALID_VALUE);
    assert_eq!(fill(4, 2, 4), CL_INVALID_VALUE);
    assert_eq!(fill(4, 0, 6), CL_INVALID_VALUE);
    let map =
        |flags, size| refused!(cl, clEnqueueMapBuffer(queue, buffer, CL_TRUE, flags, 0, size, 0, null(), null_mut()));
    assert_eq!(map(CL_MAP_READ, 0), CL_INVALID_VALUE);
    assert_eq!(map(CL_MAP_READ, 65), CL_INVALID_VALUE);
    assert_eq!(map(CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION, 8), CL_INVALID_VALUE);
    let (origin, region) = ([0usize; 3], [8usize, 8, 1]);
    let rect = |row, slice, region: &[usize; 3]| {
        let (o, r) = (origin.as_ptr(), region.as_ptr());
        cl!(cl, clEnqueueReadBufferRect(queue, buffer, 1, o, o, r, row, slice, 0, 0, pointer, 0, null(), null_mut()))
    };
    assert_eq!(rect(0, 0, &region), 0);
    assert_eq!(rect(7, 0, &region), CL_INVALID_VALUE);
    assert_eq!(rect(8, 63, &region), CL_INVALID_VALUE);
    assert_eq!(rect(9, 0, &region), CL_INVALID_VALUE);
    assert_eq!(rect(0, 0, &[8, 0, 1]), CL_INVALID_VALUE);
    for mem in [buffer, closed] {
        ok!(cl, clReleaseMemObject(mem));
    }
    ok!(cl, clReleaseMemObject(foreign));
}

#[test]
fn launches_fail_as_documented() {
    for bench in Bench::each(0) {
        let (cl, queue) = (bench.cl, bench.queue());
        let source = "kernel void k(global int *v, int n, local float4 *l) {}
            kernel void fixed(global int *v) __attribute__((reqd_work_group_size(4, 1, 1)));
            kernel void fixed(global int *v) {}";
        let program = bench.built(source);
        let kernel = make!(cl, clCreateKernel(program, c"k".as_ptr()));
        let fixed = make!(cl, clCreateKernel(program, c"fixed".as_ptr()));
        assert_eq!(refused!(cl, clCreateKernel(program, c"none".as_ptr())), CL_INVALID_KERNEL_NAME);
        let buffer = bench.buffer(0, 64);
        let set = |index, size, value: *const std::ffi::c_void| cl!(cl, clSetKernelArg(kernel, index, size, value));
        let run = |kernel, dimensions, global: &[usize; 3], local: *const usize| {
            let global = global.as_ptr();
            cl!(cl, clEnqueueNDRangeKernel(queue, kernel, dimensions, null(), global, local, 0, null(), null_mut()))
        };
        assert_eq!(run(kernel, 1, &[1; 3], null()), CL_INVALID_KERNEL_ARGS);
        let handle = (&raw const buffer).cast();
        assert_eq!(set(9, 8, handle), CL_INVALID_ARG_INDEX);
        assert_eq!(set(0, 4, handle), CL_INVALID_ARG_SIZE);
        assert_eq!(set(0, 8, (&raw const queue).cast()), CL_INVALID_MEM_OBJECT);
        assert_eq!(set(1, 8, handle), CL_INVALID_ARG_SIZE);
        assert_eq!(set(1, 4, null()), CL_INVALID_ARG_VALUE);
        assert_eq!(set(2, 16, handle), CL_INVALID_ARG_VALUE);
        assert_eq!(set(2, 0, null()), CL_INVALID_ARG_SIZE);
        assert_eq!((set(0, 8, handle), set(1, 4, handle), set(2, 64, null())), (0, 0, 0));
        assert_eq!(run(kernel, 0, &[1; 3], null()), CL_INVALID_WORK_DIMENSION);
        assert_eq!(run(kernel, 4, &[1; 3], null()), CL_INVALID_WORK_DIMENSION);
        assert_eq!(run(kernel, 1, &[10, 1, 1], [3, 1, 1].as_ptr()), CL_INVALID_WORK_GROUP_SIZE);
        assert_eq!(run(kernel, 1, &[10, 1, 1], [0, 1, 1].as_ptr()), CL_INVALID_WORK_GROUP_SIZE);
        assert_eq!(run(kernel, 2, &[1 << 20; 3], [1 << 19, 1, 1].as_ptr()), CL_INVALID_WORK_ITEM_SIZE);
        assert_eq!(run(kernel, 1, &[0; 3], null()), 0, "a launch of nothing");
        assert_eq!(run(kernel, 3, &[2; 3], null()), 0);
        let one = cl!(cl, clSetKernelArg(fixed, 0, 8, handle));
        assert_eq!(one, 0);
        assert_eq!(run(fixed, 1, &[8; 3], [2, 1, 1].as_ptr()), CL_INVALID_WORK_GROUP_SIZE);
        assert_eq!(run(fixed, 1, &[8; 3], null()), 0, "its own");
        assert_eq!(run(fixed, 1, &[7; 3], null()), CL_INVALID_WORK_GROUP_SIZE);
        assert_eq!(run(fixed, 1, &[8; 3], [4, 1, 1].as_ptr()), 0);
        ok!(cl, clFinish(queue));
        ok!(cl, clReleaseMemObject(buffer));
        assert_eq!(run(kernel, 1, &[1; 3], null()), CL_INVALID_KERNEL_ARGS, "its buffer is gone");
        [kernel, fixed].iter().for_each(|k| ok!(cl, clReleaseKernel(*k)));
        ok!(cl, clReleaseProgram(program));
    }
}
