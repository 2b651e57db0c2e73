//! Clients that violate the protocol do not affect others.

#[path = "../common/mod.rs"]
mod common;
mod images;
mod svm;

use std::time::{Duration, Instant};

use common::{Daemon, LIMITS, PATIENCE, Tenant};
use rackloom_manager::scheduler::Policy;
use rackloom_node::Rng;
use rackloom_opencl_wire::{
    Answer, Area, Argument, COMMAND, Command, Form, Image, ImageFormat, Op, Payload, Rect, VERSION, encode_command,
    encode_op,
};

const INVALID_VALUE: i32 = -30;
const INVALID_MEM_OBJECT: i32 = -38;
const INVALID_PROGRAM: i32 = -44;
const INVALID_KERNEL: i32 = -48;
const INVALID_ARG_VALUE: i32 = -50;
const ALLOCATION_FAILURE: i32 = -4;
const WAIT_LIST_FAILED: i32 = -14;

#[test]
fn numbers_name_only_ones_own_objects() {
    let daemon = Daemon::start(Policy::Fair);
    let (a, b) = (daemon.client(), daemon.client());
    a.buffer(7, 64);
    assert_eq!(a.write(7, 0, b"secret of a").status, 0);
    a.build(3, "kernel void k(global int *x) { x[0] = 1; }");
    a.send(&Command::CreateKernel { kernel: 2, program: 3, name: "k" }, &[]);
    assert_eq!(a.run(Tenant::launch(2, 1, vec![(0, Argument::Buffer(Some(7)))]), &[]).status, 0);
    for number in [7, 0, 63, 64, u32::MAX] {
        let end = b.read(number, 0, 11);
        assert_eq!((end.status, end.tail), (INVALID_MEM_OBJECT, vec![]), "buffer {number}");
    }
    assert_eq!(b.run(Tenant::launch(2, 1, vec![]), &[]).status, INVALID_KERNEL);
    assert_eq!(b.ask(|request| Command::Kernel { request, program: 3, name: "k" }), Err(INVALID_PROGRAM));
    // Stale: it was one, and is none any more.
    b.buffer(1, 64);
    assert_eq!(b.write(1, 0, b"b").status, 0);
    b.send(&Command::ReleaseBuffer { buffer: 1 }, &[]);
    assert_eq!(b.read(1, 0, 1).status, INVALID_MEM_OBJECT);
    assert_eq!(&a.read(7, 4, 7).tail, b"et of a", "the neighbour's bytes but for what its kernel wrote");
}

#[test]
fn memory_passes_on_without_bytes() {
    let daemon = Daemon::start(Policy::Fair);
    let size = 1 << 20;
    for round in 0..8u8 {
        let first = daemon.client();
        (0..8).for_each(|buffer| first.buffer(buffer, size));
        let pattern = [0xa5 ^ round];
        let fill = |buffer| Op::Fill { buffer, offset: 0, len: size, pattern: &pattern };
        (0..8).for_each(|buffer| assert_eq!(first.run(fill(buffer), &[]).status, 0));
        drop(first);
        let second = daemon.client();
        for buffer in 0..8 {
            second.buffer(buffer, size);
            let bulk = second.bulk(size);
            let into = bulk.expect(0, size).unwrap();
            let read = Op::Read { buffer, offset: 0, len: size, into: Some(into.into()) };
            // Half of them are read after a part was written, half through a part of the buffer.
            if buffer % 2 == 0 {
                assert_eq!(second.write(buffer, 10, &[0]).status, 0);
                assert_eq!(second.run(read, &[]).status, 0);
            } else {
                let parent = buffer;
                let part = buffer + 20;
                second.send(&Command::CreateSubBuffer { buffer: part, parent, flags: 0, offset: 0, size }, &[]);
                let read = Op::Read { buffer: part, offset: 0, len: size, into: Some(into.into()) };
                assert_eq!(second.run(read, &[]).status, 0);
            }
            let mut got = vec![1; size as usize];
            bulk.get(&into, 0, &mut got).unwrap();
            assert!(got.iter().all(|byte| *byte == 0), "bytes of somebody else in buffer {buffer}");
        }
    }
}

