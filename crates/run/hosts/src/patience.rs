//! Waiting for another process: first without letting the processor go, since a word comes from another one in less
//! than a system call takes, then by yielding, then by sleeping.

use std::time::{Duration, Instant};

/// Looks before the processor is offered to others, where each rank has one; and where there are more ranks. The former
/// take some 100 us, in which another rank works through several pieces: what else the machine does gets the processor
/// for milliseconds if it is offered, and comes without an offer anyway.
const LOOKS: u32 = 4000;
const LOOKS_SHARED: u32 = 10;
/// How long it is offered before the thread sleeps between looks, and how long it sleeps: at least, and at most.
const YIELDS: Duration = Duration::from_millis(4);
const NAP: Duration = Duration::from_micros(50);
const NAP_MAX: Duration = Duration::from_millis(1);
/// A nap is such a part of what the thread has waited: long messages are noticed soon, for what they take.
const NAP_PART: u32 = 32;
/// How often whoever waits looks who is there.
const ROUND: Duration = Duration::from_millis(5);

/// How many looks a group of so many ranks takes, which together may use so many processors.
pub(crate) const fn looks(ranks: usize, processors: usize) -> u32 {
    if ranks <= processors { LOOKS } else { LOOKS_SHARED }
}

/// Waits until `ready`. `round` is called now and then with how long it has taken; its error ends the wait.
pub(crate) fn until<E>(
    looks: u32,
    ready: impl Fn() -> bool,
    mut round: impl FnMut(Duration) -> Result<(), E>,
) -> Result<(), E> {
    for _ in 0..looks {
        if ready() {
            return Ok(());
        }
        std::hint::spin_loop();
    }
    let began = Instant::now();
    let mut next = ROUND;
    loop {
        if ready() {
            return Ok(());
        }
        let waited = began.elapsed();
        if waited >= next {
            round(waited)?;
            next = waited + ROUND;
        }
        if waited < YIELDS {
            std::thread::yield_now();
        } else {
            std::thread::sleep((waited / NAP_PART).clamp(NAP, NAP_MAX));
        }
    }
}
