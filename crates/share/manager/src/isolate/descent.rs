//! The processes that descend from one.

use std::fs;

use rustix::process::Pid;

/// All that descend from a process, as far as none of them changes meanwhile.
pub(super) fn descendants(of: Pid) -> Vec<Pid> {
    let mut all = vec![of];
    let mut at = 0;
    while let Some(parent) = all.get(at) {
        // Each thread may have children.
        let threads = fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
        let children = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
        let children: String = children.collect();
        all.extend(children.split_whitespace().filter_map(|child| child.parse().ok().and_then(Pid::from_raw)));
        at += 1;
    }
    all.split_off(1)
}
