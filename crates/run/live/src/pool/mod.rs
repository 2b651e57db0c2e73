//! Runs many nodes on few threads.
//!
//! Each port of a node is on a port of a [`Switch`](crate::Switch), or at the end of a [`Cable`](crate::Cable).
//! The node gets a turn when frames, commands or its deadline are there; a turn is bounded, and whoever wants more
//! waits until all others that are ready had theirs.

mod schedule;

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, Weak};
use std::task::{Wake, Waker};
use std::thread::JoinHandle;

use rackloom_node::{Instant, Node};
use rackloom_sync::{lock, wait, wait_for};

use self::schedule::{After, Schedule};
use crate::clock::Clock;
use crate::engine::{Counters, Engine, Rest};
use crate::mailbox::{Mailbox, Stopped};
use crate::switch::Port;
use crate::wire::RETRY;
use crate::wires::{Ports, Wires};

/// Threads that run nodes. Dropping it stops them all; their [`Member`]s still give the nodes back.
#[derive(Debug)]
pub struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

impl Pool {
    /// Starts the threads. The time of all nodes is `clock`'s.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn new(threads: NonZeroUsize, clock: Clock) -> io::Result<Self> {
        let shared = Arc::new(Shared { clock, schedule: Mutex::default(), bell: Condvar::new() });
        let mut pool = Self { shared, workers: Vec::new() };
        for worker in 0..threads.get() {
            let shared = Arc::clone(&pool.shared);
            let thread = std::thread::Builder::new()
                .name(format!("rackloom-pool-{worker}"))
                .spawn(move || shared.work(worker))?;
            pool.workers.push(thread);
        }
        Ok(pool)
    }

    /// Runs `node` at these ports; its events go to `sink`, on a thread of the pool.
    #[must_use = "dropping a member removes its node"]
    pub fn add<N>(&self, node: N, ports: impl Into<Ports>, sink: impl FnMut(N::Event) + Send + 'static) -> Member<N>
    where
        N: Node + Send + 'static,
        N::Event: 'static,
    {
        let id = lock(&self.shared.schedule).number();
        let waker = Waker::from(Arc::new(MemberWaker { shared: Arc::downgrade(&self.shared), id }));
        let wires = Wires::pooled(ports.into(), &waker);
        let (mailbox, inbox) = Mailbox::new(waker);
        let engine = Engine::new(node, self.shared.clock, Box::new(sink), inbox);
        let slot = Arc::new(Slot {
            body: Mutex::new(Some(Body { engine, wires, end: None })),
            counters: Mutex::default(),
            clock: self.shared.clock,
        });
        let mut schedule = lock(&self.shared.schedule);
        schedule.add(id, Arc::clone(&slot) as Arc<dyn Turn>);
        self.shared.call(&schedule);
        drop(schedule);
        Member { slot, id, mailbox, shared: Arc::clone(&self.shared) }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        lock(&self.shared.schedule).stop = true;
        self.shared.bell.notify_all();
        for worker in self.workers.drain(..) {
            let _ = worker.join(); // Nodes' panics are caught and kept for their members.
        }
        let left = lock(&self.shared.schedule).clear();
        left.iter().for_each(|turn| turn.close());
    }
}

/// A node in a [`Pool`]. Dropping it removes the node.
pub struct Member<N: Node> {
    slot: Arc<Slot<N>>,
    id: u64,
    mailbox: Mailbox<N>,
    shared: Arc<Shared>,
}

impl<N> Member<N>
where
    N: Node + Send + 'static,
{
    /// Has `f` done with the node and waits for what it returns. The node is polled afterwards.
    ///
    /// # Errors
    /// The node has stopped.
    ///
    /// # Panics
    /// On a thread of the pool (in an event sink), where it might wait for itself.
    pub fn with<R, F>(&self, f: F) -> Result<R, Stopped>
    where
        R: Send + 'static,
        F: FnOnce(&mut N, Instant) -> R + Send + 'static,
    {
        self.shared.assert_elsewhere();
        self.mailbox.with(f)
    }

    /// Has `f` done with the node some time soon. Waits only while very many are waiting already.
    ///
    /// # Errors
    /// The node has stopped.
    pub fn post(&self, f: impl FnOnce(&mut N, Instant) + Send + 'static) -> Result<(), Stopped> {
        self.mailbox.post(f)
    }

    /// What was counted up to the end of the node's last turn.
    #[must_use]
    pub fn counters(&self) -> Counters {
        *lock(&self.slot.counters)
    }

    /// Takes the node out of the pool, after the turn it may be in, and pulls its cable.
    ///
    /// # Panics
    /// With the node's own panic, if it had one; on a thread of the pool, where it might wait for itself.
    #[must_use = "to drop the node, drop the member"]
    pub fn remove(self) -> N {
        self.shared.assert_elsewhere();
        drop(lock(&self.shared.schedule).remove(self.id));
        let body = lock(&self.slot.body).take().expect("only this takes it");
        if let Some(End::Panic(panic)) = body.end {
            resume_unwind(panic);
        }
        body.engine.into_node()
    }
}

