//! Registered arenas, forced on PoCL, which needs none: bytes of every size go where they belong and in their turn, in
//! all the ways that a program can move them; and nothing is left when programs are killed or memory runs out.
//!
//! No test harness: a worker is the manager's program started again, and programs are processes that can be killed.
#![allow(unsafe_code)]
#![allow(clippy::undocumented_unsafe_blocks, reason = "arguments are right")]

#[macro_use]
mod common;

#[path = "registered/random.rs"]
mod random;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

use common::{Bench, Manager, NEXT, SLOW, STEPS, pattern};
use opencl_sys::*;

/// Which program to be.
const PROGRAM: &str = "RACKLOOM_TEST_PROGRAM";
/// Where its manager is.
const AT: &str = "RACKLOOM_TEST_AT";

fn main() {
    rackloom_manager::work_if_asked();
    common::be_an_isolating_manager();
    match std::env::var(PROGRAM).as_deref() {
        Ok("random") => return random::program(&bench(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE), seed()),
        Ok("ordered") => return random::program(&bench(0), seed()),
        Ok("maps") => return maps(),
        Ok("lent") => return lent(),
        Ok("busy") => return busy(),
        Ok("honest") => return honest(),
        _ => {}
    }
    let tests: [(&str, fn()); 6] = [
        ("whatever programs move arrives, in its turn", moves),
        ("mapping moves what has changed, and no more", mapped),
        ("what a board reads where it lies is read when a blocking write returns", is_lent),
        ("an arena is registered once it has been used, and given back", is_given_back),
        ("a program killed in the middle of transfers leaves nothing", is_killed),
        ("without pinned memory transfers are right all the same", has_none),
    ];
    let only = std::env::args().nth(1).unwrap_or_default();
    for (name, test) in tests.into_iter().filter(|(name, _)| name.contains(&only)) {
        test();
        println!("test {name} ... ok");
    }
}

/// A manager that registers.
struct Registering {
    manager: Manager,
    _folder: tempfile::TempDir,
}

impl Registering {
    fn start(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = format!("unix:{}", folder.path().join("m.sock").display());
        let fixed = ["--register", "always", "--metrics", "127.0.0.1:0"];
        let options: Vec<&str> = fixed.iter().chain(options).copied().collect();
        let manager = Manager::start(&[&socket, "tcp:127.0.0.1:0"], &options);
        Self { manager, _folder: folder }
    }

    /// Bytes that are registered at present.
    fn registered(&self) -> u64 {
        let mut stream = TcpStream::connect(self.manager.metrics.as_deref().unwrap()).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let line = text.lines().find(|line| line.starts_with("rackloom_board_registered_bytes{"));
        let value = line.and_then(|line| line.rsplit(' ').next()).expect("it is always there");
        value.parse().unwrap()
    }

