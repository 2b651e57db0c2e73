//! Manager and clients as processes: killed and stopped. This program starts itself again as one of them.
//!
//! No test harness: each role is a process of its own, and a killed one must take no other test with it.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command as Process, Stdio};
use std::time::{Duration, Instant};

use common::{Daemon, PATIENCE, Tenant};
use rackloom_ipc::Endpoint;
use rackloom_manager::scheduler::Policy;
use rackloom_node::Rng;
use rackloom_opencl_wire::{Argument, Command, Op, Payload};
use rustix::process::{Pid, Signal, kill_process};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    match args.get(1).map(String::as_str) {
        Some("--client") => return client(&args[2]),
        Some("--manager") => return manager(&args[2]),
        _ => {}
    }
    let tests: [(&str, fn()); 3] = [
        ("a client killed at any moment frees all it held", client_is_killed),
        ("a stopped client holds nobody up", client_is_stopped),
        ("a killed manager is noticed, and the next one serves at once", manager_is_killed),
    ];
    for (name, test) in tests {
        if args.get(1).is_none_or(|only| name.contains(only.as_str())) {
            let start = Instant::now();
            test();
            println!("test {name} ... ok ({:.1} s)", start.elapsed().as_secs_f64());
        }
    }
}

/// A process in another role; killed when dropped.
struct Role {
    child: Child,
    says: BufReader<ChildStdout>,
}

impl Role {
    /// Starts one, and waits until it says that it is there.
    fn start(role: &str, arg: &str) -> Self {
        let mut process = Process::new(std::env::current_exe().unwrap());
        let mut child = process.arg(role).arg(arg).stdout(Stdio::piped()).spawn().unwrap();
        let says = BufReader::new(child.stdout.take().unwrap());
        let mut role = Self { child, says };
        let mut line = String::new();
        role.says.read_line(&mut line).unwrap();
        assert_eq!(line.trim_end(), "here");
        role
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.child.id() as i32).unwrap(), signal).unwrap();
    }
}

impl Drop for Role {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn say_here() {
    println!("here");
    std::io::stdout().flush().unwrap();
}

/// The role of a client that makes, moves and runs for ever.
fn client(endpoint: &str) {
    let t = Tenant::connect(&endpoint.parse().unwrap());
    with_kernel(&t);
    say_here();
    let bulk = t.bulk(1 << 20);
    for round in 0u32.. {
        let buffer = 1 + round % 20;
        t.buffer(buffer, 1 << 20);
        let from = Payload::Bulk(bulk.publish(0, 1 << 20).unwrap().into());
        t.enqueue(Op::Write { buffer, offset: 0, from }, &[]);
        t.enqueue(Tenant::launch(0, 1000, vec![(0, Argument::Buffer(Some(buffer)))]), &[]);
        assert_eq!(t.read(buffer, 0, 4096).status, 0);
        t.send(&Command::ReleaseBuffer { buffer }, &[]);
    }
}

/// The role of a manager, at a path.
fn manager(path: &str) {
    let _daemon = Daemon::at(Policy::Fair, &Endpoint::Unix(path.into()));
    say_here();
    std::thread::sleep(PATIENCE);
}

fn with_kernel(t: &Tenant) {
    let build = t.build(0, "kernel void k(global int *x) { x[get_global_id(0)] += 1; }");
    assert_eq!(build.status, 0, "{}", build.log);
    t.send(&Command::CreateKernel { kernel: 0, program: 0, name: "k" }, &[]);
}

/// A neighbour that checks what its kernel counts.
struct Neighbour {
    tenant: Tenant,
    launches: u32,
    slowest: Duration,
}

impl Neighbour {
    fn new(daemon: &Daemon) -> Self {
        let tenant = daemon.client();
        tenant.buffer(0, 4);
        with_kernel(&tenant);
        let mut this = Self { tenant, launches: 0, slowest: Duration::ZERO };
        this.launch(vec![(0, Argument::Buffer(Some(0)))]);
        this.slowest = Duration::ZERO; // The first launch compiles.
        this
    }

    fn launch(&mut self, arguments: Vec<(u32, Argument<'_>)>) {
        let start = Instant::now();
        assert_eq!(self.tenant.run(Tenant::launch(0, 1, arguments), &[]).status, 0);
        self.launches += 1;
        assert_eq!(self.tenant.read(0, 0, 4).tail, self.launches.to_le_bytes());
        self.slowest = self.slowest.max(start.elapsed());
    }

    fn work(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while Instant::now() < end {
            self.launch(vec![]);
        }
    }
}

/// Tenants that the metrics tell of.
fn tenants(daemon: &Daemon) -> u32 {
    let text = daemon.manager.metrics().text();
    let line = text.lines().find(|line| line.starts_with("rackloom_tenants{")).unwrap();
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

/// How long it takes until something is true.
fn until(mut look: impl FnMut() -> bool) -> Duration {
    let start = Instant::now();
    while !look() {
        assert!(start.elapsed() < PATIENCE, "never");
        std::thread::sleep(Duration::from_millis(1));
    }
    start.elapsed()
}

fn files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn client_is_killed() {
    let daemon = Daemon::start(Policy::Fair);
    let mut neighbour = Neighbour::new(&daemon);
    let before = files();
    let mut rng = Rng::new(9);
    for _ in 0..8 {
        let role = Role::start("--client", &daemon.endpoint.to_string());
        neighbour.work(Duration::from_millis(rng.below(60)));
        assert_eq!(tenants(&daemon), 2);
        role.signal(Signal::KILL);
        let took = until(|| tenants(&daemon) == 1);
        assert!(took < Duration::from_secs(1), "its objects were held for {took:?}");
        drop(role);
        until(|| files() <= before);
    }
    neighbour.work(Duration::from_millis(10));
}

fn client_is_stopped() {
    let daemon = Daemon::start(Policy::Fair);
    let mut neighbour = Neighbour::new(&daemon);
    let mut rng = Rng::new(10);
    for _ in 0..4 {
        let role = Role::start("--client", &daemon.endpoint.to_string());
        std::thread::sleep(Duration::from_millis(rng.below(30)));
        role.signal(Signal::STOP);
        neighbour.work(Duration::from_millis(200));
    }
    assert!(neighbour.slowest < Duration::from_secs(1), "it waited {:?}", neighbour.slowest);
}

fn manager_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("manager.sock");
    let endpoint = Endpoint::Unix(path.clone());
    let mut role = Role::start("--manager", path.to_str().unwrap());
    for _ in 0..3 {
        let t = Tenant::connect(&endpoint);
        t.buffer(0, 64);
        assert_eq!(t.write(0, 0, b"x").status, 0);
        role.signal(Signal::KILL);
        let start = Instant::now();
        let waited = t.client.wait(Some(start + PATIENCE), || None::<()>);
        assert!(matches!(waited, Err(rackloom_ipc::ChannelError::Closed(_))), "{waited:?}");
        assert!(start.elapsed() < Duration::from_secs(1), "noticed after {:?}", start.elapsed());
        // The next one takes the dead one's socket over.
        role = Role::start("--manager", path.to_str().unwrap());
        let start = Instant::now();
        let t = Tenant::connect(&endpoint);
        t.buffer(0, 64);
        assert_eq!(t.write(0, 0, b"y").status, 0);
        assert!(start.elapsed() < Duration::from_secs(1), "served after {:?}", start.elapsed());
    }
}
