//! The system calls of a worker, by what it needs them for. It is locked in when its device is open.
//!
//! What nobody listed fails with `EPERM`, so a library that tries something new goes on without it. Calls that no
//! runtime makes end the process: whoever makes one means harm, or is taken over, and the board is another's at once.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Cmp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter_all_threads,
};

/// Files below the folders that Landlock leaves to the process.
const FILES: &[c_long] = &[
    libc::SYS_openat,
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_preadv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_pwrite64,
    libc::SYS_pwritev,
    libc::SYS_lseek,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlinkat,
    libc::SYS_getdents64,
    libc::SYS_getcwd,
    libc::SYS_mkdirat,
    libc::SYS_unlinkat,
    libc::SYS_renameat2,
    libc::SYS_linkat,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_fadvise64,
    libc::SYS_flock,
    libc::SYS_fcntl,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_pipe2,
    libc::SYS_umask,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_utimensat,
    libc::SYS_copy_file_range,
    libc::SYS_sendfile,
];

/// The same, as older programs on this architecture call them.
#[cfg(target_arch = "x86_64")]
const OLD: &[c_long] = &[
    libc::SYS_open,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_readlink,
    libc::SYS_mkdir,
    libc::SYS_rmdir,
    libc::SYS_unlink,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_link,
    libc::SYS_chmod,
    libc::SYS_dup2,
    libc::SYS_pipe,
    libc::SYS_poll,
    libc::SYS_select,
    libc::SYS_epoll_create,
    libc::SYS_epoll_wait,
    libc::SYS_eventfd,
    libc::SYS_getdents,
    libc::SYS_time,
    libc::SYS_arch_prctl,
    libc::SYS_getpgrp,
];
#[cfg(target_arch = "aarch64")]
const OLD: &[c_long] = &[libc::SYS_renameat];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const OLD: &[c_long] = &[];

/// Memory of the process, of buffers, and of code that a runtime compiles.
const MEMORY: &[c_long] = &[
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_msync,
    libc::SYS_mincore,
    libc::SYS_membarrier,
    libc::SYS_memfd_create,
    libc::SYS_mlock,
    libc::SYS_munlock,
];

/// Threads and their signals.
const THREADS: &[c_long] = &[
    libc::SYS_futex,
    libc::SYS_futex_waitv,
    libc::SYS_set_robust_list,
    libc::SYS_get_robust_list,
    libc::SYS_rseq,
    libc::SYS_set_tid_address,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_getparam,
    libc::SYS_sched_getscheduler,
    libc::SYS_sched_get_priority_max,
    libc::SYS_sched_get_priority_min,
    libc::SYS_getcpu,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_gettid,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
];

/// What the process and the system are.
const FACTS: &[c_long] = &[
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getgroups,
    libc::SYS_getrusage,
    libc::SYS_uname,
    libc::SYS_sysinfo,
    libc::SYS_getrandom,
    libc::SYS_getpgid,
    libc::SYS_getsid,
];

/// Time, and waiting.
const TIME: &[c_long] = &[
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_times,
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_eventfd2,
    libc::SYS_timerfd_create,
    libc::SYS_timerfd_settime,
    libc::SYS_timerfd_gettime,
];

/// The sockets that it holds. It can make no other.
const CHANNEL: &[c_long] = &[
    libc::SYS_sendmsg,
    libc::SYS_recvmsg,
    libc::SYS_sendto,
    libc::SYS_recvfrom,
    libc::SYS_shutdown,
    libc::SYS_getsockopt,
    libc::SYS_setsockopt,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
];

/// The linker of a processor's compiler is a program of its own. Landlock allows no other.
const LINKER: &[c_long] = &[libc::SYS_execve, libc::SYS_wait4, libc::SYS_waitid];

/// Places of memory, which drivers of other devices choose.
const PLACES: &[c_long] = &[
    libc::SYS_mbind,
    libc::SYS_get_mempolicy,
    libc::SYS_set_mempolicy,
    libc::SYS_mlock2,
    libc::SYS_mlockall,
    libc::SYS_munlockall,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_socketpair,
];

