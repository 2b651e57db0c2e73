//! Isolated clients: what kernels can and cannot do to others, with the program that is shipped.
//!
//! The kernels run on PoCL, in whose process they may read and write everything.

mod common;
#[path = "common/go.rs"]
mod go;
#[path = "common/isolating.rs"]
mod isolating;
#[path = "common/site.rs"]
mod site;

use std::os::unix::fs::MetadataExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::Tenant;
use isolating::{COUNT, HANG, Isolating, PEEK, POKE, Place, WHERE, WORK, counts_to, launch, walk, with_kernels};
use rackloom_opencl_wire::{Argument, Op, Payload};
use rustix::process::Signal;
use site::until;

#[test]
fn a_client_has_all_that_it_has_without() {
    all_works(1, |manager| manager.client());
}

#[test]
fn so_has_one_over_tcp() {
    all_works(2, |manager| Tenant::connect(&manager.tcp));
}

/// For a client of a sort. So many workers are ready for others afterwards where those of the manager's user read more.
fn all_works(spare: usize, connect: fn(&Isolating) -> Tenant) {
    let manager = Isolating::start(&[]);
    let t = connect(&manager);
    let spare = if manager.gives_users() { 1 } else { spare };
    with_kernels(&t);
    for number in 1..=50 {
        counts_to(&t, number);
    }
    // Bulk of its own, both ways, and a mapped buffer's memory.
    let bulk = t.bulk(3 << 20);
    let bytes: Vec<u8> = (0..3 << 20).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    t.buffer(1, 3 << 20);
    let from = Payload::Bulk(bulk.put(0, &bytes).unwrap().into());
    assert_eq!(t.run(Op::Write { buffer: 1, offset: 0, from }, &[]).status, 0);
    assert_eq!(t.read(1, 1 << 20, 1000).tail, bytes[1 << 20..][..1000]);
    until("all are counted", || manager.metric("rackloom_operations_total").values().sum::<f64>() == 103.0);
    let busy = manager.metric("rackloom_tenant_busy_seconds_total");
    assert!(busy.len() == 1 && busy["test-1"] > 0.0, "{busy:?}");
    assert_eq!(manager.metric("rackloom_transfer_bytes_total{").len(), 1);
    drop(t);
    until("its tenant is gone", || manager.metric("rackloom_tenants{").values().all(|tenants| *tenants == 0.0));
    until("its worker is gone", || manager.workers().len() == spare);
}

#[test]
fn a_kernel_that_crashes_takes_nobody_with_it() {
    let manager = Isolating::start(&[]);
    let neighbour = manager.client();
    with_kernels(&neighbour);
    counts_to(&neighbour, 1);
    for number in 2..5 {
        let t = manager.client();
        with_kernels(&t);
        // To nowhere.
        let arguments = vec![(0, Argument::Buffer(Some(0))), (1, Argument::Value(&[8, 0, 0, 0, 0, 0, 0, 0]))];
        t.enqueue_after(Tenant::launch(POKE, 1, arguments), &[], vec![], true);
        let start = Instant::now();
        t.ended();
        assert!(start.elapsed() < Duration::from_secs(2), "it heard of it after {:?}", start.elapsed());
        counts_to(&neighbour, number);
    }
    until("it is said", || manager.process.words().matches("was ended by signal").count() == 3);
    until("all crashed workers are gone", || manager.workers().len() == 2);
}

#[test]
fn a_kernel_reaches_no_byte_of_another_client() {
    let manager = Isolating::start(&[]);
    let victim = manager.client();
    with_kernels(&victim);
    victim.buffer(1, 1 << 13);
    assert_eq!(victim.write(1, 0, &b"a secret".repeat(1 << 10)).status, 0);
    let arguments = vec![(0, Argument::Buffer(Some(1)))];
    assert_eq!(victim.run(Tenant::launch(WHERE, 1, arguments), &[]).status, 0);
    let at = victim.read(1, 0, 8).tail;
    let at = u64::from_le_bytes(at.try_into().unwrap()) + 4096;
    let thief = manager.client();
    with_kernels(&thief);
    let address = at.to_le_bytes();
    let arguments = vec![(0, Argument::Buffer(Some(0))), (1, Argument::Value(&address))];
    let event = thief.enqueue_after(Tenant::launch(PEEK, 1, arguments), &[], vec![], true);
    // It has crashed, or read what is there in its own process.
    until("it has ended", || {
        let inbox = thief.inbox.lock().unwrap();
        inbox.closed.is_some() || inbox.done.contains_key(&event)
    });
    if thief.inbox.lock().unwrap().closed.is_none() {
        assert_ne!(thief.read(0, 0, 8).tail, b"a secret");
    }
    assert_eq!(victim.read(1, 4096, 8).tail, b"a secret");
}

