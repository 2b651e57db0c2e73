//! Whole programs that do not know Rackloom, started with one device or the other.

use std::path::Path;
use std::process::{Command, Stdio};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Bench;
use crate::error::{BenchError, Result};
use crate::sample::Turns;
use crate::site::{WAYS, Way};

/// A program and its size; runs of it in each way, iterations in each run.
struct Workload {
    program: &'static str,
    size: &'static str,
    runs: usize,
    iterations: usize,
}

const fn workload(program: &'static str, size: &'static str, runs: usize, iterations: usize) -> Workload {
    Workload { program, size, runs, iterations }
}

const ALL: [Workload; 14] = [
    workload("sobel", "10x10", 3, 300),
    workload("sobel", "100x100", 3, 200),
    workload("sobel", "320x240", 3, 100),
    workload("sobel", "640x480", 3, 60),
    workload("sobel", "1280x720", 5, 30),
    workload("sobel", "1920x1080", 9, 20),
    workload("matmul", "16", 3, 300),
    workload("matmul", "64", 3, 200),
    workload("matmul", "128", 3, 100),
    workload("matmul", "256", 3, 50),
    workload("matmul", "512", 3, 20),
    workload("matmul", "1024", 5, 6),
    workload("matmul", "2048", 15, 3),
    workload("alexnet", "1", 7, 4),
];

/// Small ones, for a check that all runs.
const QUICK: [Workload; 3] =
    [workload("sobel", "100x100", 1, 3), workload("matmul", "64", 1, 3), workload("alexnet", "8", 1, 2)];

const fn all(quick: bool) -> &'static [Workload] {
    if quick { &QUICK } else { &ALL }
}

/// How many rows these are.
pub(super) const fn rows(quick: bool) -> usize {
    all(quick).len()
}

/// How often the library copied the bytes that it moved beside messages.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Copies {
    /// Bytes moved.
    pub bytes: u64,
    /// Bytes that were copied between the program's memory and memory that both see.
    pub copied: u64,
    /// Copies of each byte.
    pub copies: f64,
}

#[derive(Deserialize)]
struct Iteration {
    total_us: f64,
    correct: Option<bool>,
}

impl Bench<'_> {
    pub(super) fn workloads(&mut self, folder: &Path) -> Result<()> {
        for workload in all(self.options.quick) {
            let mut rounds = Vec::new();
            for run in 0..workload.runs {
                let mut times: [Vec<f64>; 3] = Default::default();
                for i in 0..WAYS.len() {
                    // Another one begins each time.
                    let way = WAYS[(run + i) % WAYS.len()];
                    // The first iteration compiles the kernel, and is checked.
                    let lines = self.start(folder, workload, way, workload.iterations + 1)?.0;
                    times[way as usize].extend(lines.iter().skip(1).map(|line| line.total_us));
                }
                rounds.push(times);
            }
            self.row(workload.program, workload.size.to_owned(), None, Turns::of(rounds));
        }
        Ok(())
    }

    /// Counts copies of Sobel's bulk data over shared memory.
    pub(super) fn copies(&self, folder: &Path) -> Result<Copies> {
        let workload = workload("sobel", "1920x1080", 1, 10);
        let (_, said) = self.start(folder, &workload, Way::SharedMemory, workload.iterations)?;
        let number = |before: &str| {
            let text = said.split(before).next()?.rsplit(' ').next()?;
            text.parse::<u64>().ok()
        };
        match (number(" bytes bulk"), number(" bytes copied")) {
            (Some(bytes), Some(copied)) => Ok(Copies { bytes, copied, copies: copied as f64 / bytes.max(1) as f64 }),
            _ => Err(BenchError::Site(format!("the library does not say what it moved: {said}"))),
        }
    }

    fn start(&self, folder: &Path, workload: &Workload, way: Way, times: usize) -> Result<(Vec<Iteration>, String)> {
        let program = folder.join(workload.program);
        let option = if workload.program == "alexnet" { "--scale" } else { "--size" };
        let number = self.ways.numbers[way as usize].to_string();
        let output = Command::new(&program)
            .args([option, workload.size, "--device", &number, "--iterations", &times.to_string()])
            .args(["--json", "--check", "first"])
            .env("RACKLOOM_LOG", "1")
            .stdin(Stdio::null())
            .output()
            .map_err(BenchError::io(format!("cannot start {}", program.display())))?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let what = || format!("{} {} ({way:?})", workload.program, workload.size);
        if !output.status.success() {
            return Err(BenchError::Site(format!("{} ends with {}: {}", what(), output.status, said.trim())));
        }
        let lines: Vec<Iteration> = String::from_utf8_lossy(&output.stdout)
            .lines()
            .map(serde_json::from_str)
            .collect::<std::result::Result<_, _>>()
            .map_err(|why| BenchError::Site(format!("{} prints what is no JSON: {why}", what())))?;
        if lines.len() != times || lines.iter().any(|line| line.correct == Some(false)) {
            return Err(BenchError::Wrong(what()));
        }
        Ok((lines, said))
    }
}
