//! A worker process, on the manager's side.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::control::{self, FromWorker, Receiver, ToWorker, WorkerSetup};
use super::worker_main::ASKED;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::process::{Pid, PidfdFlags};

/// A worker, with or without a client. Its process is ended when this is dropped.
#[derive(Debug)]
pub(super) struct Worker {
    pub(super) control: OwnedFd,
    pub(super) receiver: Receiver,
    /// To watch and end the process.
    pub(super) process: OwnedFd,
    child: Child,
    /// Whether the system confines it.
    pub(super) is_confined: bool,
    /// The folder that it may write.
    own: PathBuf,
    /// The folder in it where the runtime keeps compiled kernels.
    pub(super) kernels: PathBuf,
}

/// How long a process may take to end.
const ENDING: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// How long a runtime may take to open its device.
const OPENING: Duration = Duration::from_secs(30);

impl Worker {
    /// Starts a worker, makes its folder, and waits until it is ready.
    ///
    /// # Errors
    /// It cannot be started, or cannot open the device.
    pub(super) fn start(place: WorkerSetup) -> io::Result<Self> {
        let (control, theirs) = control::pair()?;
        // The same program that runs here, even if its file was replaced since.
        let mut command = Command::new("/proc/self/exe");
        command.arg0("rackloom-worker").env(ASKED, "1");
        for variable in ["TMPDIR", "HOME", "XDG_CACHE_HOME"] {
            command.env(variable, &place.own);
        }
        let kernels = place.own.join("kernels");
        std::fs::create_dir_all(&kernels)?;
        for variable in ["POCL_CACHE_DIR", "CUDA_CACHE_PATH"] {
            command.env(variable, &kernels);
        }
        let child = command.stdin(Stdio::from(theirs)).stdout(Stdio::null()).spawn()?;
        let process = Pid::from_child(&child);
        let process = rustix::process::pidfd_open(process, PidfdFlags::empty())?;
        let own = place.own.clone();
        let worker = Self { control, receiver: Receiver::new(), process, child, is_confined: false, own, kernels };
        control::send(&worker.control, &ToWorker::OpenDevice(place), &[])?;
        worker.until_ready()
    }

    /// Waits until it is ready.
    fn until_ready(mut self) -> io::Result<Self> {
        set_socket_timeout(&self.control, Timeout::Recv, Some(OPENING))?;
        match self.receiver.next(&self.control)? {
            Some((FromWorker::Ready(Ok(is_confined)), _)) => self.is_confined = is_confined,
            Some((FromWorker::Ready(Err(why)), _)) => return Err(io::Error::other(why)),
            _ => return Err(io::Error::other("the process has ended")),
        }
        set_socket_timeout(&self.control, Timeout::Recv, None)?;
        Ok(self)
    }
}

impl Worker {
    /// Whether it still runs.
    pub(super) fn is_there(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends it, whatever it is doing.
    pub(super) fn end(&mut self) {
        let _ = self.child.kill(); // Or it has ended.
        let _ = self.child.wait();
    }

    /// The signal that ended it, if any. For use after its socket has closed.
    pub(super) fn signal(&mut self) -> Option<i32> {
        let mut process = [PollFd::new(&self.process, PollFlags::IN)];
        let _ = rustix::event::poll(&mut process, Some(&ENDING)); // Else it has only closed the socket.
        self.child.try_wait().ok()??.signal()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.end();
        let _ = std::fs::remove_dir_all(&self.own); // Else it goes with all others.
    }
}
