//! Control groups of workers, where the system delegates them to the manager: one for all workers and one for each
//! bound memory and processes, share the processors, and end all in them at once.
//!
//! The manager's own group is the parent of theirs. In version 2 it must be the manager's alone to have bounds there,
//! as that of a systemd unit with `Delegate=yes` is; the manager moves into a group below it then, since a group with
//! bounds for its children has no processes of its own. Where version 2 has no controllers for us, groups in the trees
//! of version 1 have the bounds.

mod processors;
mod trees;
mod version_1;
mod version_2;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use processors::Demand;
pub(crate) use trees::trees;
use trees::{Tree, Version};

use crate::claim::Claim;

/// What those in a group may have together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Bytes of memory, files in memory among them.
    pub(crate) memory: u64,
    /// Threads and processes.
    pub(crate) processes: u64,
}

/// The group of all workers of a manager: one in each tree that is of use.
#[derive(Debug)]
pub(crate) struct Groups {
    all: Vec<GroupOfAll>,
    /// Of version 1, in a tree of `cpu` alone: used once the processors are shared.
    shares: Option<GroupOfAll>,
    /// The groups of workers have equal shares of the processors.
    are_shared: AtomicBool,
    demand: Demand,
    /// Whether the system lets us bound what those in it have. Else it only ends them.
    pub(crate) has_bounds: bool,
    next: AtomicU64,
}

#[derive(Debug)]
struct GroupOfAll {
    tree: Tree,
    folder: PathBuf,
    /// Of version 2, if groups below may not have bounds.
    only_ends: bool,
    _claim: Claim,
}

/// The group of a worker, one in each tree. Those in it are ended, and it is removed, when this is dropped.
#[derive(Debug)]
pub(crate) struct Group {
    /// Where the worker is from its start.
    joined: Vec<PathBuf>,
    /// Where it will be when the processors are shared.
    share: Option<PathBuf>,
}

impl Groups {
    /// Makes a group of this name below that of this process in each of these trees, once those of killed managers are
    /// gone: their names begin with `prefix`.
    ///
    /// # Errors
    /// The system allows none.
    pub(crate) fn new(trees: Vec<Tree>, prefix: &str, name: &OsStr, bounds: Bounds) -> io::Result<Self> {
        let mut groups = Self {
            all: Vec::new(),
            shares: None,
            are_shared: AtomicBool::new(false),
            demand: Demand::default(),
            has_bounds: false,
            next: AtomicU64::new(0),
        };
        let mut why = io::ErrorKind::NotFound.into();
        let (two, one): (Vec<_>, Vec<_>) = trees.into_iter().partition(|tree| tree.version == Version::Two);
        for tree in two {
            sweep(&tree, prefix);
            let only_ends = version_2::enable_or_make_way(&tree.own).is_err();
            match GroupOfAll::new(tree, name, only_ends, bounds) {
                Ok(group) => groups.all.push(group),
                Err(other) => why = other,
            }
            groups.has_bounds |= !only_ends && !groups.all.is_empty();
        }
        let is_of_use = |tree: &Tree| version_1::CONTROLLERS.iter().any(|one| tree.controls(one));
        for tree in one.into_iter().filter(is_of_use) {
            sweep(&tree, prefix);
            if groups.has_bounds {
                continue;
            }
            let only_shares = !version_1::BOUNDS.iter().any(|one| tree.controls(one));
            match GroupOfAll::new(tree, name, false, bounds) {
                Ok(group) if only_shares => groups.shares = Some(group),
                Ok(group) => groups.all.push(group),
                Err(other) => why = other,
            }
        }
        let has = |controller| groups.each().any(|group| group.tree.controls(controller));
        groups.has_bounds |= version_1::CONTROLLERS.into_iter().all(has);
        if groups.all.is_empty() { Err(why) } else { Ok(groups) }
    }

