//! What confines the process of a client, as far as the system has it.

use serde::{Deserialize, Serialize};

/// The layers that confine clients' processes on this machine.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layers {
    /// Namespaces of their own: processes, network, shared memory.
    pub namespaces: bool,
    /// Landlock bounds their files.
    pub landlock: bool,
    /// Their system calls are those of a list.
    pub seccomp: bool,
}

impl Layers {
    /// A name for each layer, whether it is there, and what its lack means.
    const fn each(self) -> [(&'static str, bool, &'static str); 3] {
        let Self { namespaces, landlock, seccomp } = self;
        [
            ("namespaces", namespaces, "what a client's process began is found by descent when it ends"),
            ("Landlock", landlock, "a hostile kernel reads and writes what the manager's user may"),
            ("seccomp", seccomp, "a hostile kernel may make any system call"),
        ]
    }

    /// The names of those that are there.
    #[must_use]
    pub fn present(self) -> Vec<&'static str> {
        self.each().into_iter().filter_map(|(name, is_there, _)| is_there.then_some(name)).collect()
    }

    /// The names of those that this system lacks, and what that means.
    #[must_use]
    pub fn missing(self) -> Vec<(&'static str, &'static str)> {
        self.each().into_iter().filter_map(|(name, is_there, why)| (!is_there).then_some((name, why))).collect()
    }
}
