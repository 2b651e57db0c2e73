//! The end of an operation: its data go to the program, and its command learns of it; before that, what kernels have
//! printed is written.
#![allow(unsafe_code)]

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use opencl_sys::{CL_DEVICE_NOT_AVAILABLE, CL_SUCCESS, cl_int};
use rackloom_sync::lock;

use crate::copier::{Direction, copier};
use crate::error::{Error, Result};
use crate::session::pending::{Finish, InFlight, Pending, Progress, Times};
use crate::stats;

/// How bulk data reach this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// They are there when the reply is.
    SharedMemory,
    /// They are streamed, and may come after the reply.
    Tcp,
}

/// What is left to be done when the manager has told of an end.
pub enum Completion {
    /// An operation has ended at the manager, and its bulk has not arrived yet.
    Late(Pending, Times),
    /// An operation has ended, and text was printed before that.
    Ended(Arc<dyn Progress>, cl_int, Times),
    /// Kernels have printed this.
    Text(Box<[u8]>),
}

impl Pending {
    /// The manager says that it has ended. Gives a completion if its bulk may still be under way or text is to be
    /// written first, for which a handler of messages must not wait.
    pub fn done(
        self,
        in_flight: &InFlight,
        transport: Transport,
        is_behind_text: bool,
        status: cl_int,
        times: Times,
        tail: &[u8],
    ) -> Option<Completion> {
        in_flight.remove_bytes(self.moving);
        let needs_bulk = matches!(self.finish, Finish::Copy { .. } | Finish::Settle { .. });
        if needs_bulk && status == CL_SUCCESS && transport == Transport::Tcp {
            in_flight.give_room(self.operations);
            self.progress.answered();
            return Some(Completion::Late(self, times));
        }
        let operations = self.operations;
        let (progress, status) = self.settle(status, tail);
        // A thread that finds the board idle may rely on the data being there.
        in_flight.give_room(operations);
        progress.answered();
        if is_behind_text {
            return Some(Completion::Ended(progress, status, times));
        }
        progress.completed(status, times);
        None
    }

    /// Does what is left to be done with the data of an operation that has ended, and lets go what it used. Gives what
    /// is to learn of the end, and with which status.
    fn settle(self, status: cl_int, tail: &[u8]) -> (Arc<dyn Progress>, cl_int) {
        let taken = if status == CL_SUCCESS { self.finish.take(tail) } else { Err(Error(status)) };
        (self.progress, taken.err().map_or(CL_SUCCESS, |e| e.0))
    }

    /// The connection is lost.
    pub fn lost(self, in_flight: &InFlight, why: Error) {
        in_flight.remove_bytes(self.moving);
        let operations = self.operations;
        let (progress, status) = self.settle(why.0, &[]);
        in_flight.give_room(operations);
        progress.ended(status, None);
    }
}

impl Finish {
    fn take(&self, tail: &[u8]) -> Result<()> {
        match self {
            Self::Nothing | Self::Free { .. } | Self::Leave { .. } => {}
            Self::Inline(host) => {
                // A manager of this version sends as many bytes as it was asked for.
                if tail.len() != host.len() {
                    return Err(Error(CL_DEVICE_NOT_AVAILABLE));
                }
                stats::INLINE_BYTES.add(tail.len());
                host.fill(tail);
            }
            Self::Copy { to, bulk, from } => {
                stats::COPIED_BYTES.add(to.len());
                let mut to = *to;
                if let Some(slice) = to.as_mut_slice() {
                    bulk.get(from, 0, slice)?;
                } else {
                    bulk.settle(from)?;
                    // SAFETY: the bulk memory has as many bytes as were expected there.
                    unsafe { to.scatter(bulk.as_ptr()?) };
                }
            }
            Self::CopyOut { to, bulk, from, transfer } => {
                stats::COPIED_BYTES.add(to.len());
                let mut to = *to;
                bulk.settle(from)?;
                let at = bulk.as_ptr()?;
                match to.as_mut_slice() {
                    // SAFETY: the bulk memory has as many bytes as were expected there, and is not the program's.
                    Some(to) => unsafe {
                        copier().copy(Direction::Out, *transfer, at, to.as_mut_ptr(), to.len());
                    },
                    // SAFETY: as above.
                    None => unsafe { to.scatter(at) },
                }
            }
            Self::Settle { mapping, from } => mapping.settle(from)?,
        }
        Ok(())
    }
}

impl Completion {
    /// Does it; waits for the bulk, or for whoever reads the program's output.
    fn finish(self) {
        match self {
            Self::Late(pending, times) => {
                let (progress, status) = pending.settle(CL_SUCCESS, &[]);
                progress.completed(status, times);
            }
            Self::Ended(progress, status, times) => progress.completed(status, times),
            Self::Text(text) => write_all(&text),
        }
    }
}

/// Bytes of text that may wait for whoever reads the program's output.
const TEXT_MAX: usize = 64 << 20;

/// Completions that no thread has taken on yet.
///
/// Any thread may take one while there is no text among them. Otherwise they are the session's own thread's, which
/// keeps their order: an operation ends for the program when what was printed before has been written.
#[derive(Default)]
pub struct Completions {
    queue: Mutex<VecDeque<Completion>>,
    /// Length of the queue, to be read without its lock.
    count: AtomicU32,
    /// Bytes of text in it, or being written; changed with the lock held.
    text: AtomicUsize,
}

