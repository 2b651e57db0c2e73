//! Sessions: objects, operations and builds, over either transport.

mod common;

use std::time::{Duration, Instant};

use common::{Daemon, Tenant};
use rackloom_manager::paced::Pace;
use rackloom_manager::scheduler::Policy;
use rackloom_opencl_wire::{Answer, Argument, Command, Op, Payload, Rect};

const ADD: &str = "kernel void add(global const int *a, global const int *b, global int *sum, int more) {
    size_t i = get_global_id(0);
    sum[i] = a[i] + b[i] + more;
}";

fn ints(from: i32, count: i32) -> Vec<u8> {
    (from..from + count).flat_map(i32::to_le_bytes).collect()
}

fn add_on(daemon: &Daemon) {
    let t = daemon.client();
    let build = t.build(0, ADD);
    assert_eq!((build.status, &build.kernels[..]), (0, &["add".to_owned()][..]), "{}", build.log);
    let Ok(Answer::Kernel(info)) = t.ask(|request| Command::Kernel { request, program: 0, name: "add" }) else {
        panic!("no kernel");
    };
    assert_eq!(info.argument_count, 4);
    let arguments = info.arguments.unwrap();
    assert_eq!((arguments[2].name.as_str(), arguments[3].type_name.as_str()), ("sum", "int"));
    t.send(&Command::CreateKernel { kernel: 5, program: 0, name: "add" }, &[]);
    (0..3).for_each(|buffer| t.buffer(buffer, 4000));
    let first = t.enqueue(Op::Write { buffer: 0, offset: 0, from: Payload::Inline }, &ints(0, 1000));
    let second = t.enqueue(Op::Write { buffer: 1, offset: 0, from: Payload::Inline }, &ints(500, 1000));
    let arguments = vec![
        (0, Argument::Buffer(Some(0))),
        (1, Argument::Buffer(Some(1))),
        (2, Argument::Buffer(Some(2))),
        (3, Argument::Value(&[7, 0, 0, 0])),
    ];
    let launch = t.enqueue_after(Tenant::launch(5, 1000, arguments), &[], vec![first, second], false);
    let read = t.read(2, 0, 4000);
    assert_eq!(read.status, 0);
    let sums: Vec<u8> = (0..1000).flat_map(|i: i32| (2 * i + 507).to_le_bytes()).collect();
    assert_eq!(read.tail, sums);
    let ends = [first, second, launch].map(|event| t.end(event));
    assert!(ends.iter().all(|end| end.status == 0), "{ends:?}");
    let times = ends.map(|end| end.times.unwrap());
    assert!(times.iter().all(|t| t.submitted <= t.started && t.started <= t.ended), "{times:?}");
    // Arguments stay: only what changes is sent.
    assert_eq!(t.run(Tenant::launch(5, 1000, vec![(3, Argument::Value(&[8, 0, 0, 0]))]), &[]).status, 0);
    assert_eq!(t.read(2, 0, 4).tail, 508i32.to_le_bytes());
}

#[test]
fn a_kernel_adds_over_shared_memory() {
    add_on(&Daemon::start(Policy::Fair));
}

#[test]
fn a_kernel_adds_over_tcp() {
    add_on(&Daemon::over(Policy::Fifo, true));
}

#[test]
fn large_transfers_go_as_bulk() {
    for tcp in [false, true] {
        let daemon = Daemon::over(Policy::Fair, tcp);
        let t = daemon.client();
        let len = 3 << 20;
        t.buffer(0, len);
        let bytes: Vec<u8> = (0..len as usize).map(|i| (i * 7 + i / 251) as u8).collect();
        let bulk = t.bulk(len);
        let from = Payload::Bulk(bulk.put(0, &bytes).unwrap().into());
        assert_eq!(t.run(Op::Write { buffer: 0, offset: 0, from }, &[]).status, 0);
        let back = bulk.expect(0, len - 5).unwrap();
        let op = Op::Read { buffer: 0, offset: 5, len: len - 5, into: Some(back.into()) };
        assert_eq!(t.run(op, &[]).status, 0);
        let mut got = vec![0; len as usize - 5];
        bulk.get(&back, 0, &mut got).unwrap();
        assert!(got == bytes[5..]);
    }
}

