//! The registry and managers, as they are shipped, are killed at random moments while programs make calls: no byte is
//! wrong, no allocation is lost or made twice, and whoever has a board for itself never shares it. The registry is
//! built with the detector of data races.
//!
//! The moments are drawn from a seed, which is printed; `RACKLOOM_SEED` repeats them, as far as processes let anything
//! be repeated. `RACKLOOM_KILLS` sets their number.

mod common;
#[path = "common/go.rs"]
mod go;
#[path = "common/site.rs"]
mod site;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use common::{End, PATIENCE, Tenant};
use rackloom_ipc::Endpoint;
use rackloom_manager::installed;
use rackloom_opencl_wire::{Answer, COMMAND, Command, Op, Payload, VERSION, encode_command};
use site::{Process, Site, until};

const NODES: [&str; 3] = ["a", "b", "c"];

/// Programs, one more than boards; the last one has its board for itself.
const PROGRAMS: usize = 4;

/// Bytes of a program's buffer: more than a message carries in line would be.
const BYTES: usize = 4096;

/// As `xorshift` makes them.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

fn manager(site: &Site, node: &str) -> Process {
    let library = installed().into_iter().find(|l| l.to_string_lossy().contains("pocl"));
    let library = library.expect("PoCL is installed (apt-get install pocl-opencl-icd)");
    site.manager(node, &["--runtime", library.to_str().unwrap()])
}

/// What an instance was given.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Allocation {
    token: [u8; 32],
    endpoint: String,
}

impl Allocation {
    /// Reads the environment of a program.
    fn read(environment: &str) -> Self {
        let value = |name: &str| environment.lines().find_map(|line| line.strip_prefix(name)).unwrap().to_owned();
        let token = value("RACKLOOM_TOKEN=");
        let token = std::array::from_fn(|at| u8::from_str_radix(&token[2 * at..][..2], 16).unwrap());
        Self { token, endpoint: value("RACKLOOM_MANAGERS=") }
    }
}

/// A time in which a program had a board: from the end of its first call to the beginning of its last good one.
#[derive(Debug, Clone)]
struct Held {
    program: usize,
    endpoint: String,
    from: Instant,
    to: Instant,
}

/// What happens in a storm.
struct Storm {
    /// Of the registry.
    address: String,
    is_over: AtomicBool,
    held: Mutex<Vec<Held>>,
    calls: [AtomicUsize; PROGRAMS],
    /// Sessions that ended in the middle of calls.
    broken: AtomicUsize,
    freed: AtomicUsize,
}

/// Runs an operation; `None` if the session ends before its end is known.
fn run(tenant: &Tenant, op: Op<'_>, tail: &[u8]) -> Option<End> {
    let event = tenant.number().into();
    send(tenant, &Command::Enqueue { event, waits: vec![], submit: true, op }, tail)?;
    let deadline = Some(Instant::now() + PATIENCE);
    tenant.client.wait(deadline, || tenant.inbox.lock().unwrap().done.remove(&event)).ok()
}

fn send(tenant: &Tenant, command: &Command<'_>, tail: &[u8]) -> Option<()> {
    let mut bytes = Vec::new();
    encode_command(command, tail, &mut bytes);
    tenant.client.send(COMMAND, &bytes).ok()
}

fn ask<'a>(tenant: &Tenant, command: impl FnOnce(u32) -> Command<'a>) -> Option<Answer> {
    let request = tenant.number();
    send(tenant, &command(request), &[])?;
    let deadline = Some(Instant::now() + PATIENCE);
    tenant.client.wait(deadline, || tenant.inbox.lock().unwrap().answers.remove(&request)).ok()?.ok()
}

