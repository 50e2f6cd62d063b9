//! A sandbox for one block: who may see what, in which sizes.
//!
//! | layer | what it closes |
//! |---|---|
//! | process namespace | other processes; whatever is left when the first process ends |
//! | mount namespace | home, `/tmp`, data, ledger, `/sys`, most of `/etc`; `/proc` shows own processes only |
//! | network, IPC, host name and cgroup namespaces | networks, abstract sockets, shared memory, queues |
//! | another identity, no rights | setting anything of the machine; counters that belong to a user |
//! | Landlock | writing anywhere but in the scratch folder, also where a mount was missed |
//! | list of system calls | locks, watches, keyrings, load figures, new namespaces, tracing |
//! | limits | memory, processes, files, length of the answer |
//!
//! Root makes the namespaces by its own right and gives every block an identity that nobody has. An ordinary user makes
//! them inside a user namespace, and the program runs in a second one inside that, so that it has no right over the first.
//! Where the kernel forbids a layer, nothing runs.

mod calls;
mod inside;
mod orders;
mod view;

pub use inside::take_part;
pub(crate) use inside::{KEEPER, NOT_BUILT, NOT_STARTED, STARTED_BY, own_number};
use inside::{VERSION, version};
pub(crate) use orders::Orders;
pub use orders::{Input, Limits};
pub(crate) use view::is_system;

use crate::{Program, Refusal, fingerprint::Fingerprint};
use std::{
    env,
    ffi::OsString,
    fs::{self, File, Metadata},
    io::{self, Read},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// How programs are kept apart from the machine and from each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sandbox {
    keeper: PathBuf,
    protected: bool,
    shown: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
    /// Where the identities of this run begin.
    identities: u32,
    /// Do programs see /proc? It holds numbers that count for the whole machine.
    pub proc: bool,
    /// What a block may take.
    pub limits: Limits,
    /// How programs get their block.
    pub input: Input,
}

impl Sandbox {
    /// A sandbox kept by this very executable, whose `main` begins with [`take_part`].
    pub fn new() -> Result<Self, Refusal> {
        let keeper = env::current_exe()
            .map_err(|_| Refusal::line("the sandbox needs /proc to start itself; mount /proc"))?;
        Ok(Self::kept_by(keeper))
    }

    /// A sandbox kept by another executable whose `main` begins with [`take_part`], such as `equipoise-sandbox`.
    pub fn kept_by(keeper: impl Into<PathBuf>) -> Self {
        let keeper = keeper.into();
        Self {
            // Keepers start elsewhere.
            keeper: std::path::absolute(&keeper).unwrap_or(keeper),
            protected: true,
            shown: Vec::new(),
            hidden: Vec::new(),
            identities: random_number(),
            proc: false,
            limits: Limits::default(),
            input: Input::Stdin,
        }
    }

    /// A sandbox kept by an executable that was found somewhere: it is asked whether it is a keeper of this version.
    pub fn found_at(keeper: &Path) -> Result<Self, Refusal> {
        let said = Command::new(keeper).arg(VERSION).env_clear().stdin(Stdio::null()).output();
        if said.is_ok_and(|said| said.status.success() && said.stdout == version().as_bytes()) {
            return Ok(Self::kept_by(keeper));
        }
        Err(Refusal::line(format!(
            "'{}' is no keeper of sandboxes of version {}; install the same version of everything",
            keeper.display(),
            env!("CARGO_PKG_VERSION")
        )))
    }

    /// No sandbox: programs can do whatever the user can, and nothing is promised.
    #[must_use]
    pub fn without_protection(self) -> Self {
        Self { protected: false, ..self }
    }

    /// Is there a sandbox at all?
    pub fn is_protected(&self) -> bool {
        self.protected
    }

    pub(crate) fn keeper(&self) -> &Path {
        &self.keeper
    }

    /// Show this file or folder to programs, read-only, in the place where it lies.
    pub fn show(&mut self, path: &Path) -> Result<(), Refusal> {
        let shown = path.canonicalize().map_err(|error| {
            Refusal::line(format!("cannot show '{}' to the program: {error}", path.display()))
        })?;
        if ["/", "/proc", "/sys", "/dev", "/tmp", "/var", "/home", "/root", "/etc", "/run"]
            .iter()
            .any(|all| shown == Path::new(all))
        {
            return Err(Refusal::line(format!(
                "'{}' holds more than a program's files; show the folder that it needs",
                shown.display()
            )));
        }
        self.shown.push(path.to_path_buf());
        Ok(())
    }

    /// What is shown besides programs, for a hash.
    pub(crate) fn tell(&self, fingerprint: &mut Fingerprint) -> Result<(), Refusal> {
        self.shown.iter().try_for_each(|path| fingerprint.path(path))
    }

    /// Never show this file: the data, the ledger. Also not as part of a folder.
    pub fn hide(&mut self, path: &Path) {
        self.hidden.push(whole_path(path));
    }

    /// What is said to the sandbox of a block, or why it cannot be.
    pub(crate) fn orders(&self, program: &Program, index: usize, lane: Lane) -> Result<Orders, Refusal> {
        let mut shown: Vec<(PathBuf, PathBuf)> = Vec::new();
        for path in self.shown.iter().chain(program.files()) {
            self.add(path, &mut shown)?;
        }
        let scratch = if self.protected { PathBuf::from(view::WORK) } else { env::temp_dir() };
        Ok(Orders {
            shown,
            hidden: self.hidden.clone(),
            identity: self.identities.wrapping_add(u32::try_from(index).unwrap_or(0)),
            processor: lane.processor,
            limits: self.limits,
            input: self.input,
            proc: self.proc,
            messages: lane.messages,
            environment: environment(program, index, &scratch),
            command: program.command().to_vec(),
        })
    }

