//! The other team: ranks of an MPI program, compiled by `mpicc` and started by `mpirun` as the user has them.

use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use rackloom::Datatype;

use super::team::{Meeting, Team};
use crate::failure::{Explain as _, Failure, Result};

/// The program.
const PEER: &str = include_str!("peer.c");

/// Whether Open MPI and it are here, and the types are MPI's.
pub(super) fn check(datatype: Datatype) -> Result<()> {
    if matches!(datatype, Datatype::F16 | Datatype::Bf16) {
        let what = format!("MPI has no {}", datatype.name());
        return Err(Failure::new(what).help("choose another --type, or leave --beside-mpi out"));
    }
    version().map(drop)
}

/// What `mpirun` says it is.
pub(super) fn version() -> Result<String> {
    let output = output(Command::new("mpirun").arg("--version"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let first = text.lines().next().unwrap_or_default().trim().to_owned();
    match first.contains("Open MPI") {
        true => Ok(first),
        false => Err(Failure::new(format!("mpirun is not Open MPI's: it says `{first}`")).help(INSTALL)),
    }
}

const INSTALL: &str = "install Open MPI, with its compiler: openmpi-bin and libopenmpi-dev of Debian";

fn output(command: &mut Command) -> Result<Output> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).output().map_err(|error| {
        let failure = Failure::of(&error).during(format!("cannot run {name}"));
        if error.kind() == ErrorKind::NotFound { failure.help(INSTALL) } else { failure }
    })
}

/// Builds the program in this folder, and starts it.
pub(super) fn start(folder: &Path, size: usize, bound: &[usize], limit: Duration) -> Result<Team> {
    let (source, program) = (folder.join("peer.c"), folder.join("peer"));
    std::fs::write(&source, PEER).during(format!("cannot write {}", source.display()))?;
    let compiled = output(Command::new("mpicc").args(["-std=gnu11", "-O2", "-o"]).arg(&program).arg(&source))?;
    if !compiled.status.success() {
        let why = String::from_utf8_lossy(&compiled.stderr).trim().to_owned();
        return Err(Failure::new(why).during("mpicc does not compile the bench's program"));
    }
    let meeting = Meeting::new(folder.join("theirs"))?;
    let mut command = Command::new("mpirun");
    // Binding is for whoever binds our ranks, too.
    command.args(["-n", &size.to_string(), "--bind-to", "none"]);
    if size > std::thread::available_parallelism().map_or(1, usize::from) {
        // It would not start them otherwise. It would yield by itself if it counted processors as this process does.
        command.args(["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]);
    }
    if rustix::process::geteuid().is_root() {
        // It asks the superuser whether a program is meant to have all rights. This one is the bench's own.
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    }
    // With our own library before it, it would not be Open MPI that is measured.
    command.env_remove("LD_PRELOAD");
    let mpirun = command.arg(&program).arg(meeting.path()).stdin(Stdio::null()).stdout(Stdio::null()).spawn();
    meeting.gather("Open MPI", vec![mpirun.during("cannot start mpirun")?], size, bound, limit)
}
