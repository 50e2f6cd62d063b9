//! Which system calls a program may make; all others do not exist for it.
//!
//! A list of what is allowed, so that calls of future kernels are closed. Left out on purpose, although harmless-looking:
//! `flock`, record locks and leases (files such as `/dev/null` and the interpreter are shared, and a lock on one is a message
//! to another block), `inotify` (sees others open files), `keyctl` (keyrings outlive processes), `sysinfo` (load
//! and free memory), `mincore`, `cachestat`, `preadv2` (what others have read), `memfd_create` (memory that no limit counts),
//! `fadvise64` and the advice that empties or fills memory of files (what one block drops, the next finds slow), numbers of
//! sockets (`SO_COOKIE`) and of processes (`CLONE_PIDFD`), which count for the whole machine, `setsockopt` (memory that no limit
//! counts), `statfs` (how full a disk is that others write), sizes of pipes (which shrink when others have many),
//! `sendmsg` (files in flight are counted across blocks), `sched_setaffinity` (would leave the processor of its block),
//! `io_uring`, `userfaultfd`, `bpf`, `perf_event_open`, `ptrace`, namespaces and mounts.

use nix::libc::{self, c_int, c_long};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Compare, SeccompCondition,
    SeccompFilter, SeccompRule,
};
use std::collections::BTreeMap;

/// Calls that are allowed with any arguments.
const ALLOWED: &[c_long] = &[
    // Files: what they may open is decided by mounts and Landlock.
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_preadv,
    libc::SYS_pwritev,
    libc::SYS_openat,
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_lseek,
    libc::SYS_getdents64,
    libc::SYS_getcwd,
    libc::SYS_chdir,
    libc::SYS_fchdir,
    libc::SYS_mkdirat,
    libc::SYS_unlinkat,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_readlinkat,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_umask,
    libc::SYS_truncate,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_utimensat,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_pipe2,
    libc::SYS_sendfile,
    libc::SYS_splice,
    libc::SYS_tee,
    libc::SYS_copy_file_range,
    libc::SYS_getxattr,
    libc::SYS_lgetxattr,
    libc::SYS_fgetxattr,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    libc::SYS_flistxattr,
    // Memory.
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_brk,
    libc::SYS_msync,
    libc::SYS_mlock,
    libc::SYS_munlock,
    libc::SYS_membarrier,
    libc::SYS_pkey_alloc,
    libc::SYS_pkey_free,
    libc::SYS_pkey_mprotect,
    libc::SYS_get_mempolicy,
    // Its own processes and threads.
    libc::SYS_execve,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_gettid,
    libc::SYS_getpgid,
    libc::SYS_setpgid,
    libc::SYS_getsid,
    libc::SYS_setsid,
    libc::SYS_set_tid_address,
    libc::SYS_set_robust_list,
    libc::SYS_get_robust_list,
    libc::SYS_rseq,
    libc::SYS_futex,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_getparam,
    libc::SYS_sched_getscheduler,
    libc::SYS_sched_get_priority_max,
    libc::SYS_sched_get_priority_min,
    libc::SYS_getpriority,
    libc::SYS_getcpu,
    libc::SYS_getrlimit,
    libc::SYS_prlimit64,
    libc::SYS_getrusage,
    libc::SYS_times,
    libc::SYS_restart_syscall,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getresuid,
    libc::SYS_getresgid,
    libc::SYS_getgroups,
    libc::SYS_capget,
    libc::SYS_uname,
    libc::SYS_getrandom,
    // Signals, waiting, time.
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigpending,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_sigaltstack,
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_eventfd2,
    libc::SYS_signalfd4,
    libc::SYS_timerfd_create,
    libc::SYS_timerfd_settime,
    libc::SYS_timerfd_gettime,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_getitimer,
    libc::SYS_setitimer,
    libc::SYS_timer_create,
    libc::SYS_timer_settime,
    libc::SYS_timer_gettime,
    libc::SYS_timer_getoverrun,
    libc::SYS_timer_delete,
    // Talking along pairs of sockets; no socket that has an address can be made.
    libc::SYS_sendto,
    libc::SYS_recvfrom,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_shutdown,
];

/// Older forms of the same, which only this processor has.
#[cfg(target_arch = "x86_64")]
const ALLOWED_HERE: &[c_long] = &[
    libc::SYS_open,
    libc::SYS_creat,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_poll,
    libc::SYS_select,
    libc::SYS_epoll_create,
    libc::SYS_epoll_wait,
    libc::SYS_eventfd,
    libc::SYS_signalfd,
    libc::SYS_pipe,
    libc::SYS_dup2,
    libc::SYS_getdents,
    libc::SYS_rename,
    libc::SYS_mkdir,
    libc::SYS_rmdir,
    libc::SYS_link,
    libc::SYS_unlink,
    libc::SYS_symlink,
    libc::SYS_readlink,
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
    libc::SYS_fork,
    libc::SYS_vfork,
    libc::SYS_getpgrp,
    libc::SYS_alarm,
    libc::SYS_pause,
    libc::SYS_time,
    libc::SYS_arch_prctl,
];
#[cfg(not(target_arch = "x86_64"))]
const ALLOWED_HERE: &[c_long] = &[];

/// What may be asked of an open file: nothing about locks, leases or who is told of changes.
const FILE_CONTROLS: &[c_int] = &[
    libc::F_DUPFD,
    libc::F_DUPFD_CLOEXEC,
    libc::F_GETFD,
    libc::F_SETFD,
    libc::F_GETFL,
    libc::F_SETFL,
    libc::F_GET_SEALS,
];