impl<N: Node> Drop for Member<N> {
    fn drop(&mut self) {
        drop(lock(&self.shared.schedule).remove(self.id));
        // In an event sink the turn may be the node's own: there it goes with the last reference to its slot.
        if !self.shared.is_worker() {
            drop(lock(&self.slot.body).take());
        }
    }
}

impl<N: Node> fmt::Debug for Member<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A member, whatever its node is.
trait Turn: Send + Sync {
    /// Runs it for a bounded while.
    fn turn(&self) -> After;
    /// Lets go of those who wait for it: it will not run again.
    fn close(&self);
}

struct Slot<N: Node> {
    body: Mutex<Option<Body<N>>>,
    counters: Mutex<Counters>,
    clock: Clock,
}

struct Body<N: Node> {
    engine: Engine<N>,
    wires: Wires<Port>,
    end: Option<End>,
}

/// Why a node stopped by itself.
enum End {
    Wire,
    Panic(Box<dyn Any + Send>),
}

impl<N: Node + Send> Turn for Slot<N> {
    fn turn(&self) -> After {
        let mut guard = lock(&self.body);
        let Some(body) = guard.as_mut() else { return After::Gone };
        // A node that panics has a bug of ours in it; it must not take the other nodes of the rack with it.
        let end = match catch_unwind(AssertUnwindSafe(|| body.turn(self.clock))) {
            Ok(Ok(after)) => {
                *lock(&self.counters) = body.engine.counters();
                return after;
            }
            Ok(Err(_)) => End::Wire,
            Err(panic) => End::Panic(panic),
        };
        body.end = Some(end);
        body.engine.close();
        After::Gone
    }

    fn close(&self) {
        if let Some(body) = lock(&self.body).as_mut() {
            body.engine.close();
        }
    }
}

impl<N: Node> Body<N> {
    fn turn(&mut self, clock: Clock) -> io::Result<After> {
        let at_once = clock.std(Instant::ZERO);
        self.engine.wait(&mut self.wires, at_once)?;
        let rest = self.engine.turn(&mut self.wires)?;
        // Looking once more, and finding nothing, is what arms the ports' wakers.
        if rest == Rest::Again || self.engine.wait(&mut self.wires, at_once)? {
            return Ok(After::Again);
        }
        Ok(After::Sleep(match rest {
            Rest::Until(deadline) => deadline,
            // A stuck port does not tell when its grace is over.
            Rest::Again | Rest::Full => Some(clock.now() + RETRY),
        }))
    }
}

struct Shared {
    clock: Clock,
    schedule: Mutex<Schedule>,
    bell: Condvar,
}

impl Shared {
    /// Calls a sleeping worker if one is needed.
    fn call(&self, schedule: &Schedule) {
        if schedule.wants_worker() {
            self.bell.notify_one();
        }
    }

    fn work(self: Arc<Self>, worker: usize) {
        WORKS_FOR.set(Arc::as_ptr(&self).addr());
        let mut schedule = lock(&self.schedule);
        while !schedule.stop {
            if let Some((id, turn)) = schedule.take(self.clock.now()) {
                self.call(&schedule);
                drop(schedule);
                let after = turn.turn();
                drop(turn); // If the member was dropped meanwhile, so is its node, here, outside the lock.
                schedule = lock(&self.schedule);
                schedule.put_back(id, after);
                continue;
            }
            let until = schedule.sleep(worker);
            schedule = match until {
                None => wait(&self.bell, schedule),
                Some(at) => {
                    let left = at.saturating_since(self.clock.now());
                    wait_for(&self.bell, schedule, left)
                }
            };
            schedule.awake(worker);
        }
    }

    fn assert_elsewhere(self: &Arc<Self>) {
        assert!(!self.is_worker(), "a node's event sink cannot wait for a node of its pool");
    }

    /// Whether this thread is one of the pool's.
    fn is_worker(self: &Arc<Self>) -> bool {
        WORKS_FOR.get() == Arc::as_ptr(self).addr()
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("clock", &self.clock).finish_non_exhaustive()
    }
}

struct MemberWaker {
    // Weak: ports hold wakers, and nodes hold ports; a pool must not keep itself alive through them.
    shared: Weak<Shared>,
    id: u64,
}

impl Wake for MemberWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if let Some(shared) = self.shared.upgrade() {
            let mut schedule = lock(&shared.schedule);
            schedule.wake(self.id);
            let calls = schedule.wants_worker();
            // The worker wants the lock as soon as it is called.
            drop(schedule);
            if calls {
                shared.bell.notify_one();
            }
        }
    }
}

thread_local! {
    /// Address of the pool this thread works for, or 0.
    static WORKS_FOR: Cell<usize> = const { Cell::new(0) };
}
