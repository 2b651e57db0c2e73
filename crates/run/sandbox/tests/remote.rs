//! Kernels that use the memory of other nodes.

mod common;

use bytes::Bytes;
use common::{DDR_BYTES, fault, manifest, sandbox};
use rackloom_ddr::Ddr;
use rackloom_node::Instant;
use rackloom_role::{RemoteAccess, RemoteFault, RemoteWork, Role, RoleFault, Sandbox, Step};

/// `k(length)` reads so many bytes from 64 of the node of stream 3 to 2 MiB, waits, and returns what that says; `w`
/// writes the eight bytes at 2 MiB; `f` fails with what came of a read; `n` waits for what is not there.
const MODULE: &str = r#"(module
    (import "env" "memory" (memory 1))
    (import "rackloom" "receive" (func $receive (param i64 i64) (result i64)))
    (import "rackloom" "remote_read" (func $read (param i64 i64 i64 i64) (result i64)))
    (import "rackloom" "remote_write" (func $write (param i64 i64 i64 i64) (result i64)))
    (import "rackloom" "remote_wait" (func $wait (param i64) (result i64)))
    (import "rackloom" "remote_fail" (func $fail (param i64)))
    (func $get (param $length i64) (result i64)
      (call $wait (call $read (i64.const 3) (i64.const 64) (i64.const 0x200000) (local.get $length))))
    (func (export "k") (param $length i64) (result i64) (call $get (local.get $length)))
    (func (export "w") (result i64)
      (call $wait (call $write (i64.const 3) (i64.const 72) (i64.const 0x200000) (i64.const 8))))
    (func (export "f") (result i64) (call $fail (call $get (i64.const 8))) (i64.const 0))
    (func (export "n") (result i64) (call $wait (i64.const 1)))
    (func (export "on_message") (param i64 i64)
      (drop (call $get (i64.const 8)))))"#;

const KERNELS: [(&str, usize); 4] = [("k", 1), ("w", 0), ("f", 0), ("n", 0)];

fn role() -> (Ddr, Box<dyn Role>) {
    let ddr = Ddr::new(DDR_BYTES).unwrap();
    let part = wat::parse_str(MODULE).unwrap();
    let role = sandbox().prepare(&manifest(&KERNELS), &part, DDR_BYTES).unwrap().activate(&ddr.handle()).unwrap();
    (ddr, role)
}

fn access(number: u32, addr: u64, work: RemoteWork) -> RemoteAccess {
    RemoteAccess { number, stream: 3, addr, work }
}

#[test]
fn a_kernel_waits_for_what_it_reads_and_writes() {
    let (ddr, mut role) = role();
    role.start(0, &[8], 0).unwrap();
    assert_eq!((role.step(), role.step()), (Step::Waiting, Step::Waiting));
    assert_eq!(role.poll_remote(), Some(access(1, 64, RemoteWork::Read(8))));
    assert_eq!(role.poll_remote(), None);
    role.handle_remote(9, Err(RemoteFault::Gone));
    assert_eq!(role.step(), Step::Waiting, "that was another's");
    role.handle_remote(1, Ok(Bytes::from_static(b"remote!!")));
    assert!(matches!(role.step(), Step::Done { value: 0, .. }));
    let mut read = [0; 8];
    ddr.read(2 << 20, &mut read).unwrap();
    assert_eq!(&read, b"remote!!");

    role.start(1, &[], 0).unwrap();
    assert_eq!(role.step(), Step::Waiting);
    assert_eq!(role.poll_remote(), Some(access(2, 72, RemoteWork::Write(Bytes::from_static(b"remote!!")))));
    role.handle_remote(2, Err(RemoteFault::Refused));
    assert!(matches!(role.step(), Step::Done { value: 2, .. }));
}

#[test]
fn faults_have_names_and_mistakes_are_traps() {
    let (_ddr, mut role) = role();
    for (with, text) in [(RemoteFault::Gone, "gone"), (RemoteFault::NoRoute, "route"), (RemoteFault::Busy, "too many")]
    {
        role.start(2, &[], 0).unwrap();
        assert_eq!(role.step(), Step::Waiting);
        let number = role.poll_remote().unwrap().number;
        role.handle_remote(number, Err(with));
        let step = role.step();
        assert_eq!(fault(&step), RoleFault::Remote);
        assert!(matches!(&step, Step::Failed { text: said, .. } if said.contains(text)), "{step:?}");
    }
    for (kernel, args) in [(3, &[][..]), (0, &[0]), (0, &[1409]), (0, &[u64::MAX])] {
        role.start(kernel, args, 0).unwrap();
        assert_eq!(fault(&role.step()), RoleFault::Trap, "kernel {kernel} of {args:?}");
        assert_eq!(role.poll_remote(), None);
    }
}

#[test]
fn a_kernel_that_waits_can_be_cancelled_and_its_answer_is_not_the_next_ones() {
    let (ddr, mut role) = role();
    role.start(0, &[8], 0).unwrap();
    assert_eq!(role.step(), Step::Waiting);
    let late = role.poll_remote().unwrap().number;
    assert!(matches!(role.cancel(), Some(Step::Failed { fault: RoleFault::Cancelled, cycles: 0, .. })));
    role.start(0, &[8], 0).unwrap();
    assert_eq!(role.step(), Step::Waiting);
    role.handle_remote(late, Ok(Bytes::from_static(b"too late")));
    assert_eq!(role.step(), Step::Waiting);
    let number = role.poll_remote().unwrap().number;
    role.handle_remote(number, Ok(Bytes::from_static(b"in time!")));
    assert!(matches!(role.step(), Step::Done { value: 0, .. }));
    let mut read = [0; 8];
    ddr.read(2 << 20, &mut read).unwrap();
    assert_eq!(&read, b"in time!");
}

#[test]
fn handlers_use_no_remote_memory() {
    let (_ddr, mut role) = role();
    role.handle_message(Instant::ZERO, 0, Bytes::from_static(b"go")).unwrap();
    assert_eq!(role.poll_remote(), None);
}
