//! The two processes that stand between the data and a program.
//!
//! The *keeper* makes the namespaces and starts the *first* process in them; it ends when that one has ended, and kills it
//! when told to. The first process puts the view together, gives up its rights one after another, and becomes the
//! program. Both are this executable again: no code runs between `fork` and `exec`, so nothing here is unsafe.

use super::{calls, orders::Orders, view};
use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus, Scope,
};
use nix::{
    errno::Errno,
    fcntl::{OFlag, open, openat},
    sched::{CloneFlags, CpuSet, sched_setaffinity, unshare},
    sys::{
        prctl,
        resource::{Resource, setrlimit},
        signal::{SigSet, Signal, kill},
        stat::Mode,
        wait::{WaitPidFlag, WaitStatus, waitpid},
    },
    unistd::{Gid, Pid, Uid, close, getegid, geteuid, setgroups, sethostname, setresgid, setresuid, setsid},
};
use std::{
    env,
    ffi::{OsStr, OsString},
    fmt::Display,
    fs::{self, File},
    io::{self, Read, Write},
    os::{fd::OwnedFd, unix::process::CommandExt},
    path::Path,
    process::{Command, Stdio},
};

/// The word that makes this executable a keeper.
pub(crate) const KEEPER: &str = "equipoise-sandbox-keeper";
/// The word that makes it the first process of a block.
const FIRST: &str = "equipoise-sandbox-first";
/// The word that makes it say which version it is.
pub(crate) const VERSION: &str = "equipoise-sandbox-version";
/// Where a part of the sandbox finds the number of the process that started it, as `/proc` shows it.
pub(crate) const STARTED_BY: &str = "EQUIPOISE_STARTED_BY";
/// The exit code of a sandbox that could not be built.
pub(crate) const NOT_BUILT: u8 = 250;
/// The exit code where the sandbox stands, but the program cannot be started in it.
pub(crate) const NOT_STARTED: u8 = 251;

/// What could not be done, and what the kernel said.
#[derive(Clone, Debug)]
pub(crate) struct Stage(String);

impl Stage {
    pub fn at<E: Display>(what: &'static str) -> impl Fn(E) -> Self {
        move |error| Self(format!("{what}: {error}"))
    }

    pub fn of<'a, E: Display>(what: &'a str, path: &'a Path) -> impl Fn(E) -> Self + 'a {
        move |error| Self(format!("{what} ({}): {error}", path.display()))
    }
}

/// What a keeper says of itself: one of another version might understand its orders otherwise.
pub(crate) fn version() -> String {
    format!("{VERSION} {}", env!("CARGO_PKG_VERSION"))
}

/// If this process was started to be part of a sandbox, be that, and end with this code. Call it first thing in
/// `main`, before any thread is started.
pub fn take_part() -> Option<u8> {
    let mut words = env::args_os().skip(1);
    let first = words.next()?;
    let role: fn(&Orders) -> Result<u8, Stage> = match first.to_str()? {
        VERSION => {
            let _ = write!(io::stdout(), "{}", version());
            return Some(0);
        }
        KEEPER => keep,
        FIRST => become_program,
        _ => return None,
    };
    let code = match Orders::read(words) {
        Some(orders) => close_inherited().and_then(|()| role(&orders)),
        None => Err(Stage("orders: not understood".to_string())),
    };
    Some(code.unwrap_or_else(|Stage(what)| {
        // Whoever started this reads it; where that is gone, nobody needs to know.
        let _ = writeln!(io::stderr(), "{what}");
        NOT_BUILT
    }))
}

/// Close what whoever started this left open: a file of theirs would be a way out, and one that blocks share. Nothing of
/// this process is open yet.
fn close_inherited() -> Result<(), Stage> {
    let open: Vec<i32> = fs::read_dir("/proc/self/fd")
        .map_err(Stage::at("/proc/self/fd"))?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    for file in open.into_iter().filter(|&file| file > 2) {
        // The list itself was one of them, and is closed already.
        let _ = close(file);
    }
    Ok(())
}

