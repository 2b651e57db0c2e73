//! The `rackloom` command.
//!
//! Each subcommand is a module of [`commands`]. [`args`] is the one definition of the command line, [`ui`] the only
//! way to the terminal; [`failure`] describes errors, [`exit`] the exit codes.
#![forbid(unsafe_code)]

mod args;
mod bench;
mod cards;
mod commands;
mod context;
mod exit;
mod failure;
mod forged;
mod forged_report;
mod format;
mod hold;
mod holder;
mod images;
mod interrupt;
mod keyring;
mod keys;
mod npy;
mod opencl_loader;
mod phases;
mod rack;
mod signers;
mod top;
mod ui;
mod whole;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::context::Context;
use crate::exit::Exit;
use crate::ui::Ui;

fn main() -> ExitCode {
    rackloom_manager::work_if_asked(); // `rackloom manager` starts itself again for its clients.
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let cli = match args::parse(&arguments) {
        Ok(cli) => cli,
        Err(error) => return stop(&error, args::is_json(&arguments)),
    };
    let ui = Ui::new(&cli.global);
    interrupt::listen();
    let context = Context::new(ui, cli.global);
    match commands::run(&context, cli.command) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            let failure = context.explain(failure);
            ui.error(&failure);
            failure.exit.into()
        }
    }
}

/// Prints help, the version, or what is wrong with the arguments.
fn stop(error: &clap::Error, is_json: bool) -> ExitCode {
    let _ = error.print(); // It fails only if stderr or stdout is closed.
    if !error.use_stderr() {
        return Exit::Ok.into();
    }
    let failure = args::usage_failure(error);
    if is_json {
        Ui::JSON.json(&failure.report());
    }
    failure.exit.into()
}
