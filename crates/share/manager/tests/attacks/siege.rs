//! A manager under attack, and an honest program that has a board there meanwhile.

use std::cell::Cell;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rackloom_ipc::Endpoint;
use rackloom_opencl_wire::Argument;

use crate::calls::{begin, load};
use crate::common::Tenant;
use crate::isolating::{Isolating, Place, counts_to, with_kernels};
use crate::site::until;

/// How long a neighbour may wait for the board after an attack.
const SOON: Duration = Duration::from_secs(2);

/// Of the managers here; much less than a neighbour may wait.
const STALL: [&str; 2] = ["--stall-time", "200ms"];

/// How much memory the manager may have more after many attacks: what its allocator keeps.
const KEPT: u64 = 24 << 20;

pub struct Siege {
    manager: Isolating,
    place: Place,
    /// Where the attackers come.
    endpoint: Endpoint,
    neighbour: Tenant,
    counted: Cell<u32>,
    reads_runtimes_only: bool,
    /// What the manager has when nobody attacks.
    at_rest: Census,
}

/// What a manager has: processes, threads, files, entries of its folder, programs with a seat.
type Census = [usize; 5];

impl Siege {
    /// Attackers of this machine and over TCP, on a manager in each place.
    pub fn each(attack: impl Fn(&Self)) {
        for place in [Place::Here, Place::Plain, Place::Bare] {
            Self::at(place, &[false, true], &attack);
        }
    }

    /// Attackers of this machine, on a manager of this user.
    pub fn here(attack: impl Fn(&Self)) {
        Self::at(Place::Here, &[false], attack);
    }

    fn at(place: Place, ways: &[bool], attack: impl Fn(&Self)) {
        let Some(mut manager) = Isolating::start_in(place, &STALL) else { return };
        for is_tcp in ways {
            let endpoint = if *is_tcp { manager.tcp.clone() } else { manager.endpoint.clone() };
            eprintln!("{place:?}, {endpoint}");
            let neighbour = manager.client();
            with_kernels(&neighbour);
            let reads_runtimes_only = *is_tcp || place != Place::Here || manager.gives_users();
            let counted = Cell::new(0);
            let mut siege = Self { manager, place, endpoint, neighbour, counted, reads_runtimes_only, at_rest: [0; 5] };
            siege.is_served();
            drop(siege.attacker()); // From now on a worker is kept ready for the like of it.
            siege.at_rest = siege.quiet();
            let memory = siege.manager.process.resident();
            attack(&siege);
            let grown = siege.manager.process.resident().saturating_sub(memory);
            assert!(grown <= KEPT, "the manager has {grown} bytes of memory more");
            assert!(!siege.manager.process.has_ended());
            manager = siege.manager;
        }
    }

    /// Whether the attackers' processes read what runtimes need, and not what the manager's user may: they are no
    /// processes of that user, as far as it can tell, or their workers are none.
    pub const fn reads_runtimes_only(&self) -> bool {
        self.reads_runtimes_only
    }

    /// Those of many attacks that are tried here: all by clients of this machine on a manager of this user; over TCP a
    /// third in each place, so that each is tried once; by clients of this machine elsewhere every sixth. With
    /// `RACKLOOM_ATTACKS=all` (`make attacks`) all are tried everywhere.
    pub fn some<T>(&self, all: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
        let are_all = std::env::var("RACKLOOM_ATTACKS").is_ok_and(|tried| tried == "all");
        let (of, one) = match (self.place, self.is_tcp()) {
            _ if are_all => (1, 0),
            (Place::Here, false) => (1, 0),
            (Place::Here, true) | (Place::Small, _) => (3, 0),
            (Place::Plain, true) => (3, 1),
            (Place::Bare, true) => (3, 2),
            (Place::Plain, false) => (6, 1),
            (Place::Bare, false) => (6, 4),
        };
        all.into_iter().enumerate().filter(move |(at, _)| at % of == one).map(|(_, attack)| attack)
    }

    /// Whether they come over TCP.
    pub const fn is_tcp(&self) -> bool {
        matches!(self.endpoint, Endpoint::Tcp(_))
    }

    /// What the manager has said.
    pub fn words(&self) -> String {
        self.manager.process.words()
    }

