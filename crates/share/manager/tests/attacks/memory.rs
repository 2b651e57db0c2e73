//! Programs that take the memory of the machine.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::common::Tenant;
use crate::isolating::{Isolating, Place, counts_to, with_kernels};

/// Bytes of memory that the manager and its workers occupy.
fn occupied(manager: &Isolating) -> u64 {
    manager.statuses().iter().flat_map(|status| status.lines().map(str::to_owned).collect::<Vec<_>>()).fold(
        0,
        |all, line| {
            let of = ["RssAnon:", "RssShmem:"].iter().find_map(|name| line.strip_prefix(name));
            all + of.map_or(0, |of| of.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10)
        },
    )
}

/// Hostile kernels in the processes of several clients, and arenas, against a manager that was given no limits.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_machine_with_8_gib_is_not_brought_down() {
    use crate::calls::{begin, load};
    use rackloom_opencl_wire::Argument;

    const LIMIT: u64 = 4 << 30;
    const TAKE: &str = "for (long i = 0; i < most; i++) {
            long at = sys(9, 0, 1L << 26, 3, 0x22, -1, 0);
            if (at < 0 && at > -4096) break;
            for (long page = 0; page < 1L << 26; page += 4096) ((volatile char *)at)[page] = 1;
        }";
    let Some(mut manager) = Isolating::start_in(Place::Small, &[]) else { return };
    let neighbour = manager.client();
    with_kernels(&neighbour);
    counts_to(&neighbour, 1);
    let (is_over, peak) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                peak.fetch_max(occupied(&manager), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        // Each keeps what it has taken while others have the board.
        let takes = |most: u64| {
            let attacker = manager.client();
            let source = format!("kernel void attack(global long *x) {{ long most = {most}; {TAKE} x[0] = 1; }}");
            load(&attacker, &source, "attack");
            attacker
        };
        let run = || {
            let mut held = Vec::new();
            for number in 0..5 {
                let attacker = takes(20);
                let launch = Tenant::launch(9, 1, vec![(0, Argument::Buffer(Some(9)))]);
                let event = attacker.enqueue_after(launch, &[], vec![], true);
                attacker.settles(event);
                counts_to(&neighbour, 2 + number);
                held.push(attacker);
            }
            let ended = held.iter().filter(|attacker| attacker.inbox.lock().unwrap().closed.is_some()).count();
            assert!(ended >= 2, "{ended} of 5 that took 1.25 GiB each");
            drop(held);
            let endless = takes(1 << 20);
            begin(&endless);
            endless.ended();
            counts_to(&neighbour, 7);
            let asks = manager.client();
            let arenas: Vec<_> = std::iter::from_fn(|| asks.client.bulk(256 << 20).ok()).take(100).collect();
            let granted = arenas.len() as u64 * (256 << 20);
            assert!((LIMIT / 2..=LIMIT).contains(&granted), "{granted} bytes of arenas");
            counts_to(&neighbour, 8);
        };
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        is_over.store(true, Ordering::Relaxed);
        result.unwrap_or_else(|why| std::panic::resume_unwind(why));
    });
    let peak = peak.into_inner();
    eprintln!("at most {} MiB were occupied", peak >> 20);
    assert!((LIMIT / 2..LIMIT + (1 << 30)).contains(&peak), "{peak} bytes");
    let said = manager.process.words();
    // Whoever is first: the manager, or the system where control groups have bounds.
    let words = ["clients occupy more than 4096 MiB together (--host-memory)", "memory than was left for it"];
    assert!(words.iter().any(|words| said.contains(words)), "{said}");
    assert!(!manager.process.has_ended());
}
