//! Building, compiling, linking, and information about programs and kernels.
#![allow(unsafe_code)]
#![allow(clippy::undocumented_unsafe_blocks, reason = "arguments are right, or wrong on purpose where that is checked")]

#[macro_use]
mod common;

use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use common::{ADD, Bench, info};
use opencl_sys::*;

#[test]
fn a_manager_process() {
    common::be_a_manager();
}

fn text(bytes: Vec<u8>) -> String {
    CStr::from_bytes_with_nul(&bytes).unwrap().to_str().unwrap().to_owned()
}

fn build_info(bench: &Bench, program: cl_program, name: u32) -> Vec<u8> {
    let device = bench.devices[0];
    info(|s, v, r| cl!(bench.cl, clGetProgramBuildInfo(program, device, name, s, v, r))).unwrap()
}

#[test]
fn a_program_and_its_kernels_say_what_they_are() {
    for bench in Bench::each(0) {
        let cl = bench.cl;
        let source = "kernel void a(global const float4 *restrict in, constant int *c, local short *l, uint n) {}
            kernel void b(void) {}";
        let program = bench.program(source);
        let of = |name| info(|s, v, r| cl!(cl, clGetProgramInfo(program, name, s, v, r)));
        assert_eq!(text(of(CL_PROGRAM_SOURCE).unwrap()), source);
        assert_eq!(of(CL_PROGRAM_NUM_KERNELS), Err(CL_INVALID_PROGRAM_EXECUTABLE));
        assert_eq!(refused!(cl, clCreateKernel(program, c"a".as_ptr())), CL_INVALID_PROGRAM_EXECUTABLE);
        assert_eq!(build_info(&bench, program, CL_PROGRAM_BUILD_STATUS), CL_BUILD_NONE.to_ne_bytes());
        ok!(cl, clBuildProgram(program, 0, null(), c"-DX=1".as_ptr(), None, null_mut()));
        assert_eq!(build_info(&bench, program, CL_PROGRAM_BUILD_STATUS), CL_BUILD_SUCCESS.to_ne_bytes());
        assert_eq!(text(build_info(&bench, program, CL_PROGRAM_BUILD_OPTIONS)), "-DX=1");
        let executable = CL_PROGRAM_BINARY_TYPE_EXECUTABLE.to_ne_bytes();
        assert_eq!(build_info(&bench, program, CL_PROGRAM_BINARY_TYPE), executable);
        assert_eq!(of(CL_PROGRAM_NUM_KERNELS).unwrap(), 2usize.to_ne_bytes());
        let mut names: Vec<String> = text(of(CL_PROGRAM_KERNEL_NAMES).unwrap()).split(';').map(str::to_owned).collect();
        names.sort();
        assert_eq!(names, ["a", "b"]);

        let kernel = make!(cl, clCreateKernel(program, c"a".as_ptr()));
        let again = cl!(cl, clBuildProgram(program, 0, null(), null(), None, null_mut()));
        assert_eq!(again, CL_INVALID_OPERATION, "a kernel of it lives");
        let of_kernel = |name| info(|s, v, r| cl!(cl, clGetKernelInfo(kernel, name, s, v, r))).unwrap();
        assert_eq!(text(of_kernel(CL_KERNEL_FUNCTION_NAME)), "a");
        assert_eq!(of_kernel(CL_KERNEL_NUM_ARGS), 4u32.to_ne_bytes());
        let of_arg = |at, name| info(|s, v, r| cl!(cl, clGetKernelArgInfo(kernel, at, name, s, v, r)));
        let address = CL_KERNEL_ARG_ADDRESS_QUALIFIER;
        assert_eq!(of_arg(0, address).unwrap(), CL_KERNEL_ARG_ADDRESS_GLOBAL.to_ne_bytes());
        assert_eq!(of_arg(1, address).unwrap(), CL_KERNEL_ARG_ADDRESS_CONSTANT.to_ne_bytes());
        assert_eq!(of_arg(2, address).unwrap(), CL_KERNEL_ARG_ADDRESS_LOCAL.to_ne_bytes());
        assert_eq!(of_arg(3, address).unwrap(), CL_KERNEL_ARG_ADDRESS_PRIVATE.to_ne_bytes());
        assert_eq!(text(of_arg(0, CL_KERNEL_ARG_TYPE_NAME).unwrap()), "float4*");
        assert_eq!(text(of_arg(3, CL_KERNEL_ARG_NAME).unwrap()), "n");
        assert_eq!(of_arg(4, address), Err(CL_INVALID_ARG_INDEX));
        let device = bench.devices[0];
        let group = |name| info(|s, v, r| cl!(cl, clGetKernelWorkGroupInfo(kernel, device, name, s, v, r)));
        assert!(usize::from_ne_bytes(group(CL_KERNEL_WORK_GROUP_SIZE).unwrap().try_into().unwrap()) > 0);
        assert_eq!(group(CL_KERNEL_COMPILE_WORK_GROUP_SIZE).unwrap().len(), 24);
        assert_eq!(group(CL_KERNEL_GLOBAL_WORK_SIZE), Err(CL_INVALID_VALUE));

        let mut kernels = [null_mut(); 2];
        let mut count = 0;
        ok!(cl, clCreateKernelsInProgram(program, 2, kernels.as_mut_ptr(), &raw mut count));
        assert_eq!(count, 2);
        let few = cl!(cl, clCreateKernelsInProgram(program, 1, kernels.as_mut_ptr(), null_mut()));
        assert_eq!(few, CL_INVALID_VALUE);
        kernels.into_iter().chain([kernel]).for_each(|k| ok!(cl, clReleaseKernel(k)));
        ok!(cl, clReleaseProgram(program));
    }
}

