//! A manager that isolates its clients, as the program that is shipped, and kernels for them.
//!
//! The kernels run on PoCL, in whose process they may read and write everything.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command as Program;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rackloom_ipc::Endpoint;
use rackloom_manager::installed;
use rackloom_opencl_wire::{Argument, Command};

use crate::common::Tenant;
use crate::site::{Process, until};

/// A manager that isolates its clients.
pub struct Isolating {
    pub process: Process,
    pub endpoint: Endpoint,
    /// Over TCP.
    pub tcp: Endpoint,
    pub metrics: String,
    pub folder: Arc<tempfile::TempDir>,
    /// Of its own, where `RACKLOOM_CGROUP` names one whose children may have bounds and that has no processes itself.
    pub group: Option<OwnGroup>,
}

/// A control group with one manager, as a service has that may make groups below its own.
pub struct OwnGroup(pub PathBuf);

impl OwnGroup {
    fn new(place: Place) -> Option<Self> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let parent = std::env::var_os("RACKLOOM_CGROUP").filter(|_| place == Place::Here)?;
        let name = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let group = Path::new(&parent).join(name);
        std::fs::create_dir(&group).expect("RACKLOOM_CGROUP names a group that this user may change");
        Some(Self(group))
    }
}

impl Drop for OwnGroup {
    fn drop(&mut self) {
        // A manager that was killed leaves groups and workers for the next one.
        std::fs::write(self.0.join("cgroup.kill"), "1").unwrap();
        until("its groups are gone", || remove(&self.0));
    }
}

/// Removes a group and all below it; false if somebody is still there.
fn remove(group: &Path) -> bool {
    let below = std::fs::read_dir(group).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let left = below.filter(|group| !remove(group)).count();
    left == 0 && std::fs::remove_dir(group).is_ok()
}

/// Where a manager runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// As the user of this test.
    Here,
    /// As a user without privileges.
    Plain,
    /// Where there can be no namespaces for its workers.
    Bare,
    /// On a machine that has 8 GiB of memory, as far as it says; with the limits that the manager has by default.
    Small,
}

/// Files that a manager may have open, unless a test says otherwise.
const FILES_MAX: usize = 1024;

/// How the system calls a template, of whose name it keeps 15 letters.
const TEMPLATE: &str = "rackloom-templa";

/// A user who owns nothing.
const NOBODY: u32 = 65_534;

fn own_folder() -> Arc<tempfile::TempDir> {
    let folder = tempfile::tempdir().unwrap();
    // As other temporary folders are: workers that are users of their own pass through.
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
    Arc::new(folder)
}

/// A port that nobody has at the moment, and that the system gives to no connection on its way out: those are above.
pub fn free_port() -> u16 {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let first = std::process::id() as usize * 61;
    let mut ports = std::iter::repeat_with(|| 12_000 + (first + NEXT.fetch_add(1, Ordering::Relaxed)) % 20_000);
    ports.find_map(|port| TcpListener::bind(("127.0.0.1", port as u16)).ok()).unwrap().local_addr().unwrap().port()
}

impl Isolating {
    /// As the user of this test.
    pub fn start(options: &[&str]) -> Self {
        Self::run(Place::Here, FILES_MAX, options, own_folder())
    }

    /// Another one, in the same place and folder.
    pub fn beside(&self, place: Place) -> Self {
        Self::run(place, FILES_MAX, &[], Arc::clone(&self.folder))
    }

    /// In this place; `None`, and a word on stderr, if the system does not allow it.
    pub fn start_in(place: Place, options: &[&str]) -> Option<Self> {
        let is_root = rustix::process::geteuid().is_root();
        let unshares = || Program::new("unshare").args(["-Ur", "true"]).status().is_ok_and(|status| status.success());
        let is_allowed = match place {
            Place::Here => true,
            Place::Plain => is_root,
            Place::Bare => unshares(),
            Place::Small => is_root || unshares(),
        };
        if !is_allowed {
            eprintln!("not tried: this system does not allow {place:?}");
        }
        is_allowed.then(|| Self::run(place, FILES_MAX, options, own_folder()))
    }

    /// That may have so many files open.
    pub fn with_files(files: usize, options: &[&str]) -> Self {
        Self::run(Place::Here, files, options, own_folder())
    }

