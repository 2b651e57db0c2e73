//! Rackloom cards as OpenCL devices: model cards behind a manager in this process, driven through the library's table.
//! Each card is two devices, over shared memory and over TCP, and so has two tenants.
#![allow(unsafe_code)]
#![allow(clippy::undocumented_unsafe_blocks, reason = "arguments are right, or wrong on purpose where that is checked")]

#[macro_use]
mod common;
#[path = "../../manager/tests/common/lab.rs"]
mod lab;

use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use common::{Bench, Cl, info, open, pattern};
use lab::Lab;
use opencl_sys::*;
use rackloom::RackOptions;
use rackloom_ipc::ServerConfig;
use rackloom_manager::card::CardRack;
use rackloom_manager::{Listener, Manager};
use rackloom_opencl_wire::Limits;

/// One for each test that needs a card of its own.
const CARDS: u16 = 8;

/// Bytes of a card, and of them those that are not the role's.
const MEMORY: u64 = 16 << 20;
const USABLE: usize = 15 << 20;

struct Site {
    lab: Mutex<Lab>,
    manager: Manager,
    _rack: CardRack,
    _listeners: Vec<Listener>,
    _folder: tempfile::TempDir,
    cl: Cl,
}

fn site() -> &'static Site {
    static SITE: OnceLock<Site> = OnceLock::new();
    SITE.get_or_init(|| {
        let lab = Lab::new(CARDS, MEMORY);
        let manager = Manager::default();
        let options = RackOptions { deadline: Duration::from_secs(8), ..RackOptions::default() };
        let rack = lab.share(&manager, false, options);
        let folder = tempfile::tempdir().unwrap();
        let socket = format!("unix:{}", folder.path().join("m.sock").display());
        let limits = Limits { memory: 1 << 30, objects: 1000, operations: 1000, program: 64 << 20 };
        let listen = |to: &str| manager.listen(&to.parse().unwrap(), ServerConfig::default(), limits).unwrap();
        let listeners = [socket.as_str(), "tcp:127.0.0.1:0"].map(listen);
        let endpoints: Vec<String> = listeners.iter().map(|l| l.endpoint().to_string()).collect();
        let cl = open(&endpoints);
        assert_eq!(cl.devices().len(), 2 * usize::from(CARDS));
        Site { lab: Mutex::new(lab), manager, _rack: rack, _listeners: listeners.into(), _folder: folder, cl }
    })
}

/// The two tenants of a card.
fn tenants(card: usize) -> [Bench; 2] {
    let cl = site().cl;
    let devices = cl.devices();
    [card, card + usize::from(CARDS)].map(|at| Bench::of(cl, &[devices[at]], 0))
}

fn image(role: &str) -> Vec<u8> {
    rackloom_builtin_roles::image(role).unwrap().to_vec()
}

/// A program of a binary, or why there is none.
fn create(bench: &Bench, binary: &[u8]) -> Result<cl_program, cl_int> {
    let (len, mut from, mut code) = (binary.len(), binary.as_ptr(), 1);
    let devices = bench.devices.as_ptr();
    let (len, from, to) = (&raw const len, &raw mut from, &raw mut code);
    let program = cl!(bench.cl, clCreateProgramWithBinary(bench.context, 1, devices, len, from, null_mut(), to));
    if code == 0 { Ok(program) } else { Err(code) }
}

/// A program of a binary, and what building it gives: code and log.
fn build(bench: &Bench, binary: &[u8]) -> (cl_program, cl_int, String) {
    let program = create(bench, binary).unwrap();
    let code = cl!(bench.cl, clBuildProgram(program, 0, null(), null(), None, null_mut()));
    let (device, name) = (bench.devices[0], CL_PROGRAM_BUILD_LOG);
    let log = info(|s, v, r| cl!(bench.cl, clGetProgramBuildInfo(program, device, name, s, v, r))).unwrap();
    (program, code, CStr::from_bytes_with_nul(&log).unwrap().to_str().unwrap().to_owned())
}

/// A kernel, which alone holds its program. What the tenant before has released may not be free yet.
fn kernel(bench: &Bench, role: &str, name: &str) -> cl_kernel {
    let (program, mut code, log) = build(bench, &image(role));
    until(&format!("built: {log}"), || {
        if code == CL_BUILD_PROGRAM_FAILURE {
            code = cl!(bench.cl, clBuildProgram(program, 0, null(), null(), None, null_mut()));
        }
        code == 0
    });
    let name = CString::new(name).unwrap();
    let kernel = make!(bench.cl, clCreateKernel(program, name.as_ptr()));
    ok!(bench.cl, clReleaseProgram(program));
    kernel
}

/// Launches, waits, and gives the event's status.
fn run(bench: &Bench, kernel: cl_kernel, items: usize) -> cl_int {
    let event = bench.launch(bench.queue(), kernel, items, &[]);
    cl!(bench.cl, clFinish(bench.queue()));
    let status = bench.status(event);
    ok!(bench.cl, clReleaseEvent(event));
    status
}

fn floats(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_ne_bytes).collect()
}

fn release(bench: &Bench, buffers: &[cl_mem], kernels: &[cl_kernel]) {
    buffers.iter().for_each(|b| ok!(bench.cl, clReleaseMemObject(*b)));
    kernels.iter().for_each(|k| ok!(bench.cl, clReleaseKernel(*k)));
}

