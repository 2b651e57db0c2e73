//! System calls that a kernel has no business with.

use libc::c_long;
use rackloom_opencl_wire::Argument;

use crate::calls::{ROOM, begin, call, load};
use crate::common::Tenant;
use crate::isolating::{Isolating, Place};
use crate::siege::Siege;
use crate::site::until;

/// A call, its arguments, and whether one of them points to what `room` says.
type Call = (c_long, [i64; 4], u8);

/// Calls that fail.
const REFUSED: &[Call] = &[
    // Sockets of every family that has let somebody out.
    (libc::SYS_socket, [libc::AF_UNIX as i64, 1, 0, 0], 0),
    (libc::SYS_socket, [libc::AF_INET as i64, 1, 0, 0], 0),
    (libc::SYS_socket, [libc::AF_INET as i64, 2, 0, 0], 0),
    (libc::SYS_socket, [libc::AF_INET as i64, 3, 1, 0], 0),
    (libc::SYS_socket, [libc::AF_INET6 as i64, 2, 0, 0], 0),
    (libc::SYS_socket, [libc::AF_NETLINK as i64, 3, 0, 0], 0),
    (libc::SYS_socket, [libc::AF_PACKET as i64, 3, 0, 0], 0),
    (libc::SYS_socket, [libc::AF_VSOCK as i64, 1, 0, 0], 0),
    (libc::SYS_socket, [libc::AF_ALG as i64, 5, 0, 0], 0),
    (libc::SYS_connect, [0, ROOM, 16, 0], 2),
    (libc::SYS_accept4, [0, 0, 0, 0], 0),
    // Processes, and what others do.
    (libc::SYS_fork, [0; 4], 0),
    (libc::SYS_clone, [libc::SIGCHLD as i64, 0, 0, 0], 0),
    (libc::SYS_clone, [(libc::CLONE_VFORK | libc::CLONE_NEWUSER) as i64, 0, 0, 0], 0),
    (libc::SYS_clone3, [ROOM, 88, 0, 0], 1),
    (libc::SYS_execve, [ROOM, 0, 0, 0], 1),
    (libc::SYS_execveat, [libc::AT_FDCWD as i64, ROOM, 0, 0], 2),
    (libc::SYS_kill, [1, 9, 0, 0], 0),
    (libc::SYS_kill, [-1, 0, 0, 0], 0),
    (libc::SYS_tkill, [1, 9, 0, 0], 0),
    (libc::SYS_pidfd_open, [1, 0, 0, 0], 0),
    (libc::SYS_pidfd_send_signal, [0, 9, 0, 0], 0),
    (libc::SYS_setpriority, [0, 0, -20, 0], 0),
    (libc::SYS_sched_setscheduler, [0, 1, ROOM, 0], 4),
    (libc::SYS_prlimit64, [0, libc::RLIMIT_CORE as i64, ROOM, 0], 4),
    (libc::SYS_setrlimit, [libc::RLIMIT_CORE as i64, ROOM, 0, 0], 2),
    // Itself.
    (libc::SYS_setuid, [0; 4], 0),
    (libc::SYS_setgroups, [0; 4], 0),
    (libc::SYS_capset, [ROOM, ROOM, 0, 0], 3),
    (libc::SYS_prctl, [libc::PR_SET_PDEATHSIG as i64, 0, 0, 0], 0),
    (libc::SYS_prctl, [libc::PR_SET_DUMPABLE as i64, 1, 0, 0], 0),
    (libc::SYS_prctl, [libc::PR_SET_PTRACER as i64, -1, 0, 0], 0),
    (libc::SYS_prctl, [libc::PR_SET_CHILD_SUBREAPER as i64, 1, 0, 0], 0),
    (libc::SYS_seccomp, [1, 0, 0, 0], 0),
    (libc::SYS_personality, [0x0400_0000, 0, 0, 0], 0),
    (libc::SYS_setsid, [0; 4], 0),
    // What outlives a process.
    (libc::SYS_shmget, [1, 4096, 0o1600, 0], 0),
    (libc::SYS_semget, [1, 1, 0o1600, 0], 0),
    (libc::SYS_msgget, [1, 0o1600, 0, 0], 0),
    (libc::SYS_mq_open, [ROOM, 0o102, 0o600, 0], 1),
    (libc::SYS_mknodat, [libc::AT_FDCWD as i64, ROOM, 0o060600, 0], 2),
    (libc::SYS_symlinkat, [ROOM, libc::AT_FDCWD as i64, ROOM, 0], 5),
    // Files of others.
    (libc::SYS_openat, [libc::AT_FDCWD as i64, ROOM, libc::O_WRONLY as i64, 0], 2),
    (libc::SYS_chdir, [ROOM, 0, 0, 0], 1),
    (libc::SYS_inotify_init1, [0; 4], 0),
    (libc::SYS_fanotify_init, [0; 4], 0),
    (libc::SYS_memfd_secret, [0; 4], 0),
    // A terminal's input, and calls of another kind.
    (libc::SYS_ioctl, [0, libc::TIOCSTI as i64, ROOM, 0], 4),
    (0x4000_0000 | libc::SYS_getpid, [0; 4], 0),
];