    /// Waits until so many bytes are registered.
    fn registers(&self, is_right: impl Fn(u64) -> bool, what: &str) {
        let began = Instant::now();
        while !is_right(self.registered()) {
            assert!(began.elapsed() < Duration::from_secs(60), "{what}: {} bytes", self.registered());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn program(&self, name: &str, endpoint: usize, environment: &[(&str, &str)]) -> Child {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.env(PROGRAM, name).env(AT, &self.manager.endpoints[endpoint]);
        command.envs(environment.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
    }

    fn run(&self, name: &str, endpoint: usize, environment: &[(&str, &str)]) {
        let status = self.program(name, endpoint, environment).wait().unwrap();
        assert!(status.success(), "{name} {environment:?} at endpoint {endpoint}: {status}");
    }
}

fn bench(properties: u64) -> Bench {
    let cl = common::open(&[std::env::var(AT).unwrap()]);
    let devices = cl.devices();
    assert_eq!(devices.len(), 1);
    Bench::of(cl, &devices, properties)
}

const SEED: &str = "RACKLOOM_TEST_SEED";

fn seed() -> u64 {
    std::env::var(SEED).map_or(1, |seed| seed.parse().expect("a number"))
}

/// Random programs, with each way to copy; and over TCP, where nothing is registered.
fn moves() {
    let manager = Registering::start(&[]);
    let ways: [&[(&str, &str)]; 5] = [
        &[],
        &[("RACKLOOM_COPY_HELPERS", "0"), ("RACKLOOM_COPY_STREAMING", "0")],
        &[("RACKLOOM_COPY_HELPERS", "3"), ("RACKLOOM_COPY_STREAMING", "0"), ("RACKLOOM_COPY_PIECE", "65536")],
        &[("RACKLOOM_COPY_HELPERS", "7"), ("RACKLOOM_COPY_STREAMING", "1000000000")],
        &[("RACKLOOM_COPY_HELPERS", "1"), ("RACKLOOM_COPY_PIECE", "4194304")],
    ];
    for (seed, way) in (1..).zip(ways) {
        let seed = seed.to_string();
        let environment: Vec<_> = way.iter().copied().chain([(SEED, seed.as_str())]).collect();
        manager.run("random", 0, &environment);
        manager.run("ordered", 0, &environment);
    }
    manager.run("random", 1, &[(SEED, "6")]);
}

fn mapped() {
    let manager = Registering::start(&[]);
    manager.run("maps", 0, &[]);
    manager.run("maps", 1, &[]);
}

const MIB: usize = 1 << 20;

fn is_lent() {
    Registering::start(&[]).run("lent", 0, &[]);
}

/// The program of [`is_lent`]: it writes from mapped memory, which nobody copies, and then changes that, while the
/// board is busy with a kernel of another queue.
fn lent() {
    let bench = bench(0);
    let (cl, queue, len) = (bench.cl, bench.queue(), MIB / 2);
    let [lender, to] = [CL_MEM_ALLOC_HOST_PTR, 0].map(|flags| bench.buffer(flags, len));
    let at = make!(cl, clEnqueueMapBuffer(queue, lender, CL_TRUE, CL_MAP_WRITE, 0, len, 0, null(), null_mut()));
    let bytes = unsafe { std::slice::from_raw_parts_mut(at.cast::<u8>(), len) };
    let kernel = bench.kernel(SLOW, "slow");
    let value = bench.filled(&[7; 4]);
    bench.set(kernel, 0, &value);
    bench.set(kernel, 1, &STEPS);
    let other = make!(cl, clCreateCommandQueue(bench.context, bench.devices[0], 0));
    for round in 1..5 {
        bytes.fill(round);
        ok!(cl, clReleaseEvent(bench.launch(other, kernel, 1, &[])));
        ok!(cl, clFlush(other));
        bench.write(queue, to, bytes);
        bytes.fill(0xee);
        assert!(bench.read(queue, to, len) == vec![round; len], "round {round}");
    }
    ok!(cl, clEnqueueUnmapMemObject(queue, lender, at, 0, null(), null_mut()));
    ok!(cl, clReleaseCommandQueue(other));
    [lender, to, value].iter().for_each(|m| ok!(cl, clReleaseMemObject(*m)));
    ok!(cl, clReleaseKernel(kernel));
}

/// The program of [`mapped`]: each kind of buffer shows what was done to it last, whoever did it.
fn maps() {
    let bench = bench(0);
    let (cl, queue) = (bench.cl, bench.queue());
    let len = 3 * MIB + 4097;
    let mut own = vec![0_u8; len + 4096];
    let own_at = own.as_mut_ptr().wrapping_add(own.as_ptr().align_offset(4096));
    let kernel = bench.kernel(NEXT, "next");
    for flags in [0, CL_MEM_ALLOC_HOST_PTR, CL_MEM_USE_HOST_PTR, CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR] {
        let first = pattern(len, 1);
        let host = match flags {
            0 | CL_MEM_ALLOC_HOST_PTR => null_mut(),
            CL_MEM_USE_HOST_PTR => own_at,
            _ => first.as_ptr().cast_mut(),
        };
        let buffer = make!(cl, clCreateBuffer(bench.context, flags, len, host.cast()));
        let map = |flags: u64, at: usize, len: usize| -> &mut [u8] {
            let to = make!(cl, clEnqueueMapBuffer(queue, buffer, CL_TRUE, flags, at, len, 0, null(), null_mut()));
            unsafe { std::slice::from_raw_parts_mut(to.cast(), len) }
        };
        let unmap = |bytes: &mut [u8]| {
            ok!(cl, clEnqueueUnmapMemObject(queue, buffer, bytes.as_mut_ptr().cast(), 0, null(), null_mut()));
        };
        if flags & CL_MEM_COPY_HOST_PTR != 0 {
            let seen = map(CL_MAP_READ, 0, len);
            assert!(*seen == first[..]);
            unmap(seen);
        }
        let mut model = pattern(len, 2);
        bench.write(queue, buffer, &model);
        for round in 0..6_usize {
            // Written by the program, all of it or a part.
            let (from, some) = if round % 2 == 0 { (0, len) } else { (1000 * round, MIB + round) };
            let written = map(if round == 3 { CL_MAP_READ | CL_MAP_WRITE } else { CL_MAP_WRITE }, from, some);
            assert!(*written == model[from..from + some], "flags {flags}, round {round}: before it is written");
            written[7..some - 9].copy_from_slice(&pattern(some, 10 + round as u32)[7..some - 9]);
            model[from..from + some].copy_from_slice(written);
            unmap(written);
            // Twice seen without a change between.
            for _ in 0..2 {
                let seen = map(CL_MAP_READ, 0, len);
                assert!(*seen == model[..], "flags {flags}, round {round}: after it was written");
                unmap(seen);
            }
            // Changed by a kernel, whose argument was set rounds ago; by a fill; by a write.
            if round == 0 {
                bench.set(kernel, 0, &buffer);
            }
            ok!(cl, clReleaseEvent(bench.launch(queue, kernel, len, &[])));
            model.iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
            let seen = map(CL_MAP_READ, 5, len - 5);
            assert!(*seen == model[5..], "flags {flags}, round {round}: after a kernel");
            unmap(seen);
            let (byte, at) = (round as u8, 100 + round);
            ok!(cl, clEnqueueFillBuffer(queue, buffer, (&raw const byte).cast(), 1, at, 70_000, 0, null(), null_mut()));
            model[at..at + 70_000].fill(byte);
            let seen = map(CL_MAP_READ, 0, len);
            assert!(*seen == model[..], "flags {flags}, round {round}: after a fill");
            unmap(seen);
            let invalid = map(CL_MAP_WRITE_INVALIDATE_REGION, 0, len);
            invalid.copy_from_slice(&pattern(len, 20 + round as u32));
            model.copy_from_slice(invalid);
            unmap(invalid);
            assert!(bench.read(queue, buffer, len) == model, "flags {flags}, round {round}: read");
            // A part of it, by its sub-buffer.
            let region = cl_buffer_region { origin: 4096, size: MIB };
            let part =
                make!(cl, clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, (&raw const region).cast()));
            bench.write(queue, part, &model[..MIB]);
            let (head, tail) = model.split_at_mut(4096);
            let start = [head, &tail[..MIB - 4096]].concat();
            tail[..MIB].copy_from_slice(&start);
            let seen = map(CL_MAP_READ, 0, len);
            assert!(*seen == model[..], "flags {flags}, round {round}: after a part was written");
            unmap(seen);
            ok!(cl, clReleaseMemObject(part));
        }
        ok!(cl, clReleaseMemObject(buffer));
    }
    ok!(cl, clReleaseKernel(kernel));
    drop(own);
}

/// Says a word to the test, and waits for its answer.
fn tell(word: &str) {
    println!("{word}");
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).unwrap();
}

/// Waits for a program's word, and answers.
struct Conversation {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Conversation {
    fn with(mut child: Child) -> Self {
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    fn hear(&mut self, word: &str) {
        let said = self.lines.next().map(Result::unwrap);
        assert_eq!(said.as_deref(), Some(word));
    }

    fn answer(&mut self) {
        self.child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    }

    fn ends(mut self) {
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}");
    }
}

/// A program that moves bytes, at the test's word more of them.
fn honest() {
    let bench = bench(0);
    let bytes = pattern(9 * MIB, 3);
    let buffer = bench.buffer(0, bytes.len());
    let trip = || {
        bench.write(bench.queue(), buffer, &bytes);
        assert!(bench.read(bench.queue(), buffer, bytes.len()) == bytes);
    };
    bench.write(bench.queue(), buffer, &bytes[..MIB]);
    tell("little");
    for _ in 0..4 {
        trip();
    }
    tell("much");
    trip();
    ok!(bench.cl, clReleaseMemObject(buffer));
}

fn is_given_back() {
    let manager = Registering::start(&[]);
    let mut program = Conversation::with(manager.program("honest", 0, &[]));
    program.hear("little");
    assert_eq!(manager.registered(), 0, "what is used once is not worth it");
    program.answer();
    program.hear("much");
    let most = manager.registered();
    assert!((4 << 20..=64 << 20).contains(&most), "{most} bytes");
    program.answer();
    program.ends();
    manager.registers(|bytes| bytes == 0, "after the program's end");
}

/// A program that never stops to move bytes.
fn busy() {
    let bench = bench(0);
    let mut bytes = pattern(24 * MIB, 4);
    let buffers = [bench.buffer(0, bytes.len()), bench.buffer(CL_MEM_ALLOC_HOST_PTR, bytes.len())];
    for round in 0_u64.. {
        for buffer in buffers {
            let (queue, at) = (bench.queue(), bytes.as_mut_ptr());
            let (len, none) = (bytes.len(), null_mut());
            ok!(bench.cl, clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, len, at.cast(), 0, null(), none));
            ok!(bench.cl, clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, len, at.cast(), 0, null(), none));
        }
        if round == 2 {
            println!("busy");
        }
    }
}

