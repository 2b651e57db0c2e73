//! Images as programs: what is one for a card, and how launches of its kernels are checked.

use std::ffi::CStr;
use std::ptr::{null, null_mut};

use opencl_sys::*;

use crate::common::info;
use crate::{USABLE, build, create, floats, image, kernel, metric, release, run, tenants};

#[test]
fn a_card_says_what_it_is() {
    for bench in tenants(0) {
        let of = |name| info(|s, v, r| cl!(bench.cl, clGetDeviceInfo(bench.devices[0], name, s, v, r))).unwrap();
        let text = |name| CStr::from_bytes_with_nul(&of(name)).unwrap().to_str().unwrap().to_owned();
        assert_eq!(text(CL_DEVICE_NAME), "Rackloom card 0");
        assert_eq!(text(CL_DEVICE_PROFILE), "EMBEDDED_PROFILE");
        assert!(text(CL_DEVICE_VERSION).starts_with("OpenCL 1.2 "), "{}", text(CL_DEVICE_VERSION));
        assert_eq!(of(CL_DEVICE_TYPE), CL_DEVICE_TYPE_ACCELERATOR.to_ne_bytes());
        assert_eq!(of(CL_DEVICE_COMPILER_AVAILABLE), CL_FALSE.to_ne_bytes());
        assert_eq!(of(CL_DEVICE_GLOBAL_MEM_SIZE), (USABLE as u64).to_ne_bytes());
        assert_eq!(of(CL_DEVICE_MAX_WORK_GROUP_SIZE), 1usize.to_ne_bytes());
    }
}

#[test]
fn images_are_programs_and_memory_survives_a_change_of_image() {
    let (rows, columns) = (37, 53);
    let n = rows * columns;
    for (round, bench) in tenants(1).into_iter().enumerate() {
        let before = metric("rackloom_board_reconfigurations_total", 1);
        let vadd = kernel(&bench, "vadd", "vadd");
        let ptrans = kernel(&bench, "ptrans", "ptrans");
        let a = bench.filled(&floats((0..n).map(|i| i as f32)));
        let b = bench.filled(&floats((0..n).map(|i| 0.5 * i as f32)));
        let [sum, out] = [(); 2].map(|()| bench.buffer(0, 4 * n));
        for _ in 0..2 {
            [a, b, sum].iter().zip(0..).for_each(|(buffer, index)| bench.set(vadd, index, buffer));
            bench.set(vadd, 3, &(n as u64));
            assert_eq!(run(&bench, vadd, 1), 0);
            // What the other image's kernel has left is what this one works on.
            [sum, b, out].iter().zip(0..).for_each(|(buffer, index)| bench.set(ptrans, index, buffer));
            bench.set(ptrans, 3, &(rows as u64));
            bench.set(ptrans, 4, &(columns as u64));
            let mut event = null_mut();
            ok!(bench.cl, clEnqueueTask(bench.queue(), ptrans, 0, null(), &raw mut event));
            ok!(bench.cl, clReleaseEvent(event));
            let at = |i: usize, j: usize| 0.5 * (i * columns + j) as f32 + 1.5 * (j * rows + i) as f32;
            let expected = floats((0..n).map(|x| at(x / columns, x % columns)));
            assert!(bench.read(bench.queue(), out, 4 * n) == expected);
        }
        let after = metric("rackloom_board_reconfigurations_total", 1);
        // The second tenant finds the image of the first one's last launch, but begins with the other.
        assert_eq!(after - before, 4.0, "tenant {round}");
        assert_eq!(metric("rackloom_board_reconfiguration_seconds_count", 1), after);
        release(&bench, &[a, b, sum, out], &[vadd, ptrans]);
    }
}