#[test]
fn a_program_with_errors_says_so_in_its_log() {
    for bench in Bench::each(0) {
        let program = bench.program("kernel void k(global int *v) { v[0] = nonsense; }");
        let code = cl!(bench.cl, clBuildProgram(program, 0, null(), null(), None, null_mut()));
        assert_eq!(code, CL_BUILD_PROGRAM_FAILURE);
        assert_eq!(build_info(&bench, program, CL_PROGRAM_BUILD_STATUS), CL_BUILD_ERROR.to_ne_bytes());
        assert!(text(build_info(&bench, program, CL_PROGRAM_BUILD_LOG)).contains("nonsense"));
        let wrong = [(1, null(), CL_INVALID_VALUE), (0, bench.devices.as_ptr(), CL_INVALID_VALUE)];
        for (count, devices, wanted) in wrong {
            assert_eq!(cl!(bench.cl, clBuildProgram(program, count, devices, null(), None, null_mut())), wanted);
        }
        let data = (&raw const bench).cast_mut().cast();
        assert_eq!(cl!(bench.cl, clBuildProgram(program, 0, null(), null(), None, data)), CL_INVALID_VALUE);
        ok!(bench.cl, clReleaseProgram(program));
    }
}

extern "C" fn built(program: cl_program, to: *mut c_void) {
    let _ = unsafe { &*to.cast::<Sender<usize>>() }.send(program.addr());
}

#[test]
fn a_build_with_a_callback_does_not_wait() {
    for bench in Bench::each(0) {
        let (to, from) = channel::<usize>();
        let program = bench.program(ADD);
        // The callback may still be at work with it when its message is here already.
        let data = (&raw const *Box::leak(Box::new(to))).cast_mut().cast();
        ok!(bench.cl, clBuildProgram(program, 0, null(), null(), Some(built), data));
        assert_eq!(from.recv_timeout(Duration::from_secs(60)).unwrap(), program.addr());
        let kernel = make!(bench.cl, clCreateKernel(program, c"add".as_ptr()));
        ok!(bench.cl, clReleaseKernel(kernel));
        ok!(bench.cl, clReleaseProgram(program));
    }
}