    /// Ends all in it and removes it, though there may be users of it.
    pub(crate) fn close(&self) {
        // Else the next manager does.
        let _ = remove_all(self.each().map(|group| group.folder.as_path()));
    }

    fn each(&self) -> impl Iterator<Item = &GroupOfAll> {
        self.all.iter().chain(&self.shares)
    }

    /// Makes the group of a worker.
    ///
    /// # Errors
    /// The system does not allow it.
    pub(crate) fn worker(&self, each: Bounds) -> io::Result<Group> {
        let name = format!("worker-{}", self.next.fetch_add(1, Ordering::Relaxed));
        let mut group = Group { joined: Vec::new(), share: None };
        if let Some(all) = &self.shares {
            let folder = all.folder.join(&name);
            fs::create_dir(&folder)?;
            group.share = Some(folder);
        }
        for all in &self.all {
            let folder = all.folder.join(&name);
            fs::create_dir(&folder)?;
            group.joined.push(folder.clone());
            all.bound(&folder, each)?;
            if all.tree.version == Version::Two && !all.only_ends {
                // A runtime that has lost a process is of no use.
                fs::write(folder.join("memory.oom.group"), "1")?;
            }
        }
        Ok(group)
    }

    /// Gives all workers equal shares of the processors from when one of them wants more than one. To be called every
    /// [`LOOK`].
    pub(crate) fn share_processors(&self) {
        let Some(first) = self.all.first().filter(|_| self.has_bounds) else { return };
        if !self.are_shared.load(Ordering::Relaxed) {
            if !self.demand.is_much(&first.folder) {
                return;
            }
            self.are_shared.store(true, Ordering::Relaxed);
            for all in self.all.iter().filter(|all| all.tree.version == Version::Two && !all.only_ends) {
                // Or who delegated them has taken them back.
                let _ = version_2::share_processors(&all.tree.own);
                let _ = version_2::share_processors(&all.folder);
            }
            self.each().for_each(GroupOfAll::weigh);
        }
        // Again and again: others may have begun meanwhile.
        if let Some(shares) = &self.shares {
            for worker in processors::workers(&first.folder) {
                worker.file_name().iter().for_each(|name| processors::move_all(&worker, &shares.folder.join(name)));
            }
        }
    }
}

/// How often somebody looks whether the processors have to be shared.
pub(crate) const LOOK: Duration = Duration::from_secs(1);

impl Drop for Groups {
    fn drop(&mut self) {
        self.close();
    }
}

impl GroupOfAll {
    fn new(tree: Tree, name: &OsStr, only_ends: bool, bounds: Bounds) -> io::Result<Self> {
        let folder = tree.own.join(name);
        fs::create_dir(&folder)?;
        let claim = Claim::new(&folder)?.ok_or(io::ErrorKind::NotFound)?;
        let group = Self { tree, folder, only_ends, _claim: claim };
        let ready = group.bound(&group.folder, bounds).and_then(|()| match group.tree.version {
            Version::Two if !only_ends => version_2::enable(&group.folder),
            _ => Ok(()),
        });
        ready.inspect_err(|_| drop(remove(&group.folder))).map(|()| group)
    }

    /// All workers together weigh as much as a thread on each processor does outside of groups. Else they would have as
    /// little of a busy machine as a single thread has, and a kernel on a processor runs in a thread on each.
    fn weigh(&self) {
        let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
        match self.tree.version {
            Version::One { .. } if self.tree.controls("cpu") => version_1::weigh(&self.folder, processors),
            Version::Two if !self.only_ends => version_2::weigh(&self.folder, processors),
            _ => {}
        }
    }

    fn bound(&self, folder: &Path, bounds: Bounds) -> io::Result<()> {
        match self.tree.version {
            Version::One { .. } => version_1::bound(&self.tree, folder, bounds),
            Version::Two if self.only_ends => Ok(()),
            Version::Two => version_2::bound(folder, bounds),
        }
    }
}

