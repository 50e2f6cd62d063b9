//! A program as it was typed, and which of its files it must see.

use crate::{Refusal, fingerprint::Fingerprint, sandbox::is_system};
use std::{
    env,
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::Read,
    os::unix::{ffi::OsStrExt, fs::PermissionsExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// A program and its arguments, unchanged but for paths: those of files that exist are made absolute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    command: Vec<OsString>,
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    /// Files that make it what it is: scripts, and programs that belong to no installation.
    own: Vec<PathBuf>,
}

impl Program {
    /// Find the program, and the files among its arguments.
    pub fn new<S: AsRef<OsStr>>(name: impl AsRef<OsStr>, arguments: &[S]) -> Result<Self, Refusal> {
        if is_module(Path::new(name.as_ref())) {
            return Self::module(Path::new(name.as_ref()));
        }
        let found = find(name.as_ref())?;
        let mut program = Self { command: vec![found.clone().into()], ..Self::default() };
        program.add_executable(&found);
        if let Some(interpreter) = interpreter(&found) {
            program.add_executable(&interpreter);
        }
        for argument in arguments {
            program.add_argument(argument.as_ref())?;
        }
        Ok(program)
    }

    /// A WebAssembly module, which takes no arguments.
    fn module(path: &Path) -> Result<Self, Refusal> {
        if !cfg!(feature = "wasm") {
            return Err(Refusal::line(
                "this build does not run WebAssembly modules; build it with 'cargo build --release --features wasm'",
            ));
        }
        let mut program = Self::default();
        program.add_argument(path.as_os_str())?;
        if program.files.is_empty() {
            return Err(Refusal::line(format!("there is no module '{}'", path.display())));
        }
        Ok(program)
    }

    /// A command line: the program, then its arguments.
    pub fn from_words<S: AsRef<OsStr>>(words: &[S]) -> Result<Self, Refusal> {
        match words {
            [name, arguments @ ..] => Self::new(name, arguments),
            [] => Err(Refusal::line("which program? Write it after --, such as -- python3 fit.py")),
        }
    }

    pub(crate) fn command(&self) -> &[OsString] {
        &self.command
    }

    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Folders of programs that belong to it.
    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// What it is, for a hash: its words, and what stands in its own files.
    pub(crate) fn tell(&self, fingerprint: &mut Fingerprint) -> Result<(), Refusal> {
        for word in &self.command {
            fingerprint.word(word);
        }
        self.own.iter().try_for_each(|path| fingerprint.path(path))
    }

    /// Is it a WebAssembly module?
    pub(crate) fn is_module(&self) -> bool {
        is_module(Path::new(&self.command[0]))
    }

    /// The name for messages.
    pub fn name(&self) -> String {
        let name = Path::new(&self.command[0]).file_name().unwrap_or_default();
        name.to_string_lossy().chars().filter(|c| !c.is_control()).collect()
    }

    /// An executable, and the installation that it is part of.
    fn add_executable(&mut self, path: &Path) {
        for place in [Some(path.to_path_buf()), path.canonicalize().ok()].into_iter().flatten() {
            match installation(&place) {
                Some(whole) if is_personal(&whole) => {
                    // Not all that somebody has: what a program of theirs needs.
                    self.folders.push(whole.join("bin"));
                    let parts = [whole.join("bin"), whole.join("lib")];
                    self.files.extend(parts.into_iter().filter(|part| part.is_dir()));
                }
                Some(whole) => {
                    self.folders.push(whole.join("bin"));
                    self.files.push(whole);
                }
                None => {
                    if !is_system(&place) {
                        self.own.push(place.clone());
                    }
                    self.files.push(place);
                }
            }
        }
    }

    fn add_argument(&mut self, argument: &OsStr) -> Result<(), Refusal> {
        let path = Path::new(argument);
        let Ok(kind) = fs::metadata(path) else {
            self.command.push(argument.to_os_string());
            return Ok(());
        };
        if !kind.is_file() {
            self.command.push(argument.to_os_string());
            return Ok(());
        }
        if nix::unistd::geteuid().is_root() && kind.permissions().mode() & 0o004 == 0 {
            return Err(Refusal::line(format!(
                "'{}' cannot be read by others, and run by root a program is nobody; chmod o+r it",
                path.display()
            )));
        }
        let whole = std::path::absolute(path)
            .map_err(|error| Refusal::line(format!("'{}': {error}", path.display())))?;
        self.command.push(whole.clone().into());
        self.own.push(whole.clone());
        self.files.push(whole);
        Ok(())
    }
}

/// Is this a WebAssembly module, by its name?
pub(crate) fn is_module(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "wasm" || ending == "wat")
}

