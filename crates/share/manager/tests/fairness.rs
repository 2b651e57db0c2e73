//! A greedy tenant and a light one on a board whose kernels take a fixed time.
//!
//! It checks medians, since a test shares its machine with others; high percentiles are left to benchmarks.

mod common;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::{Daemon, Tenant};
use rackloom_manager::paced::Pace;
use rackloom_manager::scheduler::Policy;
use rackloom_opencl_wire::{Command, EventId};

const SHORT: Duration = Duration::from_millis(2);
const LONG: Duration = Duration::from_millis(10);

fn daemon(policy: Policy) -> Daemon {
    let kernels = BTreeMap::from([("short".to_owned(), SHORT), ("long".to_owned(), LONG)]);
    Daemon::paced(policy, Pace { kernels, rate: 1e9 })
}

fn with_kernels(t: &Tenant) {
    assert_eq!(t.build(0, "kernel void short(int x) {}\nkernel void long(int x) {}").status, 0);
    t.send(&Command::CreateKernel { kernel: 0, program: 0, name: "short" }, &[]);
    t.send(&Command::CreateKernel { kernel: 1, program: 0, name: "long" }, &[]);
}

/// Median of the light tenant's time for a short kernel, one every 20 ms.
fn light(daemon: &Daemon, rounds: usize) -> Duration {
    let t = daemon.client();
    with_kernels(&t);
    let mut times = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        assert_eq!(t.run(Tenant::launch(0, 1, vec![]), &[]).status, 0);
        times.push(start.elapsed());
        std::thread::sleep(Duration::from_millis(20).saturating_sub(start.elapsed()));
    }
    times.sort();
    times[rounds / 2]
}

/// The same while another tenant always has ten long kernels waiting, each a task of its own.
fn light_beside_greedy(policy: Policy, rounds: usize) -> Duration {
    let daemon = daemon(policy);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let t = daemon.client();
            with_kernels(&t);
            let launch = || t.enqueue_after(Tenant::launch(1, 1, vec![]), &[], vec![], true);
            let mut waiting: std::collections::VecDeque<EventId> = (0..10).map(|_| launch()).collect();
            while !stop.load(Ordering::Relaxed) {
                assert_eq!(t.end(waiting.pop_front().unwrap()).status, 0);
                waiting.push_back(launch());
            }
        });
        std::thread::sleep(Duration::from_millis(50));
        let time = light(&daemon, rounds);
        stop.store(true, Ordering::Relaxed);
        time
    })
}

#[test]
fn a_light_tenant_waits_for_one_task_of_a_greedy_one() {
    let solo = light(&daemon(Policy::Fair), 50);
    let fair = light_beside_greedy(Policy::Fair, 50);
    let fifo = light_beside_greedy(Policy::Fifo, 50);
    eprintln!("alone {solo:?}, beside a greedy tenant {fair:?}, by FIFO {fifo:?}");
    assert!(fair <= 2 * solo + LONG, "{fair:?} beside a greedy tenant, {solo:?} alone");
    assert!(fifo > 5 * LONG, "by FIFO it waits for all that was there before: {fifo:?}");
}
