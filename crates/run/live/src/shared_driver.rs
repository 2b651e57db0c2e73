//! Runs one node live, by whoever waits for it.
//!
//! A thread that waits for the node takes the helm: it gives the node its turns and sleeps at the wire itself, so an
//! answer wakes the thread that wants it and no other. A thread of the driver's own has the helm while nobody waits.
//!
//! ```text
//!              wait: nobody else waits             its wait is over
//!   own thread -----------------------> a waiter ------------------> nobody --- LINGER, or wanted ---> own thread
//! ```
//!
//! The own thread does not come back at once, because whoever asks and waits over and over would pay for its coming and
//! going each time. Meanwhile who posts something does it on the spot; what else comes waits for [`LINGER`].

use std::fmt;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, TryLockError};
use std::task::Waker;
use std::thread::{JoinHandle, ThreadId};
use std::time::{Duration, Instant as StdInstant};

use rackloom_node::{Instant, Node};
use rackloom_sync::{lock, wait, wait_for};

use crate::clock::Clock;
use crate::engine::{Engine, Rest};
use crate::mailbox::{Mailbox, Stopped};
use crate::wire::{RETRY, Wire};
use crate::wires::{Ports, Wires};

/// A node that is run in real time by the threads that wait for it, and by one of its own while none does.
///
/// Its events go to the sink on whichever thread runs it. Dropping the driver stops the node.
pub struct SharedDriver<N: Node> {
    shared: Arc<Shared<N>>,
    mailbox: Mailbox<N>,
    thread: Option<JoinHandle<()>>,
    id: ThreadId,
}

struct Shared<N: Node> {
    clock: Clock,
    waker: Waker,
    /// `None`: the node has stopped. Held by who has the helm.
    ship: Mutex<Option<Ship<N>>>,
    crew: Mutex<Crew>,
    /// For the own thread, while it is not at the helm.
    bell: Condvar,
}

struct Ship<N: Node> {
    engine: Engine<N>,
    wires: Wires<Box<dyn Wire>>,
}

/// Who waits.
#[derive(Debug, Default)]
struct Crew {
    /// A waiter has the helm, or is about to.
    is_taken: bool,
    /// Raised each time that a waiter takes it.
    times_taken: u64,
    /// Waiters that sleep elsewhere, for another has the helm.
    others: u32,
    /// The own thread is to take it at once.
    is_wanted: bool,
    /// The own thread sleeps until it is called.
    is_asleep: bool,
    is_over: bool,
}

impl<N> SharedDriver<N>
where
    N: Node + Send + 'static,
    N::Event: 'static,
{
    /// Starts `node` on `wire`. Its time is `clock`'s; its events go to `sink`. When the wire fails, the node stops and
    /// node and sink are dropped.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn spawn<W>(node: N, wire: W, clock: Clock, sink: impl FnMut(N::Event) + Send + 'static) -> io::Result<Self>
    where
        W: Wire + 'static,
    {
        let waker = wire.waker();
        let (mailbox, inbox) = Mailbox::new(waker.clone());
        let engine = Engine::new(node, clock, Box::new(sink), inbox);
        let ship = Ship { engine, wires: Wires::driven(wire, Ports::new()) };
        let shared = Arc::new(Shared {
            clock,
            waker,
            ship: Mutex::new(Some(ship)),
            crew: Mutex::default(),
            bell: Condvar::new(),
        });
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("rackloom-node".to_owned()).spawn(move || theirs.run())?;
        let id = thread.thread().id();
        Ok(Self { shared, mailbox, thread: Some(thread), id })
    }

    /// Has `f` done with the node and waits for what it returns. The node is polled afterwards.
    ///
    /// # Errors
    /// The node has stopped.
    ///
    /// # Panics
    /// On the driver's own thread (in its event sink), where it would wait for itself.
    pub fn with<R, F>(&self, f: F) -> Result<R, Stopped>
    where
        R: Send + 'static,
        F: FnOnce(&mut N, Instant) -> R + Send + 'static,
    {
        assert_ne!(std::thread::current().id(), self.id, "a node's event sink cannot wait for the node");
        self.mailbox.with(f)
    }

    /// Has `f` done with the node: at once, if nobody has the helm, else some time soon. Waits only while very many are
    /// waiting already.
    ///
    /// # Errors
    /// The node has stopped.
    pub fn post(&self, f: impl FnOnce(&mut N, Instant) + Send + 'static) -> Result<(), Stopped> {
        match self.shared.ship.try_lock() {
            Ok(mut ship) => {
                ship.as_mut().ok_or(Stopped)?.engine.apply(f);
                let rest = self.shared.turn(&mut ship);
                drop(ship);
                if matches!(rest, Some(Rest::Again | Rest::Full)) {
                    self.attend();
                }
                Ok(())
            }
            Err(TryLockError::WouldBlock) => self.mailbox.post(f),
            Err(TryLockError::Poisoned(_)) => Err(Stopped),
        }
    }

    /// Waits until `is_over`, a node's doing, or the deadline. This thread runs the node meanwhile if no other does;
    /// else it calls `sleep`, which waits for the same by other means.
    ///
    /// # Panics
    /// On the driver's own thread (in its event sink), where it would wait for itself.
    pub fn wait(
        &self,
        deadline: Option<StdInstant>,
        mut is_over: impl FnMut() -> bool,
        sleep: impl FnOnce(Option<StdInstant>),
    ) {
        assert_ne!(std::thread::current().id(), self.id, "a node's event sink cannot wait for the node");
        if is_over() {
            return;
        }
        let mut crew = lock(&self.shared.crew);
        if crew.is_taken || crew.is_over || crew.others > 0 {
            crew.others += 1;
            // Nobody may have the helm at present.
            crew.is_wanted |= !crew.is_taken;
            drop(crew);
            self.shared.bell.notify_one();
            sleep(deadline);
            lock(&self.shared.crew).others -= 1;
            return;
        }
        crew.is_taken = true;
        crew.times_taken = crew.times_taken.wrapping_add(1);
        drop(crew);
        let mut ship = self.shared.board();
        while !is_over()
            && let Some(rest) = self.shared.turn(&mut ship)
            && !is_over()
            && deadline.is_none_or(|at| at > StdInstant::now())
        {
            self.shared.rest(&mut ship, rest, deadline);
        }
        drop(ship);
        let mut crew = lock(&self.shared.crew);
        crew.is_taken = false;
        crew.is_wanted |= crew.others > 0;
        if crew.is_wanted || crew.is_asleep {
            self.shared.bell.notify_one();
        }
    }

    /// What happens at the wire from now on is seen to at once, though nobody waits on a thread.
    pub fn attend(&self) {
        lock(&self.shared.crew).is_wanted = true;
        self.shared.bell.notify_one();
    }
}

