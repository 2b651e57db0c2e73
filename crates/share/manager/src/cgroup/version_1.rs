//! Bounds of control groups of version 1, and an end of all that are in one, which this version has no word for.

use std::fs;
use std::io;
use std::path::Path;

use rustix::process::{Pid, Signal};

use super::Bounds;
use super::trees::Tree;

/// The controllers that bound what workers have. In the tree of `cpu` each group has as much of the processors as any
/// other, with no more than being there.
pub(super) const CONTROLLERS: [&str; 3] = ["cpu", "memory", "pids"];

/// Those of them that a worker needs from its start.
pub(super) const BOUNDS: [&str; 2] = ["memory", "pids"];

/// Bounds what those in a group may have, as far as its tree can.
///
/// # Errors
/// The system does not allow it.
pub(super) fn bound(tree: &Tree, group: &Path, Bounds { memory, processes }: Bounds) -> io::Result<()> {
    if tree.controls("memory") {
        let _ = fs::write(group.join("memory.use_hierarchy"), "1"); // Always so from Linux 5.11 on.
        fs::write(group.join("memory.limit_in_bytes"), memory.to_string())?;
        // With swap; a system that does not count it has no such file.
        let _ = fs::write(group.join("memory.memsw.limit_in_bytes"), memory.to_string());
    }
    if tree.controls("pids") {
        fs::write(group.join("pids.max"), processes.to_string())?;
    }
    Ok(())
}

/// Gives a group in a tree of `cpu` the weight of so many threads.
pub(super) fn weigh(group: &Path, threads: u64) {
    let _ = fs::write(group.join("cpu.shares"), (1024 * threads).min(262_144).to_string()); // Or it has that of one.
}

/// Bytes that those in a group may have, with what the groups above it allow.
pub(super) fn memory_max(group: &Path) -> Option<u64> {
    let stat = fs::read_to_string(group.join("memory.stat")).ok()?;
    stat.lines().find_map(|line| line.strip_prefix("hierarchical_memory_limit "))?.trim().parse().ok()
}

/// Ends all processes in a group. In the tree of `pids` none can begin meanwhile.
pub(super) fn kill(group: &Path) {
    let _ = fs::OpenOptions::new().write(true).open(group.join("pids.max")).and_then(|mut file| {
        io::Write::write_all(&mut file, b"0") // Not made where there is none.
    });
    for _ in 0..ROUNDS {
        let all = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
        let mut pids = all.lines().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).peekable();
        if pids.peek().is_none() {
            return;
        }
        pids.for_each(|pid| {
            let _ = rustix::process::kill_process(pid, Signal::KILL); // Or it has ended.
        });
    }
}

/// Those that begin while others are killed are in the next round.
const ROUNDS: u32 = 8;
