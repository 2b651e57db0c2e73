//! Programs that take the memory of the machine, or of their tenant's others.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rackloom_ipc::{Endpoint, Token};
use rackloom_opencl_wire::Command;

use crate::common::Tenant;
use crate::isolating::{Isolating, Place, counts_to, with_kernels};

/// A random number of 31 bits.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Bytes that somebody holds for certain, and the most there ever were.
#[derive(Default)]
struct Ledger {
    held: AtomicU64,
    peak: AtomicU64,
}

impl Ledger {
    fn add(&self, bytes: u64) {
        let held = self.held.fetch_add(bytes, Ordering::SeqCst) + bytes;
        self.peak.fetch_max(held, Ordering::SeqCst);
    }

    fn remove(&self, bytes: u64) {
        self.held.fetch_sub(bytes, Ordering::SeqCst);
    }

    fn peak(&self) -> u64 {
        self.peak.load(Ordering::SeqCst)
    }
}

const TENANTS: usize = 3;
const PROGRAMS: u64 = 100;
/// Bytes for each tenant, and for all: eight programs have three quarters of that by their processes.
const TENANT_MEMORY: u64 = 64 << 20;
const HOST_MEMORY: u64 = 1 << 30;
const PROCESS: u64 = 96 << 20;

/// Makes a buffer, and uses it; whether that was granted.
fn makes(t: &Tenant, buffer: u32, bytes: u64) -> bool {
    t.buffer(buffer, bytes);
    let is_granted = t.write(buffer, bytes - 1, &[1]).status == 0;
    if !is_granted {
        t.send(&Command::ReleaseBuffer { buffer }, &[]);
    }
    is_granted
}

/// A program with a board; its process may have to wait for the end of another's.
fn opens(to: &Endpoint, token: Token) -> Tenant {
    loop {
        if let Some(t) = Tenant::try_opening(to, token) {
            return t;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A program that makes and releases buffers at random, and then ends with what it has.
fn random_program(t: &Tenant, seed: u64, ledgers: [&Ledger; 2]) {
    let mut state = seed;
    let mut held: Vec<(u32, u64)> = Vec::new();
    for number in 1..40 {
        if random(&mut state).is_multiple_of(3) && !held.is_empty() {
            let (buffer, bytes) = held.swap_remove(random(&mut state) as usize % held.len());
            ledgers.iter().for_each(|ledger| ledger.remove(bytes));
            t.send(&Command::ReleaseBuffer { buffer }, &[]);
            continue;
        }
        let bytes = 1 + random(&mut state) % (TENANT_MEMORY / 4);
        if makes(t, number, bytes) {
            ledgers.iter().for_each(|ledger| ledger.add(bytes));
            held.push((number, bytes));
        }
    }
    let left: u64 = held.iter().map(|(_, bytes)| bytes).sum();
    ledgers.iter().for_each(|ledger| ledger.remove(left));
}

#[test]
fn quotas_hold_by_tenant_under_random_programs() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let token = |tenant: usize| [0x10 + tenant as u8; 32];
    let lines = (0..TENANTS).map(|tenant| format!("{:02x}", token(tenant)[0]).repeat(32) + "\n");
    std::fs::write(file.path(), lines.collect::<String>()).unwrap();
    let (path, host_memory) = (file.path().to_str().unwrap().to_owned(), HOST_MEMORY.to_string());
    let manager = Isolating::start(&["--tokens", &path, "--host-memory", &host_memory]);
    let (tenants, host): ([Ledger; TENANTS], Ledger) = Default::default();
    let (next, all_run) = (AtomicU64::new(0), Barrier::new(8));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut is_first = true;
                loop {
                    let seed = next.fetch_add(1, Ordering::SeqCst);
                    if seed >= PROGRAMS {
                        return;
                    }
                    let tenant = seed as usize % TENANTS;
                    let t = opens(if seed.is_multiple_of(2) { &manager.endpoint } else { &manager.tcp }, token(tenant));
                    host.add(PROCESS);
                    // Later ones may be over before others have begun.
                    if std::mem::take(&mut is_first) {
                        all_run.wait();
                    }
                    random_program(&t, seed, [&tenants[tenant], &host]);
                    host.remove(PROCESS);
                }
            });
        }
    });
    for ledger in &tenants {
        let peak = ledger.peak();
        eprintln!("a tenant had {peak} of {TENANT_MEMORY} bytes");
        assert!((TENANT_MEMORY / 2..=TENANT_MEMORY).contains(&peak));
    }
    eprintln!("all had {} of {HOST_MEMORY} bytes", host.peak());
    assert!((HOST_MEMORY * 3 / 4..=HOST_MEMORY).contains(&host.peak()));
    for tenant in 0..TENANTS {
        let t = opens(&manager.endpoint, token(tenant));
        crate::site::until("not a byte is left", || makes(&t, 1, TENANT_MEMORY));
        assert!(!makes(&t, 2, 1));
    }
}

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
    assert!(said.contains("clients occupy more than 4096 MiB together (--host-memory)"), "{said}");
    assert!(!manager.process.has_ended());
}
