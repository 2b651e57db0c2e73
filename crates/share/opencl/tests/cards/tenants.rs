//! Two tenants of a card, a card that is pulled out, and a kernel that does not end.

use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

use opencl_sys::*;

use crate::{build, floats, image, kernel, release, run, site, tenants, until};

#[test]
fn a_card_is_not_taken_from_a_neighbour_who_uses_it() {
    let [first, second] = tenants(4);
    let ours = kernel(&first, "vadd", "vadd");
    let same = kernel(&second, "vadd", "vadd");
    let (program, code, log) = build(&second, &image("ptrans"));
    assert_eq!(code, CL_BUILD_PROGRAM_FAILURE);
    assert!(log.contains("Rackloom card 4 is used with the image vadd ") && log.contains("1 other program"), "{log}");
    ok!(second.cl, clReleaseKernel(same));
    assert_eq!(refused!(second.cl, clCreateKernel(program, c"ptrans".as_ptr())), CL_INVALID_PROGRAM_EXECUTABLE);
    ok!(first.cl, clReleaseKernel(ours));
    // The release is on its way; what it frees is free when the manager has read it.
    until("free", || cl!(second.cl, clBuildProgram(program, 0, null(), null(), None, null_mut())) == 0);
    let kernel = make!(second.cl, clCreateKernel(program, c"ptrans".as_ptr()));
    let buffers = [(); 3].map(|()| second.filled(&floats([3.0])));
    buffers.iter().zip(0..).for_each(|(buffer, index)| second.set(kernel, index, buffer));
    [3, 4].iter().for_each(|index| second.set(kernel, *index, &1u64));
    assert_eq!(run(&second, kernel, 1), 0);
    assert_eq!(second.read(second.queue(), buffers[2], 4), floats([6.0]));
    release(&second, &buffers, &[kernel]);
    ok!(second.cl, clReleaseProgram(program));
}

#[test]
fn a_card_that_is_pulled_out_ends_what_it_had_and_comes_back_empty() {
    let [bench, _] = tenants(5);
    let vadd = kernel(&bench, "vadd", "vadd");
    let old = bench.filled(&[7; 64]);
    assert_eq!(bench.read(bench.queue(), old, 1), [7]);
    site().lab.lock().unwrap().yank(5);
    let read = |buffer: cl_mem| {
        let mut byte = 0u8;
        let mut event = null_mut();
        let to = (&raw mut byte).cast();
        ok!(bench.cl, clEnqueueReadBuffer(bench.queue(), buffer, CL_FALSE, 0, 1, to, 0, null(), &raw mut event));
        cl!(bench.cl, clFinish(bench.queue()));
        let status = bench.status(event);
        ok!(bench.cl, clReleaseEvent(event));
        (status, byte)
    };
    let began = Instant::now();
    assert_eq!(read(old).0, CL_DEVICE_NOT_AVAILABLE);
    assert!(began.elapsed() < Duration::from_secs(30));
    site().lab.lock().unwrap().add();
    let mut fresh = null_mut();
    until("back", || {
        fresh = bench.buffer(0, 64);
        let works = read(fresh).0 == 0;
        if !works {
            release(&bench, &[fresh], &[]);
        }
        works
    });
    assert_eq!(read(fresh), (0, 0));
    assert_eq!(read(old).0, CL_DEVICE_NOT_AVAILABLE, "its bytes went with the card");
    // The program is still one: the image is loaded anew.
    (0..3).for_each(|index| bench.set(vadd, index, &fresh));
    bench.set(vadd, 3, &16u64);
    assert_eq!(run(&bench, vadd, 1), 0);
    bench.set(vadd, 0, &old);
    assert_eq!(run(&bench, vadd, 1), CL_DEVICE_NOT_AVAILABLE);
    release(&bench, &[old, fresh], &[vadd]);
}

#[test]
fn a_kernel_without_end_is_called_off() {
    let [bench, other] = tenants(6);
    let spin = kernel(&bench, "probe", "spin");
    let trap = kernel(&bench, "probe", "trap");
    let bump = kernel(&other, "probe", "bump");
    assert_eq!(run(&bench, trap, 1), CL_OUT_OF_RESOURCES);
    assert_eq!(run(&bench, spin, 1), CL_OUT_OF_RESOURCES);
    let cell = other.filled(&41u64.to_ne_bytes());
    other.set(bump, 0, &cell);
    other.set(bump, 1, &5u64);
    assert_eq!(run(&other, bump, 1), 0);
    assert_eq!(other.read(other.queue(), cell, 8), 42u64.to_ne_bytes());
    release(&other, &[cell], &[bump]);
    release(&bench, &[], &[spin, trap]);
}
