//! Programs that take what their tenant's others, or other tenants, are to have.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rackloom_ipc::{Endpoint, Token};
use rackloom_opencl_wire::{Argument, Command, Form, Payload};
use rustix::process::Uid;

use crate::common::Tenant;
use crate::isolating::Isolating;

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
/// Bytes of buffers and of programs for each tenant, and of memory for all: eight programs have three quarters of that
/// by their processes.
const TENANT_MEMORY: u64 = 64 << 20;
const TENANT_PROGRAMS: u64 = 16 << 10;
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

/// Makes a program of so many bytes; whether that was granted.
fn loads(t: &Tenant, program: u32, bytes: u64) -> bool {
    let source = " ".repeat(bytes as usize);
    t.send(&Command::CreateProgram { program, form: Form::Source, bytes: Payload::Inline }, source.as_bytes());
    let is_granted = t.ask(|request| Command::Created { request, program }).is_ok();
    if !is_granted {
        t.send(&Command::ReleaseProgram { program }, &[]);
    }
    is_granted
}

/// A tenant, as its programs come to a manager.
pub struct Whose {
    token: Token,
    /// Its endpoints: each program of it takes one of them.
    endpoints: [Endpoint; 2],
    /// The user of this machine, if it is not this test's.
    user: Option<Uid>,
}

impl Whose {
    /// A program with a board, as number `seed`; its process may have to wait for the end of another's.
    pub fn opens(&self, seed: u64) -> Tenant {
        loop {
            if let Some(t) = self.tries(seed) {
                return t;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn tries(&self, seed: u64) -> Option<Tenant> {
        let to = &self.endpoints[seed as usize % 2];
        let Some(user) = self.user else { return Tenant::try_opening(to, self.token) };
        std::thread::scope(|scope| {
            // Who a client is, is who its thread is when it connects.
            let opens = || {
                rustix::thread::set_thread_res_uid(None, user, None).unwrap();
                Tenant::try_opening(to, self.token)
            };
            scope.spawn(opens).join().unwrap()
        })
    }

    pub const fn is_another_user(&self) -> bool {
        self.user.is_some()
    }

    pub fn comes_to(&self, endpoint: &Endpoint) -> bool {
        self.endpoints[0] == *endpoint
    }

    /// Those with tokens.
    fn by_token(manager: &Isolating) -> Vec<Self> {
        let endpoints = [manager.endpoint.clone(), manager.tcp.clone()];
        (0..TENANTS).map(|at| Self { token: token(at), endpoints: endpoints.clone(), user: None }).collect()
    }

    /// Two or three without: this user, this address, and another user.
    pub fn by_identity(manager: &Isolating) -> Vec<Self> {
        let of = |endpoint: &Endpoint, user| {
            let endpoints = [endpoint.clone(), endpoint.clone()];
            Self { token: Token::default(), endpoints, user }
        };
        let mut all = vec![of(&manager.endpoint, None), of(&manager.tcp, None)];
        if rustix::process::geteuid().is_root() {
            let Endpoint::Unix(path) = &manager.endpoint else { unreachable!("it listens there") };
            for (path, mode) in [(manager.folder.path(), 0o755), (path, 0o666)] {
                std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
            }
            all.push(of(&manager.endpoint, Some(Uid::from_raw(NOBODY))));
        } else {
            eprintln!("not tried: another user's programs, since this user cannot start any");
        }
        all
    }
}

/// A user who owns nothing.
const NOBODY: u32 = 65_534;

fn token(tenant: usize) -> Token {
    [0x10 + tenant as u8; 32]
}

/// A program that makes and releases buffers and programs at random, and then ends with what it has.
fn random_program(t: &Tenant, seed: u64, [memory, programs]: [&[&Ledger]; 2]) {
    let mut state = seed;
    let mut held: Vec<(bool, u32, u64)> = Vec::new();
    for number in 1..40 {
        let is_buffer = !random(&mut state).is_multiple_of(4);
        if random(&mut state).is_multiple_of(3) && !held.is_empty() {
            let (is_buffer, object, bytes) = held.swap_remove(random(&mut state) as usize % held.len());
            let ledgers = if is_buffer { memory } else { programs };
            ledgers.iter().for_each(|ledger| ledger.remove(bytes));
            let (buffer, program) = (object, object);
            let release =
                if is_buffer { Command::ReleaseBuffer { buffer } } else { Command::ReleaseProgram { program } };
            t.send(&release, &[]);
            continue;
        }
        let most = if is_buffer { TENANT_MEMORY / 4 } else { TENANT_PROGRAMS / 4 };
        let bytes = 1 + random(&mut state) % most;
        if if is_buffer { makes(t, number, bytes) } else { loads(t, number, bytes) } {
            let ledgers = if is_buffer { memory } else { programs };
            ledgers.iter().for_each(|ledger| ledger.add(bytes));
            held.push((is_buffer, number, bytes));
        }
    }
    for (is_buffer, _, bytes) in held {
        let ledgers = if is_buffer { memory } else { programs };
        ledgers.iter().for_each(|ledger| ledger.remove(bytes));
    }
}

fn random_programs(options: &[&str], whose: impl Fn(&Isolating) -> Vec<Whose>) {
    let (host_memory, programs) = (HOST_MEMORY.to_string(), TENANT_PROGRAMS.to_string());
    let manager = Isolating::start(&[&["--host-memory", &host_memory, "--programs", &programs], options].concat());
    let whose = whose(&manager);
    let ledgers: Vec<[Ledger; 2]> = whose.iter().map(|_| Default::default()).collect();
    let host = Ledger::default();
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
                    let tenant = seed as usize % whose.len();
                    let t = whose[tenant].opens(seed);
                    host.add(PROCESS);
                    // Later ones may be over before others have begun.
                    if std::mem::take(&mut is_first) {
                        all_run.wait();
                    }
                    let [memory, programs] = &ledgers[tenant];
                    random_program(&t, seed, [&[memory, &host], &[programs, &host]]);
                    host.remove(PROCESS);
                }
            });
        }
    });
    for [memory, programs] in &ledgers {
        let (memory, programs) = (memory.peak(), programs.peak());
        eprintln!("a tenant had {memory} of {TENANT_MEMORY} and {programs} of {TENANT_PROGRAMS} bytes");
        assert!((TENANT_MEMORY / 2..=TENANT_MEMORY).contains(&memory));
        assert!((TENANT_PROGRAMS / 2..=TENANT_PROGRAMS).contains(&programs));
    }
    eprintln!("all had {} of {HOST_MEMORY} bytes", host.peak());
    assert!((HOST_MEMORY * 3 / 4..=HOST_MEMORY).contains(&host.peak()));
    for tenant in &whose {
        let t = tenant.opens(0);
        crate::site::until("not a byte is left", || makes(&t, 1, TENANT_MEMORY));
        assert!(loads(&t, 1, TENANT_PROGRAMS), "not a byte is left");
        assert!(!makes(&t, 2, 1) && !loads(&t, 2, 1));
    }
}

