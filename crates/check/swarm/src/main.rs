//! `rackloom-swarm`: seeds, many or one.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use clap::Parser;
use rackloom_swarm::{Plan, Summary, run, run_job};

/// Lives through seeded racks full of faults and checks every launch, every byte and every load.
#[derive(Debug, Parser)]
#[command(
    name = "rackloom-swarm",
    version,
    after_help = "A failing seed prints itself and its parameters, and leaves a pcap."
)]
struct Args {
    /// Number of seeds to run.
    #[arg(long, default_value_t = 1000)]
    seeds: u64,
    /// First seed.
    #[arg(long, default_value_t = 1, value_parser = number)]
    from: u64,
    /// Run this seed only, twice, and compare the hashes.
    #[arg(long, value_parser = number, conflicts_with_all = ["seeds", "from"])]
    seed: Option<u64>,
    /// Threads.
    #[arg(long, default_value_t = thread::available_parallelism().map_or(1, |n| n.get()))]
    jobs: usize,
    /// Folder for the traces of failing seeds.
    #[arg(long, default_value = "out")]
    out: PathBuf,
}

fn number(text: &str) -> Result<u64, std::num::ParseIntError> {
    text.strip_prefix("0x").map_or_else(|| text.parse(), |hex| u64::from_str_radix(hex, 16))
}

fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    if let Some(seed) = args.seed {
        return one(&args, seed);
    }
    let (next, started) = (AtomicU64::new(args.from), Instant::now());
    let end = args.from + args.seeds;
    let failed = Mutex::new(Vec::new());
    let total = Mutex::new(Summary::default());
    let bar = indicatif::ProgressBar::new(args.seeds)
        .with_style(indicatif::ProgressStyle::with_template("{bar:40} {pos}/{len} seeds  {per_sec}  {eta} left")?);
    // A failing seed panics where an assertion stands; its message is kept and told below.
    std::panic::set_hook(Box::new(|_| {}));
    thread::scope(|scope| {
        for _ in 0..args.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        return;
                    }
                    match run(&Plan::draw(seed), None, None) {
                        Ok(s) => {
                            let mut total = total.lock().expect("no panic inside");
                            total.frames += s.frames;
                            total.done += s.done;
                            total.failed += s.failed;
                            total.kernels += s.kernels;
                            total.loads += s.loads;
                        }
                        Err(failure) => failed.lock().expect("no panic inside").push(failure),
                    }
                    // A job moves more bytes than a script: one seed in eight.
                    if seed % 8 == 0
                        && let Err(failure) = run_job(&Plan::draw(seed))
                    {
                        failed.lock().expect("no panic inside").push(failure);
                    }
                    bar.inc(1);
                }
            });
        }
    });
    bar.finish_and_clear();
    let (failed, total) = (failed.into_inner()?, total.into_inner()?);
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{} seeds in {seconds:.1} s: {} frames, {} operations done, {} failed with an error, {} kernels, {} loads",
        args.seeds, total.frames, total.done, total.failed, total.kernels, total.loads
    );
    for failure in &failed {
        println!("FAILED {failure}");
    }
    if let Some(first) = failed.first() {
        let _ = one(&args, first.plan.seed)?;
    }
    println!("{} passed, {} failed", args.seeds - failed.len() as u64, failed.len());
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn one(args: &Args, seed: u64) -> anyhow::Result<ExitCode> {
    let plan = Plan::draw(seed);
    std::fs::create_dir_all(&args.out)?;
    let path = args.out.join(format!("seed-{seed:#x}.pcap"));
    println!("{plan}");
    let first = run(&plan, None, Some(&path));
    println!("trace: {}", path.display());
    let summary = match first {
        Ok(summary) => summary,
        Err(failure) => {
            println!("FAILED {}", failure.message);
            return Ok(ExitCode::FAILURE);
        }
    };
    println!("{summary:?}");
    match run_job(&plan) {
        Ok(job) => println!("as a job: {job:?}"),
        Err(failure) => {
            println!("FAILED as a job: {}", failure.message);
            return Ok(ExitCode::FAILURE);
        }
    }
    match run(&plan, None, None) {
        Ok(again) if again == summary => {
            println!("the same seed gave the same hash {:#018x}", summary.hash);
            Ok(ExitCode::SUCCESS)
        }
        other => {
            println!("FAILED the same seed gave another run: {other:?}");
            Ok(ExitCode::FAILURE)
        }
    }
}
