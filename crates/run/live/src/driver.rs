//! Runs one node live, by whoever waits for it.
//!
//! A thread that waits for the node drives it: it gives the node its turns and sleeps at the wire itself, so an answer
//! wakes the thread that wants it and no other. A thread of the driver's own drives the node while nobody waits.
//!
//! ```text
//!              wait: nobody else waits             its wait is over
//!   own thread -----------------------> a waiter ------------------> nobody --- LINGER, or wanted ---> own thread
//! ```
//!
//! The own thread does not come back at once, because whoever asks and waits over and over would pay for its coming and
//! going each time. Meanwhile who posts something does it on the spot; what else comes waits for [`LINGER`].

use std::cell::Cell;
use std::fmt;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, TryLockError};
use std::task::Waker;
use std::thread::{JoinHandle, ThreadId};
use std::time::{Duration, Instant as StdInstant};

use rackloom_node::{Instant, Node};
use rackloom_sync::{lock, wait, wait_for};

use crate::clock::Clock;
use crate::engine::{Counters, Engine, Rest};
use crate::mailbox::{Mailbox, Stopped};
use crate::wire::{RETRY, Wire};
use crate::wires::{Ports, Wires};

/// A node that is run in real time by the threads that wait for it, and by one of its own while none does.
///
/// Its events go to the sink on whichever thread runs it. Dropping the driver stops the node.
pub struct Driver<N: Node> {
    shared: Arc<Shared<N>>,
    mailbox: Mailbox<N>,
    thread: Option<JoinHandle<()>>,
    id: ThreadId,
}

/// What a driver counted up to the last time its node slept, or up to its end.
#[derive(Debug, Clone)]
pub struct CountersWatch(Arc<Mutex<Counters>>);

impl CountersWatch {
    /// The counters.
    #[must_use]
    pub fn counters(&self) -> Counters {
        *lock(&self.0)
    }
}

struct Shared<N: Node> {
    clock: Clock,
    waker: Waker,
    /// The node, or what has stopped it. Held by who drives it.
    running: Mutex<io::Result<Running<N>>>,
    /// As they were when the node slept last.
    counters: Arc<Mutex<Counters>>,
    waiters: Mutex<Waiters>,
    /// For the own thread, while it does not drive.
    bell: Condvar,
}

struct Running<N: Node> {
    engine: Engine<N>,
    wires: Wires<Box<dyn Wire>>,
}

/// Who waits.
#[derive(Debug, Default)]
struct Waiters {
    /// A waiter drives, or is about to.
    is_driving: bool,
    /// Raised each time that a waiter begins to.
    times_driven: u64,
    /// Waiters that sleep elsewhere, for another drives.
    others: u32,
    /// The own thread is to drive at once.
    is_wanted: bool,
    /// The own thread sleeps until it is called.
    is_asleep: bool,
    is_over: bool,
}

