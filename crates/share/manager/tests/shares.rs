//! Tenants' shares of a board's time, by the weights of tokens and the limit of tasks, on a board whose kernels take a
//! fixed time.
//!
//! Shares are read from the manager's metrics, waits are medians: a test shares its machine with others.

mod common;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::{Daemon, LIMITS, PATIENCE, Tenant};
use rackloom_manager::paced::Pace;
use rackloom_manager::scheduler::Policy;
use rackloom_manager::{Admission, EndpointLimits, Tokens};
use rackloom_opencl_wire::{Command, Op};

const SHORT: Duration = Duration::from_millis(1);
const LONG: Duration = Duration::from_millis(10);

fn pace() -> Pace {
    Pace { kernels: BTreeMap::from([("short".to_owned(), SHORT), ("long".to_owned(), LONG)]), rate: 1e9 }
}

fn with_kernels(t: &Tenant) {
    assert_eq!(t.build(0, "kernel void short(int x) {}\nkernel void long(int x) {}").status, 0);
    t.send(&Command::CreateKernel { kernel: 0, program: 0, name: "short" }, &[]);
    t.send(&Command::CreateKernel { kernel: 1, program: 0, name: "long" }, &[]);
}

/// Always has some tasks of one kernel waiting.
fn contend(t: &Tenant, kernel: u32, stop: &AtomicBool) {
    with_kernels(t);
    let launch = || t.enqueue_after(Tenant::launch(kernel, 1, vec![]), &[], vec![], true);
    let mut waiting: VecDeque<_> = (0..16).map(|_| launch()).collect();
    while !stop.load(Ordering::Relaxed) {
        assert_eq!(t.end(waiting.pop_front().unwrap()).status, 0);
        waiting.push_back(launch());
    }
}

/// Board time of each tenant so far, by name.
fn busy(daemon: &Daemon) -> BTreeMap<String, f64> {
    let text = daemon.manager.metrics().text();
    let samples = text.lines().filter_map(|line| {
        let rest = line.strip_prefix("rackloom_tenant_busy_seconds_total{board=\"paced\",tenant=\"")?;
        let (name, value) = rest.split_once("\"} ")?;
        Some((name.to_owned(), value.parse().unwrap()))
    });
    samples.collect()
}

/// Waits for each task before it enqueues the next one.
fn take_turns(t: &Tenant, kernel: u32, stop: &AtomicBool) {
    with_kernels(t);
    while !stop.load(Ordering::Relaxed) {
        assert_eq!(t.run(Tenant::launch(kernel, 1, vec![]), &[]).status, 0);
    }
}

/// What a tenant of weight 3 with short kernels has of the board for each second of one of weight 1, which has two
/// connections and kernels ten times as long: neither gets it more.
fn three_to_one(load: fn(&Tenant, u32, &AtomicBool)) -> f64 {
    let (heavy, light) = ([0xaa; 32], [0xbb; 32]);
    let file = tempfile::NamedTempFile::new().unwrap();
    let text = format!("{} name=heavy weight=3\n{} name=light\n", "aa".repeat(32), "bb".repeat(32));
    std::fs::write(file.path(), text).unwrap();
    let admission = Admission::File(Arc::new(Tokens::open(file.path(), LIMITS).unwrap()));
    let daemon = Daemon::paced_with(Policy::Fair, pace(), EndpointLimits { admission, ..LIMITS.into() });
    let stop = AtomicBool::new(false);
    let had = std::thread::scope(|scope| {
        for (token, kernel) in [(heavy, 0), (light, 1), (light, 1)] {
            let (daemon, stop) = (&daemon, &stop);
            scope.spawn(move || load(&daemon.client_with(token), kernel, stop));
        }
        while busy(&daemon).values().filter(|had| **had > 0.1).count() < 2 {
            std::thread::sleep(Duration::from_millis(5));
        }
        let before = busy(&daemon);
        std::thread::sleep(Duration::from_secs(3));
        let after = busy(&daemon);
        stop.store(true, Ordering::Relaxed);
        after.into_iter().map(|(name, had)| (name.clone(), had - before[&name])).collect::<BTreeMap<_, _>>()
    });
    assert_eq!(had.len(), 2, "both connections of one token are one tenant: {had:?}");
    let ratio = had["heavy"] / had["light"];
    eprintln!("{had:?}: {ratio:.2} to 1");
    ratio
}

#[test]
fn weights_of_tokens_divide_the_board() {
    let ratio = three_to_one(contend);
    assert!((ratio / 3.0 - 1.0).abs() < 0.1, "3 to 1 is {ratio:.2} to 1");
}