#[test]
fn ranges_and_sizes_beyond_are_refused() {
    let daemon = Daemon::start(Policy::Fair);
    let t = daemon.client();
    t.buffer(0, 64);
    t.buffer(1, 64);
    let rect = |origin, region, row_pitch, slice_pitch| Rect { origin, region, row_pitch, slice_pitch };
    let good = rect([0, 0, 0], [4, 2, 1], 8, 64);
    let wide = rect([0, 0, 0], [u64::MAX, 2, 2], u64::MAX, u64::MAX);
    let far = rect([0, u64::MAX, 1], [4, 2, 1], 8, 64);
    let bad = [
        Op::Read { buffer: 0, offset: 60, len: 5, into: None },
        Op::Read { buffer: 0, offset: u64::MAX, len: 2, into: None },
        Op::Read { buffer: 0, offset: 0, len: u64::MAX, into: None },
        Op::Read { buffer: 0, offset: 0, len: 1 << 20, into: None },
        Op::ReadRect { buffer: 0, rect: wide, into: None },
        Op::ReadRect { buffer: 0, rect: far, into: None },
        Op::CopyRect { from: 0, source: good, to: 1, target: far },
        Op::CopyRect { from: 0, source: good, to: 1, target: rect([0; 3], [4, 1, 1], 8, 64) },
        Op::Copy { from: 0, from_offset: 1, to: 1, to_offset: 0, len: 64 },
        Op::Copy { from: 0, from_offset: u64::MAX, to: 1, to_offset: u64::MAX, len: 2 },
        Op::Fill { buffer: 0, offset: 0, len: 66, pattern: &[1, 2] },
        Op::Fill { buffer: 0, offset: 0, len: 6, pattern: &[1, 2, 3] },
        Op::Fill { buffer: 0, offset: 0, len: 6, pattern: &[] },
        Op::Map { buffer: 0, flags: 1, offset: 0, len: 65 },
    ];
    for op in bad {
        assert_eq!(t.run(op.clone(), &[]).status, INVALID_VALUE, "{op:?}");
    }
    assert_ne!(t.run(Op::Map { buffer: 0, flags: 1, offset: 0, len: 64 }, &[]).status, 0, "it has no backing");
    assert_eq!(t.write(0, 60, b"12345").status, INVALID_VALUE);
    let op = Op::WriteRect { buffer: 0, rect: good, from: Payload::Inline };
    assert_eq!(t.run(op, b"1234567").status, INVALID_VALUE, "fewer bytes than the box");
    for (offset, size) in [(0, 65), (64, 1), (u64::MAX, 2), (0, 0)] {
        t.send(&Command::CreateSubBuffer { buffer: 9, parent: 0, flags: 0, offset, size }, &[]);
        assert_eq!(t.read(9, 0, 1).status, INVALID_VALUE, "part {offset} {size}");
        t.send(&Command::ReleaseBuffer { buffer: 9 }, &[]);
    }
    assert_eq!(t.read(0, 0, 64).tail, [0; 64], "nothing was written");
}

#[test]
fn no_bytes_of_a_client_become_a_handle() {
    let daemon = Daemon::start(Policy::Fair);
    let t = daemon.client();
    t.build(0, "kernel void k(global int *to, local int *tmp, ulong value) { to[0] = (int)value; }");
    t.send(&Command::CreateKernel { kernel: 0, program: 0, name: "k" }, &[]);
    t.buffer(0, 64);
    let eight = 0x5555_5555_0000u64.to_le_bytes();
    let good = vec![(0, Argument::Buffer(Some(0))), (1, Argument::Local(64)), (2, Argument::Value(&eight))];
    let is_good = || assert_eq!(t.run(Tenant::launch(0, 1, good.clone()), &[]).status, 0);
    is_good();
    let bad = [
        (0, Argument::Value(&eight[..])),
        (0, Argument::Local(7)),
        (1, Argument::Value(&eight[..])),
        (1, Argument::Buffer(Some(0))),
        (2, Argument::Buffer(Some(0))),
        (2, Argument::Local(8)),
        (2, Argument::Buffer(None)),
    ];
    for argument in bad {
        assert_eq!(t.run(Tenant::launch(0, 1, vec![argument.clone()]), &[]).status, INVALID_ARG_VALUE, "{argument:?}");
        assert_eq!(t.run(Tenant::launch(0, 1, vec![]), &[]).status, INVALID_ARG_VALUE, "until it is set anew");
        is_good();
    }
    for index in [3, 4, u32::MAX] {
        assert_ne!(t.run(Tenant::launch(0, 1, vec![(index, Argument::Value(&[1]))]), &[]).status, 0, "{index}");
    }
    assert_eq!(t.run(Tenant::launch(0, 1, vec![(0, Argument::Buffer(Some(5)))]), &[]).status, INVALID_MEM_OBJECT);
    is_good();
    // A buffer that is gone while the kernel still has it as its argument.
    t.send(&Command::ReleaseBuffer { buffer: 0 }, &[]);
    assert_eq!(t.run(Tenant::launch(0, 1, vec![]), &[]).status, 0);
    for dimensions in [0, 4, 255] {
        let (offset, global, local, arguments, reaches) = ([0; 3], [1; 3], None, vec![], None);
        let launch = Op::Launch { kernel: 0, dimensions, offset, global, local, arguments, reaches };
        assert_ne!(t.run(launch, &[]).status, 0, "{dimensions} dimensions");
    }
    let launch = Op::Launch {
        kernel: 0,
        dimensions: 3,
        offset: [0; 3],
        global: [1 << 32, 1 << 32, 2],
        local: None,
        arguments: vec![],
        reaches: None,
    };
    assert_ne!(t.run(launch, &[]).status, 0, "more work-items than numbers");
}

