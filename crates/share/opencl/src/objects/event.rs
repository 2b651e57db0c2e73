//! Events: the progress of a command.
//!
//! ```text
//! INIT    held back, or being sent        CL_QUEUED
//! FIRST   all of it was sent              CL_SUBMITTED
//! BUFFER  some of its data has moved      CL_RUNNING
//! COMPLETE, or an error                   CL_COMPLETE, negative
//! ```
//!
//! A command may be sent as several operations, each a *part*; the event ends with the last of them. Whichever thread
//! reads a reply updates the event.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use opencl_sys::{
    CL_COMMAND_USER, CL_COMPLETE, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_INVALID_EVENT, CL_INVALID_OPERATION,
    CL_QUEUED, CL_RUNNING, CL_SUBMITTED, CL_SUCCESS, cl_int,
};
use rackloom_opencl_wire::{EventId, now_ns};
use rackloom_sync::{lock, wait};

use crate::callback::{self, Call};
use crate::error::{Error, Result, ensure};
use crate::handle::{Live, Object, ObjectKind, Ref};
use crate::objects::context::Context;
use crate::objects::queue::Queue;
use crate::process::PerProcess;
use crate::session::board::Board;
use crate::session::pending::{Progress, Times};
use crate::stats;

/// An event.
pub struct Event {
    pub context: Ref<Context>,
    /// None for a user event.
    pub queue: Option<Ref<Queue>>,
    /// `CL_COMMAND_...`.
    pub command_type: u32,
    status: AtomicI32,
    /// Whether its call has returned as if it had ended.
    is_early: AtomicBool,
    /// Parts that were sent and whose reply has not come.
    unanswered: AtomicU32,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// Where all of it was sent.
    place: Option<SentTo>,
    /// Parts that have not ended, and one more while parts are being sent.
    parts: u32,
    /// The error of the first part that failed, or `CL_SUCCESS`.
    failure: cl_int,
    times: Profile,
    /// Functions to call, and the status at which each is due.
    callbacks: Vec<(cl_int, Notify)>,
    /// Commands that may not be sent before this one is sent or has ended.
    dependents: Vec<Arc<dyn Dependent>>,
    /// Threads that sleep on `changed`.
    sleepers: u32,
    /// Whether the program cannot learn of a failure from it, so that the queue has to tell.
    tells_queue: bool,
}

/// A function that takes the status: that for which it was set, or a negative one.
pub type Notify = Box<dyn FnOnce(cl_int) + Send>;

/// A command that is held back until the events that it waits for let it go.
pub trait Dependent: Send + Sync {
    /// The board that it is for.
    fn board(&self) -> &Arc<Board>;

    /// One event less to wait for: it was sent to this board, or has ended.
    fn satisfied(self: Arc<Self>);
}

/// Where a command was sent; its last operation.
#[derive(Clone)]
pub struct SentTo {
    pub board: Arc<Board>,
    pub id: EventId,
}

/// `clGetEventProfilingInfo`, in nanoseconds of this process' `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Profile {
    pub queued: u64,
    pub submitted: u64,
    pub started: u64,
    pub ended: u64,
}

/// How far an event is, as seen by a command that waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The event has ended.
    Complete,
    /// The event has failed, and so will the command.
    Failed,
    /// It was sent to the command's board, where the manager waits for it.
    Sent(EventId),
    /// It is held, is a user event, or was sent to another board: the command must be held.
    Elsewhere,
}

impl ObjectKind for Event {
    const INVALID: cl_int = CL_INVALID_EVENT;

    fn live() -> &'static Live<Self> {
        static LIVE: PerProcess<Live<Event>> = PerProcess::new();
        LIVE.get()
    }

    fn released(this: &Ref<Self>) {
        if this.command_type == CL_COMMAND_USER && !this.is_done() {
            let event = Arc::downgrade(this);
            lock(&this.context.orphans).push(Box::new(move || {
                if let Some(event) = event.upgrade().filter(|event| event.references() == 0) {
                    event.fail(Error(CL_INVALID_EVENT));
                }
            }));
            if this.context.references() == 0 {
                this.context.end_orphans();
            }
        }
    }
}