/// A program of the binary of another.
fn from_binary(bench: &Bench, program: cl_program) -> cl_program {
    let cl = bench.cl;
    let mut size = 0usize;
    ok!(cl, clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, 8, (&raw mut size).cast(), null_mut()));
    assert!(size > 0);
    let mut binary = vec![0u8; size];
    let mut place = binary.as_mut_ptr();
    ok!(cl, clGetProgramInfo(program, CL_PROGRAM_BINARIES, 8, (&raw mut place).cast(), null_mut()));
    let (context, devices, mut from, mut status) = (bench.context, bench.devices.as_ptr(), binary.as_ptr(), 1);
    let (size, from, to) = (&raw const size, &raw mut from, &raw mut status);
    let program = make!(cl, clCreateProgramWithBinary(context, 1, devices, size, from, to));
    assert_eq!(status, 0);
    program
}

#[test]
fn a_binary_makes_the_same_program_again() {
    for bench in Bench::each(0) {
        let cl = bench.cl;
        let built = bench.built(ADD);
        let program = from_binary(&bench, built);
        ok!(cl, clReleaseProgram(built));
        ok!(cl, clBuildProgram(program, 0, null(), null(), None, null_mut()));
        let kernel = make!(cl, clCreateKernel(program, c"add".as_ptr()));
        let buffer = bench.filled(&[0; 40]);
        bench.set(kernel, 0, &buffer);
        bench.set(kernel, 1, &5);
        ok!(cl, clReleaseEvent(bench.launch(bench.queue(), kernel, 10, &[])));
        assert_eq!(bench.read(bench.queue(), buffer, 4), 5i32.to_ne_bytes());
        ok!(cl, clReleaseKernel(kernel));
        ok!(cl, clReleaseProgram(program));
        ok!(cl, clReleaseMemObject(buffer));
        let (mut garbage, len, mut status) = (b"no binary at all".as_ptr(), 16usize, 1);
        let none = refused!(
            cl,
            clCreateProgramWithBinary(
                bench.context,
                1,
                bench.devices.as_ptr(),
                &raw const len,
                &raw mut garbage,
                &raw mut status
            )
        );
        assert_eq!((none, status), (CL_INVALID_BINARY, CL_INVALID_BINARY));
        let zero = 0usize;
        let mut code = 1;
        let devices = bench.devices.as_ptr();
        let none = cl!(
            cl,
            clCreateProgramWithBinary(
                bench.context,
                1,
                devices,
                &raw const zero,
                &raw mut garbage,
                &raw mut status,
                &raw mut code
            )
        );
        assert_eq!((none.is_null(), code, status), (true, CL_INVALID_VALUE, CL_INVALID_VALUE));
    }
}