#[test]
fn a_client_of_elsewhere_reads_no_file_of_the_managers_user() {
    let manager = Isolating::start(&[]);
    let secret = manager.folder.path().join("secret.h");
    std::fs::write(&secret, "constant int secret = 1;\n").unwrap();
    // A runtime's compiler reads what the source names.
    let source = format!("#include \"{}\"\nkernel void k(global int *x) {{ *x = secret; }}", secret.display());
    let own = manager.client().build(0, &source);
    // A process of the user reads it as well, unless its worker is another user.
    assert_eq!(own.status != 0, manager.gives_users(), "{}", own.log);
    let build = Tenant::connect(&manager.tcp).build(0, &source);
    if manager.process.words().contains("lacks Landlock") {
        eprintln!("not tried: {}", manager.process.words());
        return;
    }
    assert_ne!(build.status, 0, "it has read it");
    assert!(build.log.contains("secret.h"), "{}", build.log);
}

#[test]
fn the_next_program_of_a_user_finds_compiled_kernels() {
    let manager = Isolating::start(&[]);
    // Processor time, which other programs of the machine change little.
    let first_count = || {
        let t = manager.client();
        with_kernels(&t);
        counts_to(&t, 1);
        let busy = manager.busiest_worker();
        until("one is ready for the next", || manager.workers().len() == 2);
        busy
    };
    let compiled = first_count();
    // They are kept when its worker is gone, which takes a moment.
    until("the next one takes much less", || {
        until("the worker is gone", || manager.workers().len() == 1);
        let found = first_count();
        eprintln!("{compiled:?}, then {found:?}");
        found * 3 < compiled
    });
}

/// Memory of a process of the client's own holds nothing of others.
#[test]
fn a_small_write_does_not_fill_a_large_buffer() {
    let manager = Isolating::start(&[]);
    let t = Tenant::connect(&manager.tcp);
    t.buffer(0, 4096);
    assert_eq!(t.write(0, 0, &[1; 64]).status, 0);
    let resident = || {
        let of = |status: String| {
            let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.trim().to_owned();
            line.strip_suffix(" kB")?.parse::<u64>().ok()
        };
        // The keeper of the one that is being started is still as large as the manager.
        manager.statuses().into_iter().filter_map(of).max().unwrap()
    };
    let before = resident();
    t.buffer(1, 60 << 20);
    assert_eq!(t.write(1, 1 << 20, &[1; 64]).status, 0);
    assert_eq!(t.read(1, 1 << 20, 64).tail, [1; 64]);
    let more = resident().saturating_sub(before);
    assert!(more < 20 << 10, "{more} KiB");
}

#[test]
fn programs_of_a_user_that_run_at_the_same_time_share_compiled_kernels() {
    let manager = Isolating::start(&[]);
    let programs = || {
        let kept = manager.folder.path().join("tmp");
        walk(&kept).filter(|path| path.ends_with("program.bc")).count()
    };
    let runs = |source: &str| {
        let t = manager.client();
        assert_eq!(t.build(0, source).status, 0);
        t
    };
    let first = runs("kernel void a(global int *x) { x[0] = 1; }");
    std::thread::sleep(Duration::from_millis(1500)); // A file that was just written may not be whole.
    let [second, third] = ["b", "c"].map(|name| runs(&format!("kernel void {name}(global int *x) {{ x[0] = 2; }}")));
    drop(second);
    until("the second has left its own and the first one's", || programs() == 2);
    drop(third);
    until("the third has added its own", || programs() == 3);
    drop(first);
    // While it is merged there are two folders.
    until("all have ended, and nothing is lost", || manager.workers().len() == 1 && programs() == 3);
}

#[test]
fn a_kernel_that_never_ends_is_ended_when_others_have_waited() {
    let manager = Isolating::start(&["--stall-time", "500ms"]);
    let (hanging, neighbour) = (manager.client(), manager.client());
    with_kernels(&hanging);
    with_kernels(&neighbour);
    hanging.enqueue_after(Tenant::launch(HANG, 1, vec![(0, Argument::Buffer(Some(0)))]), &[], vec![], true);
    until("it has the board", || manager.metric("rackloom_tenant_busy_seconds_total")["test-1"] > 0.7);
    assert!(hanging.inbox.lock().unwrap().closed.is_none(), "nobody waits for it");
    let start = Instant::now();
    counts_to(&neighbour, 1);
    let took = start.elapsed();
    assert!(took > Duration::from_millis(400) && took < Duration::from_secs(3), "{took:?}");
    hanging.ended();
    until("the word is said", || manager.process.words().contains("test-1 has kept others waiting"));
    counts_to(&neighbour, 2);
}

