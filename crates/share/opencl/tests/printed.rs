//! What kernels print: on the standard output of the program that launched them, in order with its events, and nowhere
//! else. This program starts itself again as managers, workers and programs.
//!
//! No test harness: a worker is the manager's program started again, and a program's output is a pipe.
#![allow(unsafe_code)]
#![allow(clippy::undocumented_unsafe_blocks, reason = "arguments are right")]

#[macro_use]
mod common;

use std::ffi::c_void;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::ptr::null_mut;
use std::time::{Duration, Instant};

use common::{Bench, Manager};
use opencl_sys::*;

/// Which program to be.
const PROGRAM: &str = "RACKLOOM_TEST_PROGRAM";

/// Bytes that a task may print.
const TASK_MAX: usize = 16 << 20;

fn main() {
    rackloom_manager::work_if_asked();
    common::be_an_isolating_manager();
    match std::env::var(PROGRAM).as_deref() {
        Ok("orderly") => return orderly(),
        Ok("heavy") => return heavy(),
        Ok("several") => return several(),
        Ok("junk") => return junk(),
        _ => {}
    }
    let tests: [(&str, fn()); 5] = [
        ("kernels print on their program's output, in order with its events", prints_in_order),
        ("what a task prints is bounded, and stderr says so", is_bounded),
        ("a program that does not read loses what it printed, and nothing else", is_not_read),
        ("programs that print at the same time each get their own", do_not_mix),
        ("a kernel that writes what it likes is heard by its own program", writes_junk),
    ];
    let only = std::env::args().nth(1).unwrap_or_default();
    for (name, test) in tests.into_iter().filter(|(name, _)| name.contains(&only)) {
        test();
        println!("test {name} ... ok");
    }
}

const KERNELS: &str = r#"
    kernel void hello(int n) { printf("kernel %d: %s, %.2f, %c\n", n, "text", 1.5f, 'c'); }
    kernel void lines(int n, int many) { for (int i = 0; i < many; i++) printf("%08d %07d\n", n, i); }
    kernel void group(int n) { printf("%08d %07d\n", n, (int)get_global_id(0)); }
"#;

/// A manager over both transports.
fn manager(folder: &tempfile::TempDir) -> Manager {
    let socket = format!("unix:{}", folder.path().join("m.sock").display());
    Manager::start(&[&socket, "tcp:127.0.0.1:0"], &[])
}

/// Starts a program at an endpoint.
fn program(name: &str, endpoint: &str, more: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(PROGRAM, name).env("RACKLOOM_TEST_AT", endpoint).env("RACKLOOM_TEST_MORE", more);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// What it has written on both its outputs when it has ended well.
fn ended(program: Child) -> (String, String) {
    let output = program.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (said, complained) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{}: {complained}", output.status);
    (said, complained)
}

fn bench() -> Bench {
    let cl = common::open(&[std::env::var("RACKLOOM_TEST_AT").unwrap()]);
    let devices = cl.devices();
    assert_eq!(devices.len(), 1);
    Bench::of(cl, &devices, 0)
}

fn say(text: &str) {
    let mut out = std::io::stdout();
    out.write_all(text.as_bytes()).unwrap();
    out.flush().unwrap();
}

/// Bytes of a launch of `lines`.
fn lines(bench: &Bench, kernel: cl_kernel, n: i32, many: i32) -> cl_event {
    bench.set(kernel, 0, &n);
    bench.set(kernel, 1, &many);
    bench.launch(bench.queue(), kernel, 1, &[])
}

/// Prints between words of its own, waiting in each way that a program can wait.
fn orderly() {
    extern "C" fn told(_: cl_event, status: cl_int, _: *mut c_void) {
        say(&format!("callback {status}\n"));
    }
    let bench = bench();
    let kernel = bench.kernel(KERNELS, "hello");
    let launch = |n: i32| {
        bench.set(kernel, 0, &n);
        bench.launch(bench.queue(), kernel, 1, &[])
    };
    say("begin\n");
    launch(0);
    ok!(bench.cl, clFinish(bench.queue()));
    say("finished\n");
    let event = launch(1);
    ok!(bench.cl, clWaitForEvents(1, &raw const event));
    say("waited\n");
    launch(2);
    let buffer = bench.filled(&[7; 64]);
    assert_eq!(bench.read(bench.queue(), buffer, 64), [7; 64]);
    say("read\n");
    let event = launch(3);
    ok!(bench.cl, clFlush(bench.queue()));
    let start = Instant::now();
    while bench.status(event) != CL_COMPLETE {
        assert!(start.elapsed() < Duration::from_secs(60));
    }
    say("polled\n");
    let event = launch(4);
    ok!(bench.cl, clSetEventCallback(event, CL_COMPLETE, Some(told), null_mut()));
    ok!(bench.cl, clFlush(bench.queue()));
    std::thread::sleep(Duration::from_secs(1));
    ok!(bench.cl, clFinish(bench.queue()));
    for n in 5..30 {
        launch(n);
    }
    ok!(bench.cl, clFinish(bench.queue()));
    say("end\n");
}

fn prints_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let manager = manager(&folder);
    let hello = |n| format!("kernel {n}: text, 1.50, c\n");
    let mut expected = String::from("begin\n");
    for (n, word) in ["finished\n", "waited\n", "read\n", "polled\n", "callback 0\n"].into_iter().enumerate() {
        expected += &hello(n);
        expected += word;
    }
    (5..30).for_each(|n| expected += &hello(n));
    expected += "end\n";
    for endpoint in &manager.endpoints {
        assert_eq!(ended(program("orderly", endpoint, "")).0, expected, "{endpoint}");
    }
}