#[test]
fn boxes_copies_and_fills() {
    let daemon = Daemon::start(Policy::Fair);
    let t = daemon.client();
    t.buffer(0, 64);
    t.buffer(1, 64);
    assert_eq!(t.run(Op::Fill { buffer: 0, offset: 0, len: 64, pattern: &[1, 2] }, &[]).status, 0);
    let rect = Rect { origin: [2, 1, 0], region: [3, 2, 1], row_pitch: 8, slice_pitch: 64 };
    let op = Op::WriteRect { buffer: 0, rect, from: Payload::Inline };
    assert_eq!(t.run(op, b"abcdef").status, 0);
    let mut expected: Vec<u8> = [1, 2].repeat(32);
    expected[10..13].copy_from_slice(b"abc");
    expected[18..21].copy_from_slice(b"def");
    assert_eq!(t.read(0, 0, 64).tail, expected);
    assert_eq!(t.run(Op::ReadRect { buffer: 0, rect, into: None }, &[]).tail, b"abcdef");
    assert_eq!(t.run(Op::Copy { from: 0, from_offset: 10, to: 1, to_offset: 1, len: 3 }, &[]).status, 0);
    assert_eq!(t.read(1, 0, 5).tail, b"\0abc\0");
    let target = Rect { origin: [0, 0, 0], region: [3, 2, 1], row_pitch: 4, slice_pitch: 8 };
    assert_eq!(t.run(Op::CopyRect { from: 0, source: rect, to: 1, target }, &[]).status, 0);
    assert_eq!(t.read(1, 0, 8).tail, b"abccdef\0");
    t.send(&Command::CreateSubBuffer { buffer: 2, parent: 0, flags: 0, offset: 0, size: 16 }, &[]);
    assert_eq!(t.read(2, 8, 8).tail, expected[8..16]);
}

#[test]
fn backed_buffers_are_the_clients_memory() {
    let daemon = Daemon::start(Policy::Fair);
    let t = daemon.client();
    let bulk = t.bulk(4096);
    let backing = Some(bulk.publish(0, 4096).unwrap().into());
    t.send(&Command::CreateBuffer { buffer: 0, flags: 1, size: 4096, backing }, &[]);
    assert_eq!(t.run(Op::Map { buffer: 0, flags: 2, offset: 0, len: 4096 }, &[]).status, 0);
    bulk.put(100, b"from the program").unwrap();
    assert_eq!(t.run(Op::Unmap { buffer: 0, offset: 0, len: 4096 }, &[]).status, 0);
    assert_eq!(t.read(0, 100, 16).tail, b"from the program");
    assert_eq!(t.write(0, 100, b"from the command").status, 0);
    assert_eq!(t.run(Op::Map { buffer: 0, flags: 1, offset: 100, len: 16 }, &[]).status, 0);
    let mut got = [0; 16];
    bulk.get(&bulk.expect(100, 16).unwrap(), 0, &mut got).unwrap();
    assert_eq!(&got, b"from the command");
    assert_eq!(t.run(Op::Unmap { buffer: 0, offset: 100, len: 16 }, &[]).status, 0);
}

#[test]
fn builds_fail_with_a_log_and_binaries_come_back() {
    let daemon = Daemon::start(Policy::Fair);
    let t = daemon.client();
    let build = t.build(0, "kernel void broken(global int *a) { a[0] = nowhere; }");
    assert_eq!(build.status, -11);
    assert!(build.log.contains("nowhere"), "{}", build.log);
    let build = t.build(1, ADD);
    assert_eq!(build.status, 0);
    let Ok(Answer::BinarySize(size)) = t.ask(|request| Command::BinarySize { request, program: 1 }) else {
        panic!("no binary");
    };
    let bulk = t.bulk(size);
    let into = bulk.expect(0, size).unwrap();
    let answer = t.ask(|request| Command::Binary { request, program: 1, into: into.into() });
    assert_eq!(answer, Ok(Answer::Binary));
    // A program from that binary does the same.
    let bytes = Payload::Bulk(bulk.publish(0, size).unwrap().into());
    t.send(&Command::CreateProgram { program: 2, form: rackloom_opencl_wire::Form::Binary, bytes }, &[]);
    let Ok(Answer::Built(again)) = t.ask(|request| Command::Build { request, program: 2, options: "" }) else {
        panic!("no build");
    };
    assert_eq!((again.status, again.kernels), (0, vec!["add".to_owned()]), "{}", again.log);
    assert_eq!(t.ask(|request| Command::Created { request, program: 2 }), Ok(Answer::Created { binary_type: 4 }));
    let form = rackloom_opencl_wire::Form::Binary;
    t.send(&Command::CreateProgram { program: 3, form, bytes: Payload::Inline }, b"no binary of anything");
    assert_eq!(t.ask(|request| Command::Created { request, program: 3 }), Err(-42));
}

