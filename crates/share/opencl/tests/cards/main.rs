//! Rackloom cards as OpenCL devices: model cards behind a manager in this process, driven through the library's table.
//! Each card is two devices, over shared memory and over TCP, and so has two tenants.
#![allow(unsafe_code)]
#![allow(clippy::undocumented_unsafe_blocks, reason = "arguments are right, or wrong on purpose where that is checked")]

#[macro_use]
#[path = "../common/mod.rs"]
mod common;
#[path = "../../../manager/tests/common/lab.rs"]
mod lab;

mod images;
mod memory;
mod random;
mod tenants;

use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use common::{Bench, Cl, info, open};
use lab::Lab;
use opencl_sys::*;
use rackloom::RackOptions;
use rackloom_ipc::ServerConfig;
use rackloom_manager::card::{CardRack, Sharing};
use rackloom_manager::{Listener, Manager};
use rackloom_opencl_wire::Limits;

/// Cards: a test that changes its card has one of its own.
const CARDS: u16 = 8;

/// Bytes of a card, and those of them that buffers can use.
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
        let rack = lab.share(&manager, Sharing::Shared, options);
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

/// Waits until a card has room for two buffers of this size: what the tenant before has released may not be free yet.
/// Each try is for both: one that is there already may lie where it leaves no room for the other.
fn room_for_two(bench: &Bench, size: usize) {
    let (queue, byte) = (bench.queue(), 0u8);
    let from = (&raw const byte).cast();
    let write = |buffer| cl!(bench.cl, clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, 1, from, 0, null(), null_mut()));
    until("room on the card", || {
        let buffers = [(); 2].map(|()| bench.buffer(0, size));
        let codes = buffers.map(write);
        release(bench, &buffers, &[]);
        assert!(codes.iter().all(|code| [0, CL_MEM_OBJECT_ALLOCATION_FAILURE].contains(code)), "{codes:?}");
        codes == [0; 2]
    });
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
