//! A wake that a thread sleeping on file descriptors hears.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};
use std::time::Instant;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;

/// An eventfd as a [`Waker`].
#[derive(Debug)]
pub(crate) struct Doorbell {
    fd: OwnedFd,
    rung: AtomicBool,
}

impl Doorbell {
    /// A bell that nobody has rung.
    pub(crate) fn new() -> io::Result<Arc<Self>> {
        let fd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Arc::new(Self { fd, rung: AtomicBool::new(false) }))
    }

    /// Silences the bell; true if it was rung.
    pub(crate) fn take(&self) -> bool {
        self.rung.load(Ordering::Acquire) && self.silence()
    }

    /// Silences the bell; true if it was rung. A thread whose poll found it readable calls this.
    pub(crate) fn silence(&self) -> bool {
        // Read, then lower the flag. A ring in between adds nothing to this one, which its owner is about to look into;
        // a ring whose write comes later leaves the bell readable: the next poll wakes for nothing, and nothing
        // is lost.
        let mut count = [0u8; 8];
        let _ = rustix::io::read(&self.fd, &mut count); // Only "would block" can fail here.
        self.rung.swap(false, Ordering::AcqRel)
    }

    /// This bell as a waker.
    pub(crate) fn waker(self: &Arc<Self>) -> Waker {
        Waker::from(Arc::clone(self))
    }

    /// Sleeps until `fd` is ready for `want`, the bell was rung (and silences it), or the deadline has come.
    pub(crate) fn wait(&self, fd: BorrowedFd<'_>, want: PollFlags, deadline: Option<Instant>) -> io::Result<PollFlags> {
        let mut fds = [PollFd::from_borrowed_fd(fd, want), PollFd::new(&self.fd, PollFlags::IN)];
        match poll(&mut fds, deadline.map(timeout).as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
        let ready = fds[0].revents();
        if !fds[1].revents().is_empty() {
            self.silence();
        }
        Ok(ready)
    }
}

impl AsFd for Doorbell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Wake for Doorbell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.rung.swap(true, Ordering::AcqRel) {
            // Cannot fail: the counter is 0 or 1, far from its maximum.
            let _ = rustix::io::write(&self.fd, &1u64.to_ne_bytes());
        }
    }
}

/// Time left until `deadline`, as poll wants it.
fn timeout(deadline: Instant) -> Timespec {
    let left = deadline.saturating_duration_since(Instant::now());
    Timespec { tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX), tv_nsec: left.subsec_nanos().into() }
}
