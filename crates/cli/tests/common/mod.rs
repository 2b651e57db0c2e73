//! Real `rackloom` processes on a private segment.
#![allow(dead_code, missing_docs, unreachable_pub)] // Each test file uses a part of this.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// With time for cards that answer late: gateware without a processor takes seconds. It costs nothing where all answer.
pub fn patient<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [args, &["--discover", "10s"]].concat()
}

/// A directory for sockets and files, and the rack that runs in it.
pub struct Rack {
    pub dir: tempfile::TempDir,
    up: Option<Child>,
}

impl Rack {
    /// A segment without a rack.
    pub fn none() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), up: None }
    }

    /// A rack started with these arguments; its cards are up when this returns.
    pub fn up(args: &[&str]) -> Self {
        let mut rack = Self::none();
        let mut command = rack.command(&["up"]);
        let mut child = command.args(args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("up on virtual:default"), "{line:?}");
        rack.up = Some(child);
        rack
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rackloom"));
        command.args(args).current_dir(self.dir.path()).env("RACKLOOM_RUN", self.dir.path().join("run"));
        command.env("XDG_STATE_HOME", self.dir.path().join("state"));
        command.env_remove("RACKLOOM_NET").stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> Finished {
        Finished::of(self.command(args).output().unwrap())
    }

    /// Runs a command that must succeed, and parses its JSON.
    pub fn json(&self, args: &[&str]) -> Value {
        let done = self.run(&[args, &["--json"]].concat());
        assert_eq!(done.code, 0, "{args:?}: {}", done.stderr);
        parse(&done.stdout)
    }

    /// Runs a script with NumPy in the rack's directory; returns what it prints.
    pub fn python(&self, script: &str) -> String {
        let venv = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.venv/bin/python3");
        let python = std::env::var("RACKLOOM_PYTHON").unwrap_or_else(|_| venv.to_owned());
        let out = Command::new(&python).args(["-c", script]).current_dir(self.dir.path()).output();
        let out =
            out.unwrap_or_else(|e| panic!("{python}: {e}; `make setup` installs it, RACKLOOM_PYTHON names another"));
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    }

    /// The names of the cards that answer.
    pub fn names(&self) -> Vec<String> {
        strings(&self.json(&["ls"])["cards"], "name")
    }

    /// Waits until some card is in this state.
    pub fn wait_for_state(&self, state: &str) {
        wait_until(&format!("a card to be {state}"), || {
            strings(&self.json(&["ls"])["cards"], "state").iter().any(|s| s == state)
        });
    }

    /// Ends the rack as Ctrl-C does; its exit code.
    pub fn interrupt(&mut self) -> Option<i32> {
        let mut up = self.up.take().unwrap();
        interrupt(&up);
        up.wait().unwrap().code()
    }
}

impl Drop for Rack {
    fn drop(&mut self) {
        if let Some(up) = &mut self.up {
            let _ = up.kill();
            let _ = up.wait();
        }
    }
}

/// A rack of two cards with keys, and the folder with its files of keys: `rack`, `cards`, `host` of host 1, `later` of
/// its next generation, `one` of host 1 for card 0 alone, and `other` of host 2.
pub fn keyed() -> (Rack, tempfile::TempDir) {
    let shape = ["--cards", "2", "--seed", "5"];
    let cards = strings(&Rack::up(&shape).json(&["ls"])["cards"], "mac");
    assert_eq!(cards.len(), 2);
    let files = tempfile::tempdir().unwrap();
    let plain = Rack::none();
    let path = |name: &str| files.path().join(name).to_str().unwrap().to_owned();
    let key = |args: &[&str], cards: &[String]| {
        let mut command = plain.command(&[&["key"], args].concat());
        assert!(command.args(cards).status().unwrap().success(), "{args:?}");
    };
    key(&["new", "-o", &path("rack")], &[]);
    key(&["cards", "--rack", &path("rack"), "--hosts", "1,2", "-o", &path("cards")], &cards);
    key(&["host", "--rack", &path("rack"), "--host", "1", "-o", &path("host")], &cards);
    key(&["host", "--rack", &path("rack"), "--host", "2", "-o", &path("other")], &cards);
    key(&["host", "--rack", &path("rack"), "--host", "1.1", "-o", &path("later")], &cards);
    key(&["host", "--rack", &path("rack"), "--host", "1", "-o", &path("one")], &cards[..1]);
    (Rack::up(&[&shape[..], &["--keys", &path("cards")]].concat()), files)
}