#[test]
fn quotas_hold() {
    let daemon = Daemon::start(Policy::Fair);
    let t = daemon.client();
    t.buffer(0, LIMITS.memory - 100);
    t.buffer(1, 101);
    assert_eq!(t.write(1, 0, b"x").status, ALLOCATION_FAILURE);
    t.send(&Command::ReleaseBuffer { buffer: 1 }, &[]);
    t.buffer(1, 100);
    assert_eq!(t.write(1, 0, b"x").status, 0);
    t.send(&Command::ReleaseBuffer { buffer: 0 }, &[]);
    t.buffer(0, LIMITS.memory - 100);
    assert_eq!(t.write(0, 0, b"x").status, 0, "what was released counts no more");
    // Beyond what the library would ever ask for.
    t.buffer(LIMITS.objects, 1);
    assert!(t.ended().unwrap().contains("object number 64"));
    let t = daemon.client();
    t.buffer(3, 1);
    t.buffer(3, 1);
    assert!(t.ended().unwrap().contains("object number 3"), "a number twice");
    let t = daemon.client();
    t.send(&Command::ReleaseKernel { kernel: 3 }, &[]);
    assert!(t.ended().is_some());
    let t = daemon.client();
    t.buffer(0, 64);
    for _ in 0..=LIMITS.operations {
        t.enqueue(Op::Marker, &[]);
    }
    assert!(t.ended().unwrap().contains("256 operations"));
}

#[test]
fn what_waits_for_a_failure_fails() {
    let daemon = Daemon::start(Policy::Fair);
    let t = daemon.client();
    t.buffer(0, 64);
    let failed = t.enqueue(Op::Read { buffer: 0, offset: 60, len: 5, into: None }, &[]);
    let dependent = t.enqueue_after(Op::Marker, &[], vec![failed], false);
    let further = t.enqueue_after(Op::Marker, &[], vec![dependent], false);
    let free = t.enqueue_after(Op::Marker, &[], vec![], true);
    let ends = [failed, dependent, further, free].map(|event| t.end(event).status);
    assert_eq!(ends, [INVALID_VALUE, WAIT_LIST_FAILED, WAIT_LIST_FAILED, 0]);
}

#[test]
fn a_client_that_does_not_greet_is_sent_away() {
    let daemon = Daemon::start(Policy::Fair);
    let early = Tenant::silent(&daemon.endpoint);
    early.send(&Command::Submit, &[]);
    assert!(early.ended().unwrap().contains("hello"));
    let old = Tenant::silent(&daemon.endpoint);
    assert!(old.ask(|request| Command::Hello { request, version: VERSION + 1, name: "" }).is_err());
    assert!(old.ended().unwrap().contains("version"));
    let unbound = Tenant::silent(&daemon.endpoint);
    assert!(unbound.ask(|request| Command::Hello { request, version: VERSION, name: "" }).is_ok());
    assert!(unbound.ask(|request| Command::Open { request, board: 900 }).is_err());
    assert!(matches!(unbound.ask(|request| Command::Clock { request }), Ok(Answer::Clock(1..))));
    unbound.buffer(0, 1);
    assert!(unbound.ended().unwrap().contains("board"));
}

