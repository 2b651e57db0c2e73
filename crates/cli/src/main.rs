//! The `rackloom` command.
//!
//! Each subcommand is a module of [`commands`]; [`args`] is the one definition of the command line, [`ui`] the one
//! way to the terminal, [`failure`] what an error looks like, [`exit`] what the exit codes mean.
#![forbid(unsafe_code)]

mod args;
mod bench;
mod cards;
mod commands;
mod context;
mod exit;
mod failure;
mod format;
mod images;
mod interrupt;
mod npy;
mod phases;
mod rack;
mod table;
mod top;
mod ui;

use std::process::ExitCode;

use clap::Parser;

use crate::args::Cli;
use crate::context::Context;
use crate::ui::Ui;

fn main() -> ExitCode {
    rackloom_manager::work_if_asked(); // `rackloom manager` starts itself again for its clients.
    // clap prints its own errors, and ends with 2 for them.
    let cli = Cli::parse();
    let ui = Ui::new(&cli.global);
    interrupt::listen();
    let context = Context { ui, global: cli.global };
    match commands::run(&context, cli.command) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            ui.error(&failure);
            failure.exit.into()
        }
    }
}
