//! A manager under attack, and an honest program that has a board there meanwhile.

use std::cell::Cell;
use std::time::{Duration, Instant};

use rackloom_ipc::Endpoint;

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
}

impl Siege {
    /// Attackers of this machine and over TCP, on a manager in each place.
    pub fn each(attack: impl Fn(&Self)) {
        for place in [Place::Here, Place::Plain, Place::Bare] {
            for is_tcp in [false, true] {
                let Some(manager) = Isolating::start_in(place, &STALL) else { break };
                let endpoint = if is_tcp { manager.tcp.clone() } else { manager.endpoint.clone() };
                eprintln!("{place:?}, {endpoint}");
                let neighbour = manager.client();
                with_kernels(&neighbour);
                let mut siege = Self { manager, endpoint, neighbour, counted: Cell::new(0) };
                siege.is_served();
                attack(&siege);
                assert!(!siege.manager.process.has_ended());
            }
        }
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