/// A session with the board open; `None` while there is none to be had.
fn open(allocation: &Allocation) -> Option<Tenant> {
    let endpoint: Endpoint = allocation.endpoint.parse().unwrap();
    let tenant = Tenant::try_greeting(&endpoint, allocation.token)?;
    ask(&tenant, |request| Command::Hello { request, version: VERSION, name: "storm" })?;
    ask(&tenant, |request| Command::Open { request, board: 0 })?;
    send(&tenant, &Command::CreateBuffer { buffer: 0, flags: 1, size: BYTES as u64, backing: None }, &[])?;
    send(&tenant, &Command::CreateBuffer { buffer: 1, flags: 1, size: BYTES as u64, backing: None }, &[])?;
    Some(tenant)
}

/// Writes, copies and reads; `None` if the session ends meanwhile. What is read has to be right.
fn calls(tenant: &Tenant, random: &mut Random) -> Option<()> {
    let bytes: Vec<u8> = (0..BYTES).map(|_| random.below(256) as u8).collect();
    let len = BYTES as u64;
    let ends = [
        run(tenant, Op::Write { buffer: 0, offset: 0, from: Payload::Inline }, &bytes)?,
        run(tenant, Op::Copy { from: 0, from_offset: 0, to: 1, to_offset: 0, len }, &[])?,
        run(tenant, Op::Read { buffer: 1, offset: 0, len, into: None }, &[])?,
    ];
    if ends.iter().any(|end| end.status != 0) {
        return None; // Its process was ended, and the channel will say so.
    }
    assert!(ends[2].tail == bytes, "other bytes than were written");
    Some(())
}

impl Storm {
    /// Runs one of the registry's commands; `None` if it fails, as the registry may be away at any moment.
    fn ask(&self, arguments: &[&str]) -> Option<String> {
        let mut command = std::process::Command::new(go::registry_program());
        let said = command.args(arguments).args(["--registry", &self.address]).output().unwrap();
        said.status.success().then(|| String::from_utf8(said.stdout).unwrap())
    }

    /// A program's life: allocated, opened, calling, now and then freed and begun anew.
    fn program(&self, program: usize, mut random: Random) {
        let function = if program == PROGRAMS - 1 { "lab" } else { "any" };
        let mut lives = 0;
        let mut known: Option<Allocation> = None;
        while !self.is_over.load(Ordering::Relaxed) {
            let instance = format!("p{program}-{lives}");
            let asked = self.ask(&["allocate", function, &instance]);
            let Some(environment) = asked else {
                std::thread::sleep(Duration::from_millis(20)); // Away, or there is no room.
                continue;
            };
            let given = Allocation::read(&environment);
            if let Some(before) = &known {
                assert_eq!(*before, given, "{instance} was allocated twice");
            }
            let Some(session) = open(&given) else {
                known = Some(given);
                std::thread::sleep(Duration::from_millis(20));
                continue;
            };
            let mut held: Option<Held> = None;
            let rounds = random.below(200);
            let mut is_broken = false;
            for _ in 0..rounds {
                let from = Instant::now();
                if calls(&session, &mut random).is_none() {
                    is_broken = true;
                    break;
                }
                self.calls[program].fetch_add(1, Ordering::Relaxed);
                let endpoint = given.endpoint.clone();
                let first = || Held { program, endpoint, from: Instant::now(), to: from };
                held.get_or_insert_with(first).to = from;
            }
            self.held.lock().unwrap().extend(held);
            self.broken.fetch_add(is_broken.into(), Ordering::Relaxed);
            drop(session);
            known = Some(given);
            if !is_broken && random.below(3) == 0 {
                let freed = || self.ask(&["free", &instance]).is_some();
                // Freed again it is not found: either way it is free.
                until("it is freed", || freed() || !self.is_allocated(&instance));
                self.freed.fetch_add(1, Ordering::Relaxed);
                (lives, known) = (lives + 1, None);
            }
        }
    }

    /// Whether the registry knows it, which may be away: then it does.
    fn is_allocated(&self, instance: &str) -> bool {
        let all = self.ask(&["allocations", "--json"]);
        all.is_none_or(|all| all.contains(&format!("\"id\": \"{instance}\"")))
    }