/// A number of the manager's metrics of a card.
fn metric(name: &str, card: u16) -> f64 {
    let text = site().manager.metrics().text();
    let start = format!("{name}{{board=\"Rackloom card {card}\"}} ");
    let line = text.lines().find_map(|line| line.strip_prefix(&start));
    line.unwrap_or_else(|| panic!("no {name} in\n{text}")).parse().unwrap()
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < end, "never {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

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

#[test]
fn bytes_are_where_they_were_put() {
    for bench in tenants(2) {
        let (cl, queue, size) = (bench.cl, bench.queue(), 5 << 20);
        let mut mirror = pattern(size, 1);
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
    site().lab.lock().unwrap().add(5);
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

/// A tenant that does this and that without waiting, and knows what must come of it.
struct Busy<'a> {
    bench: &'a Bench,
    vadd: cl_kernel,
    rng: rackloom_node::Rng,
    /// Buffers, and what is in them when all that was enqueued is done.
    buffers: Vec<(cl_mem, Vec<f32>)>,
    /// Where commands that may not have ended read from.
    sources: Vec<Vec<u8>>,
    /// What reads that may not have ended have to give, and where.
    reads: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Busy<'_> {
    fn fresh(&mut self) -> (cl_mem, Vec<f32>) {
        let most = if self.rng.below(4) == 0 { 60_000 } else { 3000 };
        let len = 1 + self.rng.below(most) as usize;
        (self.bench.buffer(0, 4 * len), vec![0.0; len])
    }

    fn pick(&mut self) -> usize {
        self.rng.below(self.buffers.len() as u64) as usize
    }

    /// A part that lies in both buffers: first element of each, and how many.
    fn part(&mut self, a: usize, b: usize) -> (usize, usize, usize) {
        let (long_a, long_b) = (self.buffers[a].1.len(), self.buffers[b].1.len());
        let len = 1 + self.rng.below(long_a.min(long_b) as u64) as usize;
        let mut at = |long: usize| self.rng.below((long - len + 1) as u64) as usize;
        (at(long_a), at(long_b), len)
    }

    fn act(&mut self) {
        let (cl, queue) = (self.bench.cl, self.bench.queue());
        let (a, b, c) = (self.pick(), self.pick(), self.pick());
        let (at, to, len) = self.part(a, b);
        match self.rng.below(15) {
            0..4 => {
                let values: Vec<f32> = (0..len).map(|_| self.rng.below(1000) as f32).collect();
                self.buffers[a].1[at..][..len].copy_from_slice(&values);
                self.sources.push(floats(values));
                let from = self.sources.last().unwrap().as_ptr().cast();
                let buffer = self.buffers[a].0;
                ok!(cl, clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 4 * at, 4 * len, from, 0, null(), null_mut()));
            }
            4 => {
                let value = self.rng.below(1000) as f32;
                self.buffers[a].1[at..][..len].fill(value);
                let (buffer, from) = (self.buffers[a].0, (&raw const value).cast());
                ok!(cl, clEnqueueFillBuffer(queue, buffer, from, 4, 4 * at, 4 * len, 0, null(), null_mut()));
            }
            5..7 if a != b => {
                let moved = self.buffers[a].1[at..][..len].to_vec();
                self.buffers[b].1[to..][..len].copy_from_slice(&moved);
                let (from, into) = (self.buffers[a].0, self.buffers[b].0);
                ok!(cl, clEnqueueCopyBuffer(queue, from, into, 4 * at, 4 * to, 4 * len, 0, null(), null_mut()));
            }
            7..12 => {
                let n = [a, b, c].iter().map(|i| self.buffers[*i].1.len()).min().unwrap();
                let sums: Vec<f32> =
                    self.buffers[a].1.iter().zip(&self.buffers[b].1).take(n).map(|(x, y)| x + y).collect();
                self.buffers[c].1[..n].copy_from_slice(&sums);
                [a, b, c].iter().zip(0..).for_each(|(i, index)| self.bench.set(self.vadd, index, &self.buffers[*i].0));
                self.bench.set(self.vadd, 3, &(n as u64));
                ok!(cl, clEnqueueTask(queue, self.vadd, 0, null(), null_mut()));
            }
            12 => {
                let fresh = self.fresh();
                let (old, _) = std::mem::replace(&mut self.buffers[a], fresh);
                ok!(cl, clReleaseMemObject(old));
            }
            13 => {
                let expected = floats(self.buffers[a].1[at..][..len].iter().copied());
                self.reads.push((expected, vec![0; 4 * len]));
                let into = self.reads.last_mut().unwrap().1.as_mut_ptr().cast();
                let buffer = self.buffers[a].0;
                ok!(cl, clEnqueueReadBuffer(queue, buffer, CL_FALSE, 4 * at, 4 * len, into, 0, null(), null_mut()));
            }
            _ => {
                let (buffer, expected) = &self.buffers[a];
                let got = self.bench.read(queue, *buffer, 4 * expected.len());
                assert!(got == floats(expected.iter().copied()));
                // A queue in order: all that came before is done.
                self.sources.clear();
                assert!(self.reads.drain(..).all(|(expected, got)| got == expected));
            }
        }
    }
}

#[test]
fn tenants_at_the_same_time_do_not_disturb_each_other() {
    std::thread::scope(|threads| {
        for (seed, bench) in tenants(7).into_iter().enumerate() {
            threads.spawn(move || {
                let bench = &bench;
                let rng = rackloom_node::Rng::new(seed as u64);
                let vadd = kernel(bench, "vadd", "vadd");
                let mut busy = Busy { bench, vadd, rng, buffers: Vec::new(), sources: Vec::new(), reads: Vec::new() };
                for _ in 0..7 {
                    let fresh = busy.fresh();
                    busy.buffers.push(fresh);
                }
                (0..1500).for_each(|_| busy.act());
                ok!(bench.cl, clFinish(bench.queue()));
                let buffers: Vec<cl_mem> = busy.buffers.iter().map(|(buffer, _)| *buffer).collect();
                release(bench, &buffers, &[vadd]);
            });
        }
    });
}
