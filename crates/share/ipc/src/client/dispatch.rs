//! Dispatch of messages by leader and followers: of the threads that wait, one leads and reads for all; when none
//! waits, the client's own thread reads.
//!
//! The leader calls the handler for each message, and checks after each batch whether what it waits for has come. Then
//! it promotes a follower to leader, or notifies the link that nobody reads. So an answer goes straight to the thread
//! that waits for it.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Instant;

use rackloom_sync::{lock, wait, wait_until};

use super::core::Core;
use crate::batch::Batch;
use crate::error::{ChannelError, Closed};

/// Who reads, and who waits for the reader.
#[derive(Debug, Default)]
pub(super) struct Dispatcher {
    leading: Mutex<bool>,
    turn: Condvar,
    /// Threads in `turn`.
    followers: AtomicUsize,
    /// Grows with each batch that was handled, so that no follower misses one.
    batches: AtomicU64,
    /// Grows with each call that waits: whether the program's own threads read now and then.
    calls: AtomicU64,
    batch: Mutex<Batch>,
}

thread_local! {
    static IN_HANDLER: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside a handler, and must not wait.
pub(super) fn in_handler() -> bool {
    IN_HANDLER.get()
}

impl Dispatcher {
    pub(super) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    pub(super) fn is_led(&self) -> bool {
        *lock(&self.leading)
    }

    /// Waits until `done` returns something, and reads messages meanwhile if no other thread does.
    pub(super) fn wait<T>(
        &self,
        core: &Core,
        deadline: Option<Instant>,
        done: &mut dyn FnMut() -> Option<T>,
    ) -> Result<T, ChannelError> {
        if in_handler() {
            return Err(ChannelError::Reentrant);
        }
        self.calls.fetch_add(1, Ordering::Relaxed);
        let mut followed = false;
        loop {
            let seen = self.batches.load(Ordering::SeqCst);
            if let Some(found) = done() {
                self.step_aside(core, followed);
                return Ok(found);
            }
            if let Some(why) = core.closed() {
                // What came before the end counts: another connection or thread may have noticed the end first.
                if why == Closed::PeerGone {
                    self.handle_rest(core);
                }
                return done().ok_or(ChannelError::Closed(why));
            }
            let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                self.step_aside(core, followed);
                return Err(ChannelError::Timeout);
            }
            let mut leading = lock(&self.leading);
            if !*leading {
                *leading = true;
                drop(leading);
                let lead = Lead { dispatcher: self, core };
                let found = self.lead(core, deadline, done);
                drop(lead);
                match found {
                    Some(found) => return Ok(found),
                    None => continue, // Closed, or the time has passed: handled above.
                }
            }
            followed = true;
            self.followers.fetch_add(1, Ordering::SeqCst);
            while *leading && self.batches.load(Ordering::SeqCst) == seen && core.closed().is_none() {
                match wait_until(&self.turn, leading, deadline) {
                    Ok(woken) => leading = woken,
                    Err(held) => {
                        leading = held;
                        break;
                    }
                }
            }
            self.followers.fetch_sub(1, Ordering::SeqCst);
        }
    }

    fn lead<T>(&self, core: &Core, deadline: Option<Instant>, done: &mut dyn FnMut() -> Option<T>) -> Option<T> {
        core.link.enter();
        if core.link.waits_first() {
            core.link.sleep(core, deadline);
        }
        loop {
            let handled = self.handle(core);
            if let Some(found) = done() {
                return Some(found);
            }
            if handled == 0 && core.closed().is_some() || deadline.is_some_and(|at| at <= Instant::now()) {
                return None; // What came before the end was handled first.
            }
            if handled == 0 {
                core.link.sleep(core, deadline);
            }
        }
    }

    /// Handles messages that have arrived, if nobody leads; without waiting.
    pub(super) fn handle_now(&self, core: &Core) {
        let mut leading = lock(&self.leading);
        if *leading {
            return;
        }
        *leading = true;
        drop(leading);
        let lead = Lead { dispatcher: self, core };
        core.link.enter();
        while self.handle(core) > 0 {}
        drop(lead);
    }

    /// Handles what came before the end of the channel, when nobody leads any more.
    fn handle_rest(&self, core: &Core) {
        let mut leading = lock(&self.leading);
        self.followers.fetch_add(1, Ordering::SeqCst);
        while *leading {
            leading = wait(&self.turn, leading);
        }
        self.followers.fetch_sub(1, Ordering::SeqCst);
        *leading = true;
        drop(leading);
        let lead = Lead { dispatcher: self, core };
        while self.handle(core) > 0 {}
        drop(lead);
    }

    /// Handles one batch; returns the number of messages. Only the leader calls this.
    fn handle(&self, core: &Core) -> usize {
        let mut batch = lock(&self.batch);
        batch.clear();
        if let Err(why) = core.link.drain(&mut batch) {
            core.close(why);
        }
        if batch.is_empty() {
            return 0;
        }
        {
            struct Inside;
            impl Drop for Inside {
                fn drop(&mut self) {
                    IN_HANDLER.set(false);
                }
            }
            IN_HANDLER.set(true);
            let _inside = Inside;
            batch.iter().for_each(|(kind, body)| core.handler.message(kind, body));
        }
        self.batches.fetch_add(1, Ordering::SeqCst);
        if self.followers.load(Ordering::SeqCst) > 0 {
            self.wake_all();
        }
        batch.len()
    }

    /// A follower leaves. It may have been woken to lead, so it makes sure that another thread does.
    fn step_aside(&self, core: &Core, followed: bool) {
        if !followed {
            return;
        }
        let leading = lock(&self.leading);
        if *leading || core.closed().is_some() {
            return;
        }
        if self.followers.load(Ordering::SeqCst) > 0 {
            self.turn.notify_one();
        } else {
            core.link.leave();
        }
    }

    /// Wakes every follower to check.
    pub(super) fn wake_all(&self) {
        drop(lock(&self.leading));
        self.turn.notify_all();
    }
}

/// The leader's place; given up when dropped, even if a handler panics.
struct Lead<'a> {
    dispatcher: &'a Dispatcher,
    core: &'a Core,
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        let mut leading = lock(&self.dispatcher.leading);
        if self.dispatcher.followers.load(Ordering::SeqCst) > 0 {
            self.dispatcher.turn.notify_one();
        } else {
            // Under the lock, so that it does not undo what the next leader does when it enters.
            self.core.link.leave();
        }
        *leading = false;
    }
}