    /// A path where it lies, and where it seems to lie if a link leads to it.
    fn add(&self, path: &Path, shown: &mut Vec<(PathBuf, PathBuf)>) -> Result<(), Refusal> {
        let unreadable =
            |error| Refusal::line(format!("cannot show '{}' to the program: {error}", path.display()));
        let real = path.canonicalize().map_err(unreadable)?;
        let seen = std::path::absolute(path).map_err(unreadable)?;
        if let Some(hidden) = self.hidden.iter().find(|hidden| hidden.starts_with(&real)) {
            return Err(Refusal::line(format!(
                "'{}' would show '{}' to the program; data and ledger never enter the sandbox, the program gets its block {}",
                path.display(),
                hidden.display(),
                self.input.words(),
            )));
        }
        if let Some(hidden) = self.same_file(&real).map_err(unreadable)? {
            return Err(Refusal::line(format!(
                "'{}' holds '{}' under another name; data and ledger never enter the sandbox",
                path.display(),
                hidden.display()
            )));
        }
        for place in [&real, &seen] {
            let pair = (real.clone(), place.clone());
            if !view::is_system(place) && !shown.contains(&pair) {
                shown.push(pair);
            }
        }
        Ok(())
    }
}

impl Sandbox {
    /// What is hidden and lies here too, by another link to the same file.
    fn same_file(&self, shown: &Path) -> io::Result<Option<&Path>> {
        let number = |kind: &Metadata| (kind.dev(), kind.ino());
        let linked: Vec<(&Path, (u64, u64))> = self
            .hidden
            .iter()
            .filter_map(|path| {
                let kind = fs::metadata(path).ok()?;
                (kind.is_file() && kind.nlink() > 1).then(|| (path.as_path(), number(&kind)))
            })
            .collect();
        if linked.is_empty() || view::is_system(shown) {
            return Ok(None);
        }
        let found = |kind: &Metadata| {
            linked.iter().find(|(_, linked)| *linked == number(kind)).map(|(path, _)| *path)
        };
        let mut waiting = vec![shown.to_path_buf()];
        while let Some(path) = waiting.pop() {
            let kind = fs::symlink_metadata(&path)?;
            if let Some(hidden) = found(&kind) {
                return Ok(Some(hidden));
            }
            if kind.is_dir() {
                for entry in fs::read_dir(&path)? {
                    waiting.push(entry?.path());
                }
            }
        }
        Ok(None)
    }
}

/// The path without links, also where the file is yet to be made.
fn whole_path(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    absolute.canonicalize().unwrap_or_else(|_| match (absolute.parent(), absolute.file_name()) {
        (Some(parent), Some(name)) => {
            parent.canonicalize().unwrap_or_else(|_| parent.to_path_buf()).join(name)
        }
        _ => absolute,
    })
}

/// So that two runs at once, or a run and a rehearsal, do not share identities.
fn random_number() -> u32 {
    let mut bytes = [0; 4];
    // Where there is no such device nothing is chosen by root either.
    let _ = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    u32::from_le_bytes(bytes)
}

/// What is said of a run besides its block.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lane {
    pub processor: Option<usize>,
    pub messages: bool,
}

/// A fresh environment: nothing of the user's, and libraries that would start a thread for each processor start one.
fn environment(program: &Program, index: usize, scratch: &Path) -> Vec<(OsString, OsString)> {
    let mut path = OsString::new();
    for folder in program.folders() {
        path.push(folder);
        path.push(":");
    }
    path.push("/usr/local/bin:/usr/bin:/bin");
    let mut variables: Vec<(OsString, OsString)> = vec![
        ("PATH".into(), path),
        ("HOME".into(), scratch.into()),
        ("TMPDIR".into(), scratch.into()),
        ("LANG".into(), "C.UTF-8".into()),
        ("TZ".into(), "UTC".into()),
        ("PYTHONHASHSEED".into(), "0".into()),
        ("PYTHONDONTWRITEBYTECODE".into(), "1".into()),
        ("EQUIPOISE_BLOCK".into(), index.to_string().into()),
    ];
    for name in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"] {
        variables.push((name.into(), "1".into()));
    }
    variables
}

/// One line on why the sandbox could not be built, and what to do.
pub(crate) fn not_built(said: &str) -> Refusal {
    let said = said.lines().next().unwrap_or("no reason was given");
    let advice = match said.split(':').next().unwrap_or_default() {
        "namespaces" | "user namespace" => {
            "run as root, or let ordinary users make namespaces (user.max_user_namespaces above 0, \
             kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0; in a container, \
             its seccomp profile)"
        }
        "Landlock" => "use Linux 5.13 or newer with 'landlock' in its list of security modules (lsm=)",
        "system calls" => "use a kernel with seccomp filters (CONFIG_SECCOMP_FILTER)",
        "limits" => {
            "raise the hard limits of this shell (ulimit -H), or ask for less memory or fewer processes"
        }
        _ => "see docs/programs.md on what the sandbox needs",
    };
    Refusal::line(format!(
        "the sandbox cannot be built here ({}); {advice}; `unsafe_no_sandbox` runs without any protection",
        said.trim_end()
    ))
}
