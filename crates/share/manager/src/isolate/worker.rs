//! A worker process, on the manager's side.
//!
//! The manager trusts nothing of it, and waits for nothing of it without a bound. Its child is the worker's
//! [keeper](super::keeper), which ends when the worker and all that this began have ended.

use std::fs::DirBuilder;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::Timespec;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::process::WaitIdStatus;

use super::child::Child;
use super::control::{self, FromWorker, Receiver, ToWorker, WorkerSetup};
use super::keeper::{CANNOT_ENCLOSE, Enclosure, Life, SIGNALLED};
use super::launch::Launch;
use super::layers::Layers;
use super::template::Template;
use super::worker_folder::KERNELS;
use crate::cgroup::Group;
use crate::home::remove;

/// A worker, with or without a client. Its process is ended when this is dropped.
#[derive(Debug)]
pub(super) struct Worker {
    pub(super) control: Arc<OwnedFd>,
    pub(super) receiver: Receiver,
    /// To end it.
    pub(super) life: Arc<Life>,
    pub(super) keeper: Child,
    /// What confines it.
    pub(super) layers: Layers,
    /// Those in it are ended with it.
    group: Option<Group>,
    /// The folder that it may write.
    own: PathBuf,
    /// The folder where its runtime keeps compiled kernels, as it was before there was a client: the worker may be
    /// the only one that can reach it by a path.
    pub(super) kernels: Option<Arc<OwnedFd>>,
}

/// Whether a worker has opened its device, or why not.
pub(super) type Opened = Result<(), String>;

/// How long a process may take to end.
const ENDING: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// How long a runtime may take to open its device.
const OPENING: Duration = Duration::from_secs(30);

/// Starts a first worker with all that the system, and what it opens, let it have.
///
/// # Errors
/// Not even with the least.
pub(super) fn first_that_starts<T>(
    gives_users: bool,
    mut start: impl FnMut(Enclosure, bool) -> io::Result<T>,
) -> io::Result<T> {
    let (mut enclosure, mut has_own_user) = (Enclosure::Namespaces, gives_users);
    loop {
        match start(enclosure, has_own_user) {
            Err(why) if why.kind() == io::ErrorKind::Unsupported && enclosure == Enclosure::Namespaces => {
                enclosure = Enclosure::Descent;
            }
            Err(why) if has_own_user => {
                eprintln!("rackloom-manager: clients' processes stay the manager's user, since as another: {why}");
                has_own_user = false;
            }
            other => return other,
        }
    }
}

/// Starts a keeper; also the manager's ends of the control socket and of the one by which it holds the keeper. A
/// template that does not answer is begun anew, once.
fn launched(launch: &Launch, template: Option<&Template>) -> io::Result<(OwnedFd, Life, Child)> {
    for template in [template, template, None] {
        let (control, theirs) = control::pair()?;
        let (life, keepers) = Life::pair()?;
        match template.map_or(Ok(None), |template| template.copy(launch, &theirs, &keepers)) {
            Ok(Some(keeper)) => return Ok((control, life, keeper)),
            Ok(None) => return Ok((control, life, launch.execute(theirs, keepers)?)),
            Err(_) => {} // If there is a copy, it ends with these sockets.
        }
    }
    unreachable!("without a template it is executed")
}

impl Worker {
    /// Starts a worker, makes its folder, and waits until it is ready; also tells whether it could open its device.
    ///
    /// # Errors
    /// It cannot be started. [`io::ErrorKind::Unsupported`]: the system does not allow the enclosure.
    pub(super) fn start(
        place: WorkerSetup,
        enclosure: Enclosure,
        has_own_user: bool,
        group: Option<Group>,
        template: Option<&Template>,
    ) -> io::Result<(Self, Opened)> {
        let kernels = place.own.join(KERNELS);
        DirBuilder::new().recursive(true).mode(0o700).create(&kernels)?;
        let mut launch = Launch::new(enclosure, &place.own, &kernels);
        if has_own_user {
            launch.with_own_user(place.origin.is_processor);
        }
        if let Some(names) = group.as_ref().and_then(Group::names) {
            launch.in_group(names);
        }
        let (control, life, keeper) = launched(&launch, template)?;
        let (own, life) = (place.own.clone(), Arc::new(life));
        let (control, receiver) = (Arc::new(control), Receiver::new());
        let (layers, kernels) = Default::default();
        let mut worker = Self { control, receiver, life, keeper, layers, group, own, kernels };
        match worker.open(place) {
            Ok(opened) => Ok((worker, opened)),
            Err(why) => {
                let cannot = worker.ended().is_some_and(|status| status.exit_status() == Some(CANNOT_ENCLOSE));
                Err(if cannot { io::ErrorKind::Unsupported.into() } else { why })
            }
        }
    }

    /// Has it open its device; whether that is open.
    fn open(&mut self, place: WorkerSetup) -> io::Result<Opened> {
        control::send(&self.control, &ToWorker::OpenDevice(place), &[])?;
        set_socket_timeout(&self.control, Timeout::Recv, Some(OPENING))?;
        let answer = self.receiver.next(&self.control)?;
        set_socket_timeout(&self.control, Timeout::Recv, None)?;
        match answer {
            Some((FromWorker::Ready(layers, opened), files)) => {
                (self.layers, self.kernels) = (layers, files.into_iter().next().map(Arc::new));
                Ok(opened)
            }
            _ => Err(io::Error::other("the process has ended")),
        }
    }
}

impl Worker {
    /// Whether it still runs.
    pub(super) fn is_there(&mut self) -> bool {
        self.keeper.is_there()
    }

    /// Ends it and all that it began, whatever that is doing; whether all has ended. A driver can hold a process up for
    /// longer than we wait.
    pub(super) fn end(&mut self) -> bool {
        self.life.end();
        if self.ended().is_none() {
            self.keeper.kill(); // Somebody has stopped it. The worker ends with it.
        }
        self.ended().is_some()
    }

    /// How it ended; waits a little for that.
    fn ended(&mut self) -> Option<WaitIdStatus> {
        self.keeper.ended(&ENDING)
    }

    /// The signal that ended it, if any. For use after its socket has closed.
    pub(super) fn signal(&mut self) -> Option<i32> {
        let status = self.ended()?; // Else it has only closed the socket.
        status
            .terminating_signal()
            .or_else(|| status.exit_status().filter(|code| *code > SIGNALLED).map(|code| code - SIGNALLED))
    }

    /// Whether the system has ended a process of it because its group, or all clients, had no memory left.
    pub(super) fn has_exhausted_memory(&self) -> bool {
        self.group.as_ref().is_some_and(Group::has_exhausted_memory)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.end();
        let _ = remove(&self.own); // Else it goes with all others.
    }
}
