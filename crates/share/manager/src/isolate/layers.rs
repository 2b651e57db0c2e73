//! What confines the process of a client, as far as the system has it.

use serde::{Deserialize, Serialize};

/// The layers that confine clients' processes on this machine.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layers {
    /// Namespaces of their own: processes, network, shared memory, mounts.
    pub namespaces: bool,
    /// Each is a user of its own.
    pub own_user: bool,
    /// The folder that they may write is in memory and bounded.
    pub folder: bool,
    /// Control groups bound their memory, processes and share of the processors.
    pub cgroup: bool,
    /// Landlock bounds their files.
    pub landlock: bool,
    /// Their system calls are those of a list.
    pub seccomp: bool,
}

/// A layer that this system lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lack {
    /// Its name.
    pub layer: &'static str,
    /// What that means.
    pub means: &'static str,
    /// Whether `--require-isolation` asks for it.
    pub is_required: bool,
}

impl Layers {
    /// Those that both have.
    #[must_use]
    pub(crate) const fn and(self, other: Self) -> Self {
        Self {
            namespaces: self.namespaces && other.namespaces,
            own_user: self.own_user && other.own_user,
            folder: self.folder && other.folder,
            cgroup: self.cgroup && other.cgroup,
            landlock: self.landlock && other.landlock,
            seccomp: self.seccomp && other.seccomp,
        }
    }

    /// Each layer, and whether it is there.
    const fn each(self) -> [(Lack, bool); 6] {
        let Self { namespaces, own_user, folder, cgroup, landlock, seccomp } = self;
        [
            (
                Lack {
                    layer: "namespaces",
                    means: "what a client's process began is found by descent when it ends",
                    is_required: true,
                },
                namespaces,
            ),
            (
                Lack {
                    layer: "users of their own",
                    means: "clients' processes are the manager's user; one of root gives others, if these can open its devices",
                    // Only root can give them.
                    is_required: false,
                },
                own_user,
            ),
            (
                Lack {
                    layer: "bounded folders",
                    means: "a hostile kernel may fill the disk that TMPDIR is on, by files of up to 1 GiB",
                    is_required: true,
                },
                folder,
            ),
            (
                Lack {
                    layer: "control groups",
                    means: "hostile kernels may use more than --host-memory together, and processors outside of turns",
                    // It takes from others only time and memory, and few systems delegate groups unasked.
                    is_required: false,
                },
                cgroup,
            ),
            (
                Lack {
                    layer: "Landlock",
                    means: "a hostile kernel reads and writes what the manager's user may",
                    is_required: true,
                },
                landlock,
            ),
            (Lack { layer: "seccomp", means: "a hostile kernel may make any system call", is_required: true }, seccomp),
        ]
    }

    /// The names of those that are there.
    #[must_use]
    pub fn present(self) -> Vec<&'static str> {
        self.each().into_iter().filter_map(|(lack, is_there)| is_there.then_some(lack.layer)).collect()
    }

    /// Those that this system lacks.
    #[must_use]
    pub fn missing(self) -> Vec<Lack> {
        self.each().into_iter().filter_map(|(lack, is_there)| (!is_there).then_some(lack)).collect()
    }
}