/// The executable of this name: a path, or the first on the PATH.
fn find(name: &OsStr) -> Result<PathBuf, Refusal> {
    let runs = |path: &Path| {
        fs::metadata(path).is_ok_and(|kind| kind.is_file() && kind.permissions().mode() & 0o111 != 0)
    };
    let shown = Path::new(name).display();
    if name.as_bytes().contains(&b'/') {
        let path = std::path::absolute(name).map_err(|error| Refusal::line(format!("'{shown}': {error}")))?;
        return if runs(&path) {
            Ok(path)
        } else {
            Err(Refusal::line(format!(
                "'{shown}' is not a program that can be run; give its interpreter first, such as python3 {shown}"
            )))
        };
    }
    let folders = env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let found = env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| runs(path));
    let found = found.ok_or_else(|| {
        Refusal::line(format!("no program '{shown}' is on the PATH; install it, or give its whole path"))
    })?;
    if !is_shim(&found) {
        return Ok(found);
    }
    meant_by(&found).filter(|path| runs(path) && !is_shim(path)).ok_or_else(|| {
        Refusal::line(format!(
            "'{shown}' is a shim of a version manager ('{}'), which looks for the real one where a sandbox shows nothing; give the \
             path that the manager's command 'which {shown}' prints",
            found.display()
        ))
    })
}

/// Is this a script of a version manager (pyenv, rbenv, nodenv, asdf, mise) that stands for one of several versions of a program?
fn is_shim(path: &Path) -> bool {
    path.parent().is_some_and(|folder| folder.ends_with("shims"))
}

/// The program that a shim stands for, as its manager says. The manager is the user's own, and is asked as the user would ask it:
/// before anything is charged, without data, outside of any sandbox.
fn meant_by(shim: &Path) -> Option<PathBuf> {
    let root = shim.parent()?.parent()?;
    let named = root.file_name()?.to_str()?.trim_start_matches('.').to_string();
    let managers = [named.as_str(), "pyenv", "rbenv", "nodenv", "asdf", "mise"];
    let inside =
        managers.iter().flat_map(|name| [root.join("bin").join(name), root.join("libexec").join(name)]);
    let folders = env::var_os("PATH").unwrap_or_default();
    let on_path = env::split_paths(&folders).map(|folder| folder.join(&named));
    let manager = inside.chain(on_path).find(|path| path.is_file() && !is_shim(path))?;
    let told =
        Command::new(manager).arg("which").arg(shim.file_name()?).stderr(Stdio::null()).output().ok()?;
    let line = told.stdout.split(|&byte| byte == b'\n').next()?;
    let path = PathBuf::from(OsStr::from_bytes(line));
    (told.status.success() && path.is_absolute()).then_some(path)
}

/// The interpreter that a script's first line names.
fn interpreter(script: &Path) -> Option<PathBuf> {
    let mut start = Vec::new();
    File::open(script).ok()?.take(256).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let text = std::str::from_utf8(line).ok()?;
    let path = PathBuf::from(text.split_whitespace().next()?);
    (path.is_absolute() && path.exists()).then_some(path)
}

/// The folder of a whole installation, such as a virtual environment, if the executable is part of one. A mere
/// `bin` in somebody's home is none.
fn installation(executable: &Path) -> Option<PathBuf> {
    let bin = executable.parent()?;
    let whole = bin.parent().filter(|_| bin.ends_with("bin"))?;
    if whole == Path::new("/") || whole == Path::new("/usr") || whole == Path::new("/usr/local") {
        return None;
    }
    let marked = ["pyvenv.cfg", "conda-meta", "lib/R", "lib64/R", "lib/julia", "lib/node_modules"]
        .iter()
        .any(|mark| whole.join(mark).exists());
    let has_python = || {
        let mut entries = fs::read_dir(whole.join("lib")).ok()?;
        entries.find(|entry| {
            entry.as_ref().is_ok_and(|entry| entry.file_name().as_bytes().starts_with(b"python"))
        })
    };
    (marked || has_python().is_some()).then(|| whole.to_path_buf())
}

/// Is this somebody's home, or holds it what they have installed and stored?
fn is_personal(folder: &Path) -> bool {
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let is_home =
        users.lines().filter_map(|line| line.split(':').nth(5)).any(|home| folder == Path::new(home));
    is_home
        || env::var_os("HOME").is_some_and(|home| folder == Path::new(&home))
        || folder.ends_with(".local")
}

