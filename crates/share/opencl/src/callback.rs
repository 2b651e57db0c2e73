//! The thread that calls the program.
//!
//! One thread calls all functions that the program has set, one after the other, in the order in which they became due.
//! It is never the thread that reads messages, for a program's function may take long, or call the library. A program
//! that ends waits a little for the calls that are due: other runtimes make them within the call that made them so.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, Once};
use std::time::{Duration, Instant};

use rackloom_sync::{lock, wait, wait_until};

use crate::process::PerProcess;

/// A call of a program's function.
pub type Call = Box<dyn FnOnce() + Send>;

static CALLBACKS: PerProcess<Callbacks> = PerProcess::new();

thread_local! {
    /// Whether this thread makes the calls.
    static CALLS: Cell<bool> = const { Cell::new(false) };
}

/// How long a program that ends waits for its functions.
const LAST: Duration = Duration::from_secs(1);

/// Makes these calls soon.
pub fn call(calls: impl IntoIterator<Item = Call>) {
    CALLBACKS.get().push(calls);
}

/// The program ends.
extern "C" fn finish() {
    // One of its functions may have ended it.
    if !CALLS.get() {
        CALLBACKS.get().finish(Instant::now() + LAST);
    }
}

/// Calls to make, and the thread that makes them, started with the first.
#[derive(Default)]
struct Callbacks {
    state: Mutex<State>,
    more: Condvar,
    /// All were made.
    done: Condvar,
}

#[derive(Default)]
struct State {
    calls: VecDeque<Call>,
    running: bool,
    /// One is being made.
    calling: bool,
}

impl Callbacks {
    fn push(&'static self, calls: impl IntoIterator<Item = Call>) {
        let mut state = lock(&self.state);
        state.calls.extend(calls);
        if state.calls.is_empty() {
            return;
        }
        if !state.running {
            static ONCE: Once = Once::new();
            // SAFETY: the function waits for a thread that goes on meanwhile, and for a bounded time.
            ONCE.call_once(|| unsafe { _ = libc::atexit(finish) });
            state.running = spawn("opencl-callback", move || self.run());
        }
        drop(state);
        self.more.notify_one();
    }

    /// Waits until all calls were made, or the time has passed.
    fn finish(&self, deadline: Instant) {
        let mut state = lock(&self.state);
        while state.running && (state.calling || !state.calls.is_empty()) {
            match wait_until(&self.done, state, Some(deadline)) {
                Ok(woken) => state = woken,
                Err(_) => return,
            }
        }
    }

    fn run(&self) {
        CALLS.set(true);
        let mut state = lock(&self.state);
        loop {
            while let Some(call) = state.calls.pop_front() {
                state.calling = true;
                drop(state);
                call();
                state = lock(&self.state);
                state.calling = false;
            }
            self.done.notify_all();
            state = wait(&self.more, state);
        }
    }
}

/// Starts a thread of the library; false if the system refuses. A panic in it is a bug of the library and ends the
/// process, since the program would wait forever.
pub fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> bool {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            if std::thread::panicking() {
                std::process::abort();
            }
        }
    }
    let start = move || {
        let _bomb = Bomb;
        run();
    };
    without_signals(|| std::thread::Builder::new().name(name.into()).spawn(start).is_ok())
}

/// Makes a call with all signals of this thread blocked. Threads that it starts handle no signals, which are meant for
/// the program.
pub fn without_signals<T>(call: impl FnOnce() -> T) -> T {
    // SAFETY: fills and uses sets on the stack, and changes only this thread's mask.
    let before = unsafe {
        let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, &raw mut before);
        before
    };
    let result = call();
    // SAFETY: restores the mask that was read above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut()) };
    result
}

/// A pointer of the program that is only handed back to it.
#[derive(Debug, Clone, Copy)]
pub struct UserData(pub *mut std::ffi::c_void);

// SAFETY: nothing here follows it; the program gets back what it gave, on another thread as the specification says.
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}

impl UserData {
    /// The pointer as the program gave it.
    pub const fn pointer(self) -> *mut std::ffi::c_void {
        self.0
    }
}