impl Group {
    /// Its folders in one text, for those that join it; `None` if one has a name that such a text cannot have.
    pub(crate) fn names(&self) -> Option<OsString> {
        std::env::join_paths(&self.joined).ok()
    }

    /// Whether the system has ended a process in it because there was no memory left for it.
    pub(crate) fn has_exhausted_memory(&self) -> bool {
        let kills = |file: PathBuf| {
            let text = fs::read_to_string(file).ok()?;
            text.lines().find_map(|line| line.strip_prefix("oom_kill "))?.trim().parse::<u64>().ok()
        };
        // Of version 2, and of version 1 from Linux 4.13 on.
        let files = |folder: &PathBuf| ["memory.events", "memory.oom_control"].map(|file| folder.join(file));
        self.joined.iter().flat_map(files).filter_map(kills).any(|kills| kills > 0)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = remove_all(self.joined.iter().chain(&self.share).map(PathBuf::as_path)); // Or its keeper was first.
    }
}

/// Removes the groups of killed managers.
fn sweep(tree: &Tree, prefix: &str) {
    for (left, _claim) in Claim::left(&tree.own, prefix) {
        let _ = remove(&left); // Or somebody there does not end.
    }
}

/// Bytes of memory that this process's groups and those above them may have; `None` if they are not bounded.
pub(crate) fn memory_max(trees: &[Tree]) -> Option<u64> {
    let most = |tree: &Tree| match tree.version {
        Version::One { .. } if tree.controls("memory") => version_1::memory_max(&tree.own),
        Version::One { .. } => None,
        Version::Two => version_2::memory_max(&tree.own),
    };
    trees.iter().filter_map(most).min()
}

/// Moves the calling process into a group, by its [names](Group::names).
///
/// # Errors
/// The system does not allow it.
pub(crate) fn join(names: &OsStr) -> io::Result<()> {
    std::env::split_paths(names).try_for_each(|folder| fs::write(folder.join("cgroup.procs"), "0"))
}

/// Whether the calling process is in this group.
pub(crate) fn is_in(names: &OsStr) -> bool {
    let own = trees();
    std::env::split_paths(names).all(|folder| own.iter().any(|tree| tree.own == folder))
}

/// Ends all processes in a group.
pub(crate) fn kill(names: &OsStr) {
    std::env::split_paths(names).for_each(|folder| kill_in(&folder));
}

/// Ends all in a group and removes it.
///
/// # Errors
/// Something in it does not end.
pub(crate) fn remove_named(names: &OsStr) -> io::Result<()> {
    let folders: Vec<_> = std::env::split_paths(names).collect();
    remove_all(folders.iter().map(PathBuf::as_path))
}

fn remove_all<'a>(folders: impl Iterator<Item = &'a Path>) -> io::Result<()> {
    folders.map(remove).fold(Ok(()), Result::and)
}

fn kill_in(group: &Path) {
    let kill = group.join("cgroup.kill"); // Version 2, from Linux 5.14 on.
    if fs::OpenOptions::new().write(true).open(kill).and_then(|mut file| file.write_all(b"1")).is_err() {
        version_1::kill(group);
    }
}

