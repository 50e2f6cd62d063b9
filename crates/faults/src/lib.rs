//! Runs a program and kills it, or lets its disk fail, at any one of its system calls.
//!
//! For tests of what must survive crashes: run once without a fault to learn how many points there are, then
//! once for each point. The program is stopped by `ptrace` at each system call of each of its threads, so there
//! is nothing to build into it. Linux on x86-64 only; where `ptrace` is forbidden, [`run`] panics and says so.
//!
//! ```
//! use equipoise_faults::{End, Fault, Program, Start, run};
//!
//! let echo = Program::new("/bin/echo").argument("hello");
//! let whole = run(&echo, Start::Program, Fault::None);
//! assert_eq!((whole.end, whole.stdout.as_str()), (End::Exited(0), "hello\n"));
//! let killed = run(&echo, Start::Program, Fault::KillAt { stop: whole.stops / 2 });
//! assert_eq!(killed.end, End::Killed);
//! ```

#![forbid(unsafe_code)]
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use nix::{
    errno::Errno,
    libc::{
        EIO, ENOSPC, PTRACE_EVENT_EXEC, PTRACE_SYSCALL_INFO_ENTRY, SYS_fallocate, SYS_fdatasync, SYS_fsync,
        SYS_ftruncate, SYS_kill, SYS_pwrite64, SYS_write, user_regs_struct,
    },
    sys::{
        ptrace::{self, Options},
        signal::{self, Signal},
        wait::{WaitPidFlag, WaitStatus, waitpid},
    },
    unistd::Pid,
};
use std::{
    collections::HashMap,
    ffi::OsString,
    io::{Read, Write},
    process::{Child, Command, Stdio},
};

/// What to run.
#[derive(Clone, Debug)]
pub struct Program {
    path: OsString,
    arguments: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
}

impl Program {
    /// The program at this path.
    pub fn new(path: impl Into<OsString>) -> Self {
        Self { path: path.into(), arguments: Vec::new(), variables: Vec::new() }
    }

    /// With one more argument.
    #[must_use]
    pub fn argument(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// With a variable of its environment.
    #[must_use]
    pub fn variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }
}

/// Where counting begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// With the program's first system call, over all threads.
    Program,
    /// Where it calls [`mark`], and only in the thread that does.
    Mark,
}

/// What happens to it. Stops and disk calls are counted from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// `kill -9` at a stop. Every system call has two: before it happens, and after.
    KillAt {
        /// Which stop.
        stop: usize,
    },
    /// A disk call fails: no space for writes, an input or output error for the others.
    Fail {
        /// Which disk call.
        call: usize,
        /// So do all after it.
        lasting: bool,
    },
    /// Half of a write reaches the disk, then `kill -9`; a call that writes nothing is left alone.
    Tear {
        /// Which disk call.
        call: usize,
    },
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this exit code.
    Exited(i32),
    /// By `kill -9`.
    Killed,
}

/// What was seen.
#[derive(Clone, Debug)]
pub struct Run {
    /// How it ended.
    pub end: End,
    /// Stops that were counted.
    pub stops: usize,
    /// Calls that write to, cut or synchronise a file (not standard output or error).
    pub disk_calls: usize,
    /// What it printed, up to 64 kilobytes.
    pub stdout: String,
    /// What it complained about, likewise.
    pub stderr: String,
}

/// Tell [`run`] to begin counting. Without it, a system call that does nothing.
pub fn mark() {
    let _ = signal::kill(Pid::this(), None);
}

/// Run a program with a fault. Panics where tracing is not permitted.
#[expect(clippy::zombie_processes, reason = "the tracer waits for its end")]
pub fn run(program: &Program, start: Start, fault: Fault) -> Run {
    let mut child = spawn(program);
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a process id"));
    // A shell that prints has been started to the end: its own start would otherwise be taken for the program's, now and then.
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_exact(&mut [0]).expect("the shell prints a line");
    let options = Options::PTRACE_O_TRACESYSGOOD
        | Options::PTRACE_O_TRACEEXEC
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_EXITKILL;
    if let Err(error) = ptrace::seize(pid, options) {
        let _ = child.kill();
        let _ = child.wait();
        panic!(
            "ptrace is not permitted here ({error}), so crashes cannot be tested; allow it \
             (kernel.yama.ptrace_scope at most 1; in a container, the capability SYS_PTRACE)"
        );
    }
    // The shell waits for this line before it becomes the program.
    child.stdin.take().expect("a pipe").write_all(b"go\n").expect("the shell reads");
    let mut tracer = Tracer {
        pid,
        fault,
        start,
        counted: Counted::Nothing,
        stops: 0,
        disk_calls: 0,
        answers: HashMap::new(),
    };
    let end = tracer.follow();
    let mut run = Run {
        end,
        stops: tracer.stops,
        disk_calls: tracer.disk_calls,
        stdout: String::new(),
        stderr: String::new(),
    };
    let readable = "the program prints text";
    stdout.read_to_string(&mut run.stdout).expect(readable);
    child.stderr.take().expect("a pipe").read_to_string(&mut run.stderr).expect(readable);
    run
}