#[test]
fn programs_are_compiled_with_headers_and_linked() {
    for bench in Bench::each(0) {
        let cl = bench.cl;
        let header = bench.program("int twice(int n);");
        let part = bench.program("#include \"twice.h\"\nint twice(int n) { return 2 * n; }");
        let main = bench.program(
            "#include \"twice.h\"\nkernel void k(global int *v) { v[get_global_id(0)] = twice(v[get_global_id(0)]); }",
        );
        let mut name = c"twice.h".as_ptr();
        for program in [part, main] {
            let (headers, names) = (&raw const header, &raw mut name);
            ok!(cl, clCompileProgram(program, 0, null(), null(), 1, headers, names, None, null_mut()));
            let object = CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT.to_ne_bytes();
            assert_eq!(build_info(&bench, program, CL_PROGRAM_BINARY_TYPE), object);
        }
        let context = bench.context;
        let inputs = [main, part];
        let linked = make!(cl, clLinkProgram(context, 0, null(), null(), 2, inputs.as_ptr(), None, null_mut()));
        let kernel = make!(cl, clCreateKernel(linked, c"k".as_ptr()));
        let buffer = bench.filled(&21i32.to_ne_bytes());
        bench.set(kernel, 0, &buffer);
        ok!(cl, clReleaseEvent(bench.launch(bench.queue(), kernel, 1, &[])));
        assert_eq!(bench.read(bench.queue(), buffer, 4), 42i32.to_ne_bytes());
        // The same of their binaries, one of which is a library.
        let library = make!(
            cl,
            clLinkProgram(context, 0, null(), c"-create-library".as_ptr(), 1, &raw const part, None, null_mut())
        );
        let kinds = [CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT, CL_PROGRAM_BINARY_TYPE_LIBRARY];
        let inputs = [main, library].map(|p| from_binary(&bench, p));
        for (input, kind) in inputs.iter().zip(kinds) {
            assert_eq!(build_info(&bench, *input, CL_PROGRAM_BINARY_TYPE), kind.to_ne_bytes());
            assert_eq!(build_info(&bench, *input, CL_PROGRAM_BUILD_STATUS), CL_BUILD_NONE.to_ne_bytes());
        }
        let again = make!(cl, clLinkProgram(context, 0, null(), null(), 2, inputs.as_ptr(), None, null_mut()));
        let of_binaries = make!(cl, clCreateKernel(again, c"k".as_ptr()));
        bench.set(of_binaries, 0, &buffer);
        ok!(cl, clReleaseEvent(bench.launch(bench.queue(), of_binaries, 1, &[])));
        assert_eq!(bench.read(bench.queue(), buffer, 4), 84i32.to_ne_bytes());
        ok!(cl, clReleaseKernel(of_binaries));
        let executable = from_binary(&bench, linked);
        let none = refused!(cl, clLinkProgram(context, 0, null(), null(), 1, &raw const executable, None, null_mut()));
        assert_eq!(none, CL_INVALID_OPERATION, "it is linked");
        inputs.iter().chain([&library, &again, &executable]).for_each(|p| ok!(cl, clReleaseProgram(*p)));
        let none = refused!(cl, clLinkProgram(context, 0, null(), null(), 1, &raw const header, None, null_mut()));
        assert_eq!(none, CL_INVALID_OPERATION, "it was not compiled");
        [header, part, main, linked].iter().for_each(|p| ok!(cl, clReleaseProgram(*p)));
        ok!(cl, clReleaseKernel(kernel));
        ok!(cl, clReleaseMemObject(buffer));
    }
}

/// A kernel of a linked program, of which boards tell nothing of its arguments.
fn linked(bench: &Bench, source: &str, name: &CStr) -> cl_kernel {
    let cl = bench.cl;
    let part = bench.program(source);
    ok!(cl, clCompileProgram(part, 0, null(), null(), 0, null(), null_mut(), None, null_mut()));
    let context = bench.context;
    let program = make!(cl, clLinkProgram(context, 0, null(), null(), 1, &raw const part, None, null_mut()));
    let kernel = make!(cl, clCreateKernel(program, name.as_ptr()));
    [part, program].iter().for_each(|program| ok!(cl, clReleaseProgram(*program)));
    kernel
}

/// Fills a buffer by the kernel of the next two tests, and gives its first number.
fn filled_by(bench: &Bench, kernel: cl_kernel, buffer: cl_mem) -> Result<i32, i32> {
    let mut event = null_mut();
    let (queue, one) = (bench.queue(), 1usize);
    ok!(bench.cl, clEnqueueNDRangeKernel(queue, kernel, 1, null(), &raw const one, null(), 0, null(), &raw mut event));
    ok!(bench.cl, clFinish(queue));
    let status = bench.status(event);
    ok!(bench.cl, clReleaseEvent(event));
    let read = || i32::from_ne_bytes(bench.read(queue, buffer, 4).try_into().unwrap());
    if status < 0 { Err(status) } else { Ok(read()) }
}

const MAYBE: &str =
    "kernel void k(global int *a, global int *b, int n, long m) { a[0] = (b ? b[0] : 40) + n + (int)m; }";