/// Files and threads of this process, which is the daemon's, too.
fn resources() -> (usize, usize) {
    let count = |folder| std::fs::read_dir(folder).unwrap().count();
    (count("/proc/self/fd"), count("/proc/self/task"))
}

/// A random command: plausible, for nonsense alone is refused at the first byte.
fn random_command(random: &mut impl FnMut(u64) -> u64, to: &Tenant) -> Vec<u8> {
    let mut small = |most: u64| if random(8) == 0 { random(u64::MAX) } else { random(most) };
    let id = |small: &mut dyn FnMut(u64) -> u64| small(8) as u32;
    let event = to.number();
    let rect = Rect {
        origin: [small(9), small(4), small(3)],
        region: [small(9), small(4), small(3)],
        row_pitch: small(20),
        slice_pitch: small(80),
    };
    let place = [small(3) as u8; 24];
    let bulk: rackloom_opencl_wire::Place = rackloom_ipc::BulkRef::decode(&place).into();
    let from = if small(3) == 0 { Payload::Bulk(bulk) } else { Payload::Inline };
    let into = (small(3) == 0).then_some(bulk);
    let (a, b) = (id(&mut small), id(&mut small));
    let (offset, len, len2) = (small(80), small(80), small(80));
    let area = Area { origin: rect.origin, region: rect.region };
    let which = small(22);
    let op = match which {
        0 => Op::Write { buffer: a, offset, from },
        1 => Op::Read { buffer: a, offset, len, into },
        2 => Op::WriteRect { buffer: a, rect, from },
        3 => Op::ReadRect { buffer: a, rect, into },
        4 => Op::Copy { from: a, from_offset: offset, to: b, to_offset: len2, len },
        5 => Op::CopyRect { from: a, source: rect, to: b, target: rect },
        6 => Op::Fill { buffer: a, offset, len, pattern: &[1, 2, 3, 4] },
        7 => Op::Map { buffer: a, flags: len2, offset, len },
        8 => Op::Unmap { buffer: a, offset, len },
        9..12 => Op::Launch {
            kernel: a,
            dimensions: (len % 5) as u8,
            offset: [offset, 0, 0],
            global: [len % 100, len2 % 10, 1],
            local: (offset % 2 == 0).then_some([len2 % 20, 1, 1]),
            arguments: vec![
                (len2 as u32 % 4, Argument::Buffer(Some(b))),
                (b % 4, if len % 2 == 0 { Argument::Value(&[9; 8]) } else { Argument::Svm { memory: a, offset } }),
            ],
            reaches: (len % 3 == 0).then(|| vec![a, b]),
        },
        12 => Op::WriteImage { image: a, area, from },
        13 => Op::ReadImage { image: a, area, into },
        14 => Op::CopyImage { from: a, source: area, to: b, origin: [offset % 8, len2 % 4, 0] },
        15 => Op::CopyImageToBuffer { from: a, area, to: b, offset },
        16 => Op::CopyBufferToImage { from: a, offset, to: b, area },
        17 => Op::FillImage { image: a, area, color: [7; 16] },
        _ => Op::Marker,
    };
    let mut sequence = Vec::new();
    let command = match small(38) {
        0 => Command::CreateBuffer { buffer: a, flags: small(1 << 10), size: len, backing: into },
        1 => Command::CreateSubBuffer { buffer: a, parent: b, flags: small(1 << 6), offset, size: len },
        2 => Command::ReleaseBuffer { buffer: a },
        3 => Command::CreateProgram { program: a, form: Form::Source, bytes: from },
        4 => Command::CreateProgram { program: a, form: Form::Binary, bytes: from },
        5 => Command::Kernel { request: event, program: a, name: "k" },
        6 => Command::CreateKernel { kernel: a, program: b, name: "k" },
        7 => Command::ReleaseKernel { kernel: a },
        8 => Command::Binary { request: event, program: a, into: bulk },
        9 => Command::Submit,
        10 => Command::BinarySize { request: event, program: a },
        11 => Command::Profile,
        12 | 13 => {
            let format = ImageFormat { order: 0x10b0 + (len % 12) as u32, data_type: 0x10d0 + (len2 % 16) as u32 };
            let (kind, extent) = (0x10f0 + (offset % 8) as u32, rect.region);
            let description = Image { kind, format, extent, row_pitch: if len % 4 == 0 { len2 } else { 0 } };
            Command::CreateImage { image: a, flags: 1, description, of: (len % 4 == 0).then_some(b) }
        }
        14 => Command::CreateSampler { sampler: a, normalized: len % 2 == 0, addressing: b, filter: 0x1140 },
        15 => Command::ReleaseSampler { sampler: a },
        16 | 17 => Command::CreateSvm { request: event, buffer: a, flags: small(1 << 10), size: len, backing: into },
        18 | 19 => {
            (0..=len % 20).for_each(|_| encode_op(&op, &mut sequence));
            Command::Sequence { event: event.into(), waits: vec![len], submit: len2 % 2 == 0 }
        }
        _ => Command::Enqueue { event: event.into(), waits: vec![len], submit: len2 % 2 == 0, op },
    };
    let mut bytes = Vec::new();
    let mut tail: Vec<u8> = (0..len2 % 100).map(|i| i as u8).collect();
    if !sequence.is_empty() {
        tail = sequence;
    }
    encode_command(&command, &tail, &mut bytes);
    // One in three is damaged.
    if small(3) == 0 && !bytes.is_empty() {
        let at = small(bytes.len() as u64 - 1) as usize % bytes.len();
        bytes[at] ^= 1 << (offset % 8);
    }
    bytes
}

