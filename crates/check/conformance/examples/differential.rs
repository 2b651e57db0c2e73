//! The nightly comparison of gateware and model: `differential [frames [first seed]]`, a million frames if not told
//! otherwise, on as many threads as there are cores; each seed at both widths of the datapath.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use rackloom_conformance::fuzz::{Difference, model_and_gateware};
use rackloom_verilated::Width;

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).map(|n| n.parse::<u64>().expect("a number"));
    let frames = numbers.next().unwrap_or(1_000_000);
    let next_seed = AtomicU64::new(numbers.next().unwrap_or(0));
    let (done, cycles) = (AtomicU64::new(0), AtomicU64::new(0));
    let began = Instant::now();
    let work = || -> Result<(), Difference> {
        while done.load(Ordering::Relaxed) < frames {
            let seed = next_seed.fetch_add(1, Ordering::Relaxed);
            let mut now = 0;
            for width in [Width::Bits64, Width::Bits128] {
                let mut pair = model_and_gateware(seed, width, 0);
                pair.run(FRAMES_PER_SEED)?;
                now = done.fetch_add(pair.frames(), Ordering::Relaxed) + pair.frames();
                cycles.fetch_add(pair.second().bench().card.cycles(), Ordering::Relaxed);
            }
            // For whoever waits, and to go on from there.
            eprintln!("seed {seed} agrees: {now} of {frames} frames in {:.0} s", began.elapsed().as_secs_f64());
        }
        Ok(())
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let differs = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().find_map(|worker| worker.join().expect("a panic was printed").err())
    });
    let seconds = began.elapsed().as_secs_f64();
    let rate = |n: &AtomicU64| n.load(Ordering::Relaxed) as f64 / seconds;
    println!(
        "{} frames in {seconds:.0} s: {:.0} frames/s, {:.0} cycles/s",
        done.load(Ordering::Relaxed),
        rate(&done),
        rate(&cycles)
    );
    match differs {
        None => ExitCode::SUCCESS,
        Some(difference) => {
            print!("{difference}");
            ExitCode::FAILURE
        }
    }
}

/// After so many frames a new pair begins: cards are also to be compared while they are young.
const FRAMES_PER_SEED: u64 = 2_500;