/// hashcat does that with each of its kernels.
#[test]
fn a_null_buffer_of_a_linked_kernel() {
    for bench in Bench::each(0) {
        let kernel = linked(&bench, MAYBE, c"k");
        let (a, b) = (bench.filled(&[0; 4]), bench.filled(&7i32.to_ne_bytes()));
        let nothing: cl_mem = null_mut();
        bench.set(kernel, 0, &a);
        bench.set(kernel, 1, &nothing);
        bench.set(kernel, 2, &3);
        bench.set(kernel, 3, &0i64); // The same bytes for a value are a value.
        assert_eq!(filled_by(&bench, kernel, a), Ok(43));
        bench.set(kernel, 1, &b);
        assert_eq!(filled_by(&bench, kernel, a), Ok(10));
        ok!(bench.cl, clSetKernelArg(kernel, 1, 8, null()));
        assert_eq!(filled_by(&bench, kernel, a), Ok(43));
        ok!(bench.cl, clReleaseKernel(kernel));
        [a, b].iter().for_each(|buffer| ok!(bench.cl, clReleaseMemObject(*buffer)));
    }
}

/// Here the board knows only at the launch that a value is none for its argument.
#[test]
fn a_wrong_argument_of_a_linked_kernel_spoils_no_other() {
    for bench in Bench::each(0) {
        let kernel = linked(&bench, MAYBE, c"k");
        let a = bench.filled(&[0; 4]);
        bench.set(kernel, 0, &0x1234_5678_i64);
        ok!(bench.cl, clSetKernelArg(kernel, 1, 8, null()));
        bench.set(kernel, 2, &3);
        bench.set(kernel, 3, &5i64);
        for _ in 0..2 {
            assert_eq!(filled_by(&bench, kernel, a), Err(CL_INVALID_ARG_VALUE));
        }
        bench.set(kernel, 0, &a);
        assert_eq!(filled_by(&bench, kernel, a), Ok(48), "the others were set before");
        ok!(bench.cl, clReleaseKernel(kernel));
        ok!(bench.cl, clReleaseMemObject(a));
    }
}

/// Whoever gives no place for an event hears of a failure from the next call that waits, once.
#[test]
fn a_failure_that_nobody_has_an_event_of_is_the_queues() {
    for bench in Bench::each(0) {
        let (cl, queue) = (bench.cl, bench.queue());
        let wrong = linked(&bench, MAYBE, c"k");
        let buffer = bench.filled(&[0; 4]);
        bench.set(wrong, 0, &1i64);
        ok!(cl, clSetKernelArg(wrong, 1, 8, null()));
        bench.set(wrong, 2, &3);
        bench.set(wrong, 3, &5i64);
        let launch = || ok!(cl, clEnqueueTask(queue, wrong, 0, null(), null_mut()));
        launch();
        assert_eq!(cl!(cl, clFinish(queue)), CL_INVALID_ARG_VALUE);
        ok!(cl, clFinish(queue));
        launch();
        let mut bytes = [0u8; 4];
        let into = bytes.as_mut_ptr().cast();
        let read = || cl!(cl, clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 4, into, 0, null(), null_mut()));
        assert_eq!(read(), CL_INVALID_ARG_VALUE);
        assert_eq!(read(), CL_SUCCESS);
        // Of one with an event the event tells.
        let failed = bench.launch(queue, wrong, 1, &[]);
        ok!(cl, clFinish(queue));
        assert_eq!(bench.status(failed), CL_INVALID_ARG_VALUE);
        ok!(cl, clReleaseEvent(failed));
        ok!(cl, clReleaseKernel(wrong));
        ok!(cl, clReleaseMemObject(buffer));
    }
}

