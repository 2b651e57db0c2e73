//! Roles with streams: messages, events and deadlines beside kernels, within bounds.

mod common;

use bytes::Bytes;
use common::{DDR_BYTES, manifest, sandbox};
use rackloom_ddr::Ddr;
use rackloom_node::{Duration, Instant};
use rackloom_role::{Role, RoleError, RoleOutput, Sandbox, Step, StreamError};

const NOW: Instant = Instant::ZERO;

/// A module that imports all there is to streams, followed by `body`. Kernel `k` runs until a message has come and
/// returns what `receive` said.
fn module(body: &str) -> Vec<u8> {
    let text = format!(
        r#"(module
          (import "env" "memory" (memory 1))
          (import "rackloom" "receive" (func $receive (param i64 i64) (result i64)))
          (import "rackloom" "send" (func $send (param i64 i64 i64) (result i64)))
          (import "rackloom" "event" (func $event (param i64) (result i64)))
          (import "rackloom" "wake" (func $wake (param i64)))
          (func (export "k") (result i64) (local $got i64)
            (loop (br_if 0 (i64.eqz (local.tee $got (call $receive (i64.const 4096) (i64.const 9014))))))
            (local.get $got))
          {body})"#
    );
    wat::parse_str(text).unwrap()
}

fn role(part: &[u8]) -> Box<dyn Role> {
    let ddr = Ddr::new(DDR_BYTES).unwrap();
    sandbox().prepare(&manifest(&[("k", 0)]), part, DDR_BYTES).unwrap().activate(&ddr.handle()).unwrap()
}

/// Sends each message back on the next stream, reports its length, and asks to be woken; then reports 7.
const ECHO: &str = r#"
    (func (export "on_message") (param $stream i64) (param $length i64)
      (drop (call $receive (i64.const 4096) (i64.const 9014)))
      (drop (call $send (i64.add (local.get $stream) (i64.const 1)) (i64.const 4096) (local.get $length)))
      (drop (call $event (local.get $length)))
      (call $wake (i64.const 50)))
    (func (export "on_wake") (drop (call $event (i64.const 7))))"#;

fn outputs(role: &mut dyn Role, now: Instant) -> Vec<RoleOutput> {
    core::iter::from_fn(|| role.poll(now)).collect()
}

fn message(stream: u8, bytes: &'static [u8]) -> RoleOutput {
    RoleOutput::Message { stream, message: Bytes::from_static(bytes) }
}

#[test]
fn a_handler_answers_and_wakes() {
    let mut role = role(&module(ECHO));
    assert_eq!(role.streams(), 16);
    role.handle_message(NOW, 3, Bytes::from_static(b"hello")).unwrap();
    assert_eq!(outputs(&mut *role, NOW), [message(4, b"hello"), RoleOutput::Event(5)]);
    let later = NOW + Duration::from_micros(50);
    assert_eq!(role.next_deadline(), Some(later));
    role.handle_timeout(NOW);
    assert_eq!(outputs(&mut *role, NOW), []);
    role.handle_timeout(later);
    assert_eq!(outputs(&mut *role, later), [RoleOutput::Event(7)]);
    assert_eq!(role.next_deadline(), None);
}

#[test]
fn a_kernel_receives_what_comes_while_it_runs_and_the_handler_what_comes_after() {
    let mut role = role(&module(ECHO));
    role.start(0, &[], 1 << 30).unwrap();
    assert_eq!(role.step(), Step::Running);
    role.handle_message(NOW, 2, Bytes::from_static(b"abc")).unwrap();
    role.handle_message(NOW, 0, Bytes::from_static(b"late")).unwrap();
    assert_eq!(outputs(&mut *role, NOW), [], "no handler runs beside a kernel");
    let Step::Done { value, .. } = role.step() else { panic!("the kernel has its message") };
    assert_eq!(value, 2 << 32 | 3);
    assert_eq!(outputs(&mut *role, NOW), [message(1, b"late"), RoleOutput::Event(4)]);
}