    /// What one says that does not serve.
    pub fn refuses(place: Place, options: &[&str]) -> String {
        let mut refusing = Self::spawn(place, FILES_MAX, options, own_folder());
        until("it ends", || refusing.process.has_ended());
        until("it has said why", || refusing.process.words().contains("Error"));
        refusing.process.words()
    }

    fn run(place: Place, files: usize, options: &[&str], folder: Arc<tempfile::TempDir>) -> Self {
        let manager = Self::spawn(place, files, options, folder);
        let Endpoint::Unix(path) = &manager.endpoint else { unreachable!("it listens there") };
        until("the manager listens", || path.exists() && TcpStream::connect(&manager.metrics).is_ok());
        manager
    }

    fn spawn(place: Place, files: usize, options: &[&str], folder: Arc<tempfile::TempDir>) -> Self {
        let number = folder.path().read_dir().unwrap().count();
        let path = folder.path().join(format!("manager-{number}.sock"));
        let endpoint = Endpoint::Unix(path);
        let tcp: Endpoint = format!("tcp:127.0.0.1:{}", free_port()).parse().unwrap();
        let metrics = format!("127.0.0.1:{}", free_port());
        let pocl = installed().into_iter().find(|library| library.to_string_lossy().contains("pocl"));
        let meminfo = folder.path().join("meminfo");
        let group = OwnGroup::new(place);
        let joins = group
            .as_ref()
            .map_or_else(String::new, |OwnGroup(own)| format!("echo $$ > {}/cgroup.procs && ", own.display()));
        let (mut command, first) = match place {
            Place::Here | Place::Plain => (Program::new("/bin/sh"), ""),
            Place::Bare => {
                let mut command = Program::new("unshare");
                command.args(["-Ur", "/bin/sh"]);
                (
                    command,
                    "cd /proc/sys/user && for i in max_user_namespaces max_pid_namespaces; do echo 0 > $i; done && ",
                )
            }
            Place::Small => {
                let mut command = Program::new("unshare");
                let is_root = rustix::process::geteuid().is_root();
                command.args([if is_root { "-m" } else { "-Urm" }, "/bin/sh"]).env("MEMINFO", &meminfo);
                (command, "mount --bind $MEMINFO /proc/meminfo && ")
            }
        };
        if place == Place::Small {
            std::fs::write(&meminfo, "MemTotal: 8388608 kB\n").unwrap();
        }
        command.args(["-c", &format!("{joins}{first}ulimit -n {files} && exec \"$0\" \"$@\"")]);
        command.arg(env!("CARGO_BIN_EXE_rackloom-manager"));
        command.arg("--runtime").arg(pocl.expect("PoCL is installed (apt-get install pocl-opencl-icd)"));
        // The limits of a test's clients.
        if place != Place::Small {
            command.args(["--memory", "67108864", "--objects", "64", "--operations", "256", "--program", "1048576"]);
        }
        command.args(["--listen", &endpoint.to_string(), "--listen", &tcp.to_string(), "--metrics", &metrics]);
        std::fs::create_dir_all(folder.path().join("tmp")).unwrap();
        if place == Place::Plain {
            for path in [folder.path(), &folder.path().join("tmp")] {
                std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
            }
            command.uid(NOBODY).gid(NOBODY).env("HOME", folder.path().join("tmp"));
        }
        command.env("TMPDIR", folder.path().join("tmp")).args(options);
        let process = Process::spawn(&mut command);
        Self { process, endpoint, tcp, metrics, folder, group }
    }

    /// Whether each client's process is a user of its own, so all read the same files.
    pub fn gives_users(&self) -> bool {
        !self.process.words().contains("lacks users of their own")
    }

    pub fn client(&self) -> Tenant {
        Tenant::connect(&self.endpoint)
    }

    pub fn metric(&self, name: &str) -> BTreeMap<String, f64> {
        let text = self.scrape();
        let samples = text.lines().filter_map(|line| {
            let (labels, value) = line.strip_prefix(name)?.rsplit_once(' ')?;
            let tenant = labels.split("tenant=\"").nth(1).map_or("", |rest| rest.split('"').next().unwrap());
            Some((tenant.to_owned(), value.parse().unwrap()))
        });
        samples.collect()
    }

