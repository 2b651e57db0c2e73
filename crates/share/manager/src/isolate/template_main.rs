//! The main function of a [template](super::template).
#![allow(unsafe_code)]

use std::fs;
use std::io;
use std::os::fd::{AsFd as _, FromRawFd as _, OwnedFd};

use anyhow::{Context as _, bail};
use rustix::process::DumpableBehavior;

use super::control::{Receiver, tell_with};
use super::launch::Launch;
use super::template::{FromTemplate, ToTemplate};
use crate::native::Runtime;

/// Opens a library, then copies this process whenever the manager asks: returns in the copies only, which are to be
/// keepers.
///
/// # Errors
/// The manager does not say what to open.
pub(super) fn copies() -> anyhow::Result<Launch> {
    let socket = std::io::stdin().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(fs::File::open("/dev/null")?)?;
    rustix::thread::set_name(c"rackloom-template")?;
    // Signals to the manager's terminal are the manager's.
    rustix::process::setsid()?;
    let mut receiver = Receiver::new();
    let first = receiver.next(&socket).context("a template is started by the manager only")?;
    let Some((ToTemplate::Open(library), _)) = first else { bail!("the manager is gone") };
    let opened = Runtime::preload(&library).and_then(|()| has_one_thread());
    // Whoever could write to its memory would run in all later workers.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    tell_with(&socket, &opened.map(|()| 0).map_err(|why| format!("{why:#}")) as &FromTemplate, &[])?;
    loop {
        let Some((order, files)) = receiver.next(&socket)? else { std::process::exit(0) };
        let (ToTemplate::Copy(launch), Ok([control, life])) = (order, <[OwnedFd; 2]>::try_from(files)) else {
            bail!("the manager says nonsense");
        };
        match copy() {
            Ok(None) => {
                // A keeper writes files of its own in `/proc`, and shuts others out afterwards.
                rustix::process::set_dumpable_behavior(DumpableBehavior::Dumpable)?;
                rustix::stdio::dup2_stdin(control)?;
                rustix::stdio::dup2_stdout(life)?;
                for (name, value) in &launch.variables {
                    // SAFETY: this process has one thread.
                    unsafe { std::env::set_var(name, value) };
                }
                return Ok(launch);
            }
            Ok(Some((pid, process))) => tell_with(&socket, &FromTemplate::Ok(pid), &[process.as_fd()])?,
            Err(why) => tell_with(&socket, &FromTemplate::Err(why.to_string()), &[])?,
        }
    }
}

/// A copy of this process would have only one of its threads, and locks that others held for ever.
fn has_one_thread() -> anyhow::Result<()> {
    let threads = fs::read_dir("/proc/self/task")?.count();
    if threads != 1 {
        bail!("the library has started threads");
    }
    Ok(())
}

/// Makes a copy of this process, a child of the manager's as this one is. `None` in the copy, and in the template its
/// process id and pidfd.
fn copy() -> io::Result<Option<(i32, OwnedFd)>> {
    let mut process = -1;
    let flags = libc::CLONE_PARENT | libc::CLONE_PIDFD;
    // SAFETY: this process has one thread. The C library's cached thread id is the template's in the copy; the copy
    // only forks, by the C library, which sets it.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, &raw mut process, 0, 0) };
    match i32::try_from(pid) {
        Ok(0) => Ok(None),
        // SAFETY: the system has opened it for this process.
        Ok(pid) if pid > 0 => Ok(Some((pid, unsafe { OwnedFd::from_raw_fd(process) }))),
        _ => Err(io::Error::last_os_error()),
    }
}
