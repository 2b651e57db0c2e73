//! Processes that have no business in a group.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::Duration;

use rackloom_collective::{Datatype, Kind, Op, Operation};
use rackloom_hosts::{HostError, HostGroup, Secret, Start};

use crate::{Ranks, join};

pub(crate) fn none(_: &Start) {}

fn barrier(group: &HostGroup) {
    let barrier = Operation { kind: Kind::Barrier, count: 0, datatype: Datatype::I8, op: Op::Sum, root: 0 };
    group.run(&barrier, &[], &mut []).unwrap();
}

pub(crate) fn part(start: &Start) {
    barrier(&join(start));
}

pub(crate) fn test() {
    let mut ranks = Ranks::empty();
    let size = 3;
    ranks.children.push(Ranks::spawn("strangers_do_not_get_in_and_hold_nobody_up", &ranks.start(0, size)));
    // One says nothing and goes; one says nonsense.
    let connect = || loop {
        match UnixStream::connect(ranks.meet()) {
            Ok(stream) => return stream,
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    drop(connect());
    connect().write_all(&[0x55; 300]).unwrap();
    let why = |start: Start| HostGroup::join(&start).unwrap_err().to_string();
    let wrong = Start { secret: Secret::random().unwrap(), ..ranks.start(1, size) };
    // It sees that rank 0 does not know its secret either, and says nothing that rank 0 could use.
    assert!(why(wrong).contains("cannot meet"), "a wrong secret");
    assert!(why(ranks.start(1, 2)).contains("a start of 2 ranks, and this one has 3"));
    ranks.children.push(Ranks::spawn("strangers_do_not_get_in_and_hold_nobody_up", &ranks.start(1, size)));
    std::thread::sleep(Duration::from_millis(200));
    assert!(why(ranks.start(1, size)).contains("another process is rank 1"));
    ranks.children.push(Ranks::spawn("strangers_do_not_get_in_and_hold_nobody_up", &ranks.start(2, size)));
    ranks.succeed();
}

pub(crate) fn folder_test() {
    let ranks = Ranks::empty();
    let folder = ranks.meet().parent().unwrap().to_owned();
    for mode in [0o755, 0o770, 0o701] {
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)).unwrap();
        for rank in [0, 1] {
            let error = HostGroup::join(&ranks.start(rank, 2)).unwrap_err();
            let HostError::Meet { source, .. } = error else { panic!("{error}") };
            assert!(source.to_string().contains("mode 700"), "{source}");
        }
    }
    assert!(!ranks.meet().exists());
}

pub(crate) fn missing_test() {
    let ranks = Ranks::empty();
    let alone = Start { patience: Duration::from_millis(100), ..ranks.start(0, 3) };
    assert!(matches!(HostGroup::join(&alone), Err(HostError::Missing { missing: 2, size: 3 })));
    assert!(matches!(HostGroup::join(&Start { rank: 1, ..alone.clone() }), Err(HostError::Meet { .. })));
    for (rank, size) in [(0, 0), (2, 2), (0, 65)] {
        assert!(matches!(HostGroup::join(&ranks.start(rank, size)), Err(HostError::Start(_))));
    }
}

/// Only the superuser can become another user; elsewhere there is nothing to try.
pub(crate) fn user_test() {
    let is_root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    if !is_root {
        return println!("another user was not tried: that takes the superuser");
    }
    let ranks = Ranks::of("another_user_can_neither_meet_nor_read", 2, |_| ());
    std::thread::sleep(Duration::from_millis(300));
    let as_nobody = |script: String| {
        let done = Command::new("sh").args(["-c", &script]).uid(65534).gid(65534).current_dir("/").output().unwrap();
        done.status.success()
    };
    let pid = ranks.children[0].id();
    assert!(as_nobody("true".to_owned()), "it can run something");
    assert!(!as_nobody(format!("ls {}", ranks.meet().parent().unwrap().display())));
    for what in ["environ", "mem", "fd/3", "map_files", "maps"] {
        assert!(!as_nobody(format!("ls /proc/{pid}/map_files && cat /proc/{pid}/{what}")), "{what}");
        assert!(!as_nobody(format!("head -c 1 /proc/{pid}/{what}")), "{what}");
    }
    let memory = |pid: u32| {
        let fds = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().filter_map(Result::ok);
        fds.filter_map(|fd| std::fs::read_link(fd.path()).ok())
            .any(|to| to.display().to_string().contains("rackloom-hosts"))
    };
    assert!(memory(pid), "the superuser sees that there is such memory");
    ranks.succeed();
}

pub(crate) fn user_part(start: &Start) {
    let group = join(start);
    std::thread::sleep(Duration::from_millis(1000));
    barrier(&group);
}