    /// Nobody had a board while another had it for itself.
    fn check_exclusive(&self) -> usize {
        let held = self.held.lock().unwrap();
        let mut alone = 0;
        for one in held.iter().filter(|one| one.program == PROGRAMS - 1) {
            alone += 1;
            for other in held.iter().filter(|other| other.program != one.program && other.endpoint == one.endpoint) {
                assert!(other.to <= one.from || one.to <= other.from, "both had the board:\n{one:?}\n{other:?}");
            }
        }
        alone
    }
}

#[test]
fn kills_break_sessions_and_nothing_else() {
    let seed = number("RACKLOOM_SEED", std::process::id().into());
    let kills = number("RACKLOOM_KILLS", 40);
    println!("RACKLOOM_SEED={seed} RACKLOOM_KILLS={kills}");
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut site = Site::racing(&["-lease", "2s"]);
    let mut managers: BTreeMap<_, _> = NODES.into_iter().map(|node| (node, manager(&site, node))).collect();
    until("the boards are registered", || site.are_online(NODES.len()));
    site.say(&["function", "any"]);
    site.say(&["function", "lab", "--exclusive"]);
    let storm = Storm {
        address: site.registry(),
        is_over: AtomicBool::new(false),
        held: Mutex::default(),
        calls: Default::default(),
        broken: AtomicUsize::new(0),
        freed: AtomicUsize::new(0),
    };
    let mut words = String::new();
    std::thread::scope(|scope| {
        let programs: Vec<_> = (0..PROGRAMS)
            .map(|program| {
                let random = Random(random.below(u64::MAX) | 1);
                let storm = &storm;
                scope.spawn(move || storm.program(program, random))
            })
            .collect();
        for kill in 0..kills {
            std::thread::sleep(Duration::from_millis(random.below(400)));
            // Sometimes for so long that the lease ends.
            let pause = Duration::from_millis([0, 0, 50, 50, 2500][random.below(5) as usize]);
            if random.below(2) == 0 {
                words += &site.kill_registry();
                std::thread::sleep(pause);
                site.start_registry();
            } else {
                let node = NODES[random.below(3) as usize];
                let victim = managers.get_mut(node).unwrap();
                victim.kill();
                words += &victim.words();
                std::thread::sleep(pause);
                managers.insert(node, manager(&site, node));
            }
            if programs.iter().any(std::thread::ScopedJoinHandle::is_finished) {
                storm.is_over.store(true, Ordering::Relaxed);
                panic!("seed {seed}: around kill {kill} a program saw what may not be");
            }
        }
        // After the storm everybody has calls again.
        let before: Vec<_> = storm.calls.iter().map(|calls| calls.load(Ordering::Relaxed)).collect();
        let goes_on = |(calls, before): (&AtomicUsize, &usize)| calls.load(Ordering::Relaxed) > before + 20;
        until("all programs go on", || storm.calls.iter().zip(&before).all(goes_on));
        storm.is_over.store(true, Ordering::Relaxed);
    });
    let alone = storm.check_exclusive();
    words += &site.kill_registry();
    managers.values().for_each(|manager| words += &manager.words());
    for fault in ["DATA RACE", "panic", "goroutine "] {
        assert!(!words.contains(fault), "seed {seed}: {fault} in\n{words}");
    }
    let store = site.path("registry.db");
    let checked = std::process::Command::new(go::registry_program()).arg("check").arg("-store").arg(store).output();
    let checked = checked.unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    let (broken, freed) = (storm.broken.into_inner(), storm.freed.into_inner());
    let calls: Vec<_> = storm.calls.into_iter().map(AtomicUsize::into_inner).collect();
    println!("{calls:?} calls, {broken} sessions broken, {freed} instances freed, {alone} times alone on a board");
    assert!(broken > 0 && freed > 0 && alone > 0, "nothing was at stake");
}
