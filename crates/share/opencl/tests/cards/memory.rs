//! The memory of a card: transfers, mappings, and what a tenant finds in it.

use std::ptr::{null, null_mut};

use opencl_sys::*;

use crate::common::pattern;
use crate::{floats, kernel, release, room_for_two, run, site, tenants};

#[test]
fn bytes_are_where_they_were_put() {
    for bench in tenants(2) {
        let (cl, queue, size) = (bench.cl, bench.queue(), 5 << 20);
        let mut mirror = pattern(size, 1);
        room_for_two(&bench, size + (1 << 19));
        let buffer = bench.filled(&mirror);
        assert!(bench.read(queue, buffer, size) == mirror);
        let fill = [1u8, 2, 3, 4];
        let from = fill.as_ptr().cast();
        ok!(cl, clEnqueueFillBuffer(queue, buffer, from, 4, 400, 3 << 20, 0, null(), null_mut()));
        mirror[400..][..3 << 20].copy_from_slice(&fill.repeat(3 << 18));
        ok!(cl, clEnqueueCopyBuffer(queue, buffer, buffer, 100, (4 << 20) + 7, 1000, 0, null(), null_mut()));
        mirror.copy_within(100..1100, (4 << 20) + 7);
        let other = bench.buffer(0, size);
        ok!(cl, clEnqueueCopyBuffer(queue, buffer, other, 3, 5, size - 5, 0, null(), null_mut()));
        let mut second = vec![0; size];
        second[5..].copy_from_slice(&mirror[3..size - 2]);
        assert!(bench.read(queue, other, size) == second, "what was never written is zero");

        // Boxes: rows that lie near each other, and rows that lie far from each other.
        let host = pattern(64 * 1024, 5);
        for (region, row_pitch) in [([100usize, 20, 3], 128usize), ([1000, 3, 1], 1 << 20), ([64, 64, 3], 64)] {
            let slice = row_pitch * (region[1] + 1);
            let first = region[2] / 2;
            let (origin, zero) = ([11usize, 0, first], [0usize; 3]);
            let (at, none) = (origin.as_ptr(), zero.as_ptr());
            let bytes = host.as_ptr().cast();
            ok!(
                cl,
                clEnqueueWriteBufferRect(
                    queue,
                    buffer,
                    CL_TRUE,
                    at,
                    none,
                    region.as_ptr(),
                    row_pitch,
                    slice,
                    region[0],
                    0,
                    bytes,
                    0,
                    null(),
                    null_mut()
                )
            );
            let rows = (0..region[2]).flat_map(|z| (0..region[1]).map(move |y| (z, y)));
            for (z, y) in rows.clone() {
                let (to, from) = ((z + first) * slice + y * row_pitch + 11, (z * region[1] + y) * region[0]);
                mirror[to..][..region[0]].copy_from_slice(&host[from..][..region[0]]);
            }
            let mut back = vec![0u8; region.iter().product()];
            let to = back.as_mut_ptr().cast();
            ok!(
                cl,
                clEnqueueReadBufferRect(
                    queue,
                    buffer,
                    CL_TRUE,
                    at,
                    none,
                    region.as_ptr(),
                    row_pitch,
                    slice,
                    region[0],
                    0,
                    to,
                    0,
                    null(),
                    null_mut()
                )
            );
            assert!(back == host[..back.len()]);
            let region_at = region.as_ptr();
            ok!(
                cl,
                clEnqueueCopyBufferRect(
                    queue,
                    buffer,
                    other,
                    at,
                    none,
                    region_at,
                    row_pitch,
                    slice,
                    region[0] + 1,
                    0,
                    0,
                    null(),
                    null_mut()
                )
            );
            for (z, y) in rows {
                let (from, line) = ((z + first) * slice + y * row_pitch + 11, z * region[1] + y);
                second[line * (region[0] + 1)..][..region[0]].copy_from_slice(&mirror[from..][..region[0]]);
            }
        }
        assert!(bench.read(queue, buffer, size) == mirror && bench.read(queue, other, size) == second);

        let region = cl_buffer_region { origin: 1024, size: 4096 };
        let region = (&raw const region).cast();
        let part = make!(cl, clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, region));
        bench.write(queue, part, &[9; 10]);
        mirror[1024..1034].fill(9);
        assert!(bench.read(queue, part, 4096) == mirror[1024..5120]);
        release(&bench, &[part, other, buffer], &[]);
    }
}

#[test]
fn a_launch_does_not_overtake_a_read() {
    for bench in tenants(0) {
        let (cl, queue, size) = (bench.cl, bench.queue(), 60_000);
        let vadd = kernel(&bench, "vadd", "vadd");
        let buffer = bench.filled(&floats(vec![1.0; size / 4]));
        (0..3).for_each(|index| bench.set(vadd, index, &buffer));
        bench.set(vadd, 3, &(size as u64 / 4));
        let mut rounds: Vec<Vec<u8>> = vec![vec![0; size]; 20];
        for got in &mut rounds {
            let to = got.as_mut_ptr().cast();
            ok!(cl, clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, size, to, 0, null(), null_mut()));
            ok!(cl, clEnqueueTask(queue, vadd, 0, null(), null_mut()));
        }
        ok!(cl, clFinish(queue));
        let doubled = (0..).map(|round| floats(vec![2f32.powi(round); size / 4]));
        assert!(rounds.into_iter().zip(doubled).all(|(got, expected)| got == expected));
        release(&bench, &[buffer], &[vadd]);
    }
}

