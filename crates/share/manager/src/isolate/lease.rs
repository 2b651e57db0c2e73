//! Leases: a worker's turns on the board, on the manager's side.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rackloom_opencl_wire::now_ns;
use rackloom_sync::{lock, wait, wait_for};

use super::keeper::Life;
use super::shared_page::{LeaseState, SharedPage};
use crate::metrics::BoardMetrics;
use crate::schedule::dispatcher::{Holder, Job};
use crate::schedule::scheduler::{Share, TenantId};

/// A worker, as a holder of the board.
#[derive(Debug)]
pub(super) struct LeaseHolder {
    pub(super) id: TenantId,
    pub(super) name: String,
    pub(super) share: Share,
    pub(super) page: Arc<SharedPage>,
    /// To end the worker if it does not return the board.
    pub(super) life: Arc<Life>,
    /// How long it may keep others waiting.
    pub(super) stall_time: Duration,
    slice: Slice,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// It has requested the board.
    has_asked: bool,
    /// It holds the board.
    has_board: bool,
    /// Since when others wait; `None` if nobody does.
    wanted: Option<Instant>,
    /// Others wait while it holds the board, so its time is charged.
    is_charged: bool,
    /// It knows that others wait.
    is_notified: bool,
    /// Until when it may keep the board nevertheless, in nanoseconds of our clock.
    slice_end: u64,
    is_gone: bool,
    /// It has kept others waiting for too long.
    is_overdue: bool,
    /// Start of the time charged, in nanoseconds of our clock.
    charged_from: u64,
    /// Since when it holds the board, in nanoseconds of our clock.
    held_from: u64,
    /// Of turns that have ended.
    before: Turns,
}

/// How long a worker has had the board, as the manager knows it, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Turns {
    /// It held the board: it cannot have used it for longer.
    pub(super) held: u64,
    /// It kept others waiting, beyond what a hand-over takes: the board was not free, whatever the worker did.
    pub(super) kept: u64,
}

/// How long a worker may keep others waiting by a turn without having used the board: it has to wake up.
const WAKING_NS: u64 = 1_000_000;

/// How long a worker that always returns at once may keep the board for its next tasks while others wait: a few times
/// the cost of a hand-over, for with shorter slices hand-overs would take most of the time. One that rests for as long
/// as a hand-over takes loses the rest of its slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slice {
    pub(super) length_ns: u64,
    pub(super) rest_ns: u64,
}

impl Slice {
    /// Where a hand-over costs what waking some threads does.
    pub(crate) const PROCESSOR: Self = Self { length_ns: 300_000, rest_ns: 50_000 };
    /// A GPU changes its context between processes, which takes far longer than the hand-over itself. On an H200 five
    /// tenants with short tasks got 0.27 to 0.35 of one alone done with a processor's slices, and 0.57 to 0.84
    /// with these (`scripts/programs/tenants.py`).
    pub(crate) const DEVICE: Self = Self { length_ns: 4_000_000, rest_ns: 400_000 };
}

/// A worker's turn on the board.
#[derive(Debug)]
pub(crate) struct Lease(Arc<LeaseHolder>);

impl LeaseHolder {
    pub(super) fn new(
        id: TenantId,
        name: String,
        share: Share,
        page: Arc<SharedPage>,
        life: Arc<Life>,
        stall_time: Duration,
        slice: Slice,
    ) -> Self {
        let (state, changed) = Default::default();
        Self { id, name, share, page, life, stall_time, slice, state, changed }
    }

    /// The worker requests the board; returns its turn, unless it waits for one already.
    pub(super) fn request(self: &Arc<Self>) -> Option<Lease> {
        let has_asked = std::mem::replace(&mut lock(&self.state).has_asked, true);
        (!has_asked).then(|| Lease(Arc::clone(self)))
    }

    /// The worker has returned the board.
    pub(super) fn returned(&self) {
        lock(&self.state).has_board = false;
        self.changed.notify_all();
    }

    /// How long it has had the board until `now`, in nanoseconds of our clock.
    pub(super) fn turns(&self, now: u64) -> Turns {
        let state = lock(&self.state);
        if state.has_turn() { state.turns(now) } else { state.before }
    }

    /// The worker has ended, or is about to.
    pub(super) fn is_gone(&self) {
        lock(&self.state).is_gone = true;
        self.changed.notify_all();
    }

    /// Ends the worker; the thread that listens to it notices.
    pub(super) fn end(&self) {
        self.life.end();
    }

    /// Whether it was ended because others waited.
    pub(super) fn was_overdue(&self) -> bool {
        lock(&self.state).is_overdue
    }
}

impl State {
    /// It has the board, or has given it back just now.
    const fn has_turn(&self) -> bool {
        self.held_from > 0
    }

