//! Contexts on a device that clients of one tenant use one after the other, where clients have no processes of their
//! own.
//!
//! A GPU's driver takes a tenth of a second and more to make a context, the longer the more there are, one at a time,
//! and stops at some number (on an H200 with driver 580 at 101 in a process). Programs that start at once mostly end at
//! once: who waits for a context takes one that another client of the same tenant leaves, if that is there first.
//! Nobody else's: a kernel may find what was in memory that its context had before.

use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use rackloom_sync::{lock, wait_for};

use super::handles::{Context, Queue};
use crate::board::Owner;
use crate::code::Code;

/// A context and its queue, in which nothing is under way.
#[derive(Debug)]
pub(super) struct Lent {
    // Dropped in this order.
    pub(super) queue: Queue,
    pub(super) context: Context,
}

/// The contexts on a device. `T` is what is lent.
#[derive(Debug)]
pub(super) struct Contexts<T = Lent> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<T> {
    /// Whose the contexts are that are in use, each by one client.
    used: Vec<Owner>,
    /// Clients that wait for one, in the order of coming.
    waiting: Vec<Waiting<T>>,
    /// The number of the next.
    next: u64,
    /// Why no more could be made, until one has gone.
    full: Option<Code>,
}

#[derive(Debug)]
struct Waiting<T> {
    number: u64,
    owner: Owner,
    /// It makes one itself: a driver lets only one do so, and who waits in it cannot take what is left meanwhile.
    is_making: bool,
    left: Option<T>,
}

/// How long a client waits for a context that another one leaves when no more can be made.
const PATIENCE: Duration = Duration::from_secs(30);

impl<T> Default for Contexts<T> {
    fn default() -> Self {
        let state = State { used: Vec::new(), waiting: Vec::new(), next: 0, full: None };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }
}

fn is_same(one: &Owner, other: &Owner) -> bool {
    std::ptr::addr_eq(Arc::as_ptr(one), Arc::as_ptr(other))
}

impl<T> State<T> {
    fn at(&self, number: u64) -> usize {
        self.waiting.iter().position(|one| one.number == number).expect("who waits is in the list")
    }
}

impl<T> Contexts<T> {
    /// A context for a client of `owner`: one that is left, or a new one by `make`.
    ///
    /// # Errors
    /// Those of `make`, if nobody leaves one in time either.
    pub(super) fn take(&self, owner: &Owner, make: impl Fn() -> Result<T, Code>) -> Result<T, Code> {
        let since = Instant::now();
        let mut state = lock(&self.state);
        let number = state.next;
        state.next += 1;
        state.waiting.push(Waiting { number, owner: Arc::clone(owner), is_making: false, left: None });
        loop {
            let at = state.at(number);
            if let Some(left) = state.waiting[at].left.take() {
                state.waiting.remove(at);
                return Ok(left);
            }
            let one_may_come = state.used.iter().any(|user| is_same(user, owner)) && since.elapsed() < PATIENCE;
            if let Some(code) = state.full.filter(|_| !one_may_come) {
                state.waiting.remove(at);
                return Err(code);
            }
            if state.full.is_some() || state.waiting.iter().any(|one| one.is_making) {
                state = wait_for(&self.changed, state, PATIENCE);
                continue;
            }
            state.waiting[at].is_making = true;
            drop(state);
            let made = make();
            state = lock(&self.state);
            let at = state.at(number);
            state.waiting[at].is_making = false;
            self.changed.notify_all();
            match made {
                Err(code) if !state.used.is_empty() => state.full = Some(code),
                made => {
                    state.waiting.remove(at);
                    state.used.extend(made.is_ok().then(|| Arc::clone(owner)));
                    return made;
                }
            }
        }
    }

    /// How many wait, those that make one included.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        lock(&self.state).waiting.len()
    }

    /// A client of `owner` leaves its context, if that can be used by another one.
    pub(super) fn leave(&self, owner: &Owner, context: Option<T>) {
        let mut state = lock(&self.state);
        let waits = |one: &&mut Waiting<T>| !one.is_making && one.left.is_none() && is_same(&one.owner, owner);
        match (context, state.waiting.iter_mut().find(waits)) {
            (Some(context), Some(next)) => next.left = Some(context),
            (context, _) => {
                let at = state.used.iter().position(|user| is_same(user, owner)).expect("it had one");
                state.used.swap_remove(at);
                drop(state);
                drop(context); // Outside the lock: a driver takes its time for this, too.
                lock(&self.state).full = None;
            }
        }
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn owner(number: u32) -> Owner {
        Arc::new(number)
    }

    fn never() -> Result<u32, Code> {
        Err(Code(-6))
    }

    #[test]
    fn who_waits_gets_what_another_client_of_its_tenant_leaves() {
        let (contexts, made) = (Contexts::default(), AtomicU32::new(0));
        let make = || Ok(made.fetch_add(1, Ordering::Relaxed));
        let (mine, other) = (owner(1), owner(2));
        assert_eq!(contexts.take(&mine, make), Ok(0));
        assert_eq!(contexts.take(&other, make), Ok(1));
        std::thread::scope(|scope| {
            // No more can be made.
            let waiting = scope.spawn(|| contexts.take(&mine, never));
            while lock(&contexts.state).full.is_none() {
                std::thread::yield_now();
            }
            assert!(!waiting.is_finished());
            contexts.leave(&mine, Some(0));
            assert_eq!(waiting.join().unwrap(), Ok(0));
        });
        assert_eq!(lock(&contexts.state).used.len(), 2);
    }

    #[test]
    fn nobody_gets_what_another_tenant_had_or_what_is_broken() {
        let (contexts, mine, other) = (Contexts::default(), owner(1), owner(2));
        assert_eq!(contexts.take(&other, never), Err(Code(-6)), "nobody could leave one");
        assert_eq!(contexts.take(&mine, || Ok(7)), Ok(7));
        assert_eq!(contexts.take(&other, never), Err(Code(-6)), "this is another tenant's");
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| contexts.take(&mine, || Ok(8)));
            while contexts.waiting() == 0 {
                std::thread::yield_now();
            }
            assert!(!waiting.is_finished(), "it is known that there is no room");
            contexts.leave(&mine, None);
            assert_eq!(waiting.join().unwrap(), Ok(8), "there is room again");
        });
    }

    #[test]
    fn one_is_made_at_a_time_and_whoever_waits_meanwhile_may_get_one_that_is_left() {
        let (contexts, mine) = (Contexts::default(), owner(1));
        assert_eq!(contexts.take(&mine, || Ok(0)), Ok(0));
        std::thread::scope(|scope| {
            let slow = || {
                let next = scope.spawn(|| contexts.take(&mine, || Ok(9)));
                while contexts.waiting() < 2 {
                    std::thread::yield_now();
                }
                contexts.leave(&mine, Some(0));
                assert_eq!(next.join().unwrap(), Ok(0));
                Ok(1)
            };
            assert_eq!(contexts.take(&mine, slow), Ok(1));
        });
    }
}