#[test]
fn what_is_no_image_for_the_card_is_refused_with_a_reason() {
    let [bench, _] = tenants(0);
    assert_eq!(create(&bench, b"no image at all").unwrap_err(), CL_INVALID_BINARY);
    let good = image("vadd");
    let flipped = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        bytes
    };
    let longer = [&good[..], &[0; 64]].concat();
    let parsed = rackloom_image::Image::parse(good.clone().into()).unwrap();
    let other = rackloom_image::ImageBuilder::new(parsed.manifest().clone()).part("ecp5-85f", vec![1]).build().unwrap();
    let newer = rackloom_image::ImageBuilder::new(parsed.manifest().clone());
    let newer = newer.shell(999).part("model", parsed.part("model").unwrap().to_vec()).build().unwrap();
    let part = parsed.parts().iter().find(|p| p.target == "model").unwrap();
    let in_part = (part.range.start + part.range.end) / 2;
    for (binary, reason) in [
        (good[..good.len() - 64].to_vec(), "image-format: image is truncated"),
        (good[..40].to_vec(), "image-format: image is truncated"),
        (longer, "image-format: 64 bytes follow"),
        (flipped(9), "image-version: image format 0"),
        (flipped(200), "image-format: "),
        (flipped(in_part), "image-part: "),
        (other, "image-target: image has no part for target `model`"),
        (newer, "image-version: image needs protocol version 999"),
    ] {
        let (program, code, log) = build(&bench, &binary);
        assert_eq!(code, CL_INVALID_BINARY, "{reason}");
        assert!(log.starts_with(reason), "{log} instead of {reason}");
        assert_eq!(refused!(bench.cl, clCreateKernel(program, c"vadd".as_ptr())), CL_INVALID_PROGRAM_EXECUTABLE);
        ok!(bench.cl, clReleaseProgram(program));
    }
    let source = bench.program("kernel void k(void) {}");
    let code = cl!(bench.cl, clBuildProgram(source, 0, null(), null(), None, null_mut()));
    assert_eq!(code, CL_COMPILER_NOT_AVAILABLE);
    ok!(bench.cl, clReleaseProgram(source));
}

#[test]
fn a_binary_comes_back_as_it_was() {
    let [bench, _] = tenants(0);
    let (program, code, log) = build(&bench, &image("vadd"));
    assert_eq!((code, log.as_str()), (0, ""));
    let mut size = 0usize;
    ok!(bench.cl, clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, 8, (&raw mut size).cast(), null_mut()));
    let mut binary = vec![0u8; size];
    let mut place = binary.as_mut_ptr();
    ok!(bench.cl, clGetProgramInfo(program, CL_PROGRAM_BINARIES, 8, (&raw mut place).cast(), null_mut()));
    assert!(binary == image("vadd"));
    ok!(bench.cl, clReleaseProgram(program));
}

#[test]
fn launches_are_checked() {
    let [bench, _] = tenants(0);
    let cl = bench.cl;
    let (program, _, _) = build(&bench, &image("vadd"));
    assert_eq!(refused!(cl, clCreateKernel(program, c"vsub".as_ptr())), CL_INVALID_KERNEL_NAME);
    ok!(cl, clReleaseProgram(program));
    let vadd = kernel(&bench, "vadd", "vadd");
    let number = 1u64;
    let value = (&raw const number).cast();
    assert_eq!(cl!(cl, clSetKernelArg(vadd, 3, 4, value)), CL_INVALID_ARG_SIZE);
    assert_eq!(cl!(cl, clSetKernelArg(vadd, 4, 8, value)), CL_INVALID_ARG_INDEX);
    let buffers = [(); 3].map(|()| bench.filled(&[0; 64]));
    buffers.iter().zip(0..).for_each(|(buffer, index)| bench.set(vadd, index, buffer));
    let one = 1usize;
    let unset =
        cl!(cl, clEnqueueNDRangeKernel(bench.queue(), vadd, 1, null(), &raw const one, null(), 0, null(), null_mut()));
    assert_eq!(unset, CL_INVALID_KERNEL_ARGS);
    for (extent, status) in [(16u64, 0), (17, CL_INVALID_BUFFER_SIZE), (u64::MAX, CL_INVALID_BUFFER_SIZE)] {
        bench.set(vadd, 3, &extent);
        assert_eq!(run(&bench, vadd, 1), status, "{extent} elements in 16");
    }
    bench.set(vadd, 3, &16u64);
    assert_eq!(run(&bench, vadd, 2), CL_INVALID_GLOBAL_WORK_SIZE);
    let none: cl_mem = null_mut();
    bench.set(vadd, 2, &none);
    assert_eq!(run(&bench, vadd, 1), CL_INVALID_ARG_VALUE);
    release(&bench, &buffers, &[vadd]);
}