/// Prints more than a task may, and then again a little.
fn heavy() {
    let bench = bench();
    let kernel = bench.kernel(KERNELS, "group");
    bench.set(kernel, 0, &1);
    bench.launch(bench.queue(), kernel, 3 * TASK_MAX / 2 / 17, &[]);
    ok!(bench.cl, clFinish(bench.queue()));
    say("-\n");
    let kernel = bench.kernel(KERNELS, "lines");
    lines(&bench, kernel, 2, 3);
    ok!(bench.cl, clFinish(bench.queue()));
}

fn is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let manager = manager(&folder);
    for endpoint in &manager.endpoints {
        let (said, complained) = ended(program("heavy", endpoint, ""));
        let (first, second) = said.split_once("-\n").unwrap();
        assert_eq!(first.len(), TASK_MAX, "{endpoint}");
        assert!(first.lines().all(|line| "00000001".starts_with(line.split(' ').next().unwrap())), "{endpoint}");
        assert_eq!(second, "00000002 0000000\n00000002 0000001\n00000002 0000002\n", "{endpoint}");
        assert_eq!(complained.matches("printed more than").count(), 1, "{endpoint}: {complained}");
    }
}

/// Twenty launches that print a number of lines each, each a task of its own.
fn several() {
    let bench = bench();
    let kernel = bench.kernel(KERNELS, "lines");
    let many = std::env::var("RACKLOOM_TEST_MORE").unwrap().parse().unwrap();
    for n in 0..20 {
        lines(&bench, kernel, n, many);
        ok!(bench.cl, clFlush(bench.queue()));
    }
    ok!(bench.cl, clFinish(bench.queue()));
    let buffer = bench.filled(&[1; 64]);
    assert_eq!(bench.read(bench.queue(), buffer, 64), [1; 64], "it is served");
    eprintln!("ended");
}

/// While nobody reads a program's output, the board serves another; and the program goes on when it is read.
fn is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let manager = manager(&folder);
    for endpoint in &manager.endpoints {
        let mut silent = program("several", endpoint, &((8 << 20) / 17).to_string());
        let mut first = [0; 17];
        let mut output = silent.stdout.take().unwrap();
        output.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"00000000 0000000\n");
        let start = Instant::now();
        ended(program("orderly", endpoint, ""));
        assert!(start.elapsed() < Duration::from_secs(60), "{endpoint}: {:?}", start.elapsed());
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        let (_, complained) = ended(silent);
        assert!(complained.contains("ended"), "{complained}");
        let whole = rest.lines().filter(|line| line.len() == 16).count();
        // What waits in the program is bounded: the rest is lost, unless it was printed after the first was read.
        assert!((16 << 20..20 * (8 << 20)).contains(&(whole * 17)), "{endpoint}: {} bytes", rest.len());
        assert!(complained.contains("printed more than"), "{endpoint}: {complained}");
    }
}

/// Starts one of [`several`], and reads what it prints.
fn reading(endpoint: &str) -> std::thread::JoinHandle<(String, String)> {
    let endpoint = endpoint.to_owned();
    std::thread::spawn(move || ended(program("several", &endpoint, &LINES.to_string())))
}

/// So many lines fill a channel's queue.
const LINES: i32 = (1 << 20) / 17;

/// What it prints.
fn all_lines() -> String {
    (0..20).flat_map(|n| (0..LINES).map(move |i| format!("{n:08} {i:07}\n"))).collect()
}

fn do_not_mix() {
    let folder = tempfile::tempdir().unwrap();
    let manager = manager(&folder);
    let both: Vec<_> = manager.endpoints.iter().map(|endpoint| reading(endpoint)).collect();
    let expected = all_lines();
    for program in both {
        let (said, complained) = program.join().unwrap();
        assert!(said == expected, "{} of {} bytes; {complained}", said.len(), expected.len());
    }
}

/// Its kernel writes to the file of its output by a system call of its own, and moves about in it.
fn junk() {
    let bench = bench();
    let kernel = bench.kernel(JUNK, "junk");
    bench.launch(bench.queue(), kernel, 1, &[]);
    ok!(bench.cl, clFinish(bench.queue()));
}

const JUNK: &str = r#"
    long call(long number, long a, long b, long c) {
        long result;
        __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
        return result;
    }
    kernel void junk(void) {
        char text[5] = { 'j', 'u', 'n', 'k', '\n' };
        for (int i = 0; i < 3; i++) call(1, 1, (long)text, 5);
        call(8, 1, 1L << 40, 0);
        call(1, 1, (long)text, 5);
    }
"#;

fn writes_junk() {
    if !cfg!(target_arch = "x86_64") {
        eprintln!("not tried: its system calls are x86-64's");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let manager = manager(&folder);
    for endpoint in &manager.endpoints {
        let neighbour = reading(endpoint);
        let (said, _) = ended(program("junk", endpoint, ""));
        assert!(said.bytes().all(|byte| byte == 0 || b"junk\n".contains(&byte)), "{endpoint}");
        assert!(said.len() <= TASK_MAX, "{endpoint}: {}", said.len());
        assert!(neighbour.join().unwrap().0 == all_lines(), "{endpoint}");
    }
}