impl<N: Node> Shared<N> {
    /// The own thread.
    fn run(&self) {
        while self.take_over() {
            let mut ship = lock(&self.ship);
            while !self.is_relieved()
                && let Some(rest) = self.turn(&mut ship)
            {
                self.rest(&mut ship, rest, None);
            }
            if ship.is_none() {
                return;
            }
        }
        drop(lock(&self.ship).take());
    }

    /// Sleeps until the own thread is to have the helm; false: the node is to stop.
    fn take_over(&self) -> bool {
        let mut crew = lock(&self.crew);
        let mut seen = None;
        while !crew.is_over {
            let nobody_came = seen == Some(crew.times_taken);
            if !crew.is_taken && (crew.is_wanted || nobody_came) {
                crew.is_wanted = false;
                return true;
            }
            if crew.is_taken && nobody_came {
                // Whoever has it has had it for long, and will say when it leaves.
                crew.is_asleep = true;
                crew = wait(&self.bell, crew);
                crew.is_asleep = false;
            }
            seen = Some(crew.times_taken);
            crew = wait_for(&self.bell, crew, LINGER);
        }
        false
    }

    /// Whether the own thread has to leave the helm.
    fn is_relieved(&self) -> bool {
        let crew = lock(&self.crew);
        crew.is_taken || crew.is_over
    }

    /// Takes the helm for a waiter, from the own thread if that has it.
    fn board(&self) -> MutexGuard<'_, Option<Ship<N>>> {
        if let Ok(ship) = self.ship.try_lock() {
            return ship;
        }
        self.waker.wake_by_ref();
        lock(&self.ship)
    }

    /// One turn; `None`: the node has stopped.
    fn turn(&self, ship: &mut Option<Ship<N>>) -> Option<Rest> {
        let Ship { engine, wires } = ship.as_mut()?;
        let rest = engine.turn(wires);
        self.or_stop(ship, rest)
    }

    /// Sleeps until there is something to do.
    fn rest(&self, ship: &mut Option<Ship<N>>, rest: Rest, deadline: Option<StdInstant>) {
        let Some(Ship { engine, wires }) = ship.as_mut() else { return };
        let until = match rest {
            Rest::Again => Some(StdInstant::now()),
            Rest::Until(deadline) => deadline.and_then(|at| self.clock.std(at)),
            // The wire tells when it has room, but deadlines go on.
            Rest::Full => Some(StdInstant::now() + RETRY),
        };
        let until = [until, deadline].into_iter().flatten().min();
        let slept = engine.wait(wires, until);
        self.or_stop(ship, slept);
    }

    /// Drops the node if its wire is gone.
    fn or_stop<T>(&self, ship: &mut Option<Ship<N>>, result: io::Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(_) => {
                lock(&self.crew).is_over = true;
                self.bell.notify_one();
                *ship = None;
                None
            }
        }
    }
}

impl<N: Node> Drop for SharedDriver<N> {
    fn drop(&mut self) {
        lock(&self.shared.crew).is_over = true;
        self.shared.bell.notify_one();
        self.shared.waker.wake_by_ref();
        if let Some(thread) = self.thread.take()
            && std::thread::current().id() != self.id
        {
            let _ = thread.join(); // A panic has printed its message already.
        }
    }
}

impl<N: Node> fmt::Debug for SharedDriver<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedDriver").field("crew", &self.shared.crew).finish_non_exhaustive()
    }
}

/// How long nobody has the helm after a waiter has left it. Deadlines of nodes are of milliseconds.
const LINGER: Duration = Duration::from_micros(250);
