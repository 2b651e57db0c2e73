//! The keeper: a small process between the manager and a worker, so that a worker ends with all that it began.
//!
//! The manager waits for nothing that a client's kernel could hold up: it only hangs up on the keeper, which runs no
//! code of clients. The keeper is the parent of the worker, and therefore also the tracer of threads that ask to be
//! traced, whose zombies only their tracer can reap.
//!
//! Where the system allows it, the worker is the first process of a process namespace, and the system itself kills all
//! others there with it. Elsewhere the keeper adopts every descendant whose parent has ended, and kills until none is
//! left.
#![allow(unsafe_code)]

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, Shutdown, SocketFlags, SocketType, socketpair};
use rustix::process::{DumpableBehavior, Pid, PidfdFlags, Signal, WaitOptions, WaitStatus};
use rustix::thread::UnshareFlags;

use super::descent::descendants;
use super::own_user::OwnUser;
use super::worker_folder;
use crate::cgroup;
use crate::home::remove;

/// What ends with a worker, and what it shares with other processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) enum Enclosure {
    /// Namespaces of its own: users, processes, network, shared memory, mounts.
    Namespaces,
    /// None: what it began is found by descent.
    Descent,
}

impl Enclosure {
    /// In the order of preference.
    pub(super) const ALL: [Self; 2] = [Self::Namespaces, Self::Descent];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::Descent => "descent",
        }
    }

    pub(super) fn from_name(name: &OsStr) -> Option<Self> {
        Self::ALL.into_iter().find(|one| name == one.name())
    }
}

/// The keeper's exit code when the system does not allow its enclosure.
pub(super) const CANNOT_ENCLOSE: i32 = 120;

/// The environment variable that makes a process of this program a keeper, and another one its worker.
pub(super) const ASKED: &str = "RACKLOOM_WORKER";

/// The environment variable that names the worker's folder.
pub(super) const FOLDER: &str = "TMPDIR";

/// The environment variable with the names of the worker's control group, if it has one.
pub(super) const GROUP: &str = "RACKLOOM_GROUP";

/// The keeper's exit code for a worker that a signal has ended, less the signal.
pub(super) const SIGNALLED: i32 = 128;

/// Starts the worker: returns in the worker's process only, with the user that it is to be. `life` is the socket on
/// which the manager hangs up.
///
/// # Errors
/// There can be no other process.
pub(super) fn keep(life: OwnedFd, enclosure: Enclosure) -> io::Result<Option<OwnUser>> {
    let user = OwnUser::of_this_keeper();
    let folder = std::env::var_os(FOLDER).map(PathBuf::from);
    match enclosure {
        Enclosure::Namespaces if enclose(user.is_some()).is_err() => std::process::exit(CANNOT_ENCLOSE),
        // Or it stays on the disk, which the worker will notice.
        Enclosure::Namespaces => drop(folder.as_deref().map(worker_folder::mount)),
        Enclosure::Descent => rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?,
    }
    if let (Some(user), Some(folder)) = (&user, &folder) {
        worker_folder::give(folder, user)?;
    }
    // Signals to the manager's terminal are the manager's, and signals to a worker's group reach nobody else.
    rustix::process::setsid()?;
    // SAFETY: this process has one thread.
    let child = unsafe { libc::fork() };
    if child == 0 {
        drop(life);
        // Or it has no bounds, which it will notice.
        let _ = std::env::var_os(GROUP).map(|group| cgroup::join(&group));
        rustix::process::setsid()?;
        return Ok(user);
    }
    let worker = Pid::from_raw(child).filter(|_| child > 0).ok_or_else(io::Error::last_os_error)?;
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    rustix::thread::set_name(c"rackloom-keeper")?;
    rustix::stdio::dup2_stdin(fs::File::open("/dev/null")?)?; // The control socket is the worker's.
    until_end(worker, &life)?;
    let status = end_all(worker)?;
    if rustix::net::recv(&life, &mut [0; 1], RecvFlags::DONTWAIT).is_ok_and(|(_, said)| said == 0) {
        // The manager was killed, and cannot remove the worker's folder.
        if let Some(folder) = folder {
            worker_folder::unmount(&folder);
            let _ = remove(&folder); // Else the next manager sweeps it.
        }
        let _ = std::env::var_os(GROUP).map(|group| cgroup::remove_named(&group));
    }
    let signal = status.terminating_signal().map(|signal| SIGNALLED + signal);
    std::process::exit(status.exit_status().or(signal).unwrap_or(SIGNALLED))
}

/// Gives the next child of this process namespaces of its own; that of users is left to a child that changes its user.
fn enclose(has_own_user: bool) -> io::Result<()> {
    let (uid, gid) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    let spaces = UnshareFlags::NEWPID | UnshareFlags::NEWNET | UnshareFlags::NEWIPC | UnshareFlags::NEWNS;
    // SAFETY: this process has one thread, and shares no files with others.
    if !has_own_user && unsafe { rustix::thread::unshare_unsafe(spaces | UnshareFlags::NEWUSER) }.is_ok() {
        // The user stays who it is: its runtime opens device files.
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
        fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))?;
        return Ok(());
    }
    // Root may do without a namespace of users.
    // SAFETY: as above.
    Ok(unsafe { rustix::thread::unshare_unsafe(spaces) }?)
}

/// Waits until the worker has ended or the manager hangs up.
fn until_end(worker: Pid, life: &OwnedFd) -> io::Result<()> {
    let process = rustix::process::pidfd_open(worker, PidfdFlags::empty())?;
    let mut files = [PollFd::new(&process, PollFlags::IN), PollFd::new(life, PollFlags::IN | PollFlags::RDHUP)];
    loop {
        match rustix::event::poll(&mut files, None) {
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(why) => return Err(why.into()),
        }
    }
}

/// Kills and reaps the worker and all that descend from it; how the worker ended.
fn end_all(worker: Pid) -> io::Result<WaitStatus> {
    let mut ended = None;
    if let Some(group) = std::env::var_os(GROUP) {
        cgroup::kill(&group);
    }
    loop {
        kill_descendants();
        // Also of traced threads, and what they report when they stop.
        let options = WaitOptions::NOHANG.union(WaitOptions::from_bits_retain(libc::__WALL as u32));
        match rustix::process::wait(options) {
            Ok(Some((pid, status))) if pid == worker && !status.stopped() => ended = Some(status),
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => std::thread::sleep(Duration::from_millis(1)),
            Err(Errno::CHILD) => return ended.ok_or_else(|| io::Error::other("the worker was reaped elsewhere")),
            Err(why) => return Err(why.into()),
        }
    }
}

fn kill_descendants() {
    for one in descendants(rustix::process::getpid()) {
        let _ = rustix::process::kill_process(one, Signal::KILL); // Or it has ended.
    }
}

/// The end of a socket by which the manager holds a keeper.
#[derive(Debug)]
pub(super) struct Life(OwnedFd);

impl Life {
    /// Makes one, and the other end.
    pub(super) fn pair() -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        Ok((Self(ours), theirs))
    }

    /// Ends the worker; the thread that listens to it notices.
    pub(super) fn end(&self) {
        let Self(life) = self;
        // A word first: without one we were killed.
        let _ = rustix::net::send(life, &[1], SendFlags::NOSIGNAL | SendFlags::DONTWAIT); // Or it has ended already.
        let _ = rustix::net::shutdown(life, Shutdown::Write);
    }
}
