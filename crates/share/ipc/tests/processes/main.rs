//! Both ends as processes: killed, stopped, forked, and counted. This program starts itself again as one of them.
//!
//! No test harness: each role is a process of its own, and a killed one must take no other test with it.

#[path = "../common/mod.rs"]
mod common;
mod ends;
mod forks;
mod role;
mod workers;

use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    match args.get(1).map(String::as_str) {
        Some("--client") => return ends::client(&args[2], &args[3]),
        Some("--server") => return ends::server(&args[2]),
        Some("--worker") => return workers::worker(&args[2]),
        _ => {}
    }
    let tests: [(&str, fn()); 11] = [
        ("a client killed at any moment frees all it held", ends::client_is_killed),
        ("a server killed at any moment is noticed at once", ends::server_is_killed),
        ("a stopped client holds nobody up", ends::client_is_stopped),
        ("a child of a fork is refused and keeps nothing alive", forks::client_forks),
        ("connections leave no file and no map behind", ends::nothing_is_left),
        ("a parent's death is noticed though its child has the socket", forks::parent_of_fork_dies),
        ("a socket full of calls keeps no arena back", ends::calls_fill_the_socket),
        ("a client handed over is served by the other process", workers::worker_serves),
        ("a client handed over is gone for both processes", workers::client_of_worker_is_killed),
        ("a killed worker's client goes with the handle", workers::worker_is_killed),
        ("handing over leaves no file and no map behind", workers::nothing_is_left_of_handovers),
    ];
    for (name, test) in tests {
        if args.get(1).is_none_or(|only| name.contains(only.as_str())) {
            let start = Instant::now();
            test();
            println!("test {name} ... ok ({:.1} s)", start.elapsed().as_secs_f64());
        }
    }
}