fn spawn(program: &Program) -> Child {
    Command::new("/bin/sh")
        .args(["-c", "echo; read line; exec \"$@\"", "sh"])
        .arg(&program.path)
        .args(&program.arguments)
        .envs(program.variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a shell at /bin/sh")
}

/// What the tracer does when the call that it stopped at returns.
enum Answer {
    /// Say that it failed.
    Error(i32),
    /// Kill.
    Kill,
}

/// Whose stops count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counted {
    Nothing,
    Thread(Pid),
    Everything,
}

struct Tracer {
    pid: Pid,
    fault: Fault,
    start: Start,
    counted: Counted,
    stops: usize,
    disk_calls: usize,
    /// By thread.
    answers: HashMap<Pid, Answer>,
}

impl Tracer {
    fn follow(&mut self) -> End {
        let mut is_program = false;
        loop {
            let (thread, resume) = match self.wait() {
                WaitStatus::Exited(thread, code) if thread == self.pid => return End::Exited(code),
                WaitStatus::Signaled(thread, Signal::SIGKILL, _) if thread == self.pid => return End::Killed,
                WaitStatus::Signaled(thread, signal, _) if thread == self.pid => {
                    panic!("the program died of {signal}")
                }
                WaitStatus::PtraceEvent(thread, _, PTRACE_EVENT_EXEC) => {
                    is_program = true;
                    if self.start == Start::Program {
                        self.counted = Counted::Everything;
                    }
                    (thread, None)
                }
                WaitStatus::PtraceSyscall(thread) => {
                    if self.stopped(thread) {
                        signal::kill(self.pid, Signal::SIGKILL).expect("it is ours");
                        continue;
                    }
                    (thread, None)
                }
                WaitStatus::PtraceEvent(thread, ..) => (thread, None),
                WaitStatus::Stopped(thread, signal) => (thread, Some(signal)),
                _ => continue,
            };
            let resumed =
                if is_program { ptrace::syscall(thread, resume) } else { ptrace::cont(thread, resume) };
            match resumed {
                Ok(()) | Err(Errno::ESRCH) => {}
                Err(error) => panic!("the program cannot be resumed: {error}"),
            }
        }
    }

    /// The next news of any thread that this thread of ours traces: tests trace side by side.
    fn wait(&self) -> WaitStatus {
        loop {
            match waitpid(None, Some(WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD)) {
                Ok(status) => return status,
                Err(Errno::EINTR) => {}
                Err(error) => panic!("process {} cannot be waited for: {error}", self.pid),
            }
        }
    }

    /// At a stop before or after a call. True to kill.
    fn stopped(&mut self, thread: Pid) -> bool {
        // A thread that is being killed has nothing more to say.
        let (Ok(info), Ok(registers)) = (ptrace::syscall_info(thread), ptrace::getregs(thread)) else {
            return false;
        };
        let entry = info.op == PTRACE_SYSCALL_INFO_ENTRY;
        if self.counted == Counted::Nothing && entry && is_mark(&registers) {
            self.counted = Counted::Thread(thread);
            return false;
        }
        if self.counted != Counted::Everything && self.counted != Counted::Thread(thread) {
            return false;
        }
        let here = self.stops;
        self.stops += 1;
        if self.fault == (Fault::KillAt { stop: here }) {
            return true;
        }
        if entry {
            self.before(thread, registers);
            return false;
        }
        self.after(thread, registers)
    }

    fn before(&mut self, thread: Pid, mut registers: user_regs_struct) {
        if !is_disk_call(&registers) {
            return;
        }
        let here = self.disk_calls;
        self.disk_calls += 1;
        let answer = match self.fault {
            Fault::Fail { call, lasting } if here == call || (lasting && here > call) => {
                let code = if is_write(&registers) { ENOSPC } else { EIO };
                registers.orig_rax = u64::MAX; // no such call: nothing happens
                Answer::Error(code)
            }
            Fault::Tear { call } if here == call && is_write(&registers) => {
                registers.rdx = registers.rdx.div_ceil(2);
                Answer::Kill
            }
            _ => return,
        };
        self.answers.insert(thread, answer);
        ptrace::setregs(thread, registers).expect("a stopped program takes registers");
    }

    fn after(&mut self, thread: Pid, mut registers: user_regs_struct) -> bool {
        match self.answers.remove(&thread) {
            Some(Answer::Error(code)) => {
                registers.rax = i64::from(-code).cast_unsigned();
                ptrace::setregs(thread, registers).expect("a stopped program takes registers");
                false
            }
            Some(Answer::Kill) => true,
            None => false,
        }
    }
}

fn number(registers: &user_regs_struct) -> i64 {
    registers.orig_rax.cast_signed()
}

fn is_mark(registers: &user_regs_struct) -> bool {
    number(registers) == SYS_kill && registers.rsi == 0
}

fn is_write(registers: &user_regs_struct) -> bool {
    [SYS_write, SYS_pwrite64].contains(&number(registers)) && registers.rdi > 2
}

fn is_disk_call(registers: &user_regs_struct) -> bool {
    is_write(registers)
        || [SYS_fsync, SYS_fdatasync, SYS_ftruncate, SYS_fallocate].contains(&number(registers))
}