/// Ends all in a group and in those below it, and removes them.
///
/// # Errors
/// Something in it does not end.
fn remove(group: &Path) -> io::Result<()> {
    kill_in(group);
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

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Bounds = Bounds { memory: 1000, processes: 10 };
    const EACH: Bounds = Bounds { memory: 500, processes: 5 };

    /// A folder has no files of itself, so what is in one was written.
    fn said(group: &Path, file: &str) -> String {
        fs::read_to_string(group.join(file)).unwrap_or_default()
    }

    fn two(own: &Path) -> Tree {
        Tree { own: own.to_owned(), version: Version::Two }
    }

    fn one(own: &Path, controllers: &[&str]) -> Tree {
        let controllers = controllers.iter().map(|&one| one.to_owned()).collect();
        Tree { own: own.to_owned(), version: Version::One { controllers } }
    }

    fn groups(trees: Vec<Tree>) -> Groups {
        Groups::new(trees, "all", "all".as_ref(), ALL).unwrap()
    }

    fn processors() -> usize {
        std::thread::available_parallelism().unwrap().get()
    }

    /// A tree of version 2 without controllers for us: their file cannot be written.
    fn bare() -> tempfile::TempDir {
        let bare = tempfile::tempdir().unwrap();
        fs::create_dir(bare.path().join("cgroup.subtree_control")).unwrap();
        bare
    }

    #[test]
    fn groups_are_bounded_together_and_each() {
        let own = tempfile::tempdir().unwrap();
        let groups = groups(vec![two(own.path())]);
        let worker = groups.worker(EACH).unwrap();
        assert!(groups.has_bounds);
        let all = own.path().join("all");
        for group in [own.path(), &all] {
            assert_eq!(said(group, "cgroup.subtree_control"), "-cpu", "there, and not needed yet");
        }
        let bounds = |group| ["memory.max", "memory.swap.max", "pids.max"].map(|file| said(group, file));
        assert_eq!(bounds(&all), ["1000", "0", "10"]);
        assert_eq!(bounds(&worker.joined[0]), ["500", "0", "5"]);
        assert_eq!(said(&worker.joined[0], "memory.oom.group"), "1");
        join(&worker.names().unwrap()).unwrap();
        assert_eq!(said(&worker.joined[0], "cgroup.procs"), "0");
        assert_ne!(groups.worker(EACH).unwrap().joined, worker.joined);
        assert!(!worker.has_exhausted_memory());
        fs::write(worker.joined[0].join("memory.events"), "oom 2\noom_kill 1\noom_group_kill 1\n").unwrap();
        assert!(worker.has_exhausted_memory());
    }

    #[test]
    fn controllers_that_are_there_are_left_and_others_are_not_missed() {
        let own = tempfile::tempdir().unwrap();
        fs::write(own.path().join("cgroup.subtree_control"), "memory cpu pids io\n").unwrap();
        assert!(groups(vec![two(own.path())]).has_bounds);
        assert_eq!(said(own.path(), "cgroup.subtree_control"), "memory cpu pids io\n");
        let bare = bare();
        let groups = groups(vec![two(bare.path())]);
        let worker = groups.worker(EACH).unwrap();
        assert!(!groups.has_bounds && worker.joined[0].is_dir());
        assert_eq!(said(&bare.path().join("all"), "memory.max") + &said(&worker.joined[0], "memory.max"), "");
    }

    #[test]
    fn trees_of_version_1_have_the_bounds_where_version_2_has_no_controllers() {
        let (bare, memory, others) = (bare(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let memory_tree = one(memory.path(), &["memory"]);
        let trees = vec![memory_tree.clone(), one(others.path(), &["cpu", "pids"]), two(bare.path())];
        let foreign = tempfile::tempdir().unwrap();
        let groups = groups([trees, vec![one(foreign.path(), &["freezer"])]].concat());
        let worker = groups.worker(EACH).unwrap();
        assert!(groups.has_bounds);
        assert_eq!(foreign.path().read_dir().unwrap().count(), 0, "it is of no use");
        let bounds = |file| [said(&memory.path().join("all"), file), said(&worker.joined[1], file)];
        assert_eq!(bounds("memory.limit_in_bytes"), ["1000", "500"]);
        assert_eq!(bounds("memory.memsw.limit_in_bytes"), ["1000", "500"]);
        assert_eq!(bounds("pids.max"), ["", ""]);
        assert_eq!(said(&worker.joined[2], "pids.max"), "5");
        assert_eq!(said(&worker.joined[2], "memory.limit_in_bytes"), "");
        join(&worker.names().unwrap()).unwrap();
        assert_eq!(worker.joined.iter().map(|folder| said(folder, "cgroup.procs")).collect::<String>(), "000");
        for (kills, has) in [(0, false), (3, true)] {
            let said = format!("oom_kill_disable 0\nunder_oom 0\noom_kill {kills}\n");
            fs::write(worker.joined[1].join("memory.oom_control"), said).unwrap();
            assert_eq!(worker.has_exhausted_memory(), has);
        }
        let few = Groups::new(vec![memory_tree], "few", "few".as_ref(), ALL).unwrap();
        assert!(!few.has_bounds, "processes have none");
    }

    #[test]
    fn processors_are_shared_once_a_worker_wants_many() {
        let busy = || std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let bounds: Vec<_> = (0..2).map(|_| tempfile::tempdir().unwrap()).collect();
        let (shares, version_2) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let trees = vec![
            one(shares.path(), &["cpu", "cpuacct"]),
            one(bounds[0].path(), &["memory"]),
            one(bounds[1].path(), &["pids"]),
        ];
        for trees in [trees, vec![two(version_2.path())]] {
            let has_shares = trees.len() > 1;
            let groups = groups(trees);
            let worker = groups.worker(EACH).unwrap();
            assert!(groups.has_bounds && worker.share.is_some() == has_shares);
            let share = || worker.share.iter().map(|share| said(share, "cgroup.procs")).collect::<String>();
            let enabled = || said(version_2.path(), "cgroup.subtree_control");
            groups.share_processors();
            assert!(share().is_empty() && enabled() != "+cpu", "there is nobody");
            let mut two_busy = [busy(), busy()];
            let pids = two_busy.each_ref().map(|one| one.id().to_string());
            fs::write(worker.joined[0].join("cgroup.procs"), pids.join("\n")).unwrap();
            let begin = std::time::Instant::now();
            while !groups.are_shared.load(Ordering::Relaxed) {
                assert!(begin.elapsed() < Duration::from_secs(60), "both are busy from their start on");
                groups.share_processors();
            }
            // A file has one of them, where a group has both.
            assert!(
                if has_shares { pids.contains(&share()) } else { enabled() == "+cpu" },
                "{} {}",
                share(),
                enabled()
            );
            let (own, file, of_one) =
                if has_shares { (&shares, "cpu.shares", 1024) } else { (&version_2, "cpu.weight", 100) };
            assert_eq!(said(&own.path().join("all"), file), (of_one * processors()).to_string());
            let folder = worker.share.as_ref().unwrap_or(&worker.joined[0]);
            assert_eq!(said(folder, file), "", "as much as any other worker");
            drop(worker); // Ends both.
            two_busy.iter_mut().for_each(|one| _ = one.wait().unwrap());
        }
    }

    #[test]
    fn who_may_make_no_groups_has_none() {
        let nowhere = Path::new("/nonexistent");
        let trees = vec![two(nowhere), one(nowhere, &["memory"])];
        assert!(Groups::new(trees, "all", "all".as_ref(), ALL).is_err());
        assert!(Groups::new(Vec::new(), "all", "all".as_ref(), ALL).is_err());
    }

    #[test]
    fn the_tightest_bound_of_memory_counts() {
        let top = tempfile::tempdir().unwrap();
        let (middle, own) = (top.path().join("a"), top.path().join("a/b"));
        fs::create_dir_all(&own).unwrap();
        assert_eq!(memory_max(&[two(&own)]), None);
        for (group, most) in [(top.path(), "5000"), (&middle, "3000\n"), (&own, "max\n")] {
            fs::write(group.join("memory.max"), most).unwrap();
        }
        assert_eq!(memory_max(&[two(&own)]), Some(3000));
        let other = tempfile::tempdir().unwrap();
        fs::write(other.path().join("memory.stat"), "cache 7\nhierarchical_memory_limit 2000\n").unwrap();
        let trees = [two(&own), one(other.path(), &["memory"]), one(other.path(), &["pids"])];
        assert_eq!(memory_max(&trees), Some(2000));
    }
}
