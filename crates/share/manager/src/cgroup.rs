//! Control groups of workers, where the system's version 2 delegates them to the manager: one for all workers and one
//! for each bound memory and processes, share the processors, and end all in them at once.
//!
//! The manager's own group is the parent of theirs. To have bounds there it must be the manager's alone, as that of a
//! systemd unit with `Delegate=yes` is; the manager moves into a group below it then, since a group with bounds for
//! its children has no processes of its own.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::claim::Claim;

/// What those in a group may have together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Bytes of memory, files in memory among them.
    pub(crate) memory: u64,
    /// Threads and processes.
    pub(crate) processes: u64,
}

/// The group of all workers of a manager.
#[derive(Debug)]
pub(crate) struct Groups {
    folder: PathBuf,
    _claim: Claim,
    /// Whether the system lets us bound what those in it have. Else it only ends them.
    pub(crate) has_bounds: bool,
    next: AtomicU64,
}

/// The group of a worker. Those in it are ended, and it is removed, when this is dropped.
#[derive(Debug)]
pub(crate) struct Group(PathBuf);

/// What bounds need. With `cpu` each group has as much of the processors as any other, however many threads it has.
const CONTROLLERS: [&str; 3] = ["cpu", "memory", "pids"];

/// The group into which the manager moves.
const MANAGER: &str = "manager";

impl Groups {
    /// Makes a group of this name below `own`, the group of this process, once those of killed managers are gone: their
    /// names begin with `prefix`.
    ///
    /// # Errors
    /// The system does not allow it.
    pub(crate) fn new(own: &Path, prefix: &str, name: &OsStr, all: Bounds) -> io::Result<Self> {
        for (left, _claim) in Claim::left(own, prefix) {
            let _ = remove(&left); // Or somebody there does not end.
        }
        let has_bounds = enable(own).or_else(|why| make_way(own, why)).is_ok();
        let folder = own.join(name);
        fs::create_dir(&folder)?;
        let claim = Claim::new(&folder)?.ok_or(io::ErrorKind::NotFound)?;
        let groups = Self { folder, _claim: claim, has_bounds, next: AtomicU64::new(0) };
        if has_bounds {
            bound(&groups.folder, all)?;
            enable(&groups.folder)?;
        }
        Ok(groups)
    }

    /// Ends all in it and removes it, though there may be users of it.
    pub(crate) fn close(&self) {
        let _ = remove(&self.folder); // Else the next manager does.
    }

    /// Makes the group of a worker.
    ///
    /// # Errors
    /// The system does not allow it.
    pub(crate) fn worker(&self, each: Bounds) -> io::Result<Group> {
        let group = Group(self.folder.join(format!("worker-{}", self.next.fetch_add(1, Ordering::Relaxed))));
        fs::create_dir(&group.0)?;
        if self.has_bounds {
            bound(&group.0, each)?;
            // A runtime that has lost a process is of no use.
            fs::write(group.0.join("memory.oom.group"), "1")?;
        }
        Ok(group)
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        self.close();
    }
}

impl Group {
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = remove(&self.0); // Or its keeper was first.
    }
}

/// The group of this process, where the system has version 2.
pub(crate) fn own() -> Option<PathBuf> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    place(path, &fs::read_to_string("/proc/self/mountinfo").ok()?)
}

/// Where a group is mounted.
fn place(path: &str, mounts: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (mount, kind) = line.split_once(" - ")?;
        let mut words = mount.split(' ').skip(3);
        let (root, at) = (words.next()?, words.next()?);
        let below = Path::new(path).strip_prefix(root).ok()?;
        kind.starts_with("cgroup2 ").then(|| Path::new(at).join(below))
    })
}

/// Bytes of memory that this process's group and those above it may have; `None` if they are not bounded.
pub(crate) fn memory_max(own: &Path) -> Option<u64> {
    let bounds = own.ancestors().map_while(|group| fs::read_to_string(group.join("memory.max")).ok());
    bounds.filter_map(|most| most.trim().parse().ok()).min()
}

/// Moves the calling process into a group.
///
/// # Errors
/// The system does not allow it.
pub(crate) fn join(group: &Path) -> io::Result<()> {
    fs::write(group.join("cgroup.procs"), "0")
}

/// Whether the calling process is in this group.
pub(crate) fn is_in(group: &Path) -> bool {
    own().is_some_and(|own| own == group)
}

/// Ends all processes in a group.
pub(crate) fn kill(group: &Path) {
    let _ = fs::write(group.join("cgroup.kill"), "1"); // Linux 5.14.
}

