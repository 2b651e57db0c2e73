//! What a worker may touch of the system: a hostile kernel can make it do anything that it may.
//!
//! Programs and libraries it may read (and what its client's sources include, if that is a process of the manager's
//! user), one folder it may write, and the files of devices unless it works on a processor. That is all: no other file
//! of the manager's user, no signal to its processes, no connection (Landlock, Linux 5.13 and later; each part as far
//! as the system has it). It is inherited by the runtime's threads, so it has to be done before those begin.

use std::path::PathBuf;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetStatus, Scope, path_beneath_rules,
};

use super::control::{ReadAccess, WorkerSetup};

/// Where runtimes have their libraries, compilers and settings, and the system tells of itself.
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

/// What any program may write.
const WRITE: [&str; 5] = ["/dev/full", "/dev/null", "/dev/random", "/dev/urandom", "/dev/zero"];

/// What a driver of some hardware needs: nobody knows by which of its files.
const DEVICES: &str = "/dev";

/// Confines this process to its place; whether the system can.
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
