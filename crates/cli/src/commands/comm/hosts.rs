//! `rackloom comm run --hosts`: processes of a program on this machine, as ranks of one start. `comm bench` starts its
//! own in the same way.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rackloom::{HostSecret, HostStart};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::args::CommRun;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Explain as _, Failure, Result};

/// The folder in which ranks meet, this user's alone; removed when dropped.
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    pub(super) fn new() -> Result<Self> {
        let name = format!("rackloom-hosts-{}-{:016x}", std::process::id(), rackloom_live::random_u64());
        let path = std::env::temp_dir().join(name);
        // Whoever made one of this name before has not made it for us.
        DirBuilder::new().mode(0o700).create(&path).during(format!("cannot make {}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Ranks that were started; who has not ended when it is dropped is ended.
struct Ranks(Vec<Child>);

impl Drop for Ranks {
    fn drop(&mut self) {
        for child in &mut self.0 {
            if !matches!(child.try_wait(), Ok(Some(_))) {
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }
}

pub(crate) fn run(cx: &Context, size: usize, args: &CommRun) -> Result<Exit> {
    let folder = Folder::new()?;
    let secret = HostSecret::random().during("cannot make a secret")?;
    let processors = if args.no_bind { Vec::new() } else { processors(size) };
    let mut ranks = Ranks(Vec::new());
    for rank in 0..size {
        let start = HostStart::new(rank, size, folder.0.join("meet"), secret.clone());
        let child = start_one(&args.program, &start)?;
        // A processor that has gone since is no reason not to run.
        if let Some(processor) = processors.get(rank) {
            let mut one = CpuSet::new();
            one.set(*processor);
            let _ = sched_setaffinity(rustix::process::Pid::from_raw(child.id() as i32), &one);
        }
        ranks.0.push(child);
    }
    let mut failed = Vec::new();
    for (rank, child) in ranks.0.iter_mut().enumerate() {
        let end = child.wait().during(format!("cannot wait for rank {rank}"))?;
        if !end.success() {
            failed.push(format!("rank {rank}: {end}"));
        }
    }
    match failed.is_empty() {
        true => Ok(Exit::Ok),
        false => {
            cx.ui.warn(format!("{} of {size} ranks have failed: {}", failed.len(), failed.join(", ")));
            Ok(Exit::Negative)
        }
    }
}

fn start_one(program: &[std::ffi::OsString], start: &HostStart) -> Result<Child> {
    let [name, arguments @ ..] = program else { return Err(Failure::new("there is no program to start")) };
    let mut command = Command::new(name);
    command.args(arguments).envs(start.to_env());
    // One of them reads what is typed.
    if start.rank != 0 {
        command.stdin(Stdio::null());
    }
    command.spawn().during(format!("cannot start {}", Path::new(name).display()))
}

/// This program again as a rank, with its own arguments and this variable.
pub(super) fn start_again(start: &HostStart, (name, value): (&str, &Path)) -> Result<Child> {
    let this = std::env::current_exe().during("cannot find this program")?;
    let mut command = Command::new(this);
    command.args(std::env::args_os().skip(1)).envs(start.to_env()).env(name, value);
    command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().during("cannot start this program again")
}

/// A processor for each rank; none if there are fewer than ranks.
pub(super) fn processors(size: usize) -> Vec<usize> {
    let Ok(allowed) = sched_getaffinity(None) else { return Vec::new() };
    let all: Vec<_> = (0..CpuSet::MAX_CPU).filter(|processor| allowed.is_set(*processor)).collect();
    if all.len() < size { Vec::new() } else { all }
}