/// Ends all in a group and in those below it, and removes them.
///
/// # Errors
/// Something in it does not end.
pub(crate) fn remove(group: &Path) -> io::Result<()> {
    kill(group);
    for below in fs::read_dir(group)?.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        let _ = remove(&below.path());
    }
    let mut left = ENDING;
    loop {
        match fs::remove_dir(group) {
            Err(why) if why.kind() == io::ErrorKind::ResourceBusy && left > 0 => left -= 1,
            other => return other,
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Milliseconds for those in a group to end.
const ENDING: u32 = 100;

fn bound(group: &Path, Bounds { memory, processes }: Bounds) -> io::Result<()> {
    fs::write(group.join("memory.max"), memory.to_string())?;
    let _ = fs::write(group.join("memory.swap.max"), "0"); // A system without swap has no such file.
    fs::write(group.join("pids.max"), processes.to_string())
}

/// Lets the groups below this one have bounds.
fn enable(group: &Path) -> io::Result<()> {
    let control = group.join("cgroup.subtree_control");
    let has = fs::read_to_string(&control).unwrap_or_default();
    if CONTROLLERS.iter().all(|one| has.split_whitespace().any(|had| had == *one)) {
        return Ok(());
    }
    fs::write(control, CONTROLLERS.map(|one| format!("+{one}")).join(" "))
}

/// Moves this process out of its group, if it is alone there and this is why its children cannot have bounds.
fn make_way(own: &Path, why: io::Error) -> io::Result<()> {
    let alone =
        || fs::read_to_string(own.join("cgroup.procs")).is_ok_and(|all| all.trim() == std::process::id().to_string());
    if why.kind() != io::ErrorKind::ResourceBusy || !alone() {
        return Err(why);
    }
    let way = own.join(MANAGER);
    fs::create_dir(&way).or_else(|why| if way.is_dir() { Ok(()) } else { Err(why) })?;
    join(&way)?;
    enable(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Bounds = Bounds { memory: 1000, processes: 10 };
    const EACH: Bounds = Bounds { memory: 500, processes: 5 };

    /// A folder has no files of itself, so what is in one was written.
    fn said(group: &Path, file: &str) -> String {
        fs::read_to_string(group.join(file)).unwrap_or_default()
    }

    #[test]
    fn groups_are_bounded_together_and_each() {
        let own = tempfile::tempdir().unwrap();
        let groups = Groups::new(own.path(), "all", "all".as_ref(), ALL).unwrap();
        let worker = groups.worker(EACH).unwrap();
        assert!(groups.has_bounds);
        for group in [own.path(), &groups.folder] {
            assert_eq!(said(group, "cgroup.subtree_control"), "+cpu +memory +pids");
        }
        let bounds = |group| ["memory.max", "memory.swap.max", "pids.max"].map(|file| said(group, file));
        assert_eq!(bounds(&groups.folder), ["1000", "0", "10"]);
        assert_eq!(bounds(worker.path()), ["500", "0", "5"]);
        assert_eq!(said(worker.path(), "memory.oom.group"), "1");
        join(worker.path()).unwrap();
        assert_eq!(said(worker.path(), "cgroup.procs"), "0");
        assert_ne!(groups.worker(EACH).unwrap().path(), worker.path());
    }

    #[test]
    fn controllers_that_are_there_are_left_and_others_are_not_missed() {
        let own = tempfile::tempdir().unwrap();
        fs::write(own.path().join("cgroup.subtree_control"), "memory cpu pids io\n").unwrap();
        assert!(Groups::new(own.path(), "all", "all".as_ref(), ALL).unwrap().has_bounds);
        assert_eq!(said(own.path(), "cgroup.subtree_control"), "memory cpu pids io\n");
        // As where the system has no such controller, or not for us: the file cannot be written.
        let other = tempfile::tempdir().unwrap();
        fs::create_dir(other.path().join("cgroup.subtree_control")).unwrap();
        let groups = Groups::new(other.path(), "all", "all".as_ref(), ALL).unwrap();
        let worker = groups.worker(EACH).unwrap();
        assert!(!groups.has_bounds && worker.path().is_dir());
        assert_eq!(said(&groups.folder, "memory.max") + &said(worker.path(), "memory.max"), "");
    }

    #[test]
    fn the_group_is_found_among_the_mounts() {
        let mounts = "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n\
                      35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
                      41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw\n";
        assert_eq!(place("/a/b", mounts), Some("/sys/fs/cgroup/unified/a/b".into()));
        assert_eq!(place("/", mounts), Some("/sys/fs/cgroup/unified/".into()));
        let part = "41 31 0:38 /docker/x /sys/fs/cgroup rw - cgroup2 cgroup rw\n";
        assert_eq!(place("/docker/x/y", part), Some("/sys/fs/cgroup/y".into()));
        assert_eq!(place("/other", part), None);
        assert_eq!(place("/a", "35 31 0:32 / /m rw - cgroup cgroup rw,memory\n"), None);
    }

    #[test]
    fn the_tightest_bound_of_memory_counts() {
        let top = tempfile::tempdir().unwrap();
        let (middle, own) = (top.path().join("a"), top.path().join("a/b"));
        fs::create_dir_all(&own).unwrap();
        assert_eq!(memory_max(&own), None);
        for (group, most) in [(top.path(), "5000"), (&middle, "3000\n"), (&own, "max\n")] {
            fs::write(group.join("memory.max"), most).unwrap();
        }
        assert_eq!(memory_max(&own), Some(3000));
    }
}
