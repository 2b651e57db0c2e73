//! Runs one node live, on a thread of its own.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, ThreadId};

use rackloom_node::{Instant, Node};
use rackloom_sync::lock;

use crate::clock::Clock;
use crate::engine::{Counters, Engine, Rest};
use crate::mailbox::{Mailbox, Stopped};
use crate::wire::{RETRY, Wire};
use crate::wires::{Ports, Wires};

/// A node that runs on its own thread, in real time.
///
/// Dropping it stops the node.
pub struct Driver<N: Node> {
    mailbox: Mailbox<N>,
    clock: Clock,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<(N, io::Result<()>)>>,
    id: ThreadId,
}

#[derive(Debug, Default)]
struct Shared {
    counters: Mutex<Counters>,
    stop: std::sync::atomic::AtomicBool,
}

impl<N> Driver<N>
where
    N: Node + Send + 'static,
    N::Event: 'static,
{
    /// Starts `node` on `wire`. Its time is `clock`'s; its events go to `sink`, on its thread. When the wire fails, the
    /// node stops and the sink is dropped: a channel's receiver sees it closed.
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
        let (mailbox, inbox) = Mailbox::new(wire.waker());
        let shared = Arc::new(Shared::default());
        let engine = Engine::new(node, clock, Box::new(sink), inbox);
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("rackloom-node".to_owned())
            .spawn(move || run(engine, Wires::driven(wire, others), clock, &theirs))?;
        let id = thread.thread().id();
        Ok(Self { mailbox, clock, shared, thread: Some(thread), id })
    }

    /// Has `f` done with the node, on its thread, and waits for what it returns. The node is polled afterwards.
    ///
    /// # Errors
    /// The node has stopped.
    ///
    /// # Panics
    /// On the node's own thread (in its event sink), where it would wait for itself.
    pub fn with<R, F>(&self, f: F) -> Result<R, Stopped>
    where
        R: Send + 'static,
        F: FnOnce(&mut N, Instant) -> R + Send + 'static,
    {
        assert_ne!(std::thread::current().id(), self.id, "a node's event sink cannot wait for the node");
        self.mailbox.with(f)
    }

    /// Has `f` done with the node, on its thread, some time soon. Waits only while very many are waiting already.
    ///
    /// # Errors
    /// The node has stopped.
    pub fn post(&self, f: impl FnOnce(&mut N, Instant) + Send + 'static) -> Result<(), Stopped> {
        self.mailbox.post(f)
    }

    /// Time as the node counts it.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Whether the node has stopped because its wire failed.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// What was counted up to the last time the node slept.
    #[must_use]
    pub fn counters(&self) -> Counters {
        *lock(&self.shared.counters)
    }

    /// Stops the node and gives it back, with what had stopped it before, if anything had.
    ///
    /// # Panics
    /// With the node's own panic, if it had one.
    pub fn stop(mut self) -> (N, io::Result<()>) {
        self.tell_stop();
        match self.thread.take().expect("only this takes it").join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

impl<N: Node> Driver<N> {
    fn tell_stop(&self) {
        self.shared.stop.store(true, std::sync::atomic::Ordering::Release);
        self.mailbox.wake();
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
        f.debug_struct("Driver").field("shared", &self.shared).finish_non_exhaustive()
    }
}

fn run<N: Node>(
    mut engine: Engine<N>,
    mut wires: Wires<Box<dyn Wire>>,
    clock: Clock,
    shared: &Shared,
) -> (N, io::Result<()>) {
    let result = loop {
        if shared.stop.load(std::sync::atomic::Ordering::Acquire) {
            break Ok(());
        }
        let slept = engine.turn(&mut wires).and_then(|rest| {
            let deadline = match rest {
                Rest::Again => Some(std::time::Instant::now()),
                Rest::Until(deadline) => deadline.and_then(|at| clock.std(at)),
                // The wire tells when it has room, but deadlines go on.
                Rest::Full => Some(std::time::Instant::now() + RETRY),
            };
            if rest != Rest::Again {
                *lock(&shared.counters) = engine.counters();
            }
            engine.wait(&mut wires, deadline)
        });
        if let Err(e) = slept {
            break Err(e);
        }
    };
    *lock(&shared.counters) = engine.counters();
    (engine.into_node(), result)
}