/// Calls that no runtime makes.
const HOSTILE: &[c_long] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_process_madvise,
    // Large and young parts of the system, where its flaws have been.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // Namespaces and the tree of files.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_by_handle_at,
    // The machine.
    libc::SYS_reboot,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_syslog,
];

/// Where the system has no calls of a newer kind, libraries take the older one, whose flags show in its arguments.
const ABSENT: &[c_long] = &[libc::SYS_clone3];

/// Names of threads and of their memory.
const NAMES: [u64; 3] = [libc::PR_SET_NAME as u64, libc::PR_GET_NAME as u64, 0x5356_4d41];

/// What files tell of themselves on a processor: whether they are terminals, how much they have, their flags.
const QUESTIONS: [u64; 4] = [0x5401, 0x541b, 0x5450, 0x5451];

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Locks all threads of this process in; returns whether the system supports it. It runs on a processor, or on another
/// device with a driver.
pub(super) fn lock_in(is_processor: bool) -> anyhow::Result<bool> {
    let Ok(arch) = TargetArch::try_from(std::env::consts::ARCH) else { return Ok(false) };
    let all = |calls: &[c_long]| -> Rules { calls.iter().map(|call| (*call, Vec::new())).collect() };
    let deny = |rules, action| -> anyhow::Result<BpfProgram> {
        Ok(SeccompFilter::new(rules, SeccompAction::Allow, action, arch)?.try_into()?)
    };
    let filters = [
        deny(all(HOSTILE), SeccompAction::KillProcess)?,
        deny(all(ABSENT), SeccompAction::Errno(libc::ENOSYS as u32))?,
        SeccompFilter::new(
            allowed(is_processor)?,
            SeccompAction::Errno(libc::EPERM as u32),
            SeccompAction::Allow,
            arch,
        )?
        .try_into()?,
    ];
    for filter in &filters {
        match apply_filter_all_threads(filter) {
            Err(seccompiler::Error::Seccomp(why)) if why.raw_os_error() == Some(libc::ENOSYS) => return Ok(false),
            other => other?,
        }
    }
    Ok(true)
}

fn allowed(is_processor: bool) -> anyhow::Result<Rules> {
    let more = if is_processor { LINKER } else { PLACES };
    let sorts = [FILES, OLD, MEMORY, THREADS, FACTS, TIME, CHANNEL, ABSENT, more];
    let mut rules: Rules = sorts.concat().into_iter().map(|call| (call, Vec::new())).collect();
    // Threads, and on a processor the linker, whose parent waits until it runs. No namespaces.
    let spaces = (libc::CLONE_NEWUSER | libc::CLONE_NEWPID | libc::CLONE_NEWNET | libc::CLONE_NEWNS) as u64
        | (libc::CLONE_NEWIPC | libc::CLONE_NEWUTS | libc::CLONE_NEWCGROUP) as u64;
    let clone = |kind: i32| is(0, Cmp::MaskedEq(spaces | kind as u64), kind as u64);
    let mut clones = vec![clone(libc::CLONE_THREAD)?];
    if is_processor {
        clones.push(clone(libc::CLONE_VFORK)?);
        #[cfg(target_arch = "x86_64")]
        rules.insert(libc::SYS_vfork, Vec::new());
    }
    rules.insert(libc::SYS_clone, clones);
    // Signals to itself: a runtime that aborts.
    let own = u64::from(std::process::id());
    rules.insert(libc::SYS_tgkill, vec![is(0, Cmp::Eq, own)?]);
    rules.insert(libc::SYS_prctl, NAMES.iter().map(|name| is(0, Cmp::Eq, *name)).collect::<anyhow::Result<_>>()?);
    // Limits are read only.
    rules.insert(libc::SYS_prlimit64, vec![is(2, Cmp::Eq, 0)?]);
    let questions = QUESTIONS.iter().map(|question| is(1, Cmp::Eq, *question)).collect::<anyhow::Result<_>>()?;
    rules.insert(libc::SYS_ioctl, if is_processor { questions } else { Vec::new() });
    Ok(rules)
}

/// A rule of one argument.
fn is(argument: u8, how: Cmp, value: u64) -> anyhow::Result<SeccompRule> {
    let condition = SeccompCondition::new(argument, Len::Qword, how, value)?;
    Ok(SeccompRule::new(vec![condition])?)
}
