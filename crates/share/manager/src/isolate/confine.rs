//! Confinement of a worker: a hostile kernel can make it do anything that the system lets it do.
//!
//! Before a runtime starts it loses its capabilities and gets limits, and Landlock (Linux 5.13 and later, each part as
//! far as the system supports it) leaves it these files: it may read programs and libraries (and what its client's
//! sources include, if the client is a process of the manager's user), write one folder, run linkers if it works on a
//! processor, and else use device files. Threads of the runtime inherit all that. [`super::syscalls`] are last.

use std::fs;
use std::path::PathBuf;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetStatus, Scope, path_beneath_rules,
};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets};

use super::control::{ReadAccess, WorkerSetup};
use super::host::THREADS;
use super::keeper::Enclosure;

/// Folders of runtimes' libraries, compilers and settings, and of the system's own information.
const READ: [&str; 26] = [
    "/bin",
    "/dev",
    "/etc/OpenCL",
    "/etc/alternatives",
    "/etc/group",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/nvidia",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/vulkan",
    "/lib",
    "/lib32",
    "/lib64",
    "/nix/store",
    "/opt",
    "/proc",
    "/run/opengl-driver",
    "/sbin",
    "/snap",
    "/sys",
    "/usr",
];

/// Files that any program may write.
const WRITE: [&str; 5] = ["/dev/full", "/dev/null", "/dev/random", "/dev/urandom", "/dev/zero"];

/// Device files: which of them a driver needs is not known.
const DEVICES: &str = "/dev";

/// The linkers that processors' compilers run, and what loads programs.
const LINKERS: [&str; 9] = [
    "/usr/bin/ld",
    "/usr/bin/ld.bfd",
    "/usr/bin/ld.gold",
    "/usr/bin/ld.lld",
    "/usr/bin/lld",
    "/usr/local/bin/ld",
    "/lib64/ld-linux-x86-64.so.2",
    "/lib/ld-linux-aarch64.so.1",
    "/lib/ld-linux-riscv64-lp64d.so.1",
];

/// Confines this process; returns whether the system supports Landlock.
pub(super) fn confine(setup: &WorkerSetup) -> anyhow::Result<bool> {
    if setup.origin.is_processor {
        bound(Resource::As, may_occupy(setup.memory))?;
    }
    drop_capabilities()?;
    restrict(setup)
}

/// Memory that a processor's runtime and compiler may have beyond what its client may. Drivers of other devices reserve
/// addresses by the terabyte.
const RUNTIME: u64 = 4 << 30;

/// Bytes of memory of a worker whose client may have so many.
pub(super) const fn may_occupy(memory: u64) -> u64 {
    memory.saturating_add(RUNTIME)
}

/// Bounds what this process can take from the system. For a process whose files in `/proc` are its user's still.
pub(super) fn limit(enclosure: Enclosure, has_own_user: bool) -> anyhow::Result<()> {
    bound(Resource::Core, 0)?; // Others might read the client's bytes there.
    bound(Resource::Nofile, 1024)?;
    bound(Resource::Fsize, 1 << 30)?;
    // Elsewhere all processes of the user would count.
    if enclosure == Enclosure::Namespaces || has_own_user {
        bound(Resource::Nproc, THREADS)?;
    }
    if enclosure == Enclosure::Namespaces && counts_threads() {
        fs::write("/proc/sys/kernel/pid_max", THREADS.to_string())?;
    }
    // Whatever else runs here is more important.
    Ok(fs::write("/proc/self/oom_score_adj", "1000")?)
}

/// Whether a namespace of processes has a limit of its own (Linux 6.14); before, it is the machine's. A worker that
/// stays root needs it: no other limit counts root's processes.
fn counts_threads() -> bool {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split('.').map_while(|part| part.parse().ok());
    let version: (u32, u32) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    version >= (6, 14) && rustix::process::geteuid().is_root()
}

fn bound(resource: Resource, most: u64) -> anyhow::Result<()> {
    let most = Some(getrlimit(resource).maximum.map_or(most, |hard| most.min(hard)));
    Ok(setrlimit(resource, Rlimit { current: most, maximum: most })?)
}

fn drop_capabilities() -> anyhow::Result<()> {
    for capability in CapabilitySet::all() {
        // Needs a capability itself, and without one there is nothing to drop.
        let _ = rustix::thread::remove_capability_from_bounding_set(capability);
    }
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    Ok(rustix::thread::set_capabilities(None, sets)?)
}

fn restrict(WorkerSetup { origin, own, access, .. }: &WorkerSetup) -> anyhow::Result<bool> {
    let abi = ABI::V6;
    let (read, all) = (AccessFs::from_read(abi) & !AccessFs::Execute, AccessFs::from_all(abi) & !AccessFs::Execute);
    let linkers = LINKERS.into_iter().filter(|_| origin.is_processor);
    // A library may be anywhere, and what it needs beside it.
    let beside = origin.library.canonicalize().ok().and_then(|library| Some(library.parent()?.to_path_buf()));
    let all_files = (*access == ReadAccess::User).then_some("/");
    let readable = READ.into_iter().chain(all_files).map(PathBuf::from).chain(beside);
    let devices = (!origin.is_processor).then_some(DEVICES);
    let writable = WRITE.into_iter().chain(devices).map(PathBuf::from).chain([own.clone()]);
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))?
        .handle_access(AccessNet::from_all(abi))?
        .scope(Scope::from_all(abi))?
        .create()?
        .add_rules(path_beneath_rules(readable, read))?
        .add_rules(path_beneath_rules(writable, all))?
        .add_rules(path_beneath_rules(linkers, AccessFs::from_read(abi)))?
        .restrict_self()?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}