impl Event {
    /// Of a command; in INIT.
    pub fn new(context: Ref<Context>, queue: Option<Ref<Queue>>, command_type: u32) -> Self {
        let status = if queue.is_some() { CL_QUEUED } else { CL_SUBMITTED };
        let state = State {
            place: None,
            parts: 1,
            failure: CL_SUCCESS,
            times: Profile { queued: now_ns(), ..Profile::default() },
            callbacks: Vec::new(),
            dependents: Vec::new(),
            sleepers: 0,
            tells_queue: false,
        };
        Self {
            context,
            queue,
            command_type,
            status: AtomicI32::new(status),
            is_early: AtomicBool::new(false),
            unanswered: AtomicU32::new(0),
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// `CL_EVENT_COMMAND_EXECUTION_STATUS`.
    pub fn status(&self) -> cl_int {
        self.status.load(Ordering::Acquire)
    }

    /// Whether it has ended, with success or an error.
    pub fn is_done(&self) -> bool {
        self.status() <= CL_COMPLETE
    }

    /// Whether parts of it have not been sent.
    pub fn is_unsent(&self) -> bool {
        !self.is_done() && lock(&self.state).place.is_none()
    }

    /// Its standing for a command for this board.
    pub fn standing(&self, board: &Arc<Board>) -> Standing {
        match self.status() {
            CL_COMPLETE => return Standing::Complete,
            ..CL_COMPLETE => return Standing::Failed,
            _ => {}
        }
        match &lock(&self.state).place {
            Some(place) if Arc::ptr_eq(&place.board, board) => Standing::Sent(place.id),
            _ => match self.status() {
                CL_COMPLETE => Standing::Complete,
                ..CL_COMPLETE => Standing::Failed,
                _ => Standing::Elsewhere,
            },
        }
    }

    /// When it was queued, sent, begun and ended.
    pub fn profile(&self) -> Profile {
        lock(&self.state).times
    }

    /// A part is about to be sent.
    pub fn add_part(&self) {
        self.unanswered.fetch_add(1, Ordering::AcqRel);
        lock(&self.state).parts += 1;
    }

    /// All parts were sent, the last one as `place`.
    pub fn sent(&self, place: SentTo) {
        let mut state = lock(&self.state);
        state.times.submitted = now_ns();
        let (free, rest) = std::mem::take(&mut state.dependents)
            .into_iter()
            .partition::<Vec<_>, _>(|held| Arc::ptr_eq(held.board(), &place.board));
        state.dependents = rest;
        state.place = Some(place);
        if state.parts > 1 {
            self.reach(&mut state, CL_SUBMITTED);
        }
        self.less_parts(state);
        free.into_iter().for_each(Dependent::satisfied);
    }

    /// Its call returns as if it had ended. A failure is for the queue to report.
    pub fn returns_early(&self) {
        self.is_early.store(true, Ordering::Relaxed);
        stats::EARLY.add(usize::from(!self.is_done()));
        self.tells_queue();
    }

    /// Waits for the end of a command whose call has returned early: the program asks for its state.
    pub fn catch_up(&self) {
        if self.is_early.load(Ordering::Relaxed) {
            self.wait();
        }
    }

    /// The program has not asked for it: a failure is for the queue to tell.
    pub fn tells_queue(&self) {
        let mut state = lock(&self.state);
        state.tells_queue = true;
        self.tell_queue(&state);
    }

    fn tell_queue(&self, state: &State) {
        if state.tells_queue && self.status() < CL_COMPLETE {
            self.queue.iter().for_each(|queue| queue.has_failed(self.status()));
        }
    }

    /// Sending failed after some parts.
    pub fn abandon(&self, why: Error) {
        let mut state = lock(&self.state);
        state.failure = why.0;
        self.less_parts(state);
    }

    fn less_parts(&self, mut state: MutexGuard<'_, State>) {
        state.parts -= 1;
        match state.parts {
            0 => {
                let status = state.failure;
                self.end(state, status);
            }
            _ if state.place.is_some() && self.status() == CL_SUBMITTED && state.times.ended != 0 => {
                self.reach(&mut state, CL_RUNNING);
                self.wake(&state);
            }
            _ => self.wake(&state),
        }
    }

    /// Ends a command that was done without its board, from `started` to `ended`.
    pub fn done_here(&self, started: u64, ended: u64) {
        let ended = ended.max(started + 1); // Programs divide by the time that something took.
        let mut state = lock(&self.state);
        state.times = Profile { submitted: started, started, ended, ..state.times };
        self.end(state, CL_COMPLETE);
    }

    /// Ends a command of which nothing was sent.
    pub fn fail(&self, why: Error) {
        self.end(lock(&self.state), why.0);
    }

    /// `clSetUserEventStatus`.
    pub fn set_by_user(&self, status: cl_int) -> Result<()> {
        let state = lock(&self.state);
        ensure(!self.is_done(), CL_INVALID_OPERATION)?;
        self.end(state, status);
        Ok(())
    }

    fn end(&self, mut state: MutexGuard<'_, State>, status: cl_int) {
        if self.is_done() {
            return;
        }
        // Times of a clock at another node are made to follow each other, whatever the estimate's error is.
        let t = &mut state.times;
        t.submitted = t.submitted.max(t.queued);
        t.started = t.started.max(t.submitted);
        t.ended = t.ended.max(t.started);
        self.reach(&mut state, status);
        self.tell_queue(&state);
        let dependents = std::mem::take(&mut state.dependents);
        self.wake(&state);
        drop(state);
        dependents.into_iter().for_each(Dependent::satisfied);
    }

    /// Advances to a status, and queues the callbacks that are due by then.
    fn reach(&self, state: &mut State, status: cl_int) {
        self.status.store(status, Ordering::Release);
        if state.callbacks.is_empty() {
            return;
        }
        let (mut due, rest) =
            std::mem::take(&mut state.callbacks).into_iter().partition::<Vec<_>, _>(|(at, _)| *at >= status);
        state.callbacks = rest;
        due.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        callback::call(due.into_iter().map(|(at, notify)| -> Call {
            let told = if status < CL_COMPLETE { status } else { at };
            Box::new(move || notify(told))
        }));
    }

    fn wake(&self, state: &State) {
        // A wake is a system call even if no thread sleeps.
        if state.sleepers > 0 {
            self.changed.notify_all();
        }
    }

    /// Calls `notify` once, when the event has reached `at` or ended.
    pub fn on(&self, at: cl_int, notify: Notify) {
        let mut state = lock(&self.state);
        state.callbacks.push((at, notify));
        let status = self.status();
        self.reach(&mut state, status);
    }

    /// Makes `held` wait until this is sent to its board or has ended; false if that is already the case.
    pub fn depend(&self, held: Arc<dyn Dependent>) -> bool {
        let mut state = lock(&self.state);
        let sent_there = state.place.as_ref().is_some_and(|p| Arc::ptr_eq(&p.board, held.board()));
        if self.is_done() || sent_there {
            return false;
        }
        state.dependents.push(held);
        true
    }

    /// Closes the task that it is in.
    pub fn submit(&self) {
        let place = if self.is_done() { None } else { lock(&self.state).place.clone() };
        if let Some(place) = place {
            place.board.submit();
        }
    }

    /// Waits until it has ended.
    pub fn wait(&self) {
        let Some(place) = self.sleep_until(|state| state.place.is_some()).place.clone() else { return };
        if self.is_done() {
            return;
        }
        place.board.submit();
        // If the connection is lost meanwhile, the event ends all the same.
        let _ = place
            .board
            .session
            .wait(None, || (self.is_done() || self.unanswered.load(Ordering::Acquire) == 0).then_some(()));
        drop(self.sleep_until(|_| false));
    }

    /// Sleeps until `enough` or its end.
    fn sleep_until(&self, enough: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let mut state = lock(&self.state);
        while !self.is_done() && !enough(&state) {
            state.sleepers += 1;
            state = wait(&self.changed, state);
            state.sleepers -= 1;
        }
        state
    }

    /// The result of a call that blocked until its end.
    pub fn outcome(&self) -> Result<()> {
        match self.status() {
            status if status < CL_COMPLETE => Err(Error(status)),
            _ => Ok(()),
        }
    }
}

/// Parts of the command, as they are answered and end.
impl Progress for Object<Event> {
    fn answered(&self) {
        self.unanswered.fetch_sub(1, Ordering::AcqRel);
    }

    fn completed(&self, status: cl_int, times: Times) {
        let mut state = lock(&self.state);
        if let Some((started, ended)) = times {
            let t = &mut state.times;
            t.started = if t.started == 0 { started } else { t.started.min(started) };
            t.ended = t.ended.max(ended);
        }
        if state.failure == CL_SUCCESS {
            state.failure = status;
        }
        self.less_parts(state);
    }
}

/// Waits for events; an error if one of them failed.
pub fn wait_all(events: &[Ref<Event>]) -> Result<()> {
    events.iter().for_each(|e| e.submit());
    events.iter().for_each(|e| e.wait());
    ensure(events.iter().all(|e| e.status() == CL_COMPLETE), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)?;
    events.iter().filter_map(|e| e.queue.as_ref()).try_for_each(|queue| queue.outcome())
}