fn is_killed() {
    let manager = Registering::start(&[]);
    let mut neighbour = Conversation::with(manager.program("honest", 0, &[]));
    neighbour.hear("little");
    for round in 0..6_u64 {
        let mut program = Conversation::with(manager.program("busy", 0, &[]));
        program.hear("busy");
        manager.registers(|bytes| bytes > 0, "while the program moves bytes");
        // In whatever transfer it is just then.
        std::thread::sleep(Duration::from_millis(7 * round));
        program.child.kill().unwrap();
        program.child.wait().unwrap();
        manager.registers(|bytes| bytes == 0, "after the program was killed");
    }
    neighbour.answer();
    neighbour.hear("much");
    manager.registers(|bytes| bytes > 0, "for the neighbour");
    neighbour.answer();
    neighbour.ends();
}

fn has_none() {
    // Of what tenants may have registered one arena is within; then nothing is.
    for registered in ["5MiB", "1MiB"] {
        let manager = Registering::start(&["--registered", registered]);
        let mut program = Conversation::with(manager.program("honest", 0, &[]));
        program.hear("little");
        program.answer();
        program.hear("much");
        assert_eq!(manager.registered(), if registered == "5MiB" { 4 << 20 } else { 0 });
        program.answer();
        program.ends();
        manager.run("random", 0, &[(SEED, "7")]);
        manager.run("maps", 0, &[]);
    }
}