#[cfg(test)]
impl Program {
    /// A command that nobody looked for.
    pub(crate) fn unseen(command: &str) -> Self {
        Self { command: vec![command.into()], ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_and_files_among_arguments_become_absolute() {
        let program = Program::new("sh", &["-c", "true", "Cargo.toml", "no such file"]).unwrap();
        let here = std::path::absolute("Cargo.toml").unwrap();
        assert!(Path::new(&program.command()[0]).is_absolute());
        assert_eq!(
            program.command()[1..],
            ["-c".into(), "true".into(), here.clone().into(), OsString::from("no such file")]
        );
        assert!(program.files().contains(&here));
        assert_eq!(program.name(), "sh");
        // Folders are words: whoever wants one shown says so.
        let words = Program::new("sh", &["src", ""]).unwrap();
        assert_eq!(words.command()[1..], [OsString::from("src"), OsString::new()]);
        assert!(!words.files().iter().any(|file| file.ends_with("src")));
    }

    /// A stored answer is given again for the same program only, and a program of one's own is what stands in its file.
    #[test]
    fn a_changed_program_is_another_one_whether_it_is_run_or_read() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("fit");
        let hash = |program: &Program| {
            let mut fingerprint = Fingerprint::default();
            program.tell(&mut fingerprint).unwrap();
            fingerprint.text()
        };
        let hashes = |text: &str| {
            fs::write(&script, text).unwrap();
            fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
            let run = Program::new(&script, &[] as &[&str]).unwrap();
            let read = Program::new("sh", &[&script]).unwrap();
            [hash(&run), hash(&read)]
        };
        let (one, other) = (hashes("#!/bin/sh\necho 1\n"), hashes("#!/bin/sh\necho 2\n"));
        assert!(one[0] != other[0] && one[1] != other[1] && one[0] != one[1]);
        assert_eq!(hashes("#!/bin/sh\necho 1\n"), one);
    }

    #[test]
    fn run_by_root_a_file_that_others_cannot_read_is_refused() {
        if !nix::unistd::geteuid().is_root() {
            return;
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        let with = |mode: u32| {
            fs::set_permissions(file.path(), fs::Permissions::from_mode(mode)).unwrap();
            Program::new("sh", &[file.path()])
        };
        for mode in [0o600, 0o640, 0o611] {
            let refused = with(mode).unwrap_err().to_string();
            assert!(refused.contains("cannot be read by others"), "{refused}");
        }
        assert!(with(0o604).is_ok() && with(0o644).is_ok());
    }

    #[test]
    fn what_is_no_program_is_one_line() {
        for (words, said) in [
            (&["no-such-program-anywhere"][..], "no program 'no-such-program-anywhere' is on the PATH"),
            (&["./Cargo.toml"], "'./Cargo.toml' is not a program that can be run"),
            (&[], "which program?"),
        ] {
            let error = Program::from_words(words).unwrap_err().to_string();
            assert!(error.starts_with(said) && !error.contains('\n'), "{error}");
        }
    }

    /// A shim was run as the script that it is, and ended with "cannot be started" or 127.
    #[test]
    fn a_shim_of_a_version_manager_is_the_program_that_it_stands_for() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join(".pyenv");
        let script = |path: PathBuf, text: &str| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            path
        };
        let real = script(root.join("versions/3.9/bin/python3"), "#!/bin/sh\n");
        let shim = script(root.join("shims/python3"), "#!/bin/sh\nexit 1\n");
        assert!(is_shim(&shim) && !is_shim(&real));
        let says = |line: &str| script(root.join("bin/pyenv"), &format!("#!/bin/sh\n{line}\n"));
        says(&format!("[ \"$1 $2\" = 'which python3' ] && echo {}", real.display()));
        assert_eq!(meant_by(&shim), Some(real));
        for line in ["echo nothing", "exit 1", "true"] {
            says(line);
            assert_eq!(meant_by(&shim), None, "{line}");
        }
    }

    #[test]
    fn an_installation_is_shown_whole_but_a_home_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        fs::create_dir(&bin).unwrap();
        assert_eq!(installation(&bin.join("tool")), None);
        fs::write(folder.path().join("pyvenv.cfg"), "").unwrap();
        assert_eq!(installation(&bin.join("python")).as_deref(), Some(folder.path()));
        assert_eq!(installation(Path::new("/usr/bin/python3")), None);
        assert!(is_personal(Path::new("/root")) && is_personal(Path::new("/home/ann/.local")));
        assert!(!is_personal(folder.path()));
        // The home of every user, not only that of the one who asks.
        let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let homes = users.lines().filter_map(|line| line.split(':').nth(5)).filter(|home| !home.is_empty());
        for home in homes {
            assert!(is_personal(Path::new(home)), "{home}");
        }
    }
}