impl<N> Driver<N>
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
        Self::spawn_with_ports(node, wire, Ports::new(), clock, sink)
    }

    /// As [`spawn`](Self::spawn), with cables in other ports than port 0, where `wire` is.
    ///
    /// # Errors
    /// No thread can be started.
    ///
    /// # Panics
    /// If `others` has a port 0.
    pub fn spawn_with_ports<W>(
        node: N,
        wire: W,
        others: Ports,
        clock: Clock,
        sink: impl FnMut(N::Event) + Send + 'static,
    ) -> io::Result<Self>
    where
        W: Wire + 'static,
    {
        let waker = wire.waker();
        let (mailbox, inbox) = Mailbox::new(waker.clone());
        let engine = Engine::new(node, clock, Box::new(sink), inbox);
        let running = Running { engine, wires: Wires::driven(wire, others) };
        let shared = Arc::new(Shared {
            clock,
            waker,
            running: Mutex::new(Ok(running)),
            counters: Arc::default(),
            waiters: Mutex::default(),
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
    /// In the node's event sink, where it would wait for itself.
    pub fn with<R, F>(&self, f: F) -> Result<R, Stopped>
    where
        R: Send + 'static,
        F: FnOnce(&mut N, Instant) -> R + Send + 'static,
    {
        self.shared.assert_not_driven_here();
        self.mailbox.with(f)
    }

    /// Has `f` done with the node: at once, if nobody drives it, else some time soon. Waits only while very many are
    /// waiting already.
    ///
    /// # Errors
    /// The node has stopped.
    pub fn post(&self, f: impl FnOnce(&mut N, Instant) + Send + 'static) -> Result<(), Stopped> {
        match self.shared.running.try_lock() {
            Ok(mut running) => {
                running.as_mut().map_err(|_| Stopped)?.engine.apply(f);
                let rest = self.shared.turn(&mut running);
                drop(running);
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
    /// In the node's event sink, where it would wait for itself.
    pub fn wait(
        &self,
        deadline: Option<StdInstant>,
        mut is_over: impl FnMut() -> bool,
        sleep: impl FnOnce(Option<StdInstant>),
    ) {
        self.shared.assert_not_driven_here();
        if is_over() {
            return;
        }
        let mut waiters = lock(&self.shared.waiters);
        if waiters.is_driving || waiters.is_over || waiters.others > 0 {
            waiters.others += 1;
            // Nobody may drive at present.
            waiters.is_wanted |= !waiters.is_driving;
            drop(waiters);
            self.shared.bell.notify_one();
            sleep(deadline);
            lock(&self.shared.waiters).others -= 1;
            return;
        }
        waiters.is_driving = true;
        waiters.times_driven = waiters.times_driven.wrapping_add(1);
        drop(waiters);
        let mut running = self.shared.take();
        while !is_over()
            && let Some(rest) = self.shared.turn(&mut running)
            && !is_over()
            && deadline.is_none_or(|at| at > StdInstant::now())
        {
            self.shared.rest(&mut running, rest, deadline);
        }
        drop(running);
        let mut waiters = lock(&self.shared.waiters);
        waiters.is_driving = false;
        waiters.is_wanted |= waiters.others > 0;
        if waiters.is_wanted || waiters.is_asleep {
            self.shared.bell.notify_one();
        }
    }

    /// Time as the node counts it.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.shared.clock.now()
    }

    /// Whether the node has stopped because its wire failed.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        lock(&self.shared.waiters).is_over
    }

    /// What was counted up to the last time the node slept.
    #[must_use]
    pub fn counters(&self) -> Counters {
        *lock(&self.shared.counters)
    }

    /// The counters, for whoever outlives the driver.
    #[must_use]
    pub fn watch_counters(&self) -> CountersWatch {
        CountersWatch(Arc::clone(&self.shared.counters))
    }

    /// Stops the node and gives it back.
    ///
    /// # Errors
    /// Its wire had failed before, with this.
    ///
    /// # Panics
    /// In the node's event sink; and with the node's own panic, if it had one.
    pub fn stop(mut self) -> io::Result<N> {
        self.shared.assert_not_driven_here();
        self.tell_stop();
        if let Some(thread) = self.thread.take()
            && let Err(panic) = thread.join()
        {
            std::panic::resume_unwind(panic);
        }
        let stopped = Err(io::Error::other(Stopped));
        std::mem::replace(&mut *lock(&self.shared.running), stopped).map(|running| running.engine.into_node())
    }

    /// What happens at the wire from now on is seen to at once, though nobody waits on a thread.
    pub fn attend(&self) {
        lock(&self.shared.waiters).is_wanted = true;
        self.shared.bell.notify_one();
    }
}

impl<N: Node> Shared<N> {
    /// The own thread.
    fn run(&self) {
        while self.take_over() {
            let mut running = lock(&self.running);
            while !self.must_stop()
                && let Some(rest) = self.turn(&mut running)
            {
                self.rest(&mut running, rest, None);
            }
        }
    }

    /// Sleeps until the own thread is to drive; false: the node is to stop.
    fn take_over(&self) -> bool {
        let mut waiters = lock(&self.waiters);
        let mut seen = None;
        while !waiters.is_over {
            let nobody_new = seen == Some(waiters.times_driven);
            if !waiters.is_driving && (waiters.is_wanted || nobody_new) {
                waiters.is_wanted = false;
                return true;
            }
            if waiters.is_driving && nobody_new {
                // Whoever drives has done so for long, and will say when it stops.
                waiters.is_asleep = true;
                waiters = wait(&self.bell, waiters);
                waiters.is_asleep = false;
            }
            seen = Some(waiters.times_driven);
            waiters = wait_for(&self.bell, waiters, LINGER);
        }
        false
    }

    /// Whether the own thread has to stop driving.
    fn must_stop(&self) -> bool {
        let waiters = lock(&self.waiters);
        waiters.is_driving || waiters.is_over
    }

    /// The node for a waiter, from the own thread if that drives it.
    fn take(&self) -> MutexGuard<'_, io::Result<Running<N>>> {
        if let Ok(running) = self.running.try_lock() {
            return running;
        }
        self.waker.wake_by_ref();
        lock(&self.running)
    }

    /// One turn; `None`: the node has stopped.
    fn turn(&self, running: &mut io::Result<Running<N>>) -> Option<Rest> {
        let Running { engine, wires } = running.as_mut().ok()?;
        let here = DrivenHere::enter(self.address());
        let rest = engine.turn(wires);
        drop(here);
        self.or_stop(running, rest)
    }

    /// Sleeps until there is something to do.
    fn rest(&self, running: &mut io::Result<Running<N>>, rest: Rest, deadline: Option<StdInstant>) {
        let Ok(Running { engine, wires }) = running.as_mut() else { return };
        let until = match rest {
            Rest::Again => Some(StdInstant::now()),
            Rest::Until(deadline) => deadline.and_then(|at| self.clock.std(at)),
            // The wire tells when it has room, but deadlines go on.
            Rest::Full => Some(StdInstant::now() + RETRY),
        };
        let until = [until, deadline].into_iter().flatten().min();
        *lock(&self.counters) = engine.counters();
        let slept = engine.wait(wires, until);
        self.or_stop(running, slept);
    }

    /// Drops the node if its wire is gone.
    fn or_stop<T>(&self, running: &mut io::Result<Running<N>>, result: io::Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(e) => {
                if let Ok(running) = running {
                    *lock(&self.counters) = running.engine.counters();
                }
                *running = Err(e);
                lock(&self.waiters).is_over = true;
                self.bell.notify_one();
                None
            }
        }
    }

    fn assert_not_driven_here(&self) {
        assert_ne!(DRIVEN.get(), self.address(), "a node's event sink cannot wait for the node");
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

impl<N: Node> Driver<N> {
    fn tell_stop(&self) {
        lock(&self.shared.waiters).is_over = true;
        self.shared.bell.notify_one();
        self.shared.waker.wake_by_ref();
    }
}

impl<N: Node> Drop for Driver<N> {
    fn drop(&mut self) {
        self.tell_stop();
        if let Some(thread) = self.thread.take()
            && std::thread::current().id() != self.id
        {
            let _ = thread.join(); // A panic has printed its message already.
        }
    }
}

impl<N: Node> fmt::Debug for Driver<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").field("waiters", &self.shared.waiters).finish_non_exhaustive()
    }
}

thread_local! {
    /// Which node has its turn on this thread, by the address of what its drivers share; 0: none.
    static DRIVEN: Cell<usize> = const { Cell::new(0) };
}

/// That a node has its turn on this thread, and which one had before: a sink may wait for another node.
struct DrivenHere(usize);

impl DrivenHere {
    fn enter(node: usize) -> Self {
        Self(DRIVEN.replace(node))
    }
}

impl Drop for DrivenHere {
    fn drop(&mut self) {
        DRIVEN.set(self.0);
    }
}

/// How long nobody drives the node after a waiter has stopped. Deadlines of nodes are of milliseconds.
const LINGER: Duration = Duration::from_micros(250);
