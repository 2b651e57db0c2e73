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
const STALL: [&str; 2] = ["--stall-time", "300ms"];

pub struct Siege {
    manager: Isolating,
    /// Where the attackers come.
    endpoint: Endpoint,
    neighbour: Tenant,
    counted: Cell<u32>,
    is_of_a_stranger: bool,
}

impl Siege {
    /// Attackers of this machine and over TCP, on a manager in each place.
    pub fn each(attack: impl Fn(&Self)) {
        for place in [Place::Here, Place::Plain, Place::Bare] {
            for is_tcp in [false, true] {
                Self::at(place, is_tcp, &attack);
            }
        }
    }

    /// Attackers of this machine, on a manager of this user.
    pub fn here(attack: impl Fn(&Self)) {
        Self::at(Place::Here, false, attack);
    }

    fn at(place: Place, is_tcp: bool, attack: impl Fn(&Self)) {
        let Some(manager) = Isolating::start_in(place, &STALL) else { return };
        let endpoint = if is_tcp { manager.tcp.clone() } else { manager.endpoint.clone() };
        eprintln!("{place:?}, {endpoint}");
        let neighbour = manager.client();
        with_kernels(&neighbour);
        let is_of_a_stranger = is_tcp || place != Place::Here;
        let mut siege = Self { manager, endpoint, neighbour, counted: Cell::new(0), is_of_a_stranger };
        siege.is_served();
        attack(&siege);
        assert!(!siege.manager.process.has_ended());
    }

    /// Whether the attackers are no processes of the manager's user, as far as it can tell.
    pub const fn is_of_a_stranger(&self) -> bool {
        self.is_of_a_stranger
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

    /// What the manager has: processes, threads, files.
    fn census(&self) -> [usize; 3] {
        let Self { manager, .. } = self;
        [manager.descendants(), manager.process.threads_in_all(), manager.process.files()]
    }

    /// The same when nothing changes: each worker, busy or ready, is two processes.
    fn quiet(&self) -> [usize; 3] {
        let mut before = self.census();
        until("nothing changes", || {
            std::thread::sleep(Duration::from_millis(200));
            let was = std::mem::replace(&mut before, self.census());
            was == before && before[0] % 2 == 1
        });
        before
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
        eprintln!("- {what}");
        drop(self.attacker()); // From now on a worker is kept ready for the like of it.
        let before = self.quiet();
        let attacker = self.attacker();
        load(&attacker, &format!("kernel void attack(global long *x) {{ {body} }}"), "attack");
        begin(&attacker);
        std::thread::sleep(Duration::from_millis(100)); // It has begun what it can by then.
        self.is_served();
        attacker.ended();
        let start = Instant::now();
        let mut now = self.census();
        while now.iter().zip(before).any(|(now, before)| *now > before) {
            assert!(start.elapsed() < SOON, "processes, threads, files: {now:?} instead of {before:?}");
            now = self.census();
        }
        self.is_served();
    }
}
