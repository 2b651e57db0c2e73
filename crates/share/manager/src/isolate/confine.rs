//! Confinement of a worker: a hostile kernel can make it do anything that the system lets it do.
//!
//! It may read programs and libraries (and what its client's sources include, if the client is a process of the
//! manager's user), write one folder, and use device files unless it works on a processor. Everything else is denied:
//! other files of the manager's user, signals to its processes, connections (Landlock, Linux 5.13 and later; each part
//! as far as the system supports it). Threads of the runtime inherit it, so it is done before they start.

use std::path::PathBuf;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetStatus, Scope, path_beneath_rules,
};

use super::control::{ReadAccess, WorkerSetup};

/// Folders of runtimes' libraries, compilers and settings, and of the system's own information.
const READ: [&str; 14] = [
    "/bin",
    "/dev",
    "/etc",
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

/// Confines this process; returns whether the system supports it.
pub(super) fn confine(WorkerSetup { origin, own, access }: &WorkerSetup) -> anyhow::Result<bool> {
    let abi = ABI::V6;
    let (read, all) = (AccessFs::from_read(abi), AccessFs::from_all(abi));
    // A library may be anywhere, and what it needs beside it.
    let beside = origin.library.canonicalize().ok().and_then(|library| Some(library.parent()?.to_path_buf()));
    let all_files = (*access == ReadAccess::User).then_some("/");
    let readable = READ.into_iter().chain(all_files).map(PathBuf::from).chain(beside);
    let devices = (!origin.is_processor).then_some(DEVICES);
    let writable = WRITE.into_iter().chain(devices).map(PathBuf::from).chain([own.clone()]);
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)?
        .handle_access(AccessNet::from_all(abi))?
        .scope(Scope::from_all(abi))?
        .create()?
        .add_rules(path_beneath_rules(readable, read))?
        .add_rules(path_beneath_rules(writable, all))?
        .restrict_self()?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}