/// May this process become somebody else? Then no user namespace is needed.
fn is_privileged() -> bool {
    // Without the right to change its identity, root is an ordinary user: inside a container's namespace, say.
    geteuid().is_root() && setgroups(&[]).is_ok()
}

/// The number of this process, as `/proc` shows it.
pub(crate) fn own_number() -> io::Result<OsString> {
    Ok(fs::read_link("/proc/self")?.into_os_string())
}

/// End when whoever started this ends; also if that has happened already, before the kernel was asked for the signal.
fn end_with_starter() -> Result<(), Stage> {
    prctl::set_pdeathsig(Signal::SIGKILL).map_err(Stage::at("session"))?;
    let status = fs::read_to_string("/proc/self/status").map_err(Stage::at("/proc/self/status"))?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")).map(str::trim);
    let starter = env::var_os(STARTED_BY);
    if parent.is_some() && parent.map(OsStr::new) == starter.as_deref() {
        Ok(())
    } else {
        Err(Stage("session: whoever started this has ended".to_string()))
    }
}

fn keep(orders: &Orders) -> Result<u8, Stage> {
    setsid().map_err(Stage::at("session"))?;
    end_with_starter()?;
    let mut awaited = SigSet::empty();
    awaited.add(Signal::SIGTERM);
    awaited.add(Signal::SIGCHLD);
    awaited.thread_block().map_err(Stage::at("signals"))?;
    if let Some(processor) = orders.processor {
        let mut set = CpuSet::new();
        set.set(processor).map_err(Stage::at("processor"))?;
        sched_setaffinity(Pid::from_raw(0), &set).map_err(Stage::at("processor"))?;
    }
    blur_numbers().map_err(Stage::at("numbers"))?;
    let mut namespaces = CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS
        | CloneFlags::CLONE_NEWCGROUP;
    let (user, group) = (geteuid(), getegid());
    let privileged = is_privileged();
    if !privileged {
        namespaces |= CloneFlags::CLONE_NEWUSER;
    }
    unshare(namespaces).map_err(Stage::at("namespaces"))?;
    if !privileged {
        let own = open("/proc/self", OFlag::O_PATH | OFlag::O_CLOEXEC, Mode::empty())
            .map_err(Stage::at("/proc"))?;
        map_identity(&own, (0, user.as_raw()), (0, group.as_raw()))?;
    }
    let role = if privileged { "chosen" } else { "mapped" };
    let words = orders.words();
    let mut first = Command::new("/proc/self/exe");
    first.arg(FIRST).args(words).env_clear().env("EQUIPOISE_IDENTITY", role);
    first.env(STARTED_BY, own_number().map_err(Stage::at("/proc/self"))?);
    let first = first.spawn().map_err(Stage::at("first process"))?;
    let pid = Pid::from_raw(first.id().cast_signed());
    loop {
        match awaited.wait() {
            Ok(Signal::SIGTERM) => {
                let _ = kill(pid, Signal::SIGKILL);
            }
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(Stage::at("signals")(error)),
        }
        match waitpid(pid, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(_, code)) => return Ok(u8::try_from(code).unwrap_or(1)),
            Ok(WaitStatus::Signaled(..)) => return Ok(1),
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(Stage::at("first process")(error)),
        }
    }
}

/// Pipes are numbered in turn on each processor, a thousand at a time: a program could leave a message in the last digits
/// for the next block there. A random number of pipes is made in between.
fn blur_numbers() -> io::Result<()> {
    let mut random = [0; 2];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    for _ in 0..u16::from_le_bytes(random) % 1024 {
        nix::unistd::pipe()?;
    }
    Ok(())
}

/// Write who this process is inside its new user namespace: (inside, outside) for user and group.
fn map_identity(own: &OwnedFd, user: (u32, u32), group: (u32, u32)) -> Result<(), Stage> {
    let put = |name: &str, text: String| -> Result<(), Stage> {
        let file = openat(own, name, OFlag::O_WRONLY | OFlag::O_CLOEXEC, Mode::empty());
        let file = file.map_err(Stage::at("user namespace"))?;
        File::from(file).write_all(text.as_bytes()).map_err(Stage::at("user namespace"))
    };
    put("setgroups", "deny".to_string())?;
    put("uid_map", format!("{} {} 1", user.0, user.1))?;
    put("gid_map", format!("{} {} 1", group.0, group.1))
}

