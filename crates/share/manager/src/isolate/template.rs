//! A template: a process with a runtime's library in memory, of which keepers are copies.
//!
//! To find and relocate a library such as PoCL, which brings LLVM along, takes longer than everything else that a
//! worker does before it is ready. A template does it once, and starts nothing: neither a thread nor a device. Its
//! copies are children of the manager, as if that had started them, and share the library's memory until they write it.
//!
//! All workers of a template have its layout of addresses. That tells a kernel where things are in other workers,
//! to which it has no way.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;
use std::time::Duration;

use rackloom_sync::lock;
use rustix::event::Timespec;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::process::Pid;
use serde::{Deserialize, Serialize};

use super::child::Child;
use super::control::{self, Receiver};
use super::launch::{Launch, this_program};

/// What makes a process of this program a template, in place of an enclosure's name.
pub(super) const TEMPLATE: &str = "template";

/// A message to a template.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ToTemplate {
    /// The first message: the library to open.
    Open(PathBuf),
    /// A keeper, with its ends of the control socket and of the one by which the manager holds it.
    Copy(Launch),
}

/// The answer: the copy's process id, which is 0 for the library, and its pidfd; or why there is none.
pub(super) type FromTemplate = Result<i32, String>;

/// How long a library may take to open.
const OPENING: Duration = Duration::from_secs(30);

/// How long a copy may take, on a machine that is busy.
const COPYING: Duration = Duration::from_secs(5);

/// How long a process may take to end.
const ENDING: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// The template of a library, which begins with the first keeper and again if somebody ends it.
#[derive(Debug)]
pub(super) struct Template {
    library: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    None,
    Running(Running),
    /// The library does not allow one.
    Refused,
}

#[derive(Debug)]
struct Running {
    socket: OwnedFd,
    receiver: Receiver,
    process: Child,
}

impl Template {
    pub(super) const fn new(library: PathBuf) -> Self {
        Self { library, state: Mutex::new(State::None) }
    }

    /// Has it make a copy of itself; `None` if there is no template, and the keeper has to be executed.
    ///
    /// # Errors
    /// It does not say whether it has. A copy may have these ends: who tries again takes others, and drops those.
    pub(super) fn copy(&self, launch: &Launch, control: &OwnedFd, life: &OwnedFd) -> io::Result<Option<Child>> {
        let mut state = lock(&self.state);
        if matches!(*state, State::None) {
            *state = match Running::begin(&self.library) {
                Ok(running) => State::Running(running),
                Err(why) => {
                    self.say(&why);
                    // Else there may be one when there is room again.
                    if why.kind() == io::ErrorKind::Unsupported {
                        *state = State::Refused;
                    }
                    return Ok(None);
                }
            };
        }
        let State::Running(running) = &mut *state else { return Ok(None) };
        match running.copy(launch, control, life) {
            Ok(Ok(copy)) => Ok(Some(copy)),
            Ok(Err(why)) => {
                self.say(&io::Error::other(why));
                Ok(None)
            }
            Err(why) => {
                *state = State::None; // Ends it, if it has not ended by itself.
                Err(why)
            }
        }
    }

    fn say(&self, why: &io::Error) {
        let library = self.library.display();
        eprintln!("rackloom-manager: a client's process opens {library} anew, since a template of it: {why}");
    }
}

impl Running {
    fn begin(library: &Path) -> io::Result<Self> {
        let (socket, theirs) = control::pair()?;
        let mut command = this_program(TEMPLATE);
        let process = Child::of(&command.stdin(Stdio::from(theirs)).stdout(Stdio::null()).spawn()?)?;
        drop(command); // With the end of the socket that is the process's.
        let mut running = Self { socket, receiver: Receiver::new(), process };
        control::send(&running.socket, &ToTemplate::Open(library.to_owned()), &[])?;
        running.answer(OPENING)?.map_err(|why| io::Error::new(io::ErrorKind::Unsupported, why))?;
        Ok(running)
    }

    fn copy(&mut self, launch: &Launch, control: &OwnedFd, life: &OwnedFd) -> io::Result<Result<Child, String>> {
        let order = ToTemplate::Copy(launch.clone());
        control::send(&self.socket, &order, &[control.as_fd(), life.as_fd()])?;
        let (pid, files) = match self.answer(COPYING)? {
            Ok(copied) => copied,
            Err(why) => return Ok(Err(why)),
        };
        let (pid, process) = (Pid::from_raw(pid), files.into_iter().next());
        let copy = pid.zip(process).map(|(pid, process)| Ok(Child::new(pid, process)));
        copy.ok_or_else(|| io::Error::other("it says nonsense"))
    }

    /// What it says, with files.
    fn answer(&mut self, within: Duration) -> io::Result<Result<(i32, Vec<OwnedFd>), String>> {
        set_socket_timeout(&self.socket, Timeout::Recv, Some(within))?;
        let said = self.receiver.next::<FromTemplate>(&self.socket)?;
        let (said, files) = said.ok_or_else(|| io::Error::other("the process has ended"))?;
        Ok(said.map(|pid| (pid, files)))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.process.kill(); // Its copies are not its children.
        let _ = self.process.ended(&ENDING);
    }
}