#[test]
fn ten_thousand_random_messages_harm_nobody() {
    // Another seed: RACKLOOM_SEED=7 cargo test -p rackloom-manager --test isolation
    let daemon = Daemon::start(Policy::Fair);
    let neighbour = daemon.client();
    neighbour.buffer(0, 64);
    neighbour.build(0, "kernel void k(global int *x) { x[1] += 1; }");
    neighbour.send(&Command::CreateKernel { kernel: 0, program: 0, name: "k" }, &[]);
    assert_eq!(neighbour.run(Tenant::launch(0, 1, vec![(0, Argument::Buffer(Some(0)))]), &[]).status, 0);
    let before = resources();
    let seed = std::env::var("RACKLOOM_SEED").map_or(10_000, |seed| seed.parse().expect("a number"));
    let mut rng = Rng::new(seed);
    let mut random = |most: u64| rng.below(most.max(1));
    let (mut sent, mut sessions, mut launches, mut slowest) = (0, 0, 1, Duration::ZERO);
    while sent < 10_000 {
        let hostile = daemon.client();
        hostile.inbox.lock().unwrap().hostile = true;
        sessions += 1;
        (0..4).for_each(|buffer| hostile.buffer(buffer, 16 << buffer));
        // Builds take most of the time.
        if sessions % 16 == 1 {
            hostile.build(0, "kernel void k(global int *x) { x[0] = 1; }");
            hostile.send(&Command::CreateKernel { kernel: 0, program: 0, name: "k" }, &[]);
        }
        while hostile.client.closed().is_none() && sent < 10_000 {
            let message = random_command(&mut random, &hostile);
            if hostile.client.send(COMMAND, &message).is_err() {
                break;
            }
            sent += 1;
            // In step: what follows the message that ends the session is not looked at.
            if sent % 10 == 0 && !hostile.is_served() {
                break;
            }
            if sent % 50 == 0 {
                let start = Instant::now();
                assert_eq!(neighbour.run(Tenant::launch(0, 1, vec![]), &[]).status, 0);
                slowest = slowest.max(start.elapsed());
                launches += 1;
            }
        }
    }
    assert!(sessions > 50, "few messages ended their session: {sessions}");
    let end = neighbour.read(0, 4, 4);
    assert_eq!(end.tail, u32::to_le_bytes(launches), "the neighbour's kernels ran once each");
    assert!(slowest < Duration::from_secs(2), "the neighbour waited {slowest:?}");
    // The sessions' threads and files go with them.
    let patience = Instant::now() + PATIENCE;
    while resources().0 > before.0 || resources().1 > before.1 {
        assert!(Instant::now() < patience, "before {before:?}, now {:?}", resources());
        std::thread::sleep(Duration::from_millis(10));
    }
}
