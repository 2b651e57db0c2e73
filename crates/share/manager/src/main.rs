//! `rackloom-manager`: the manager as a program of its own, for machines that need nothing else of Rackloom.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser;
use rackloom_manager::Options;

/// Shares OpenCL devices of this machine, or Rackloom cards, among programs.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(flatten)]
    options: Options,
}

fn main() -> anyhow::Result<()> {
    rackloom_manager::work_if_asked();
    let Arguments { mut options } = Arguments::parse();
    // As for all programs that have no option for it.
    options.insecure_open = rackloom::insecure_open_by_environment();
    let stop = Arc::new(AtomicBool::new(false));
    let (stopping, main) = (Arc::clone(&stop), std::thread::current());
    ctrlc::set_handler(move || {
        stopping.store(true, Ordering::Release);
        main.unpark();
    })?;
    let service = options.start()?;
    service.endpoints().for_each(|endpoint| println!("listening on {endpoint}"));
    service.boards().iter().enumerate().for_each(|(number, board)| println!("board {number}: {board}"));
    service.devices().iter().enumerate().for_each(|(number, id)| println!("board {number} is device {id}"));
    if let Some(metrics) = service.metrics() {
        println!("metrics at http://{metrics}/metrics");
    }
    while !stop.load(Ordering::Acquire) {
        std::thread::park();
    }
    Ok(())
}