    /// All metrics.
    pub fn scrape(&self) -> String {
        let mut stream = TcpStream::connect(&self.metrics).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    /// Processes that it or its workers have begun, whoever their parents are now: all have its environment.
    pub fn descendants(&self) -> usize {
        self.statuses().len()
    }

    /// What the system says of each of them.
    pub fn statuses(&self) -> Vec<String> {
        let status = |pid| std::fs::read_to_string(format!("/proc/{pid}/status")).ok();
        self.family().into_iter().filter_map(status).collect()
    }

    /// The same, by number.
    pub fn family(&self) -> Vec<u32> {
        let variable = format!("TMPDIR={}", self.folder.path().display());
        let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|process| process.path());
        let ours = |process: &PathBuf| {
            let all = std::fs::read(process.join("environ")).unwrap_or_default();
            all.windows(variable.len()).any(|part| part == variable.as_bytes())
        };
        processes.filter(ours).filter_map(|process| process.file_name()?.to_str()?.parse().ok()).collect()
    }

    /// Its workers, the one that waits for a client among them, and not what they are copies of.
    pub fn workers(&self) -> Vec<u32> {
        self.children(|name| !name.starts_with(TEMPLATE))
    }

    /// What its workers are copies of.
    pub fn templates(&self) -> Vec<u32> {
        self.children(|name| name.starts_with(TEMPLATE))
    }

    fn children(&self, are: impl Fn(&str) -> bool) -> Vec<u32> {
        let name = |pid: &u32| std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        self.process.children().into_iter().filter(|pid| are(&name(pid))).collect()
    }

    /// Most processor time, with ended children's, that a process of a worker has taken.
    pub fn busiest_worker(&self) -> Duration {
        let (mut left, mut most) = (self.workers(), 0);
        while let Some(pid) = left.pop() {
            let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { continue };
            // Behind the name in brackets: user and system time, its own and its ended children's.
            let behind = stat.rsplit_once(')').expect("a name").1;
            let ticks = behind.split_whitespace().skip(11).take(4).map(|n| n.parse::<u64>().unwrap()).sum();
            most = most.max(ticks);
            let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
            left.extend(children.split_whitespace().map(|pid| pid.parse::<u32>().unwrap()));
        }
        Duration::from_secs(most) / rustix::param::clock_ticks_per_second() as u32
    }
}

/// Files below a folder.
pub fn walk(folder: &Path) -> Box<dyn Iterator<Item = PathBuf>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    Box::new(entries.flat_map(|path| if path.is_dir() { walk(&path) } else { Box::new(std::iter::once(path)) }))
}

/// A kernel that counts, one that never ends while its flag is set, one that takes a given number of steps, and two
/// that go to a given address.
pub const KERNELS: &str = "
    kernel void count(global int *x) { x[0] += 1; }
    kernel void hang(global volatile int *x) { while (x[0] == 0); }
    kernel void work(global int *x, int steps) { for (int i = 0; i < steps; i++) x[0] = x[0] * 3 + i; }
    kernel void where(global ulong *x) { x[0] = (ulong)x; }
    kernel void peek(global uchar *to, ulong at) { for (int i = 0; i < 8; i++) to[i] = ((global uchar *)at)[i]; }
    kernel void poke(global uchar *x, ulong at) { ((global uchar *)at)[0] = x[0]; }
";
pub const COUNT: u32 = 0;
pub const HANG: u32 = 1;
pub const WORK: u32 = 2;
pub const WHERE: u32 = 3;
pub const PEEK: u32 = 4;
pub const POKE: u32 = 5;

pub fn with_kernels(t: &Tenant) {
    let build = t.build(0, KERNELS);
    assert_eq!(build.status, 0, "{}", build.log);
    for (kernel, name) in ["count", "hang", "work", "where", "peek", "poke"].into_iter().enumerate() {
        t.send(&Command::CreateKernel { kernel: kernel as u32, program: 0, name }, &[]);
    }
    t.buffer(0, 64);
    assert_eq!(t.write(0, 0, &[0; 64]).status, 0);
}

pub fn launch(t: &Tenant, kernel: u32, more: Option<&[u8]>) -> i32 {
    let mut arguments = vec![(0, Argument::Buffer(Some(0)))];
    arguments.extend(more.map(|value| (1, Argument::Value(value))));
    t.run(Tenant::launch(kernel, 1, arguments), &[]).status
}

/// Counts one more, and has counted right.
pub fn counts_to(t: &Tenant, number: u32) {
    assert_eq!(launch(t, COUNT, None), 0);
    assert_eq!(t.read(0, 0, 4).tail, number.to_le_bytes());
}
