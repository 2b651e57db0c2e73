//! The system's trees of control groups, and where this process is in each.
//!
//! Version 2 is one tree for all controllers; in version 1 each controller, or a few together, have a tree of their
//! own. A hybrid system has both: its controllers are in trees of version 1, and the tree of version 2 has none.

use std::fs;
use std::path::{Path, PathBuf};

/// A tree, and the group of this process in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tree {
    /// Where the group of this process is mounted.
    pub(crate) own: PathBuf,
    pub(crate) version: Version,
}

/// The version of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Version {
    One {
        /// Controllers in it, as `memory`.
        controllers: Vec<String>,
    },
    Two,
}

impl Tree {
    /// Whether it is of version 1 and has this controller.
    pub(crate) fn controls(&self, controller: &str) -> bool {
        matches!(&self.version, Version::One { controllers } if controllers.iter().any(|one| one == controller))
    }
}

/// All trees that are mounted here.
pub(crate) fn trees() -> Vec<Tree> {
    let read = |file| fs::read_to_string(file).unwrap_or_default();
    among(&read("/proc/self/cgroup"), &read("/proc/self/mountinfo"))
}

/// `groups`: lines `NUMBER:CONTROLLER,...:PATH`, without controllers for version 2 (cgroups(7)).
fn among(groups: &str, mounts: &str) -> Vec<Tree> {
    let tree = |line: &str| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let controllers: Vec<_> = controllers.split(',').filter(|one| !one.is_empty()).map(str::to_owned).collect();
        let version = if controllers.is_empty() { Version::Two } else { Version::One { controllers } };
        Some(Tree { own: place(path, &version, mounts)?, version })
    };
    groups.lines().filter_map(tree).collect()
}

/// Where a group is mounted.
fn place(path: &str, version: &Version, mounts: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (mount, kind) = line.split_once(" - ")?;
        let mut words = mount.split(' ').skip(3);
        let (root, at) = (words.next()?, words.next()?);
        let below = Path::new(path).strip_prefix(root).ok()?;
        let is_it = match version {
            Version::Two => kind.starts_with("cgroup2 "),
            Version::One { controllers } => {
                let mut options = kind.rsplit(' ').next()?.split(',');
                kind.starts_with("cgroup ") && options.any(|option| option == controllers[0])
            }
        };
        is_it.then(|| Path::new(at).join(below))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two(own: &str) -> Tree {
        Tree { own: own.into(), version: Version::Two }
    }

    #[test]
    fn groups_are_found_among_the_mounts() {
        let mounts = "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n\
                      35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
                      36 31 0:33 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:8 - cgroup cgroup rw,cpu,cpuacct\n\
                      41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw\n";
        assert_eq!(among("0::/a/b\n", mounts), [two("/sys/fs/cgroup/unified/a/b")]);
        let hybrid = among("8:pids:/p\n4:memory:/m\n2:cpu,cpuacct:/\n1:name=systemd:/s\n0::/\n", mounts);
        let at = |controller| hybrid.iter().find(|tree| tree.controls(controller)).map(|tree| tree.own.clone());
        assert_eq!(at("memory"), Some("/sys/fs/cgroup/memory/m".into()));
        assert_eq!((at("cpu"), at("cpuacct")), (Some("/sys/fs/cgroup/cpu,cpuacct/".into()), at("cpu")));
        assert_eq!(at("pids"), None, "it is not mounted");
        assert_eq!(hybrid.last(), Some(&two("/sys/fs/cgroup/unified/")));
        assert_eq!(hybrid.len(), 3);
    }

    #[test]
    fn a_container_sees_its_part_of_a_tree() {
        let part = "41 31 0:38 /docker/x /sys/fs/cgroup rw - cgroup2 cgroup rw\n";
        assert_eq!(among("0::/docker/x/y\n", part), [two("/sys/fs/cgroup/y")]);
        assert_eq!(among("0::/other\n", part), []);
        assert_eq!(among("0::/a\n", "35 31 0:32 / /m rw - cgroup cgroup rw,memory\n"), []);
        assert_eq!(among("nonsense\n0:\n::\n", part), []);
    }
}
