//! How a keeper begins: as this program, executed again, or as a copy of a [template](super::template).

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use super::child::Child;
use super::keeper::{ASKED, Enclosure, FOLDER, GROUP};
use super::own_user;

/// What a keeper has to know before its worker reads a message.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Launch {
    pub(super) enclosure: Enclosure,
    /// Of its environment and the worker's, beside the manager's.
    pub(super) variables: Vec<(String, OsString)>,
}

impl Launch {
    /// `own` is the folder that the worker may write, with its compiled kernels in `kernels`.
    pub(super) fn new(enclosure: Enclosure, own: &Path, kernels: &Path) -> Self {
        let folders = [FOLDER, "HOME", "XDG_CACHE_HOME"].map(|name| (name, own));
        let caches = ["POCL_CACHE_DIR", "CUDA_CACHE_PATH"].map(|name| (name, kernels));
        let variables = folders.into_iter().chain(caches).map(|(name, path)| (name.to_owned(), path.into())).collect();
        Self { enclosure, variables }
    }

    /// The worker is to be a user of its own.
    pub(super) fn with_own_user(&mut self, is_processor: bool) {
        self.variables.push((own_user::USER.to_owned(), own_user::request(is_processor)));
    }

    /// The worker is to be in this control group.
    pub(super) fn in_group(&mut self, names: OsString) {
        self.variables.push((GROUP.to_owned(), names));
    }

    /// Executes the keeper, with its ends of the control socket and of the one by which the manager holds it.
    ///
    /// # Errors
    /// There can be no other process.
    pub(super) fn execute(&self, control: OwnedFd, life: OwnedFd) -> io::Result<Child> {
        let mut command = this_program(self.enclosure.name());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        Child::of(&command.stdin(Stdio::from(control)).stdout(Stdio::from(life)).spawn()?)
    }
}

/// The same program that runs here, even if its file was replaced since, asked to be what `role` says.
pub(super) fn this_program(role: &str) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg0("rackloom-worker").env(ASKED, role);
    command
}