#[test]
fn weights_count_for_programs_that_wait_for_each_task() {
    // The pauses count as the heavy one's time, and threads of a busy machine wake late: 2.7 to 1 on an idle one, 1.3
    // to 1 seen beside builds and benches, 0.6 at a load of 20 on two processors. Taking turns is 0.05 to 1.
    let ratio = three_to_one(take_turns);
    assert!((0.3..3.3).contains(&ratio), "3 to 1 is {ratio:.2} to 1");
}

/// Median of a light tenant's time for a short kernel beside one whose tasks have fifty long ones.
fn beside_long_tasks(task_time: Option<Duration>) -> Duration {
    let daemon = Daemon::paced_with(Policy::Fair, pace(), EndpointLimits { task_time, ..LIMITS.into() });
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (greedy, stop, daemon) = (daemon.client(), &stop, &daemon);
        scope.spawn(move || {
            with_kernels(&greedy);
            while !stop.load(Ordering::Relaxed) {
                let launch = |last| greedy.enqueue_after(Tenant::launch(1, 1, vec![]), &[], vec![], last);
                let events: Vec<_> = (1..=50).map(|number| launch(number == 50)).collect();
                for event in &events {
                    assert_eq!(greedy.end(*event).status, 0);
                }
                // The remainders keep the stream's order.
                let mut inbox = greedy.inbox.lock().unwrap();
                assert_eq!(std::mem::take(&mut inbox.order), events);
            }
        });
        let t = daemon.client();
        with_kernels(&t);
        std::thread::sleep(Duration::from_millis(100));
        let mut times = Vec::new();
        for _ in 0..if task_time.is_some() { 30 } else { 5 } {
            let start = Instant::now();
            assert_eq!(t.run(Tenant::launch(0, 1, vec![]), &[]).status, 0);
            times.push(start.elapsed());
            // At odd moments of the other's tasks.
            std::thread::sleep(Duration::from_millis(13));
        }
        stop.store(true, Ordering::Relaxed);
        times.sort();
        eprintln!("task time {task_time:?}: {times:?}");
        times[times.len() / 2]
    })
}

#[test]
fn a_light_tenant_waits_for_a_tasks_time_and_one_kernel() {
    let limit = Duration::from_millis(20);
    let cut = beside_long_tasks(Some(limit));
    let whole = beside_long_tasks(None);
    assert!(cut <= limit + LONG + SHORT + LONG / 2, "{cut:?} is more than the limit and a kernel");
    assert!(whole > 10 * LONG, "uncut tasks last half a second: {whole:?}");
}

#[test]
fn a_cut_task_does_all_that_it_should() {
    let task_time = Some(Duration::from_nanos(1));
    let daemon = Daemon::paced_with(Policy::Fair, pace(), EndpointLimits { task_time, ..LIMITS.into() });
    let t = daemon.client();
    with_kernels(&t);
    t.buffer(0, 8);
    let mut events = Vec::new();
    for number in 0..8u8 {
        let fill = Op::Fill { buffer: 0, offset: number.into(), len: 1, pattern: &[number] };
        events.push(t.enqueue(fill, &[]));
        events.push(t.enqueue(Tenant::launch(0, 1, vec![]), &[]));
    }
    let bad = t.enqueue(Op::Read { buffer: 0, offset: 8, len: 1, into: None }, &[]);
    let after = t.enqueue_after(Op::Marker, &[], vec![bad], false);
    let read = t.enqueue_after(Op::Read { buffer: 0, offset: 0, len: 8, into: None }, &[], vec![], true);
    assert_eq!(t.end(read).tail, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert!(events.iter().all(|event| t.end(*event).status == 0));
    assert_eq!((t.end(bad).status, t.end(after).status), (-30, -14), "a failure is known to the remainder");
    // Each that takes time is a part of its own; the last part has what fails at once, and the read.
    let text = daemon.manager.metrics().text();
    assert!(text.contains("rackloom_tasks_cut_total{board=\"paced\"} 16\n"), "{text}");
}

#[test]
fn what_is_left_of_a_task_goes_with_its_session() {
    let task_time = Some(LONG);
    let daemon = Daemon::paced_with(Policy::Fair, pace(), EndpointLimits { task_time, ..LIMITS.into() });
    let t = daemon.client();
    with_kernels(&t);
    for _ in 0..200 {
        t.enqueue(Tenant::launch(1, 1, vec![]), &[]);
    }
    t.send(&Command::Submit, &[]);
    assert!(t.is_served());
    drop(t);
    let start = Instant::now();
    while daemon.manager.metrics().text().contains("tenant=\"") {
        assert!(start.elapsed() < PATIENCE, "it never goes");
        std::thread::sleep(Duration::from_millis(5));
    }
    let text = daemon.manager.metrics().text();
    let ran = text.split_once("rackloom_operations_total{board=\"paced\"} ").unwrap().1.lines().next().unwrap();
    assert!(ran.parse::<u32>().unwrap() < 100, "its kernels go on: {ran} of 200");
}
