//! A function as a process of its own: a program of `workloads/`, which knows OpenCL and not Rackloom.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::Deserialize;

use super::load::Function;
use crate::error::{BenchError, Result};

/// Where a program finds its device.
#[derive(Debug, Clone)]
pub(super) struct Reach<'a> {
    /// The OpenCL library that the loader is to load, and no other.
    pub(super) library: &'a Path,
    /// The managers' endpoints, if it is Rackloom's.
    pub(super) managers: Option<String>,
    /// The number of the device among those that the loader then names.
    pub(super) device: usize,
}

impl<'a> Reach<'a> {
    /// The board behind a manager, by Rackloom's library.
    pub(super) const fn manager(library: &'a Path, endpoint: String) -> Self {
        Self { library, managers: Some(endpoint), device: 0 }
    }
}

/// A program that answers requests.
#[derive(Debug)]
pub(super) struct Program {
    name: String,
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    errors: PathBuf,
    line: String,
    calling: f64,
}

/// What a program answers.
#[derive(Deserialize)]
struct Answer {
    correct: Option<bool>,
    #[serde(default)]
    ready: bool,
    #[serde(default)]
    total_us: f64,
}

impl Program {
    /// Starts a program with `--serve`, and waits until it is ready. `name` is unique in the folder, which takes what
    /// the program says on standard error.
    ///
    /// # Errors
    /// It does not start, or ends before it is ready.
    pub(super) fn serve(
        name: &str,
        program: &Path,
        arguments: &[&str],
        reach: &Reach<'_>,
        folder: &Path,
    ) -> Result<Self> {
        let errors = folder.join(format!("{name}.errors"));
        let mut child = command(program, arguments, reach, &errors)?
            .arg("--serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(cannot_start(program))?;
        let requests = child.stdin.take().expect("it is piped");
        let answers = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut this =
            Self { name: name.to_owned(), child, requests, answers, errors, line: String::new(), calling: 0.0 };
        if this.answer()?.ready {
            return Ok(this);
        }
        Err(BenchError::Site(format!("unexpected output {:?} from {name} before it is ready", this.line)))
    }

    /// Seconds that it spent in OpenCL calls for requests so far, as it says.
    pub(super) const fn calling(&self) -> f64 {
        self.calling
    }

    fn answer(&mut self) -> Result<Answer> {
        self.line.clear();
        let read = self.answers.read_line(&mut self.line);
        if read.map_err(BenchError::io(format!("cannot read what {} says", self.name)))? == 0 {
            return Err(self.ended());
        }
        let what = |why| BenchError::Site(format!("invalid answer {:?} from {}: {why}", self.line, self.name));
        serde_json::from_str(&self.line).map_err(what)
    }

    fn ended(&mut self) -> BenchError {
        let _ = self.child.wait();
        let said = std::fs::read_to_string(&self.errors).unwrap_or_default();
        BenchError::Site(format!("{} has ended: {}", self.name, said.trim()))
    }
}

impl Function for Program {
    fn request(&mut self) -> Result<()> {
        if self.requests.write_all(b"\n").is_err() {
            return Err(self.ended());
        }
        let answer = self.answer()?;
        self.calling += answer.total_us / 1e6;
        match answer.correct {
            Some(false) => Err(BenchError::Wrong(self.name.clone())),
            Some(true) | None => Ok(()),
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// A program that works by itself until this is dropped.
#[derive(Debug)]
pub(super) struct Busy(Child);

impl Busy {
    /// Starts it.
    ///
    /// # Errors
    /// It does not start.
    pub(super) fn start(program: &Path, arguments: &[&str], reach: &Reach<'_>, folder: &Path) -> Result<Self> {
        let child = command(program, arguments, reach, &folder.join("busy.errors"))?
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .map_err(cannot_start(program))?;
        Ok(Self(child))
    }

    /// Whether it still works.
    pub(super) fn is_alive(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        end(&mut self.0);
    }
}

fn command(program: &Path, arguments: &[&str], reach: &Reach<'_>, errors: &Path) -> Result<Command> {
    let mut command = Command::new(program);
    let errors = File::create(errors).map_err(BenchError::io("cannot write"))?;
    command.args(arguments).args(["--device", &reach.device.to_string()]);
    command.env("OCL_ICD_VENDORS", reach.library).stderr(errors);
    command.env("RACKLOOM_MANAGERS", reach.managers.as_deref().map_or_else(|| OsStr::new(""), OsStr::new));
    Ok(command)
}

fn cannot_start(program: &Path) -> impl FnOnce(std::io::Error) -> BenchError {
    BenchError::io(format!("cannot start {} (`make -C workloads` builds it)", program.display()))
}

fn end(child: &mut Child) {
    let _ = child.kill(); // It fails only if the process has ended.
    let _ = child.wait();
}
