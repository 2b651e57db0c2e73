//! Sequences: many operations in a message, with one event and one reply.

mod common;

use std::collections::BTreeMap;
use std::time::Duration;

use common::{DEFAULTS, Daemon, End, Tenant};
use rackloom_manager::EndpointLimits;
use rackloom_manager::paced::Pace;
use rackloom_manager::scheduler::Policy;
use rackloom_opencl_wire::{Command, EventId, Op, Payload, encode_op};

/// The code of an operation behind one that failed.
const BEHIND_A_FAILURE: i32 = -14;

fn ops(ops: &[Op<'_>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    ops.iter().for_each(|op| encode_op(op, &mut bytes));
    bytes
}

fn fill(buffer: u32, offset: u64, len: u64, byte: &[u8; 1]) -> Op<'_> {
    Op::Fill { buffer, offset, len, pattern: byte }
}

/// Sends a sequence, which closes its task.
fn send(t: &Tenant, bytes: &[u8], waits: Vec<EventId>) -> EventId {
    let event = t.number().into();
    t.send(&Command::Sequence { event, waits, submit: true }, bytes);
    event
}

fn run(t: &Tenant, bytes: &[u8]) -> End {
    let event = send(t, bytes, vec![]);
    t.end(event)
}

fn each(test: impl Fn(&Tenant)) {
    for tcp in [false, true] {
        let daemon = Daemon::over(Policy::Fair, tcp);
        test(&daemon.client());
    }
}

#[test]
fn a_sequence_is_done_in_its_order_and_has_one_reply() {
    each(|t| {
        (0..2).for_each(|buffer| t.buffer(buffer, 16));
        let before = t.run(Op::Marker, &[]).times.unwrap();
        let copy = Op::Copy { from: 0, from_offset: 0, to: 1, to_offset: 4, len: 8 };
        let done = run(t, &ops(&[fill(0, 0, 16, b"a"), fill(0, 4, 8, b"b"), copy, fill(0, 0, 16, b"c"), Op::Marker]));
        assert_eq!((done.status, &done.tail[..]), (0, &[][..]));
        let times = done.times.unwrap();
        assert!(times.submitted <= times.started && times.started <= times.ended, "{times:?}");
        assert!(times.submitted >= before.submitted, "{times:?} {before:?}");
        let after = t.run(Op::Marker, &[]).times.unwrap();
        assert!(times.ended <= after.ended, "{times:?} {after:?}");
        assert_eq!(t.read(0, 0, 16).tail, b"cccccccccccccccc");
        assert_eq!(t.read(1, 0, 16).tail, b"\0\0\0\0aaaabbbb\0\0\0\0");
    });
}

#[test]
fn what_has_not_started_when_one_fails_does_not_and_others_go_on() {
    each(|t| {
        t.buffer(0, 16);
        let bad = Op::Copy { from: 0, from_offset: 0, to: 9, to_offset: 0, len: 1 };
        let failing = ops(&[fill(0, 0, 16, b"a"), bad, fill(0, 0, 16, b"b")]);
        let event = send(t, &failing, vec![]);
        // Both in the same task as what they wait for, or in the next.
        let (single, sequence) = (fill(0, 0, 16, b"c"), ops(&[fill(0, 0, 16, b"d"), fill(0, 0, 16, b"e")]));
        let behind = [t.enqueue_after(single, &[], vec![event], false), send(t, &sequence, vec![event])];
        let done = t.end(event);
        assert_eq!((done.status, done.times), (-38, None));
        assert_eq!(behind.map(|event| t.end(event).status), [BEHIND_A_FAILURE; 2]);
        assert_eq!(t.read(0, 0, 16).tail, [b'a'; 16]);
        assert_eq!(run(t, &ops(&[fill(0, 0, 4, b"f"), fill(0, 8, 4, b"g")])).status, 0);
        assert_eq!(t.read(0, 0, 16).tail, b"ffffaaaaggggaaaa");
        // The last one, and the only one.
        for failing in [ops(&[Op::Marker, fill(0, 0, 17, b"h")]), ops(&[fill(0, 17, 1, b"h")])] {
            assert_eq!(run(t, &failing).status, -30);
        }
        assert_eq!(run(t, &ops(&[Op::Marker])).status, 0);
    });
}

#[test]
fn a_sequence_may_take_several_tasks() {
    // A task is cut behind each operation, or has as many as there may be at a time.
    for task_time in [Some(Duration::from_nanos(1)), None] {
        let pace = Pace { kernels: BTreeMap::new(), rate: 1e12 };
        let daemon = Daemon::paced_with(Policy::Fair, pace, EndpointLimits { task_time, ..DEFAULTS.into() });
        let t = daemon.client();
        t.buffer(0, 4000);
        let steps = |failing: Option<u64>| {
            let step = |at| fill(0, at, if failing == Some(at) { 4000 } else { 1 }, b"s");
            ops(&(0..4000).map(step).collect::<Vec<_>>())
        };
        assert_eq!(run(&t, &steps(None)).status, 0);
        assert_eq!(t.read(0, 0, 4000).tail, [b's'; 4000]);
        assert_eq!(t.run(fill(0, 0, 4000, b"-"), &[]).status, 0);
        assert_eq!(run(&t, &steps(Some(10))).status, -30);
        let mut expected = [b'-'; 4000];
        expected[..10].fill(b's');
        assert_eq!(t.read(0, 0, 4000).tail, expected);
        // More than may be under way, one sequence after the other.
        for _ in 0..5 {
            assert_eq!(run(&t, &ops(&vec![Op::Marker; 4000])).status, 0);
        }
    }
}

#[test]
fn what_is_no_sequence_ends_the_session_by_name_and_no_other() {
    let daemon = Daemon::start(Policy::Fair);
    let other = daemon.client();
    other.buffer(0, 4);
    let inline = Op::Write { buffer: 0, offset: 0, from: Payload::Inline };
    let read = Op::Read { buffer: 0, offset: 0, len: 4, into: None };
    let map = Op::Map { buffer: 0, flags: 1, offset: 0, len: 4 };
    let bad = [
        Vec::new(),
        [ops(&[Op::Marker]), vec![255]].concat(),
        vec![255; 9],
        ops(&[Op::Marker, inline]),
        ops(&[read]),
        ops(&[map, Op::Marker]),
    ];
    for bytes in bad {
        let t = daemon.client();
        t.buffer(0, 4);
        send(&t, &bytes, vec![]);
        let why = t.ended();
        assert!(why.as_deref().is_some_and(|why| why.contains("sequence")), "{bytes:?}: {why:?}");
        assert_eq!(other.run(Op::Marker, &[]).status, 0);
    }
    // Operations of sequences count as any others.
    let t = daemon.client();
    send(&t, &ops(&vec![Op::Marker; 257]), vec![]);
    let why = t.ended();
    assert!(why.as_deref().is_some_and(|why| why.contains("operations have not ended")), "{why:?}");
}
