//! The shell of a reader of the documentation: in an empty folder, with `rackloom` and a Python with NumPy on its path.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::page::{Step, is_as_shown};

/// A shell that runs one command after another. Dropping it ends all that it started.
pub(crate) struct Shell {
    dir: tempfile::TempDir,
    bash: Child,
}

/// Time limit of one command.
const PATIENCE: Duration = Duration::from_secs(240);

impl Shell {
    /// A shell whose `RACKLOOM_ROOT` is the repository at `root`.
    pub(crate) fn start(root: &Path) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file =
            |name: &str| -> File { OpenOptions::new().create(true).append(true).open(dir.path().join(name)).unwrap() };
        file("status");
        let (out, err) = (file("out"), file("err"));
        let home = dir.path().join("home");
        fs::create_dir(&home).unwrap();
        let rackloom = Path::new(env!("CARGO_BIN_EXE_rackloom")).parent().unwrap().to_owned();
        let mut path = vec![rackloom, python(root)];
        path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
        let bash = Command::new("bash")
            .args(["--noprofile", "--norc"])
            .current_dir(&home)
            .env("HOME", &home)
            .env_remove("XDG_STATE_HOME")
            .env("PATH", std::env::join_paths(path).unwrap())
            .env("RACKLOOM_ROOT", root)
            .env("RACKLOOM_RUN", dir.path().join("run"))
            .env_remove("RACKLOOM_NET")
            .stdin(Stdio::piped())
            .stdout(out)
            .stderr(err)
            .process_group(0)
            .spawn()
            .expect("bash is installed");
        Self { dir, bash }
    }

    /// Runs a command; the error says how it differs from the page.
    pub(crate) fn run(&mut self, step: &Step) -> Result<(), String> {
        let (from, errors) = (self.read("out").len(), self.read("err").len());
        let before = self.read("status").lines().count();
        let status = self.dir.path().join("status");
        let input = self.bash.stdin.as_mut().expect("it is piped");
        writeln!(input, "{{ {}\n}} </dev/null; echo $? >>{}", step.command, status.display()).unwrap();
        let until = Instant::now() + PATIENCE;
        let code = loop {
            if let Some(line) = self.read("status").lines().nth(before) {
                break line.parse::<i32>().expect("a number");
            }
            self.wait(until).map_err(|()| self.report("it does not end", step, from, errors))?;
        };
        if code != step.exit {
            let what = format!("it ended with {code}, not with {}", step.exit);
            return Err(self.report(&what, step, from, errors));
        }
        // What runs in the background prints when it is ready.
        loop {
            let out = self.read("out");
            let printed = &out[from..];
            // The end of its last line may be yet to come, and would be the next command's.
            let is_whole = !step.is_background() || printed.is_empty() || printed.ends_with('\n');
            if is_whole && is_as_shown(&step.shown, &printed.lines().collect::<Vec<_>>()) {
                return Ok(());
            }
            let waits = step.is_background() && self.wait(until).is_ok();
            if !waits {
                return Err(self.report("it prints something else", step, from, errors));
            }
        }
    }

    fn report(&self, what: &str, step: &Step, from: usize, errors: usize) -> String {
        let (out, err) = (self.read("out"), self.read("err"));
        format!("{what}\nshown:\n{}\nprinted:\n{}\nerrors:\n{}", step.shown.join("\n"), &out[from..], &err[errors..])
    }

    /// Waits a short while; an error when time is up.
    fn wait(&self, until: Instant) -> Result<(), ()> {
        std::thread::sleep(Duration::from_millis(10));
        if Instant::now() < until { Ok(()) } else { Err(()) }
    }

    fn read(&self, name: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.dir.path().join(name)).unwrap()).into_owned()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let group = rustix::process::Pid::from_child(&self.bash);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.bash.wait();
    }
}

/// The folder of a `python3` that has NumPy: of `RACKLOOM_PYTHON`, or of the environment from `make setup`.
fn python(root: &Path) -> PathBuf {
    let python = std::env::var_os("RACKLOOM_PYTHON").map_or_else(|| root.join(".venv/bin/python3"), PathBuf::from);
    let works = Command::new(&python).args(["-c", "import numpy"]).output().is_ok_and(|o| o.status.success());
    assert!(
        works && python.ends_with("python3"),
        "{} is not a python3 with NumPy; run `make setup`, or name one in RACKLOOM_PYTHON",
        python.display()
    );
    python.parent().unwrap().to_owned()
}