#[test]
fn a_token_says_how_long_its_kernels_may_keep_others_waiting() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let text = format!("{} name=short kernel=300ms\n{} name=long\n", "aa".repeat(32), "bb".repeat(32));
    std::fs::write(file.path(), text).unwrap();
    let manager = Isolating::start(&["--tokens", file.path().to_str().unwrap(), "--stall-time", "2s"]);
    let [short, long] = [0xaa, 0xbb].map(|token| Tenant::opening(&manager.endpoint, [token; 32]));
    [&short, &long].into_iter().for_each(with_kernels);
    let hangs = |t: &Tenant| {
        t.enqueue_after(Tenant::launch(HANG, 1, vec![(0, Argument::Buffer(Some(0)))]), &[], vec![], true);
        std::thread::sleep(Duration::from_millis(200));
    };
    hangs(&short);
    let start = Instant::now();
    counts_to(&long, 1);
    let took = start.elapsed();
    assert!(took < Duration::from_millis(1500), "{took:?}");
    short.ended();
    assert!(manager.process.words().contains("short has kept others waiting for 0.3 s"), "{}", manager.process.words());
    let short = Tenant::opening(&manager.endpoint, [0xaa; 32]);
    with_kernels(&short);
    assert_eq!(long.write(0, 0, &[0; 4]).status, 0);
    hangs(&long);
    let start = Instant::now();
    counts_to(&short, 1);
    let took = start.elapsed();
    assert!((Duration::from_millis(1500)..Duration::from_secs(5)).contains(&took), "{took:?}");
}

#[test]
fn who_is_gone_leaves_the_board_whatever_its_kernel_does() {
    let manager = Isolating::start(&[]);
    let (hanging, neighbour) = (manager.client(), manager.client());
    with_kernels(&hanging);
    with_kernels(&neighbour);
    hanging.enqueue_after(Tenant::launch(HANG, 1, vec![(0, Argument::Buffer(Some(0)))]), &[], vec![], true);
    until("it has the board", || manager.metric("rackloom_tenant_busy_seconds_total")["test-1"] > 0.1);
    drop(hanging);
    let start = Instant::now();
    counts_to(&neighbour, 1);
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    until("its worker is gone", || manager.workers().len() == 2);
}

#[test]
fn workers_end_with_their_manager_and_leave_nothing() {
    let mut manager = Isolating::start(&[]);
    let clients = [manager.client(), manager.client()];
    clients.iter().for_each(with_kernels);
    let [hanging, other] = &clients;
    hanging.enqueue_after(Tenant::launch(HANG, 1, vec![(0, Argument::Buffer(Some(0)))]), &[], vec![], true);
    until("the next one is ready", || manager.workers().len() == 3);
    let workers = manager.workers();
    manager.process.kill();
    let start = Instant::now();
    other.ended();
    hanging.ended();
    assert!(start.elapsed() < Duration::from_secs(1), "they heard of it after {:?}", start.elapsed());
    let is_there = |pid: &u32| std::path::Path::new(&format!("/proc/{pid}/exe")).exists();
    until("all have ended", || !workers.iter().any(is_there));
    let left: Vec<_> = walk(&manager.folder.path().join("tmp")).collect();
    // What the next manager needs to sweep.
    assert!(left.len() == 1 && left[0].ends_with("sockets"), "{left:?}");
}

