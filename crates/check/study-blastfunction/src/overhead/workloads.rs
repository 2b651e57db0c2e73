//! Whole programs that do not know Rackloom, started with one device or the other.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Bench;
use crate::error::{BenchError, Result};
use crate::sample::{Stat, in_turn};
use crate::site::{WAYS, Way};

/// A program and its size; how often it computes at most, and for how long.
struct Workload {
    program: &'static str,
    size: &'static str,
    most: usize,
    ms: u64,
}

const fn workload(program: &'static str, size: &'static str, most: usize, ms: u64) -> Workload {
    Workload { program, size, most, ms }
}

const ALL: [Workload; 14] = [
    workload("sobel", "10x10", 2000, 500),
    workload("sobel", "100x100", 2000, 500),
    workload("sobel", "320x240", 1000, 500),
    workload("sobel", "640x480", 1000, 700),
    workload("sobel", "1280x720", 400, 1000),
    workload("sobel", "1920x1080", 400, 3000),
    workload("matmul", "16", 2000, 500),
    workload("matmul", "64", 2000, 500),
    workload("matmul", "128", 1000, 500),
    workload("matmul", "256", 400, 700),
    workload("matmul", "512", 200, 1000),
    workload("matmul", "1024", 60, 2000),
    workload("matmul", "2048", 60, 16_000),
    workload("alexnet", "1", 60, 5000),
];

/// Small ones, for a check that all runs.
const QUICK: [Workload; 3] =
    [workload("sobel", "100x100", 3, 0), workload("matmul", "64", 3, 0), workload("alexnet", "8", 3, 0)];

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
    #[serde(default)]
    write_us: f64,
    #[serde(default)]
    read_us: f64,
    correct: Option<bool>,
}

impl Bench<'_> {
    pub(super) fn workloads(&mut self, folder: &Path) -> Result<()> {
        for workload in all(self.options.quick) {
            let mut programs = Vec::new();
            for way in WAYS {
                programs.push(Program::start(self, folder, workload, way)?);
            }
            let effort = self.effort(15, workload.most, workload.ms);
            let mut transfers: [Vec<f64>; 3] = Default::default();
            let turns = in_turn(effort, |way| {
                let iteration = programs[way].compute()?;
                transfers[way].push(iteration.write_us + iteration.read_us);
                Ok(iteration.total_us)
            })?;
            self.row(workload.program, workload.size.to_owned(), None, turns);
            let row = self.rows.last_mut().expect("one was added");
            row.transfers_us = Some(transfers.map(|times| Stat::of(times).median_us));
            programs.into_iter().try_for_each(|program| program.end().map(|_| ()))?;
        }
        Ok(())
    }

    /// Counts copies of Sobel's bulk data over shared memory.
    pub(super) fn copies(&self, folder: &Path) -> Result<Copies> {
        let workload = workload("sobel", "1920x1080", 10, 0);
        let mut program = Program::start(self, folder, &workload, Way::SharedMemory)?;
        for _ in 1..workload.most {
            program.compute()?;
        }
        let said = program.end()?;
        let number = |before: &str| {
            let text = said.split(before).next()?.rsplit(' ').next()?;
            text.parse::<u64>().ok()
        };
        match (number(" bytes bulk"), number(" bytes copied")) {
            (Some(bytes), Some(copied)) => Ok(Copies { bytes, copied, copies: copied as f64 / bytes.max(1) as f64 }),
            _ => Err(BenchError::Site(format!("the library does not say what it moved: {said}"))),
        }
    }
}

/// A workload's process, which computes once for each line that it is given.
struct Program {
    what: String,
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Program {
    /// Starts one, and has it compute once: that compiles the kernel, and is checked.
    fn start(bench: &Bench<'_>, folder: &Path, workload: &Workload, way: Way) -> Result<Self> {
        let path = folder.join(workload.program);
        let option = if workload.program == "alexnet" { "--scale" } else { "--size" };
        let mut child = Command::new(&path)
            .args([option, workload.size, "--serve", "--check", "first"])
            .args(["--device", &bench.ways.numbers[way as usize].to_string()])
            .env("RACKLOOM_LOG", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(BenchError::io(format!("cannot start {}", path.display())))?;
        let what = format!("{} {} ({way:?})", workload.program, workload.size);
        let requests = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut this = Self { what, child, requests, answers };
        this.answer()?; // That it is ready.
        this.compute()?;
        Ok(this)
    }

    /// Has it compute; how long that took.
    fn compute(&mut self) -> Result<Iteration> {
        let requests = self.requests.as_mut().expect("it is open until the end");
        // If it is gone, the missing answer tells more.
        let _ = requests.write_all(b"\n");
        let line = self.answer()?;
        let iteration: Iteration = serde_json::from_str(&line)
            .map_err(|why| BenchError::Site(format!("{} prints invalid JSON: {why}", self.what)))?;
        if iteration.correct == Some(false) { Err(BenchError::Wrong(self.what.clone())) } else { Ok(iteration) }
    }

    fn answer(&mut self) -> Result<String> {
        let mut line = String::new();
        let read = self.answers.read_line(&mut line).map_err(BenchError::io("cannot read what a workload says"))?;
        if read > 0 {
            return Ok(line);
        }
        let mut said = String::new();
        let _ = self.child.stderr.take().map(|mut errors| errors.read_to_string(&mut said));
        Err(BenchError::Site(format!("{} has ended: {}", self.what, said.trim())))
    }

    /// Lets it end; what it said on stderr.
    fn end(mut self) -> Result<String> {
        drop(self.requests.take());
        let mut said = String::new();
        let errors = self.child.stderr.take().map(|mut errors| errors.read_to_string(&mut said));
        errors.transpose().map_err(BenchError::io("cannot read what a workload says"))?;
        let status = self.child.wait().map_err(BenchError::io("cannot wait for a workload"))?;
        if status.success() {
            Ok(said)
        } else {
            Err(BenchError::Site(format!("{} ends with {status}: {}", self.what, said.trim())))
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
