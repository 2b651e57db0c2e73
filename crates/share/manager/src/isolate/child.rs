//! A child process of the manager, known by a file: its number may be another's when it has ended.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitIdStatus};

/// A process that this one has begun, or that a [template](super::template) has for it.
#[derive(Debug)]
pub(super) struct Child {
    pid: Pid,
    process: OwnedFd,
    /// How it ended, once that has been asked for.
    status: Option<WaitIdStatus>,
}

impl Child {
    /// One that this process has begun.
    ///
    /// # Errors
    /// There are no more files.
    pub(super) fn of(child: &std::process::Child) -> io::Result<Self> {
        let pid = Pid::from_child(child);
        Ok(Self::new(pid, rustix::process::pidfd_open(pid, PidfdFlags::empty())?))
    }

    /// `process`: its pidfd.
    pub(super) const fn new(pid: Pid, process: OwnedFd) -> Self {
        Self { pid, process, status: None }
    }

    pub(super) const fn pid(&self) -> Pid {
        self.pid
    }

    /// Whether it still runs.
    pub(super) fn is_there(&mut self) -> bool {
        self.status().is_none()
    }

    /// How it ended; waits for that, but no longer than this.
    pub(super) fn ended(&mut self, within: &Timespec) -> Option<WaitIdStatus> {
        let mut process = [PollFd::new(&self.process, PollFlags::IN)];
        let _ = rustix::event::poll(&mut process, Some(within));
        self.status()
    }

    fn status(&mut self) -> Option<WaitIdStatus> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        while self.status.is_none() {
            match rustix::process::waitid(WaitId::PidFd(self.process.as_fd()), options) {
                Ok(status) => {
                    self.status = status;
                    break;
                }
                Err(Errno::INTR) => {}
                Err(_) => break,
            }
        }
        self.status
    }

    /// Ends it at once.
    pub(super) fn kill(&self) {
        let _ = rustix::process::pidfd_send_signal(&self.process, Signal::KILL); // Or it has ended.
    }
}

impl AsFd for Child {
    /// Ready to be read when it has ended.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.process.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const SOON: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };

    fn running(script: &str) -> Child {
        Child::of(&Command::new("/bin/sh").args(["-c", script]).spawn().unwrap()).unwrap()
    }

    #[test]
    fn how_it_ended_is_known_as_often_as_asked() {
        let mut child = running("exit 3");
        for _ in 0..2 {
            assert_eq!(child.ended(&SOON).unwrap().exit_status(), Some(3));
            assert!(!child.is_there());
        }
    }

    #[test]
    fn one_that_does_not_end_is_waited_for_no_longer_than_asked() {
        let mut child = running("exec sleep 1000");
        assert!(child.ended(&Timespec { tv_sec: 0, tv_nsec: 1 }).is_none() && child.is_there());
        child.kill();
        assert_eq!(child.ended(&SOON).unwrap().terminating_signal(), Some(Signal::KILL.as_raw()));
    }
}