#[test]
fn quotas_hold_by_token_under_random_programs() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let lines = (0..TENANTS).map(|tenant| format!("{:02x}", token(tenant)[0]).repeat(32) + "\n");
    std::fs::write(file.path(), lines.collect::<String>()).unwrap();
    random_programs(&["--tokens", file.path().to_str().unwrap()], Whose::by_token);
}

#[test]
fn quotas_hold_by_user_and_address_under_random_programs() {
    random_programs(&[], Whose::by_identity);
}

/// How many of these the programs can make, in turns, before each is refused one.
fn count(all: &[Tenant], makes: impl Fn(&Tenant, u32) -> bool) -> usize {
    let more = |at: u32| all.iter().filter(|t| makes(t, at)).count();
    (1..OBJECTS).map(more).take_while(|made| *made > 0).sum()
}

/// Objects of each kind that a tenant may have, of [`Isolating`].
const OBJECTS: u32 = 64;

#[test]
fn four_programs_of_a_user_or_an_address_have_the_objects_of_one() {
    let manager = Isolating::start(&[]);
    for endpoint in [&manager.endpoint, &manager.tcp] {
        let all: Vec<_> = (0..4).map(|_| Tenant::connect(endpoint)).collect();
        assert_eq!(count(&all, |t, at| makes(t, at, 1)), OBJECTS as usize, "buffers");
        assert_eq!(count(&all, |t, at| loads(t, at, 1)), OBJECTS as usize, "programs");
        all.iter().for_each(|t| t.send(&Command::ReleaseProgram { program: 1 }, &[]));
        let kernel = |t: &Tenant, kernel| {
            if kernel == 1 {
                assert_eq!(t.build(1, "kernel void k(int x) {}").status, 0);
            }
            t.send(&Command::CreateKernel { kernel, program: 1, name: "k" }, &[]);
            let value = [0; 4];
            let is_granted = t.run(Tenant::launch(kernel, 1, vec![(0, Argument::Value(&value))]), &[]).status == 0;
            if !is_granted {
                t.send(&Command::ReleaseKernel { kernel }, &[]);
            }
            is_granted
        };
        assert_eq!(count(&all, kernel), OBJECTS as usize, "kernels");
        let sub_buffer = |t: &Tenant| {
            let new = Command::CreateSubBuffer { buffer: 63, parent: 1, flags: 1, offset: 0, size: 1 };
            t.send(&new, &[]);
            let is_granted = t.write(63, 0, &[1]).status == 0;
            t.send(&Command::ReleaseBuffer { buffer: 63 }, &[]);
            is_granted
        };
        assert!(!sub_buffer(&all[0]), "it is a buffer as well");
        let mut left = all.into_iter();
        let (first, gone) = (left.next().unwrap(), left.next().unwrap());
        drop(gone);
        crate::site::until("what one had is another's to take", || sub_buffer(&first));
    }
}