#[test]
fn a_manager_that_is_told_to_stop_waits_for_no_kernel_and_leaves_nothing() {
    let mut manager = Isolating::start(&[]);
    let (hanging, waiting) = (manager.client(), manager.client());
    with_kernels(&hanging);
    with_kernels(&waiting);
    hanging.enqueue_after(Tenant::launch(HANG, 1, vec![(0, Argument::Buffer(Some(0)))]), &[], vec![], true);
    until("it has the board", || manager.metric("rackloom_tenant_busy_seconds_total")["test-1"] > 0.1);
    waiting.enqueue_after(Tenant::launch(COUNT, 1, vec![(0, Argument::Buffer(Some(0)))]), &[], vec![], true);
    let workers = manager.workers();
    manager.process.signal(Signal::TERM);
    let took = until("it has ended", || manager.process.has_ended());
    assert!(took < Duration::from_secs(2), "{took:?}");
    let is_there = |pid: &u32| std::path::Path::new(&format!("/proc/{pid}/exe")).exists();
    until("all workers have ended", || !workers.iter().any(is_there));
    let left: Vec<_> = manager.folder.path().join("tmp").read_dir().unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn weights_divide_the_board_among_processes() {
    const SHOWS: std::ops::Range<f64> = 1.2..3.5;
    let file = tempfile::NamedTempFile::new().unwrap();
    let text = format!("{} name=heavy weight=3\n{} name=light\n", "aa".repeat(32), "bb".repeat(32));
    std::fs::write(file.path(), text).unwrap();
    let manager = Isolating::start(&["--tokens", file.path().to_str().unwrap()]);
    let stop = AtomicBool::new(false);
    let busy = || manager.metric("rackloom_tenant_busy_seconds_total");
    // Taking turns is 0.125 to 1, a board without weights 1 to 1 at most: what else runs on this machine takes
    // processors from the heavy one's pauses. So one stretch in which the weights show is enough, of some.
    let stretches = std::thread::scope(|scope| {
        for (token, steps) in [([0xaa; 32], 1_000_000_i32), ([0xbb; 32], 8_000_000)] {
            let (stop, endpoint) = (&stop, &manager.endpoint);
            scope.spawn(move || {
                let t = Tenant::opening(endpoint, token);
                with_kernels(&t);
                while !stop.load(Ordering::Relaxed) {
                    assert_eq!(launch(&t, WORK, Some(&steps.to_le_bytes())), 0);
                }
            });
        }
        until("both work", || busy().values().filter(|had| **had > 0.3).count() == 2);
        let mut stretches = Vec::new();
        while stretches.len() < 20 && stretches.last().is_none_or(|ratio| !SHOWS.contains(ratio)) {
            let before = busy();
            std::thread::sleep(Duration::from_secs(3));
            let after = busy();
            let had = |name: &str| after[name] - before[name];
            stretches.push(had("heavy") / had("light"));
        }
        stop.store(true, Ordering::Relaxed);
        stretches
    });
    assert!(stretches.last().is_some_and(|ratio| SHOWS.contains(ratio)), "3 to 1 is {stretches:.2?} to 1");
}

#[test]
fn a_template_that_is_killed_or_stopped_is_begun_anew() {
    let manager = Isolating::start(&[]);
    let kill = |pid: u32, signal| {
        rustix::process::kill_process(rustix::process::Pid::from_raw(pid as i32).unwrap(), signal).unwrap();
    };
    let neighbour = manager.client();
    with_kernels(&neighbour);
    for (number, signal) in (1..).zip([Signal::KILL, Signal::STOP, Signal::KILL]) {
        until("a worker is ready", || manager.workers().len() == 2);
        let [template] = manager.templates()[..] else { panic!("templates: {:?}", manager.templates()) };
        kill(template, signal);
        // The first has the worker that is ready; the next one needs another.
        for client in [manager.client(), manager.client()] {
            with_kernels(&client);
            counts_to(&client, 1);
        }
        counts_to(&neighbour, number);
        until("there is another template", || manager.templates().len() == 1 && manager.templates() != [template]);
    }
    assert!(!manager.process.words().contains("anew, since a template"), "{}", manager.process.words());
}

#[test]
fn a_template_ends_with_its_manager_also_if_that_is_killed() {
    let mut manager = Isolating::start(&[]);
    until("a worker is ready", || manager.workers().len() == 1);
    let status =
        manager.templates().into_iter().map(|pid| std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap());
    let threads: Vec<_> =
        status.flat_map(|s| s.lines().find(|l| l.starts_with("Threads")).map(str::to_owned)).collect();
    assert_eq!(threads, ["Threads:\t1"]);
    manager.process.kill();
    until("nothing is left", || manager.descendants() == 0);
}

#[test]
fn no_process_of_the_managers_user_reaches_into_a_template() {
    let Some(manager) = Isolating::start_in(Place::Plain, &[]) else { return };
    until("a worker is ready", || manager.workers().len() == 1);
    let [template] = manager.templates()[..] else { panic!("templates: {:?}", manager.templates()) };
    // The system gives root the files of those into which their own users must not look.
    let owner = |pid: u32| std::fs::metadata(format!("/proc/{pid}/mem")).unwrap().uid();
    assert_eq!(owner(template), 0);
    assert_ne!(owner(manager.process.id()), 0, "it is a plain user's");
}
