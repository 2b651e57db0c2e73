//! Control groups: each worker has one, and none is left.

use std::path::{Path, PathBuf};

use rackloom_opencl_wire::{Argument, Op};
use rustix::process::Signal;

use crate::isolating::{HANG, Isolating, OwnGroup, Place, counts_to, with_kernels};
use crate::site::until;

/// The groups of managers that have a folder here, in each tree of the system.
fn groups_of(manager: &Isolating) -> Vec<PathBuf> {
    let folders = manager.folder.path().join("tmp").read_dir().unwrap().map(|entry| entry.unwrap().file_name());
    let folders: Vec<_> = folders.collect();
    let all = parents_of(manager).into_iter().flat_map(|parent| folders.iter().map(move |name| parent.join(name)));
    all.filter(|group| group.is_dir()).collect()
}

/// The groups below which this manager makes others: this process's own, unless the manager has one.
fn parents_of(manager: &Isolating) -> Vec<PathBuf> {
    if let Some(OwnGroup(own)) = &manager.group {
        return vec![own.clone()];
    }
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap();
    let parent = |line: &str| {
        let (controllers, path) = line.split_once(':')?.1.split_once(":/")?;
        let first = controllers.split(',').next()?;
        if first.starts_with("cpu") {
            return None; // Groups there are empty until the processors have to be shared.
        }
        let mount = mounts.lines().find(|mount| {
            let is_one = mount.contains(" - cgroup ") && mount.rsplit([' ', ',']).any(|option| option == first);
            if first.is_empty() { mount.contains(" - cgroup2 ") } else { is_one }
        })?;
        Some(Path::new(mount.split(' ').nth(4)?).join(path))
    };
    own.lines().filter_map(parent).collect()
}

/// The groups of workers, and the processes in each.
fn workers(group: &Path) -> Vec<usize> {
    let groups = group.read_dir().into_iter().flatten().flatten().filter(|entry| entry.path().is_dir());
    groups.map(|group| processes(&group.path())).collect()
}

fn processes(group: &Path) -> usize {
    std::fs::read_to_string(group.join("cgroup.procs")).map_or(0, |all| all.lines().count())
}

#[test]
fn each_worker_has_a_group_and_none_is_left() {
    for place in [Place::Here, Place::Plain] {
        let Some(mut manager) = Isolating::start_in(place, &[]) else { continue };
        let groups = groups_of(&manager);
        if groups.is_empty() {
            eprintln!("not tried: {place:?} may make no control groups here");
            continue;
        }
        let each = |is: &dyn Fn(&Path) -> bool| groups.iter().all(|group| is(group));
        let client = manager.client();
        with_kernels(&client);
        counts_to(&client, 1);
        until("there are two workers, one of them ready for the next client", || {
            each(&|group| workers(group) == [1, 1])
        });
        assert!(each(&|group| processes(group) == 0), "all are in groups of their own");
        drop(client);
        until("the worker's group goes with it", || each(&|group| workers(group) == [1]));
        manager.process.signal(Signal::TERM);
        until("it has ended", || manager.process.has_ended());
        until("its groups are gone", || each(&|group| !group.exists()));
    }
}

/// A worker with many threads has as much of the processors as any other, and no more.
#[test]
fn processors_are_shared_once_a_worker_wants_many() {
    let manager = Isolating::start(&[]);
    let groups = groups_of(&manager);
    let client = manager.client();
    with_kernels(&client);
    let own = |pid: &str| std::fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    let are_shared = || match (&manager.group, groups.first()) {
        (Some(OwnGroup(own)), _) => {
            let enabled = std::fs::read_to_string(own.join("cgroup.subtree_control")).unwrap();
            enabled.split_whitespace().any(|one| one == "cpu")
        }
        (None, Some(group)) => {
            let workers = group.read_dir().unwrap().flatten().map(|entry| entry.path().join("cgroup.procs"));
            let pids: String = workers.filter_map(|procs| std::fs::read_to_string(procs).ok()).collect();
            let in_cpu = |line: &str| line.split(':').nth(1).is_some_and(|all| all.split(',').any(|one| one == "cpu"));
            pids.lines().any(|pid| own(pid).lines().any(|line| in_cpu(line) && line.contains("/worker-")))
        }
        (None, None) => false,
    };
    if groups.is_empty() || manager.process.words().contains("lacks control groups") {
        eprintln!("not tried: this user may make no control groups with bounds here");
        return;
    }
    assert!(!are_shared(), "nobody wants much");
    let hang = Op::Launch {
        kernel: HANG,
        dimensions: 1,
        offset: [0; 3],
        global: [64, 0, 0],
        local: Some([1, 0, 0]),
        arguments: vec![(0, Argument::Buffer(Some(0)))],
        reaches: None,
    };
    client.enqueue_after(hang, &[], vec![], true);
    until("two of its threads have wanted to run for a second", are_shared);
}

#[test]
fn groups_of_a_killed_manager_are_swept() {
    let living = Isolating::start(&[]);
    if living.group.is_some() {
        eprintln!("not tried: managers have groups of their own here (RACKLOOM_CGROUP)");
        return;
    }
    let mut killed = living.beside(Place::Here);
    let groups = groups_of(&living);
    if groups.is_empty() {
        eprintln!("not tried: this user may make no control groups here");
        return;
    }
    assert_eq!(groups.len() % 2, 0, "there are two managers, in each tree: {groups:?}");
    let client = killed.client();
    with_kernels(&client);
    let keepers = killed.workers();
    let signal = |pid: &u32, which| {
        rustix::process::kill_process(rustix::process::Pid::from_raw(*pid as i32).unwrap(), which).unwrap();
    };
    keepers.iter().for_each(|pid| signal(pid, Signal::STOP));
    killed.process.kill();
    keepers.iter().for_each(|pid| signal(pid, Signal::KILL));
    client.ended();
    assert!(groups.iter().all(|group| group.exists()), "there is something to sweep");
    let next = living.beside(Place::Here);
    assert_eq!(groups_of(&next).len(), groups.len());
    assert_eq!(groups.iter().filter(|group| group.exists()).count(), groups.len() / 2, "the living one's");
    let neighbour = living.client();
    with_kernels(&neighbour);
    counts_to(&neighbour, 1);
}

/// What a kernel takes beyond its group's memory ends its process. Addresses are bounded in the same place, so this
/// takes files in memory, for which it needs no addresses.
#[cfg(target_arch = "x86_64")]
#[test]
fn files_in_memory_without_end() {
    crate::siege::Siege::here(|siege| {
        if siege.lacks("control groups") {
            eprintln!("not tried: this system has no control groups with bounds for this user");
            return;
        }
        let body = "for (;;) { long file = sys(319, (long)x, 0, 0, 0, 0, 0);
            if (file < 0 || sys(285, file, 0, 0, 1L << 28, 0, 0) < 0) break; }
            spin();";
        siege.withstands("files in memory without end", body);
    });
}