fn become_program(orders: &Orders) -> Result<u8, Stage> {
    // From the beginning: what is built below takes a while, and whoever keeps this may end meanwhile.
    end_with_starter()?;
    // Its own entry in the old /proc, which is about to be covered.
    let own =
        open("/proc/self", OFlag::O_PATH | OFlag::O_CLOEXEC, Mode::empty()).map_err(Stage::at("/proc"))?;
    // The first to go where memory runs out, before whoever holds the data.
    fs::write("/proc/self/oom_score_adj", "1000").map_err(Stage::at("/proc/self/oom_score_adj"))?;
    let chosen = env::var_os("EQUIPOISE_IDENTITY").is_some_and(|role| role == "chosen");
    let owner = chosen.then(|| free_identity(orders.identity)).transpose()?;
    view::enter(orders, owner)?;
    sethostname("block").map_err(Stage::at("host name"))?;
    give_up_identity(&own, owner)?;
    drop(own);
    limit(orders)?;
    // Set again: it is forgotten where a process becomes somebody else.
    prctl::set_pdeathsig(Signal::SIGKILL).map_err(Stage::at("session"))?;
    std::env::set_current_dir(view::WORK).map_err(Stage::at("scratch folder"))?;
    if let Some(name) = orders.input.file_name() {
        let mut file = File::create(name).map_err(Stage::at("scratch folder"))?;
        io::copy(&mut io::stdin(), &mut file).map_err(Stage::at("scratch folder"))?;
    }
    let mut command = command(orders);
    prctl::set_no_new_privs().map_err(Stage::at("no new rights"))?;
    restrict_files()?;
    let filter = calls::filter().map_err(Stage::at("system calls"))?;
    seccompiler::apply_filter(&filter).map_err(Stage::at("system calls"))?;
    #[cfg(feature = "wasm")]
    if crate::program::is_module(Path::new(&orders.command[0])) {
        return Ok(run_module(orders));
    }
    // Comes back only where it failed.
    let error = command.exec();
    let _ = writeln!(io::stderr(), "{error}");
    Ok(NOT_STARTED)
}

/// A module runs here, in place of a program.
#[cfg(feature = "wasm")]
fn run_module(orders: &Orders) -> u8 {
    let limits = &orders.limits;
    let sizes = crate::wasm::Sizes { memory: limits.memory, answer: limits.answer, steps: limits.steps };
    let run = || -> Result<(), Box<dyn std::error::Error>> {
        let module = fs::read(&orders.command[0])?;
        let mut block = Vec::new();
        io::stdin().read_to_end(&mut block)?;
        let answer = crate::wasm::run(&module, &block, sizes)?;
        Ok(io::stdout().write_all(&answer)?)
    };
    match run() {
        Ok(()) => 0,
        Err(error) => {
            if orders.messages {
                let _ = writeln!(io::stderr(), "{error}");
            }
            1
        }
    }
}

/// An identity that nobody else has, where there is one: neither other blocks nor users of the machine.
fn free_identity(wanted: u32) -> Result<u32, Stage> {
    const FIRST_FREE: u32 = 0x4000_0000;
    const NOBODY: u32 = 65534;
    let map = fs::read_to_string("/proc/self/uid_map").map_err(Stage::at("identity"))?;
    let known = |id: u32| {
        map.lines().any(|line| {
            let mut numbers = line.split_whitespace().filter_map(|word| word.parse::<u64>().ok());
            let (start, count) = (numbers.next().unwrap_or(0), numbers.nth(1).unwrap_or(0));
            (start..start + count).contains(&u64::from(id))
        })
    };
    [FIRST_FREE + wanted % FIRST_FREE, NOBODY]
        .into_iter()
        .find(|&id| known(id))
        .ok_or_else(|| Stage("identity: no identity but root's can be taken here".to_string()))
}