#[test]
fn a_launch_that_does_not_run_sets_its_arguments() {
    for bench in Bench::each(0) {
        let wrong = linked(&bench, MAYBE, c"k");
        let kernel = bench.kernel(ADD, "add");
        let buffer = bench.filled(&[0; 4]);
        bench.set(wrong, 0, &1i64);
        ok!(bench.cl, clSetKernelArg(wrong, 1, 8, null()));
        bench.set(wrong, 2, &3);
        bench.set(wrong, 3, &5i64);
        let failed = bench.launch(bench.queue(), wrong, 1, &[]);
        bench.set(kernel, 0, &buffer);
        bench.set(kernel, 1, &5);
        let skipped = bench.launch(bench.queue(), kernel, 1, &[failed]);
        // Sent before it is known that the one before does not run.
        let run = bench.launch(bench.queue(), kernel, 1, &[]);
        ok!(bench.cl, clFinish(bench.queue()));
        assert_eq!(bench.status(failed), CL_INVALID_ARG_VALUE);
        assert_eq!(bench.status(skipped), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        assert_eq!(bench.status(run), CL_COMPLETE);
        assert_eq!(bench.read(bench.queue(), buffer, 4), 5i32.to_ne_bytes());
        [failed, skipped, run].iter().for_each(|event| ok!(bench.cl, clReleaseEvent(*event)));
        [wrong, kernel].iter().for_each(|kernel| ok!(bench.cl, clReleaseKernel(*kernel)));
        ok!(bench.cl, clReleaseMemObject(buffer));
    }
}

/// The specification has it take the room of four, but every runtime takes three, so programs give three.
#[test]
fn a_vector_of_three_may_be_given_as_three() {
    for bench in Bench::each(0) {
        let source =
            "kernel void k(global int *x, int3 a, uchar3 b, int n) { x[0] = a.x + a.y + a.z + b.x + b.y + b.z + n; }";
        let kernel = bench.kernel(source, "k");
        let buffer = bench.filled(&[0; 4]);
        bench.set(kernel, 0, &buffer);
        bench.set(kernel, 1, &[1i32, 2, 3]);
        bench.set(kernel, 2, &[10u8, 20, 30]);
        bench.set(kernel, 3, &100i32);
        assert_eq!(filled_by(&bench, kernel, buffer), Ok(166));
        bench.set(kernel, 1, &[4i32, 5, 6, 7]);
        assert_eq!(filled_by(&bench, kernel, buffer), Ok(175));
        for wrong in [8, 16 + 4] {
            let code = cl!(bench.cl, clSetKernelArg(kernel, 1, wrong, [0u8; 32].as_ptr().cast()));
            assert_eq!(code, CL_INVALID_ARG_SIZE, "{wrong}");
        }
        ok!(bench.cl, clReleaseKernel(kernel));
        ok!(bench.cl, clReleaseMemObject(buffer));
    }
}

#[test]
fn sources_are_told_whether_the_device_has_images() {
    for bench in Bench::each(0) {
        let source = "
            #if defined __IMAGE_SUPPORT__ || defined __opencl_c_images || defined __opencl_c_read_write_images
            kernel void k(global int *x) { x[0] = 1; }
            #else
            kernel void k(global int *x) { x[0] = 2; }
            #endif";
        let mut has_images: cl_bool = 0;
        let (name, to) = (CL_DEVICE_IMAGE_SUPPORT, (&raw mut has_images).cast());
        ok!(bench.cl, clGetDeviceInfo(bench.devices[0], name, size_of::<cl_bool>(), to, null_mut()));
        let told = if has_images == CL_TRUE { 1 } else { 2 };
        let program = bench.program(source);
        for options in [c"", c"-cl-std=CL3.0"] {
            ok!(bench.cl, clBuildProgram(program, 0, null(), options.as_ptr(), None, null_mut()));
            let kernel = make!(bench.cl, clCreateKernel(program, c"k".as_ptr()));
            let buffer = bench.filled(&[0; 4]);
            bench.set(kernel, 0, &buffer);
            assert_eq!(filled_by(&bench, kernel, buffer), Ok(told));
            ok!(bench.cl, clReleaseKernel(kernel));
            ok!(bench.cl, clReleaseMemObject(buffer));
        }
        ok!(bench.cl, clReleaseProgram(program));
    }
}