/// What may be asked of a device: there is no terminal, so hardly anything.
const DEVICE_CONTROLS: &[u64] =
    &[libc::TCGETS, libc::TIOCGWINSZ, libc::FIONREAD, libc::FIONBIO, libc::FIOCLEX, libc::FIONCLEX];

/// What a process may ask about itself: not whether it outlives its parent.
const SELF_CONTROLS: &[c_int] =
    &[libc::PR_SET_NAME, libc::PR_GET_NAME, libc::PR_CAPBSET_READ, libc::PR_GET_DUMPABLE, libc::PR_SET_VMA];

/// What may be said about memory: nothing that moves pages of files, or of others.
const MEMORY_ADVICE: &[c_int] = &[
    libc::MADV_NORMAL,
    libc::MADV_RANDOM,
    libc::MADV_SEQUENTIAL,
    libc::MADV_DONTNEED,
    libc::MADV_FREE,
    libc::MADV_DONTFORK,
    libc::MADV_DOFORK,
    libc::MADV_HUGEPAGE,
    libc::MADV_NOHUGEPAGE,
    libc::MADV_DONTDUMP,
    libc::MADV_DODUMP,
    libc::MADV_WIPEONFORK,
];

/// What may be asked of a pair of sockets.
const SOCKET_OPTIONS: &[c_int] =
    &[libc::SO_TYPE, libc::SO_ERROR, libc::SO_RCVBUF, libc::SO_SNDBUF, libc::SO_DOMAIN, libc::SO_PROTOCOL];

/// Flags of a new process that would make it a namespace of its own, or give it a number of the whole machine.
const NAMESPACES: c_int = libc::CLONE_PIDFD
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// The filter, ready to be applied.
pub(super) fn filter() -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for &call in ALLOWED.iter().chain(ALLOWED_HERE) {
        rules.insert(call, Vec::new());
    }
    let word = |value: c_int| u64::from(value.cast_unsigned());
    rules.insert(libc::SYS_fcntl, one_of(1, FILE_CONTROLS.iter().copied().map(word))?);
    rules.insert(libc::SYS_ioctl, one_of(1, DEVICE_CONTROLS.iter().copied())?);
    rules.insert(libc::SYS_prctl, one_of(0, SELF_CONTROLS.iter().copied().map(word))?);
    rules.insert(libc::SYS_socketpair, one_of(0, [word(libc::AF_UNIX)])?);
    rules.insert(libc::SYS_madvise, one_of(2, MEMORY_ADVICE.iter().copied().map(word))?);
    let asked = socket_options(word(libc::SOL_SOCKET), SOCKET_OPTIONS.iter().copied().map(word))?;
    rules.insert(libc::SYS_getsockopt, asked);
    // The newer clone3 hides its flags in memory; without it, libraries take this one.
    let no_namespace = SeccompCondition::new(0, Length::Qword, Compare::MaskedEq(word(NAMESPACES)), 0)?;
    rules.insert(libc::SYS_clone, vec![SeccompRule::new(vec![no_namespace])?]);
    let missing = SeccompAction::Errno(libc::ENOSYS.cast_unsigned());
    let here = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, missing, SeccompAction::Allow, here)?.try_into()
}

/// Rules that hold where an argument is one of these.
fn one_of(
    argument: u8,
    values: impl IntoIterator<Item = u64>,
) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let rule =
        |value| SeccompRule::new(vec![SeccompCondition::new(argument, Length::Dword, Compare::Eq, value)?]);
    values.into_iter().map(rule).collect()
}

/// Rules that hold for these options of one level.
fn socket_options(
    level: u64,
    options: impl IntoIterator<Item = u64>,
) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let rule = |option| {
        let level = SeccompCondition::new(1, Length::Dword, Compare::Eq, level)?;
        SeccompRule::new(vec![level, SeccompCondition::new(2, Length::Dword, Compare::Eq, option)?])
    };
    options.into_iter().map(rule).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_compiles_and_leaves_out_what_carries_messages() {
        assert!(filter().expect("a filter").len() > ALLOWED.len());
        for call in [
            libc::SYS_flock,
            libc::SYS_socket,
            libc::SYS_connect,
            libc::SYS_ptrace,
            libc::SYS_keyctl,
            libc::SYS_add_key,
            libc::SYS_inotify_add_watch,
            libc::SYS_sysinfo,
            libc::SYS_memfd_create,
            libc::SYS_io_uring_setup,
            libc::SYS_unshare,
            libc::SYS_setns,
            libc::SYS_mount,
            libc::SYS_clone3,
            libc::SYS_process_vm_readv,
            libc::SYS_shmget,
            libc::SYS_msgget,
            libc::SYS_semget,
            libc::SYS_mq_open,
            libc::SYS_bpf,
            libc::SYS_userfaultfd,
            libc::SYS_preadv2,
            libc::SYS_mincore,
            libc::SYS_sched_setaffinity,
            libc::SYS_open_by_handle_at,
            libc::SYS_fanotify_init,
            libc::SYS_sendmsg,
            libc::SYS_personality,
            libc::SYS_fadvise64,
            libc::SYS_readahead,
            libc::SYS_setsockopt,
            libc::SYS_statfs,
            libc::SYS_fstatfs,
        ] {
            assert!(!ALLOWED.contains(&call) && !ALLOWED_HERE.contains(&call), "system call {call}");
        }
    }
}
