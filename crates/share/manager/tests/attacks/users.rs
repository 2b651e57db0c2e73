//! A user of its own for each client's process.

use std::collections::BTreeSet;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::Command;

use rackloom_ipc::Endpoint;
use rackloom_manager::installed;

use crate::calls::{call, load};
use crate::common::Tenant;
use crate::isolating::{Isolating, Place, with_kernels};
use crate::site::{Process, until};

/// The first number that no distribution assigns.
const FIRST: u32 = 0x7000_0000;

/// The numbers behind this name in what the system says of a process.
fn numbers(status: &str, name: &str) -> Vec<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("it is said");
    line.split_whitespace().map(|number| number.parse().unwrap()).collect()
}

/// What the system says of the processes that run clients' kernels.
fn workers(manager: &Isolating) -> Vec<String> {
    let all = manager.statuses().into_iter();
    all.filter(|status| status.starts_with("Name:\trackloom-worker\n")).collect()
}

/// Whether a manager of this user gives users: of root, where all numbers exist.
fn gives_users() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap();
    rustix::process::geteuid().is_root() && map.trim_end().ends_with(" 4294967295")
}

#[test]
fn each_process_is_a_user_of_its_own_if_root_serves() {
    for place in [Place::Here, Place::Plain, Place::Bare] {
        let Some(manager) = Isolating::start_in(place, &[]) else { continue };
        let clients = [manager.client(), manager.client(), Tenant::connect(&manager.tcp)];
        clients.iter().for_each(with_kernels);
        let workers = workers(&manager);
        assert!(workers.len() >= clients.len());
        let users: BTreeSet<_> = workers.iter().map(|status| numbers(status, "Uid:")[0]).collect();
        if !manager.gives_users() {
            assert!(place != Place::Here || !gives_users(), "root gives users");
            assert_eq!(users.len(), 1, "the manager's");
            continue;
        }
        assert_eq!(place, Place::Here);
        assert_eq!(users.len(), workers.len(), "{users:?}");
        assert!(users.iter().all(|user| *user >= FIRST), "{users:?}");
        for status in &workers {
            let user = numbers(status, "Uid:")[0];
            for name in ["Uid:", "Gid:"] {
                assert_eq!(numbers(status, name), [user; 4], "{name}");
            }
            assert!(numbers(status, "Groups:").is_empty());
            for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
                assert!(status.contains(&format!("{set}:\t0000000000000000\n")), "{set} of {status}");
            }
        }
        // The kernel is that user, and so is all that it does.
        let attacker = Tenant::connect(&manager.tcp);
        load(&attacker, "", "call");
        for number in [libc::SYS_getuid, libc::SYS_geteuid, libc::SYS_getgid] {
            let user = call(&attacker, number, [0; 4], 0, b"");
            assert!(user >= i64::from(FIRST), "{user}");
        }
    }
}

#[test]
fn a_runtime_that_others_cannot_open_is_used_as_the_managers_user() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own");
    std::fs::create_dir_all(own.join("below")).unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
    std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o700)).unwrap();
    let pocl = installed().into_iter().find(|library| library.to_string_lossy().contains("pocl"));
    let pocl = pocl.expect("PoCL is installed (apt-get install pocl-opencl-icd)");
    let pocl = if pocl.is_absolute() { pocl } else { on_the_system(&pocl.to_string_lossy()) };
    // PoCL looks for its parts beside itself.
    let [runtime, parts] = ["libpocl.so", "pocl"].map(|name| own.join("below").join(name));
    symlink(&pocl, &runtime).unwrap();
    symlink(pocl.parent().unwrap().join("pocl"), &parts).unwrap();
    let socket = folder.path().join("manager.sock");
    let mut command = Command::new(env!("CARGO_BIN_EXE_rackloom-manager"));
    command.arg("--runtime").arg(&runtime).args(["--listen", &format!("unix:{}", socket.display())]);
    let manager = Process::spawn(command.env("TMPDIR", folder.path()));
    until("the manager listens", || socket.exists());
    let client = Tenant::connect(&Endpoint::Unix(socket));
    client.buffer(1, 8);
    assert_eq!(client.write(1, 0, b"as root ").status, 0);
    assert_eq!(client.read(1, 0, 8).tail, b"as root ");
    let words = manager.words();
    assert!(words.contains("lacks users of their own"), "{words}");
    // It says why, if it is one that gives users.
    let has_tried = words.contains("stay the manager's user");
    assert!(!has_tried || words.contains(&format!("cannot open the runtime {}", runtime.display())), "{words}");
    assert!(has_tried || !gives_users(), "{words}");
}

/// The path of a library that the dynamic linker finds by its name.
fn on_the_system(name: &str) -> PathBuf {
    let folders = ["/usr/lib", "/usr/lib64", "/usr/local/lib"].map(PathBuf::from).into_iter();
    let below = folders.clone().flat_map(|folder| folder.read_dir().into_iter().flatten().flatten());
    let all = folders.chain(below.map(|entry| entry.path()));
    all.map(|folder| folder.join(name)).find(|path| path.exists()).expect("it is in a usual place")
}