    /// The neighbour has the board soon, and its bytes are right.
    pub fn is_served(&self) {
        self.counted.set(self.counted.get() + 1);
        let start = Instant::now();
        counts_to(&self.neighbour, self.counted.get());
        assert!(start.elapsed() < SOON, "a neighbour waited {:?}", start.elapsed());
    }

    pub fn attacker(&self) -> Tenant {
        Tenant::connect(&self.endpoint)
    }

    fn census(&self) -> Census {
        let Self { manager, .. } = self;
        let seats = manager.metric("rackloom_tenants{").values().sum::<f64>() as usize;
        let process = &manager.process;
        [manager.descendants(), process.threads_in_all(), process.files(), self.worker_folders().len(), seats]
    }

    /// The same when nothing changes: each worker, busy or ready, is two processes.
    fn quiet(&self) -> Census {
        let mut before = self.census();
        until("nothing changes", || {
            std::thread::sleep(Duration::from_millis(200));
            let was = std::mem::replace(&mut before, self.census());
            was == before && (before[0] - 1 - self.manager.templates().len()).is_multiple_of(2)
        });
        before
    }

    /// Nothing is left of an attacker.
    fn is_at_rest(&self, what: &str) {
        let start = Instant::now();
        let mut now = self.census();
        while now.iter().zip(self.at_rest).any(|(now, before)| *now > before) {
            assert!(
                start.elapsed() < SOON,
                "{what}: processes, threads, files, folders, seats: {now:?} instead of {:?}",
                self.at_rest
            );
            std::thread::sleep(Duration::from_millis(5));
            now = self.census();
        }
    }

    /// Whether this system lacks something that isolation requires.
    pub fn lacks_layers() -> bool {
        let words = Isolating::start(&[]).process.words();
        let required = ["namespaces", "bounded folders", "Landlock", "seccomp"];
        required.iter().any(|layer| words.contains(&format!("lacks {layer}")))
    }

    /// Whether the manager says that this system lacks a layer.
    pub fn lacks(&self, layer: &str) -> bool {
        self.words().contains(&format!("this system lacks {layer}"))
    }

    /// The workers' folders, as the machine sees them.
    pub fn worker_folders(&self) -> Vec<PathBuf> {
        let below = |folder: PathBuf| folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
        let managers = below(self.manager.folder.path().join("tmp"));
        managers.flat_map(below).flat_map(below).filter(|path| path.to_string_lossy().contains("/worker-")).collect()
    }

    /// What a kernel with this body leaves in its buffer.
    pub fn result(&self, body: &str) -> i64 {
        let attacker = self.attacker();
        load(&attacker, &format!("kernel void attack(global long *x) {{ {body} }}"), "attack");
        let launch = Tenant::launch(9, 1, vec![(0, Argument::Buffer(Some(9)))]);
        assert_eq!(attacker.run(launch, &[]).status, 0);
        i64::from_le_bytes(attacker.read(9, 0, 8).tail.try_into().unwrap())
    }

    /// A kernel with this body takes its process over: the neighbour is served soon, and nothing is left of it.
    pub fn withstands(&self, what: &str, body: &str) {
        self.withstands_with(what, "", body);
    }

    /// The same for one that calls these functions. A kernel that keeps its process is ended for the neighbour's sake;
    /// one that goes on computing with its process intact, when its client ends.
    pub fn withstands_with(&self, what: &str, help: &str, body: &str) {
        self.outlives(what, |attacker| {
            load(attacker, &format!("{help} kernel void attack(global long *x) {{ {body} }}"), "attack");
            begin(attacker);
            std::thread::sleep(Duration::from_millis(50)); // It has begun what it can by then.
            self.is_served();
        });
    }

    /// A client does what it likes, and ends: the neighbour is served soon, and nothing is left.
    pub fn outlives(&self, what: &str, attack: impl FnOnce(&Tenant)) {
        eprintln!("- {what}");
        let attacker = self.attacker();
        attacker.inbox.lock().unwrap().hostile = true;
        attack(&attacker);
        self.is_served();
        drop(attacker);
        self.is_at_rest(what);
        self.is_served();
    }
}