/// The exit code and output of a command.
#[derive(Debug)]
pub struct Finished {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    pub fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

pub fn interrupt(child: &Child) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
}

pub fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

pub fn strings(array: &Value, field: &str) -> Vec<String> {
    array.as_array().unwrap().iter().map(|c| c[field].as_str().unwrap_or_default().to_owned()).collect()
}

pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < until, "waited 30 s for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The lines of a child's stderr, when it has ended.
pub fn lines(stderr: ChildStderr) -> Vec<String> {
    BufReader::new(stderr).lines().map(Result::unwrap).collect()
}

/// A float32 matrix, in a file as NumPy writes it and in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    pub rows: usize,
    pub columns: usize,
    pub cells: Vec<f32>,
}

impl Matrix {
    /// Small whole numbers, whose sums and products are exact.
    pub fn random(rows: usize, columns: usize, seed: u64) -> Self {
        let mut rng = rackloom_node::Rng::new(seed);
        Self { rows, columns, cells: (0..rows * columns).map(|_| rng.below(9) as f32 - 4.0).collect() }
    }

    pub fn at(&self, row: usize, column: usize) -> f32 {
        self.cells[row * self.columns + column]
    }

    pub fn save(&self, path: &Path) {
        let shape = format!("({}, {})", self.rows, self.columns);
        save_npy(path, "<f4", &shape, self.cells.iter().flat_map(|v| v.to_le_bytes()));
    }

    /// Reads a file of this shape.
    pub fn load(path: &Path, rows: usize, columns: usize) -> Self {
        let file = std::fs::read(path).unwrap();
        let length = usize::from(u16::from_le_bytes([file[8], file[9]]));
        let header = std::str::from_utf8(&file[10..10 + length]).unwrap();
        assert!(header.contains(&format!("'shape': ({rows}, {columns})")), "{header}");
        let cells = file[10 + length..].chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
        Self { rows, columns, cells }
    }
}

/// Work of a stated length: 40 tiles of 100 ms each on a card that keeps to its clock.
pub struct Burn(Vec<u64>);

impl Burn {
    /// The command that does it.
    pub const RUN: [&str; 8] = ["run", "burn", "work.npy", "-o", "out.npy", "--tile", "i=1", "--json"];

    /// Writes `work.npy`.
    pub fn save(rack: &Rack) -> Self {
        // 25 million cycles of 250 MHz in the low 40 bits, the tile's number above them.
        let work: Vec<u64> = (0..40).map(|tile| tile << 40 | 25_000_000).collect();
        let bytes = work.iter().flat_map(|v| v.to_le_bytes());
        save_npy(&rack.path("work.npy"), "<u8", &format!("({},)", work.len()), bytes);
        Self(work)
    }

    /// Checks `out.npy`: 64 rounds of SplitMix64 of each element.
    pub fn check(&self, rack: &Rack) {
        let mut out = std::fs::read(rack.path("out.npy")).unwrap();
        let out = out.split_off(out.len() - self.0.len() * 8);
        for (work, out) in self.0.iter().zip(out.chunks_exact(8)) {
            let right = (0..64).fold(*work, |z, _| rackloom_node::Rng::new(z).next_u64());
            assert_eq!(u64::from_le_bytes(out.try_into().unwrap()), right);
        }
    }
}

pub fn save_npy(path: &Path, dtype: &str, shape: &str, bytes: impl Iterator<Item = u8>) {
    let mut header = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend_from_slice(&(header.len() as u16).to_le_bytes());
    file.extend_from_slice(header.as_bytes());
    file.extend(bytes);
    std::fs::write(path, file).unwrap();
}

/// Checks a product without computing it: C x = A (B x) for a few random x (Freivalds).
pub fn is_product(a: &Matrix, b: &Matrix, c: &Matrix) -> bool {
    let times = |m: &Matrix, x: &[f64]| -> Vec<f64> {
        (0..m.rows).map(|i| (0..m.columns).map(|j| f64::from(m.at(i, j)) * x[j]).sum()).collect()
    };
    (1..=4).all(|seed| {
        let mut rng = rackloom_node::Rng::new(seed);
        let x: Vec<f64> = (0..b.columns).map(|_| rng.below(1000) as f64).collect();
        times(c, &x) == times(a, &times(b, &x))
    })
}