#[test]
fn bounds_hold() {
    let mut role = role(&module(""));
    // Nothing handles messages: they wait for a kernel, as many as fit.
    for _ in 0..64 {
        role.handle_message(NOW, 15, Bytes::new()).unwrap();
    }
    assert_eq!(role.handle_message(NOW, 15, Bytes::new()), Err(StreamError::Full));
    assert_eq!(role.handle_message(NOW, 16, Bytes::new()), Err(StreamError::Unknown));
    assert_eq!(role.handle_message(NOW, 0, vec![0; 9015].into()), Err(StreamError::TooLong));
}

#[test]
fn a_handler_that_goes_wrong_costs_its_message() {
    let traps = [
        "unreachable",
        "(loop (br 0))",
        "(drop (call $send (i64.const 16) (i64.const 0) (i64.const 1)))",
        "(drop (call $send (i64.const -1) (i64.const 0) (i64.const 1)))",
        "(drop (call $send (i64.const 0) (i64.const 0) (i64.const 9015)))",
        "(drop (call $send (i64.const 0) (i64.const 0) (i64.const -1)))",
        "(drop (call $send (i64.const 0) (i64.const 4194300) (i64.const 9)))",
        "(drop (call $send (i64.const 0) (i64.const -8) (i64.const 9)))",
        "(drop (call $receive (i64.const 4194303) (i64.const 9014)))",
    ];
    for trap in traps {
        let body = format!(
            r#"(func (export "on_message") (param i64 i64)
                 (if (i64.eqz (local.get 0)) (then {trap}))
                 (drop (call $event (local.get 1))))"#
        );
        let mut role = role(&module(&body));
        role.handle_message(NOW, 0, Bytes::from_static(b"bad")).unwrap();
        assert_eq!(outputs(&mut *role, NOW), [], "{trap}");
        role.handle_message(NOW, 1, Bytes::from_static(b"good")).unwrap();
        assert_eq!(outputs(&mut *role, NOW), [RoleOutput::Event(4)], "{trap}");
    }
}

#[test]
fn a_flood_of_output_is_cut_off() {
    let body = r#"(func (export "on_message") (param i64 i64)
        (loop (br_if 0 (i64.eq (call $event (i64.const 1)) (i64.const 1)))))"#;
    let mut role = role(&module(body));
    role.handle_message(NOW, 0, Bytes::new()).unwrap();
    assert_eq!(outputs(&mut *role, NOW).len(), 64);
}

#[test]
fn a_handler_that_wakes_itself_at_once_does_not_stop_time() {
    let body = r#"(func (export "on_message") (param i64 i64) (call $wake (i64.const 0)))
        (func (export "on_wake") (call $wake (i64.const 0)))"#;
    let mut role = role(&module(body));
    role.handle_message(NOW, 0, Bytes::new()).unwrap();
    let mut now = NOW;
    for _ in 0..10 {
        let next = role.next_deadline().expect("it asked for a call");
        assert!(next > now);
        now = next;
        role.handle_timeout(now);
    }
}

#[test]
fn a_module_without_streams_has_none() {
    let mut role = role(&common::wasm(r#"(func (export "k") (result i64) (i64.const 1))"#));
    assert_eq!(role.streams(), 0);
    assert_eq!(role.handle_message(NOW, 0, Bytes::new()), Err(StreamError::Unknown));
    assert_eq!((role.poll(NOW), role.next_deadline()), (None, None));
}

#[test]
fn imports_of_another_shape_are_refused() {
    let bad = [
        r#"(import "rackloom" "send" (func (param i32 i64 i64) (result i64)))"#,
        r#"(import "rackloom" "receive" (func (param i64) (result i64)))"#,
        r#"(import "rackloom" "wake" (func (param i64) (result i64)))"#,
        r#"(import "rackloom" "event" (global i64))"#,
        r#"(import "rackloom" "socket" (func))"#,
    ];
    for import in bad {
        let text = format!(
            r#"(module (import "env" "memory" (memory 1)) {import}
            (func (export "k") (result i64) (i64.const 1)))"#
        );
        let part = wat::parse_str(text).unwrap();
        let refused = sandbox().prepare(&manifest(&[("k", 0)]), &part, DDR_BYTES).unwrap_err();
        assert!(matches!(refused, RoleError::Import { .. }), "{import}: {refused}");
    }
}
