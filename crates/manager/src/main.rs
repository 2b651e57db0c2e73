//! `rackloom-manager`: the manager as a program of its own, for machines that need nothing else of Rackloom.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser;
use rackloom_manager::Options;

/// Shares the OpenCL devices of this machine among programs.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(flatten)]
    options: Options,
}

fn main() -> anyhow::Result<()> {
    let Arguments { options } = Arguments::parse();
    let stop = Arc::new(AtomicBool::new(false));
    let (told, main) = (Arc::clone(&stop), std::thread::current());
    ctrlc::set_handler(move || {
        told.store(true, Ordering::Release);
        main.unpark();
    })?;
    options.run(&stop, |lines| lines.iter().for_each(|line| println!("{line}")))
}