#[test]
fn programs_are_compiled_and_linked() {
    let daemon = Daemon::start(Policy::Fair);
    let t = daemon.client();
    let source = |program, text: &str| {
        let form = rackloom_opencl_wire::Form::Source;
        t.send(&Command::CreateProgram { program, form, bytes: Payload::Inline }, text.as_bytes());
    };
    source(
        0,
        "#include \"more.h\"
        kernel void k(global int *a, local int *tmp, double more) { tmp[0] = (int)more; a[0] = MORE + helper() + tmp[0]; }",
    );
    source(1, "#define MORE 40\nint helper(void);");
    source(2, "int helper(void) { return 2; }");
    let compile = |program, headers| match t.ask(|request| Command::Compile { request, program, options: "", headers })
    {
        Ok(Answer::Built(build)) => assert_eq!(build.status, 0, "{}", build.log),
        other => panic!("{other:?}"),
    };
    compile(0, vec![("more.h", 1)]);
    compile(2, vec![]);
    let linked = t.ask(|request| Command::Link { request, program: 3, options: "", inputs: vec![0, 2] });
    let Ok(Answer::Built(build)) = linked else { panic!("{linked:?}") };
    assert_eq!((build.status, &build.kernels[..]), (0, &["k".to_owned()][..]), "{}", build.log);
    t.send(&Command::CreateKernel { kernel: 0, program: 3, name: "k" }, &[]);
    t.buffer(0, 4);
    // The runtime does not say what a linked program's arguments are; no handle may be posed as for any other.
    let value = 8f64.to_le_bytes();
    let good = vec![(0, Argument::Buffer(Some(0))), (1, Argument::Local(4)), (2, Argument::Value(&value))];
    assert_eq!(t.run(Tenant::launch(0, 1, good), &[]).status, 0);
    assert_eq!(t.read(0, 0, 4).tail, 50i32.to_le_bytes());
    let bad = [(0, Argument::Value(&value[..])), (1, Argument::Value(&value)), (2, Argument::Buffer(Some(0)))];
    for argument in bad {
        assert_eq!(t.run(Tenant::launch(0, 1, vec![argument.clone()]), &[]).status, -50, "{argument:?}");
    }
}

#[test]
fn the_end_of_an_operation_is_told_before_that_of_a_long_one_behind_it() {
    const LONG: Duration = Duration::from_millis(400);
    let pace = Pace { kernels: [("slow".to_owned(), LONG)].into(), rate: 1e12 };
    let daemon = Daemon::paced(Policy::Fair, pace);
    let t = daemon.client();
    assert_eq!(t.build(0, "kernel void slow(global int *a) { a[0] = 1; }").status, 0);
    t.send(&Command::CreateKernel { kernel: 0, program: 0, name: "slow" }, &[]);
    t.buffer(0, 4);
    let launch = || Tenant::launch(0, 1, vec![(0, Argument::Buffer(Some(0)))]);
    assert_eq!(t.run(launch(), &[]).status, 0);
    let start = Instant::now();
    let short = [t.enqueue(Op::Marker, &[]), t.enqueue(Op::Marker, &[])];
    let (long, behind) = (t.enqueue(launch(), &[]), t.enqueue_after(Op::Marker, &[], vec![], true));
    assert_eq!(short.map(|event| t.end(event).status), [0; 2]);
    assert!(start.elapsed() < LONG / 2, "{:?}", start.elapsed());
    assert_eq!([long, behind].map(|event| t.end(event).status), [0; 2]);
    assert!(start.elapsed() >= LONG, "{:?}", start.elapsed());
}
