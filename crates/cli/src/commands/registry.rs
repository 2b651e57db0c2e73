//! `rackloom registry`: runs the accelerators registry, a program of its own.

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};

const PROGRAM: &str = "rackloom-registry";

/// Becomes the registry, or the client of one.
pub(super) fn run(_: &Context, arguments: &[String]) -> Result<Exit> {
    // Beside this program, where it is built and installed; else wherever PATH leads.
    let beside = std::env::current_exe().ok().map(|path| path.with_file_name(PROGRAM)).filter(|path| path.exists());
    let mut command = Command::new(beside.unwrap_or_else(|| PathBuf::from(PROGRAM)));
    if arguments.first().is_none_or(|first| first.starts_with('-') && !matches!(&**first, "-h" | "--help")) {
        command.arg("serve");
    }
    let why = command.args(arguments).exec();
    Err(Failure::of(&why)
        .during(format!("cannot run {PROGRAM}"))
        .help("`make build` builds it beside this program; a copy in a folder of PATH works, too"))
}
