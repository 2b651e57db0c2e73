//! Boards behind a bus: what keeps them busy while their driver, the manager and the client take some microseconds
//! each. A paced board shows it: there is no gap between operations that were handed over in time.

mod common;

use std::time::Duration;

use common::{Daemon, Tenant};
use rackloom_manager::paced::Pace;
use rackloom_manager::scheduler::Policy;
use rackloom_opencl_wire::{Command, Times, now_ns};

/// Kernels of a task that is handed over as a whole and of one that others should wait for.
const SHORT: Duration = Duration::from_micros(40);
/// Longer than any thread waits for a processor.
const LONG: Duration = Duration::from_millis(40);

fn daemon(is_behind_bus: bool) -> (Daemon, Tenant) {
    let kernels = [("short".to_owned(), SHORT), ("long".to_owned(), LONG)].into();
    let pace = Pace { kernels, rate: 1e9 };
    let daemon = if is_behind_bus { Daemon::behind_bus(pace) } else { Daemon::paced(Policy::Fair, pace) };
    let client = client(&daemon);
    (daemon, client)
}

/// A client with kernel 0, which is short, and kernel 1, which is long.
fn client(daemon: &Daemon) -> Tenant {
    let client = daemon.client();
    assert_eq!(client.build(0, "kernel void short() {} kernel void long() {}").status, 0);
    client.send(&Command::CreateKernel { kernel: 0, program: 0, name: "short" }, &[]);
    client.send(&Command::CreateKernel { kernel: 1, program: 0, name: "long" }, &[]);
    client
}

/// Launches a kernel so many times, each a task of its own; when each ran.
fn tasks(client: &Tenant, kernel: u32, count: usize) -> Vec<Times> {
    let launch = |_| client.enqueue_after(Tenant::launch(kernel, 1, vec![]), &[], vec![], true);
    let events: Vec<_> = (0..count).map(launch).collect();
    events.into_iter().map(|event| client.end(event).times.expect("it succeeds")).collect()
}

/// How many began in the moment in which the one before ended.
fn without_gap(times: &[Times]) -> usize {
    times.windows(2).filter(|pair| pair[0].ended == pair[1].started).count()
}

#[test]
fn long_tasks_of_a_client_follow_each_other_without_a_gap() {
    let (_daemon, client) = daemon(true);
    let times = tasks(&client, 1, 6);
    // The first runs when the second comes.
    assert!(without_gap(&times) >= 4, "{times:?}");
    let (_daemon, client) = daemon(false);
    assert_eq!(without_gap(&tasks(&client, 1, 3)), 0, "others wait for the end of each");
}

#[test]
fn a_long_task_is_not_followed_by_the_next_while_others_wait() {
    let (daemon, first) = daemon(true);
    let second = client(&daemon);
    let long = || Tenant::launch(1, 1, vec![]);
    let events: Vec<_> = (0..6).map(|_| first.enqueue_after(long(), &[], vec![], true)).collect();
    let other = second.run(long(), &[]).times.unwrap();
    let last = first.end(events[5]).times.unwrap();
    assert!(other.ended <= last.started, "{other:?} is behind all of the first's, up to {last:?}");
}

#[test]
fn short_tasks_that_come_together_run_as_one() {
    let (_daemon, client) = daemon(true);
    let times = tasks(&client, 0, 60);
    assert!(without_gap(&times) >= 30, "{} of 59: {times:?}", without_gap(&times));
}

#[test]
fn what_has_come_of_a_task_begins_and_is_told_of_when_the_task_is_closed() {
    for is_behind_bus in [true, false] {
        let (_daemon, client) = daemon(is_behind_bus);
        let event = client.enqueue(Tenant::launch(0, 1, vec![]), &[]);
        client.enqueue(Tenant::launch(0, 1, vec![]), &[]);
        assert!(client.is_served());
        std::thread::sleep(Duration::from_millis(20));
        assert!(client.is_served(), "whatever was sent would be here");
        assert!(client.inbox.lock().unwrap().done.is_empty(), "nobody waits for it yet");
        let closed = now_ns();
        client.send(&Command::Submit, &[]);
        let times = client.end(event).times.unwrap();
        assert_eq!(times.started < closed, is_behind_bus, "{times:?}, closed at {closed}");
    }
}

#[test]
fn long_kernels_do_not_begin_before_their_task_is_closed() {
    let (_daemon, client) = daemon(true);
    let event = client.enqueue(Tenant::launch(1, 1, vec![]), &[]);
    client.enqueue(Tenant::launch(1, 1, vec![]), &[]);
    assert!(client.is_served());
    let closed = now_ns();
    client.send(&Command::Submit, &[]);
    assert!(client.end(event).times.unwrap().started >= closed, "this client's messages would have waited meanwhile");
}
