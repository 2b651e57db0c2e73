//! Programs that start at the same time: each gets a device. This program starts itself again as managers, workers and
//! programs.
//!
//! No test harness: a worker is the manager's program started again.
#![allow(unsafe_code)]
#![allow(clippy::undocumented_unsafe_blocks, reason = "arguments are right")]

#[macro_use]
mod common;

use std::process::{Child, Command, Stdio};
use std::time::Instant;

use common::{Bench, Manager};

/// Where a program finds its manager.
const AT: &str = "RACKLOOM_TEST_AT";

/// More than a machine can serve in the five seconds that it once had for all of them.
const PROGRAMS: usize = 150;

fn main() {
    rackloom_manager::work_if_asked();
    common::be_an_isolating_manager();
    if let Ok(endpoint) = std::env::var(AT) {
        return program(&endpoint);
    }
    let folder = tempfile::tempdir().unwrap();
    let socket = format!("unix:{}", folder.path().join("m.sock").display());
    let more = ["--clients", "150", "--tenant-clients", "150", "--host-memory", "64GiB"];
    let manager = Manager::start(&[&socket, "tcp:127.0.0.1:0"], &more);
    for endpoint in &manager.endpoints {
        let start = Instant::now();
        let programs: Vec<_> = (0..PROGRAMS).map(|_| started(endpoint)).collect();
        let outcomes = programs.into_iter().map(|program| program.wait_with_output().unwrap());
        let failed: Vec<_> = outcomes.filter(|outcome| !outcome.status.success()).collect();
        let said = failed.first().map(|outcome| String::from_utf8_lossy(&outcome.stderr).into_owned());
        println!("{endpoint}: {} of {PROGRAMS} were served, in {:?}", PROGRAMS - failed.len(), start.elapsed());
        assert!(failed.is_empty(), "{said:?}");
    }
    println!("test programs that start at the same time each get a device ... ok");
}

fn started(endpoint: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(AT, endpoint).env("RACKLOOM_LOG", "1").stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Uses the device that it gets.
fn program(endpoint: &str) {
    let cl = common::open(&[endpoint.to_owned()]);
    let devices = cl.devices();
    assert_eq!(devices.len(), 1, "no device");
    let bench = Bench::of(cl, &devices, 0);
    let buffer = bench.filled(&[7; 64]);
    assert_eq!(bench.read(bench.queue(), buffer, 64), [7; 64]);
}