    /// With the present turn.
    fn turns(&self, now: u64) -> Turns {
        let is_kept = self.is_charged || self.is_notified;
        let kept = if is_kept { now.saturating_sub(self.charged_from).saturating_sub(WAKING_NS) } else { 0 };
        let held = now.saturating_sub(self.held_from);
        Turns { held: self.before.held + held, kept: self.before.kept + kept.min(held) }
    }
}

impl Holder for LeaseHolder {
    fn wanted(&self) {
        let mut state = lock(&self.state);
        if state.wanted.is_some() {
            return;
        }
        state.wanted = Some(Instant::now());
        let now = now_ns();
        if state.has_board && now >= state.slice_end {
            self.take_back(&mut state);
        } else if state.has_board {
            (state.is_charged, state.charged_from) = (true, now);
        }
        drop(state);
        self.changed.notify_all();
    }
}

impl LeaseHolder {
    /// Others wait: takes the board back if the worker runs no task, else asks for it after the task.
    fn take_back(&self, state: &mut State) {
        match self.page.take_back() {
            Some(LeaseState::Idle) => {
                state.has_board = false;
                if !state.is_charged {
                    state.charged_from = u64::MAX; // Nobody had to wait, so nothing is charged.
                }
            }
            Some(LeaseState::Busy) if !state.is_charged => {
                // From the start of the running task: what it did before delayed nobody.
                let began = self.page.read().map_or(0, |counters| counters.began);
                state.charged_from = state.charged_from.max(began.min(now_ns()));
            }
            _ => {}
        }
        state.is_notified = true;
    }

    /// Waits a little in the worker's slice. The slice ends early when the worker rests.
    fn in_slice<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let left = state.slice_end.saturating_sub(now_ns());
        let before = self.page.read().map(|counters| counters.busy);
        let time = Duration::from_nanos(left.min(self.slice.rest_ns));
        state = wait_for(&self.changed, state, time);
        let rests = self.page.is_idle() && self.page.read().map(|counters| counters.busy) == before;
        if state.has_board && !state.is_notified && (rests || now_ns() >= state.slice_end) {
            self.take_back(&mut state);
        }
        state
    }
}

/// How long others wait for an overdue worker to end: a driver can hold its process up.
const ENDING: Duration = Duration::from_secs(1);

impl Job for Lease {
    fn tenant(&self) -> (TenantId, Share) {
        (self.0.id, self.0.share)
    }

    /// Never: the thread that submits it has to listen to the worker meanwhile.
    fn is_short(&self) -> bool {
        false
    }

    fn is_cancelled(&self) -> bool {
        lock(&self.0.state).is_gone
    }

    fn holder(&self) -> Option<Arc<dyn Holder>> {
        Some(Arc::clone(&self.0) as Arc<dyn Holder>)
    }

    /// The worker holds the board until it returns it: if others wait, after a task, or after a slice if it is quick.
    fn run(self, _: &BoardMetrics, is_quick: bool, _: &mut dyn FnMut() -> Option<Self>) -> (u64, Option<Self>) {
        let Self(holder) = self;
        let mut state = lock(&holder.state);
        state.has_asked = false;
        if state.is_gone {
            state.wanted = None;
            return (0, None);
        }
        let now = now_ns();
        state.has_board = true;
        // It keeps others waiting from now on: not since they wanted the board of its last turn.
        state.wanted = state.wanted.map(|_| Instant::now());
        state.is_charged = state.wanted.is_some();
        state.is_notified = state.is_charged && !is_quick;
        state.held_from = now;
        (state.charged_from, state.slice_end) = (now, if is_quick { now + holder.slice.length_ns } else { now });
        holder.page.give(if state.is_notified { LeaseState::LastTask } else { LeaseState::Busy });
        while state.has_board && !state.is_gone {
            state = match state.wanted {
                None => wait(&holder.changed, state),
                Some(_) if !state.is_notified => holder.in_slice(state),
                Some(since) => holder.until_back(state, since),
            };
        }
        let now = now_ns();
        state.before = state.turns(now);
        (state.has_board, state.wanted, state.held_from) = (false, None, 0);
        (now.saturating_sub(state.charged_from), None)
    }
}

impl LeaseHolder {
    /// Waits for the worker to return the board, and ends it when its time for that is over.
    fn until_back<'a>(&'a self, mut state: MutexGuard<'a, State>, since: Instant) -> MutexGuard<'a, State> {
        let left = self.stall_time.saturating_sub(since.elapsed());
        if state.is_overdue {
            let left = (self.stall_time + ENDING).saturating_sub(since.elapsed());
            state.is_gone |= left.is_zero(); // As far as others are concerned.
            return wait_for(&self.changed, state, left);
        }
        if left.is_zero() {
            state.is_overdue = true;
            let (name, seconds) = (&self.name, self.stall_time.as_secs_f64());
            eprintln!(
                "rackloom-manager: {name} has kept others waiting for {seconds} s by one task; its process is ended"
            );
            self.end();
            return state;
        }
        wait_for(&self.changed, state, left)
    }
}