/// Calls that end the process that makes them.
const FATAL: &[c_long] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_keyctl,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_fsopen,
    libc::SYS_chroot,
    libc::SYS_pivot_root,
    libc::SYS_open_by_handle_at,
    libc::SYS_finit_module,
    libc::SYS_kexec_load,
    libc::SYS_swapon,
    libc::SYS_clock_settime,
];

#[test]
fn calls_that_are_refused() {
    Siege::each(|siege| {
        let attacker = siege.attacker();
        load(&attacker, "", "call");
        let own = call(&attacker, libc::SYS_getpid, [0; 4], 0, b"");
        assert!(own > 0, "calls are made: {own}");
        for (number, arguments, pointers) in REFUSED {
            // Nobody executes this one: a program that runs is refused to writers as `ETXTBSY`, before all rules.
            let result = call(&attacker, *number, *arguments, *pointers, b"/etc/passwd\0");
            let refused = [libc::EPERM, libc::EACCES, libc::ENOSYS].map(|code| -i64::from(code));
            assert!(refused.contains(&result), "call {number} of {arguments:?}: {result}");
        }
        siege.is_served();
    });
}

#[test]
fn calls_that_end_their_process() {
    Siege::here(|siege| {
        for number in FATAL {
            let attacker = siege.attacker();
            load(&attacker, "", "call");
            begin_call(&attacker, *number);
            attacker.ended();
            siege.is_served();
        }
        let said = || siege.words().matches("it made a system call that no runtime makes").count();
        until("the manager names each", || said() == FATAL.len());
    });
}

/// The table of calls of 32 bits has other numbers: 26 is `ptrace`, 20 is `getpid`.
#[test]
fn calls_of_another_word_size() {
    Siege::here(|siege| {
        let attack = "long r; __asm__ volatile(\"int $0x80\" : \"=a\"(r) : \"a\"(20L)); x[7] = r; spin();";
        let attacker = siege.attacker();
        load(&attacker, &format!("kernel void attack(global long *x) {{ {attack} }}"), "attack");
        begin(&attacker);
        attacker.ended();
        until("the manager says so", || siege.words().contains("was ended by signal 31"));
        siege.is_served();
    });
}

#[test]
fn files_that_hold_secrets() {
    Siege::each(|siege| {
        let attacker = siege.attacker();
        load(&attacker, "", "call");
        let open = |path: &[u8]| {
            let at = [libc::AT_FDCWD.into(), ROOM, libc::O_RDONLY.into(), 0];
            call(&attacker, libc::SYS_openat, at, 2, path)
        };
        assert!(open(b"/usr/bin/env\0") > 0, "programs can be read");
        if siege.reads_runtimes_only() {
            for path in [&b"/etc/shadow\0"[..], b"/root\0", b"/home\0", b"/var/log\0", b"/tmp\0", b"/proc/1/environ\0"]
            {
                let result = open(path);
                assert!(result < 0, "{}: {result}", String::from_utf8_lossy(path));
            }
        }
        assert!(open(b"/proc/self/mem\0") != 0);
    });
}

fn begin_call(t: &Tenant, number: c_long) {
    let words = [number, 0, 0, 0, 0, 0, 0, 0, 0].map(i64::to_le_bytes).concat();
    assert_eq!(t.write(9, 0, &words).status, 0);
    t.enqueue_after(Tenant::launch(9, 1, vec![(0, Argument::Buffer(Some(9)))]), &[], vec![], true);
}

#[test]
fn who_requires_isolation_gets_it_or_nothing() {
    let options = ["--require-isolation"];
    Siege::here(|siege| assert!(siege.words().contains("are confined by: "), "{}", siege.words()));
    if !Siege::lacks_layers() {
        drop(Isolating::start(&options));
        let said = Isolating::refuses(Place::Here, &["--require-isolation", "--isolate", "none"]);
        assert!(said.contains("would have no process of their own"), "{said}");
    }
    let said = Isolating::refuses(Place::Bare, &options);
    assert!(said.contains("this system lacks namespaces"), "{said}");
}