/// Become nobody: a free identity where that can be chosen, else a user namespace inside the one that owns the view, so
/// that no right over the view is left.
fn give_up_identity(own: &OwnedFd, owner: Option<u32>) -> Result<(), Stage> {
    let Some(id) = owner else {
        unshare(CloneFlags::CLONE_NEWUSER).map_err(Stage::at("user namespace"))?;
        return map_identity(own, (view::INSIDE_ID, 0), (view::INSIDE_ID, 0));
    };
    let (user, group) = (Uid::from_raw(id), Gid::from_raw(id));
    setgroups(&[]).map_err(Stage::at("identity"))?;
    setresgid(group, group, group).map_err(Stage::at("identity"))?;
    setresuid(user, user, user).map_err(Stage::at("identity"))
}

fn limit(orders: &Orders) -> Result<(), Stage> {
    let limits = &orders.limits;
    for (what, most) in [
        (Resource::RLIMIT_AS, limits.memory),
        (Resource::RLIMIT_DATA, limits.memory),
        (Resource::RLIMIT_NPROC, limits.processes),
        (Resource::RLIMIT_FSIZE, limits.scratch),
        (Resource::RLIMIT_NOFILE, 256),
        (Resource::RLIMIT_CORE, 0),
        (Resource::RLIMIT_MEMLOCK, 64 << 10),
        (Resource::RLIMIT_MSGQUEUE, 0),
        (Resource::RLIMIT_SIGPENDING, 256),
        (Resource::RLIMIT_RTPRIO, 0),
    ] {
        setrlimit(what, most, most).map_err(Stage::at("limits"))?;
    }
    Ok(())
}

/// Read and run what is shown, write in the scratch folder, talk to nobody; required from the first version of Landlock
/// on, with all that later ones add where the kernel has them.
fn restrict_files() -> Result<(), Stage> {
    let read = AccessFs::from_read(ABI::V1);
    let (first, later) = (AccessFs::from_all(ABI::V1), AccessFs::from_all(ABI::V5));
    let rules = || -> Result<_, landlock::RulesetError> {
        let ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(first)?
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(later)?
            .handle_access(AccessNet::from_all(ABI::V4))?
            .scope(Scope::from_all(ABI::V6))?
            .create()?;
        // Names everywhere, contents of all but /proc: numbers of the whole machine stand in its files.
        let names = PathBeneath::new(folder("/"), AccessFs::ReadDir);
        let work = PathBeneath::new(folder(view::WORK), later);
        let devices = PathBeneath::new(folder("/dev"), AccessFs::WriteFile | AccessFs::ReadFile);
        let mut ruleset = ruleset.add_rule(names)?.add_rule(work)?.add_rule(devices)?;
        for top in readable() {
            ruleset = ruleset.add_rule(PathBeneath::new(top, read))?;
        }
        ruleset.restrict_self()
    };
    let status = rules().map_err(Stage::at("Landlock"))?;
    if status.ruleset == RulesetStatus::NotEnforced {
        return Err(Stage("Landlock: not enforced".to_string()));
    }
    Ok(())
}

/// The folders at the top of the view, but for /proc.
fn readable() -> Vec<PathFd> {
    let entries = fs::read_dir("/").into_iter().flatten().filter_map(Result::ok);
    let folders = entries.filter(|entry| entry.file_name() != "proc" && entry.path().is_dir());
    folders.filter_map(|entry| PathFd::new(entry.path()).ok()).collect()
}

fn folder(path: &str) -> PathFd {
    PathFd::new(path).expect("a folder that was just made")
}

fn command(orders: &Orders) -> Command {
    let mut command = Command::new(&orders.command[0]);
    let environment = orders.environment.iter().map(|(name, value): &(OsString, OsString)| (name, value));
    command.args(&orders.command[1..]).env_clear().envs(environment);
    if orders.input.file_name().is_some() {
        command.stdin(Stdio::null());
    }
    // What a program says of its rows is not for anybody.
    if !orders.messages {
        command.stderr(Stdio::null());
    }
    command
}
