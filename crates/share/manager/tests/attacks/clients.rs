//! Clients that end, or hang, where it hurts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rackloom_opencl_wire::{Argument, Command, Op, Payload};

use crate::calls::{begin, load};
use crate::common::Tenant;
use crate::siege::Siege;

const SPINS: &str = "kernel void attack(global long *x) { spin(); }";

/// What it is, and what it does before it ends.
type Client = (&'static str, fn(&Tenant));

const CHANGES: &str = "bytes that change while they are read";

/// The clients.
const CLIENTS: &[Client] = &[
    ("an end at once", |_| {}),
    ("an end with a kernel that has none", |t| {
        load(t, SPINS, "attack");
        begin(t);
        std::thread::sleep(Duration::from_millis(50));
    }),
    ("an end with all objects that it may have", |t| {
        (0..64).for_each(|buffer| t.buffer(buffer, 1 << 19));
        t.write(63, 0, &[1]);
    }),
    ("an end with all memory that it may have", |t| {
        t.buffer(0, 64 << 20);
        t.write(0, 0, &[1]);
    }),
    ("an end with operations that wait for each other", |t| {
        t.buffer(0, 64);
        for number in 1..200 {
            t.enqueue_after(Op::Read { buffer: 0, offset: 0, len: 1, into: None }, &[], vec![number + 10_000], false);
        }
    }),
    (CHANGES, |t| {
        let bulk = t.bulk(4 << 20);
        t.buffer(0, 4 << 20);
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut value = 0;
                while !is_over.load(Ordering::Relaxed) {
                    value += 1;
                    let _ = bulk.put(0, &[value as u8; 4096]);
                }
            });
            for _ in 0..20 {
                let Ok(from) = bulk.publish(0, 4 << 20) else { break };
                t.run(Op::Write { buffer: 0, offset: 0, from: Payload::Bulk(from.into()) }, &[]);
            }
            is_over.store(true, Ordering::Relaxed);
        });
    }),
    ("a command that is none", |t| {
        t.client.send(rackloom_opencl_wire::COMMAND, &[0xff; 64]).unwrap();
        t.ended();
    }),
    ("objects that it never made", |t| {
        t.send(&Command::CreateKernel { kernel: 1, program: 60, name: "none" }, &[]);
        t.run(Tenant::launch(1, 1, vec![(0, Argument::Buffer(Some(60)))]), &[]);
    }),
];

#[test]
fn nothing_is_left_of_a_client() {
    Siege::each(|siege| {
        // Over TCP the bytes are the manager's when they have come.
        let clients = siege.some(CLIENTS).filter(|(what, _)| !(siege.is_tcp() && *what == CHANGES));
        clients.for_each(|(what, attack)| siege.outlives(what, attack));
    });
}