#[test]
fn mapped_memory_is_the_buffers() {
    for bench in tenants(2) {
        for flags in [0, CL_MEM_ALLOC_HOST_PTR] {
            let (cl, queue, size) = (bench.cl, bench.queue(), 200_000);
            let buffer = bench.buffer(flags, size);
            let mut mirror = vec![0; size];
            for (flags, offset, len) in [
                (CL_MAP_WRITE_INVALIDATE_REGION, 0, size),
                (CL_MAP_READ, 100, 1000),
                (CL_MAP_READ | CL_MAP_WRITE, 7, 150_000),
            ] {
                let mut code = 1;
                let at = cl!(
                    cl,
                    clEnqueueMapBuffer(
                        queue,
                        buffer,
                        CL_TRUE,
                        flags,
                        offset,
                        len,
                        0,
                        null(),
                        null_mut(),
                        &raw mut code
                    )
                );
                assert_eq!(code, 0);
                let mapped = unsafe { std::slice::from_raw_parts_mut(at.cast::<u8>(), len) };
                if flags & CL_MAP_READ != 0 {
                    assert!(mapped == &mirror[offset..][..len]);
                }
                if flags != CL_MAP_READ {
                    mapped.copy_from_slice(&pattern(len, len as u32));
                    mirror[offset..][..len].copy_from_slice(&pattern(len, len as u32));
                }
                ok!(cl, clEnqueueUnmapMemObject(queue, buffer, at, 0, null(), null_mut()));
            }
            assert!(bench.read(queue, buffer, size) == mirror);
            release(&bench, &[buffer], &[]);
        }
    }
}

#[test]
fn a_tenant_sees_no_byte_of_another() {
    let [first, second] = tenants(3);
    let size = 6 << 20;
    let (secret, partly) = (vec![0xa5; size], vec![0xa5; 3 << 20]);
    let buffers = [first.filled(&secret), first.filled(&partly)];
    // They are at the board when something was read from them.
    buffers.iter().for_each(|buffer| assert_eq!(first.read(first.queue(), *buffer, 1), [0xa5]));
    let mut code = 1;
    let more = cl!(second.cl, clCreateBuffer(second.context, 0, 7 << 20, null_mut(), &raw mut code));
    assert_eq!((code, more.is_null()), (0, false), "it is made at the board when it is used");
    let bytes = [0u8; 8];
    let from = bytes.as_ptr().cast();
    let full = cl!(second.cl, clEnqueueWriteBuffer(second.queue(), more, CL_TRUE, 0, 8, from, 0, null(), null_mut()));
    assert_eq!(full, CL_MEM_OBJECT_ALLOCATION_FAILURE, "there are not so many bytes left");
    release(&second, &[more], &[]);
    // A command under way would keep its buffer.
    buffers.iter().for_each(|buffer| assert_eq!(first.read(first.queue(), *buffer, 1), [0xa5]));
    release(&first, &buffers, &[]);
    // What is released is free when the manager has read so; it has, when it answers to what came after.
    let after = first.filled(&[0; 64]);
    assert_eq!(first.read(first.queue(), after, 64), [0; 64]);
    // Nearly all memory that there is, in pieces: some looked at as they come, some after a small write, some by a
    // kernel.
    let vadd = kernel(&second, "vadd", "vadd");
    let pieces: Vec<cl_mem> = (0..14).map(|_| second.buffer(0, 1 << 20)).collect();
    let held = site().lab.lock().unwrap().memory(3);
    assert!(held.windows(64).any(|w| w == [0xa5; 64]), "the card still has them");
    for (at, piece) in pieces.iter().enumerate() {
        match at % 3 {
            0 => second.write(second.queue(), *piece, &[0; 3]),
            1 => {
                (0..3).for_each(|index| second.set(vadd, index, piece));
                second.set(vadd, 3, &1u64);
                assert_eq!(run(&second, vadd, 1), 0);
            }
            _ => {}
        }
        assert!(second.read(second.queue(), *piece, 1 << 20).iter().all(|byte| *byte == 0), "piece {at}");
    }
    release(&first, &[after], &[]);
    release(&second, &pieces, &[vadd]);
}

#[test]
fn a_card_has_no_images() {
    let bench = &tenants(2)[0];
    let (cl, context) = (bench.cl, bench.context);
    assert_eq!(refused!(cl, clCreateImage(context, 0, null(), null(), null_mut())), CL_INVALID_OPERATION);
    assert_eq!(refused!(cl, clCreateSampler(context, 0, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST)), CL_INVALID_OPERATION);
    let mut count = 7;
    let kind = CL_MEM_OBJECT_IMAGE2D;
    ok!(cl, clGetSupportedImageFormats(context, CL_MEM_READ_ONLY, kind, 0, null_mut(), &raw mut count));
    assert_eq!(count, 0);
}
