//! A registry and managers as processes: the programs that are shipped, killed and started again.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::go::{racing_registry, registry_program};

/// Longest that anything may take; a test that needs it has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process; killed when dropped.
pub struct Process {
    child: Child,
    /// What it has written to stderr.
    words: Arc<Mutex<String>>,
}

impl Process {
    pub fn spawn(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(child.stderr.take().unwrap());
        let words = Arc::new(Mutex::new(String::new()));
        let keep = Arc::clone(&words);
        std::thread::spawn(move || {
            for line in said.lines().map_while(Result::ok) {
                *keep.lock().unwrap() += &(line + "\n");
            }
        });
        Self { child, words }
    }

    /// As nothing can prepare for.
    pub fn kill(&mut self) {
        assert_eq!(self.child.try_wait().unwrap(), None, "it has ended by itself: {}", self.words());
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Whether it has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Stops it, or lets it go on.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.child.id() as i32).unwrap(), signal).unwrap();
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Threads of it that have this name.
    pub fn threads(&self, name: &str) -> usize {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let comm =
            |task: std::io::Result<std::fs::DirEntry>| std::fs::read_to_string(task.ok()?.path().join("comm")).ok();
        tasks.filter_map(comm).filter(|comm| comm.trim() == name).count()
    }

    /// All its threads.
    pub fn threads_in_all(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap().count()
    }

    /// Files that it has open.
    pub fn files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }

    /// Bytes of memory that it occupies.
    pub fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it lives");
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
    }

    /// Processes that it has started and that have not ended.
    pub fn children(&self) -> Vec<u32> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let children =
            |task: std::io::Result<std::fs::DirEntry>| std::fs::read_to_string(task.ok()?.path().join("children")).ok();
        let children: String = tasks.filter_map(children).collect();
        children.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
    }

    pub fn words(&self) -> String {
        self.words.lock().unwrap().clone()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("--- process {} said:\n{}", self.child.id(), self.words());
        }
    }
}

/// A cluster of one machine: a folder with the registry's socket and store.
pub struct Site {
    pub folder: tempfile::TempDir,
    registry: Option<Process>,
    program: &'static Path,
    /// Where it listens.
    address: String,
    options: Vec<String>,
    /// Of the commands that ask it.
    showing: Vec<String>,
}

impl Site {
    /// With a registry that has these options.
    pub fn new(options: &[&str]) -> Self {
        let mut site = Self::unstarted();
        let address = site.registry();
        site.start_at(&address, options, &[]);
        site
    }

    /// The same; the registry says where it has data races.
    pub fn racing(options: &[&str]) -> Self {
        let mut site = Self { program: racing_registry(), ..Self::unstarted() };
        let address = site.registry();
        site.start_at(&address, options, &[]);
        site
    }

    /// Without a registry so far.
    pub fn unstarted() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let address = format!("unix:{}", folder.path().join("registry.sock").display());
        let program = registry_program();
        Self { folder, registry: None, program, address, options: Vec::new(), showing: Vec::new() }
    }

    /// Starts the registry at an address. `showing` are options of commands that ask it.
    pub fn start_at(&mut self, address: &str, options: &[&str], showing: &[&str]) {
        self.address = address.to_owned();
        self.options = options.iter().map(ToString::to_string).collect();
        self.showing = showing.iter().map(ToString::to_string).collect();
        self.start_registry();
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The registry's address.
    pub fn registry(&self) -> String {
        self.address.clone()
    }

    pub fn start_registry(&mut self) {
        let mut command = Command::new(self.program);
        command.args(["serve", "-http", "", "-log-level", "warn", "-listen", &self.registry()]);
        command.arg("-store").arg(self.path("registry.db")).args(&self.options);
        self.registry = Some(Process::spawn(&mut command));
        until("the registry serves", || self.ask(&["devices"]).is_some());
    }

    /// What it had written.
    pub fn kill_registry(&mut self) -> String {
        let mut registry = self.registry.take().unwrap();
        registry.kill();
        registry.words()
    }

    /// Makes the registry hang, or go on.
    pub fn signal_registry(&self, signal: Signal) {
        self.registry.as_ref().unwrap().signal(signal);
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let (command, rest) = arguments.split_first().unwrap();
        let mut program = Command::new(registry_program());
        program.arg(command).args(["--registry", &self.registry()]).args(&self.showing).args(rest).output().unwrap()
    }

    fn ask(&self, arguments: &[&str]) -> Option<String> {
        let said = self.run(arguments);
        said.status.success().then(|| String::from_utf8(said.stdout).unwrap())
    }

    /// Runs one of the registry's commands.
    pub fn say(&self, arguments: &[&str]) -> String {
        let said = self.run(arguments);
        assert!(said.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&said.stderr));
        String::from_utf8(said.stdout).unwrap()
    }

    /// Gives an instance a board; the token to show there.
    pub fn allocate(&self, function: &str, instance: &str) -> [u8; 32] {
        let environment = self.say(&["allocate", function, instance]);
        let token = environment.lines().find_map(|line| line.strip_prefix("RACKLOOM_TOKEN=")).unwrap();
        let digits = |at: usize| u8::from_str_radix(&token[2 * at..][..2], 16).unwrap();
        std::array::from_fn(digits)
    }

    /// All boards that the registry knows.
    pub fn devices(&self) -> Vec<Value> {
        let mut all: Value = serde_json::from_str(&self.say(&["devices", "--json"])).unwrap();
        all["devices"].as_array_mut().unwrap().drain(..).collect()
    }

    /// One that is there.
    pub fn device(&self, id: &str) -> Value {
        let mut all = self.devices();
        let at = all.iter().position(|device| device["spec"]["id"] == id);
        all.swap_remove(at.unwrap_or_else(|| panic!("no {id} in {all:#?}")))
    }

    /// Where an instance is.
    pub fn board_of(&self, instance: &str) -> String {
        let all: Value = serde_json::from_str(&self.say(&["allocations", "--json"])).unwrap();
        let mut of = all.as_object().unwrap().values().next().unwrap().as_array().unwrap().iter();
        let found = of.find(|one| one["id"] == instance).unwrap_or_else(|| panic!("no {instance} in {all:#}"));
        found["device"].as_str().unwrap().to_owned()
    }

    /// Whether all of so many boards are online.
    pub fn are_online(&self, count: usize) -> bool {
        let devices = self.devices();
        devices.len() == count && devices.iter().all(|device| device["state"] == "DEVICE_STATE_ONLINE")
    }

    /// Starts a manager of the node `node`, which listens at a socket in the folder, with these options besides.
    pub fn manager(&self, node: &str, options: &[&str]) -> Process {
        self.manager_at(&self.registry(), node, options)
    }

    /// The same, for a registry of this URL.
    pub fn manager_at(&self, url: &str, node: &str, options: &[&str]) -> Process {
        let listen = format!("unix:{}", self.socket(node).display());
        self.launch(&[&["--listen", &listen, "--registry", url, "--node", node], options].concat())
    }

    /// Starts a manager with these options.
    pub fn launch(&self, options: &[&str]) -> Process {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rackloom-manager"));
        command.args(options);
        Process::spawn(command.env("RACKLOOM_RUN", self.path("run")))
    }

    /// Where the manager of a node listens.
    pub fn socket(&self, node: &str) -> PathBuf {
        self.path(&format!("{node}.sock"))
    }
}

/// Waits until something is true; how long that took.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) -> Duration {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
    start.elapsed()
}
