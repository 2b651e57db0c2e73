//! Bounds of control groups of version 2.

use std::fs;
use std::io;
use std::path::Path;

use super::Bounds;

/// What bounds need. With `cpu` each group has as much of the processors as any other, however many threads it has: it
/// must be there from the start, and is enabled when it is [needed](super::processors).
const CONTROLLERS: [&str; 3] = ["cpu", "memory", "pids"];

/// The group into which the manager moves.
const MANAGER: &str = "manager";

/// Bytes of memory that a group and those above it may have; `None` if they are not bounded.
pub(super) fn memory_max(own: &Path) -> Option<u64> {
    let bounds = own.ancestors().map_while(|group| fs::read_to_string(group.join("memory.max")).ok());
    bounds.filter_map(|most| most.trim().parse().ok()).min()
}

/// Bounds what those in a group may have.
///
/// # Errors
/// The system does not allow it.
pub(super) fn bound(group: &Path, Bounds { memory, processes }: Bounds) -> io::Result<()> {
    fs::write(group.join("memory.max"), memory.to_string())?;
    let _ = fs::write(group.join("memory.swap.max"), "0"); // A system without swap has no such file.
    fs::write(group.join("pids.max"), processes.to_string())
}

/// Gives a group the weight of so many threads.
pub(super) fn weigh(group: &Path, threads: u64) {
    let _ = fs::write(group.join("cpu.weight"), (100 * threads).min(10_000).to_string()); // Or it has that of one.
}

/// Lets the groups below that of this process have bounds.
///
/// # Errors
/// The system does not allow it.
pub(super) fn enable_or_make_way(own: &Path) -> io::Result<()> {
    enable(own).or_else(|why| make_way(own, why))
}

/// Lets the groups below this one have bounds.
///
/// # Errors
/// The system does not allow it.
pub(super) fn enable(group: &Path) -> io::Result<()> {
    let control = group.join("cgroup.subtree_control");
    let has = fs::read_to_string(&control).unwrap_or_default();
    if CONTROLLERS.iter().all(|one| has.split_whitespace().any(|had| had == *one)) {
        return Ok(());
    }
    fs::write(&control, CONTROLLERS.map(|one| format!("+{one}")).join(" "))?;
    if has.split_whitespace().any(|had| had == "cpu") { Ok(()) } else { fs::write(control, "-cpu") }
}

/// Lets the groups below this one have equal shares of the processors.
///
/// # Errors
/// The system does not allow it any more.
pub(super) fn share_processors(group: &Path) -> io::Result<()> {
    fs::write(group.join("cgroup.subtree_control"), "+cpu")
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
    fs::write(way.join("cgroup.procs"), "0")?;
    enable(own)
}