impl Completions {
    /// Adds one; whether the session's own thread has to take it.
    pub fn push(&self, completion: Completion) -> bool {
        lock(&self.queue).push_back(completion);
        self.count.fetch_add(1, Ordering::AcqRel);
        self.has_text()
    }

    /// Adds text, for the session's own thread; false if too much waits already.
    pub fn push_text(&self, text: &[u8]) -> bool {
        let mut queue = lock(&self.queue);
        if self.text.load(Ordering::Acquire) + text.len() > TEXT_MAX {
            return false;
        }
        self.text.fetch_add(text.len(), Ordering::AcqRel);
        queue.push_back(Completion::Text(text.into()));
        self.count.fetch_add(1, Ordering::AcqRel);
        true
    }

    /// Whether text waits, or is being written.
    pub fn has_text(&self) -> bool {
        self.text.load(Ordering::Acquire) > 0
    }

    /// Finishes all of them, waiting for their bulk, unless there is text among them.
    pub fn finish(&self) {
        while self.count.load(Ordering::Acquire) > 0 {
            let mut queue = lock(&self.queue);
            if self.has_text() {
                return;
            }
            let next = self.next(&mut queue);
            drop(queue);
            let Some(completion) = next else { return };
            completion.finish();
        }
    }

    /// The same for the session's own thread.
    pub fn finish_all(&self) {
        loop {
            let next = self.next(&mut lock(&self.queue));
            let Some(completion) = next else { return };
            let written = if let Completion::Text(text) = &completion { text.len() } else { 0 };
            completion.finish();
            let _queue = lock(&self.queue);
            self.text.fetch_sub(written, Ordering::AcqRel);
        }
    }

    fn next(&self, queue: &mut VecDeque<Completion>) -> Option<Completion> {
        let next = queue.pop_front()?;
        self.count.fetch_sub(1, Ordering::AcqRel);
        Some(next)
    }
}

/// Writes to the program's standard output, as a runtime in its process would; one that is closed gets nothing.
fn write_all(mut text: &[u8]) {
    while !text.is_empty() {
        // SAFETY: the bytes live; the descriptor is the program's, whatever it is.
        let written = unsafe { libc::write(libc::STDOUT_FILENO, text.as_ptr().cast(), text.len()) };
        match usize::try_from(written) {
            Ok(written) => text = &text[written..],
            Err(_) => match std::io::Error::last_os_error().kind() {
                ErrorKind::Interrupted => {}
                ErrorKind::WouldBlock => {
                    let mut output = libc::pollfd { fd: libc::STDOUT_FILENO, events: libc::POLLOUT, revents: 0 };
                    // SAFETY: one descriptor, on the stack.
                    unsafe { libc::poll(&raw mut output, 1, -1) };
                }
                _ => return,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::any::Any;
    use std::sync::Weak;

    use super::*;

    /// Looks whether what an operation used still exists, whenever the program could learn of its end.
    #[derive(Default)]
    struct Watch {
        used: Mutex<Weak<String>>,
        seen: Mutex<Vec<bool>>,
    }

    impl Watch {
        fn look(&self) {
            let is_there = lock(&self.used).upgrade().is_some();
            lock(&self.seen).push(is_there);
        }
    }

    impl Progress for Watch {
        fn answered(&self) {
            self.look();
        }

        fn completed(&self, _: cl_int, _: Times) {
            self.look();
        }
    }

    /// What is seen at the end of an operation that ends by `end`.
    fn seen(end: impl FnOnce(Pending, &InFlight)) -> Vec<bool> {
        let watch = Arc::new(Watch::default());
        let uses = Arc::new(String::from("a kernel"));
        *lock(&watch.used) = Arc::downgrade(&uses);
        let progress: Arc<dyn Progress> = watch.clone();
        let uses: Arc<dyn Any + Send + Sync> = uses;
        let in_flight = InFlight::default();
        in_flight.take_room(2, 2).unwrap();
        end(Pending { progress, _uses: uses, finish: Finish::Nothing, operations: 2, moving: 0 }, &in_flight);
        assert_eq!(in_flight.count(), 0);
        std::mem::take(&mut lock(&watch.seen))
    }

    #[test]
    fn what_an_operation_used_is_let_go_before_its_end_is_seen() {
        let done = |is_behind_text| {
            seen(|pending, in_flight| {
                let left = pending.done(in_flight, Transport::SharedMemory, is_behind_text, CL_SUCCESS, None, &[]);
                assert_eq!(left.is_some(), is_behind_text);
                left.into_iter().for_each(Completion::finish);
            })
        };
        assert_eq!(done(false), [false, false]);
        assert_eq!(done(true), [false, false]);
        let lost = seen(|pending, in_flight| pending.lost(in_flight, Error(CL_DEVICE_NOT_AVAILABLE)));
        assert_eq!(lost, [false, false]);
        let late = seen(|pending, in_flight| {
            in_flight.give_room(2);
            Completion::Late(pending, None).finish();
        });
        assert_eq!(late, [false]);
    }
}
