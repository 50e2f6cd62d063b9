//! The state file: opened by one process at a time, readable by its owner alone, durable line by line.

use super::log::{Damage, Hash, Head, Line, Log, START};
use crate::file_id::FileId;
use equipoise_core::wording;
use std::{
    fmt,
    fs::{self, File, OpenOptions, Permissions, TryLockError},
    io::{self, ErrorKind, Read, Seek, SeekFrom, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

/// A state file that this process has to itself.
#[derive(Debug)]
pub(super) struct State {
    file: File,
    path: PathBuf,
    /// Which file it is.
    id: FileId,
    hash: Hash,
    /// A line could not be written: what the disk has is not known, so nothing more is.
    broken: bool,
}

impl State {
    /// Open the file, or make an empty one; what it says, if it says anything.
    pub fn open(path: &Path) -> Result<(Self, Option<Log>), StateError> {
        let at = |fault: StateFault| StateError { path: path.to_path_buf(), fault };
        let io = |error: io::Error| at(StateFault::Io(error.kind()));
        if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(at(StateFault::NotAState));
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(path).map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(at(StateFault::InUse)),
            Err(TryLockError::Error(error)) => return Err(io(error)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io)?;
        let log = Log::read(&bytes).map_err(|damage| {
            at(match damage {
                Damage::NotAState => StateFault::NotAState,
                Damage::Line(line) => StateFault::Damaged { line },
            })
        })?;
        let metadata = file.metadata().map_err(io)?;
        let id = FileId::of(&metadata);
        // Before anything is written to it: a copy stays as it is.
        if log.as_ref().and_then(|log| log.head.file).is_some_and(|written| !written.is(&id)) {
            return Err(at(StateFault::Copied));
        }
        if metadata.permissions().mode() & 0o077 != 0 {
            file.set_permissions(Permissions::from_mode(0o600)).map_err(io)?;
        }
        let whole = log.as_ref().map_or(0, |log| log.whole) as u64;
        if whole < bytes.len() as u64 {
            file.set_len(whole).map_err(io)?;
        }
        // What was read may be in memory only: it is answered by as soon as it is read.
        file.sync_all().map_err(io)?;
        file.seek(SeekFrom::Start(whole)).map_err(io)?;
        let hash = log.as_ref().map_or(START, |log| log.hash);
        Ok((Self { file, path: path.to_path_buf(), id, hash, broken: false }, log))
    }

    /// Which file it is.
    pub fn id(&self) -> FileId {
        self.id
    }

    /// Write the first line, and make the file's name durable too.
    pub fn begin(&mut self, head: Head) -> Result<(), StateError> {
        self.append(&Line::Head(head))?;
        let folder =
            self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match File::open(folder).and_then(|folder| folder.sync_all()) {
            Err(error) if error.kind() != ErrorKind::InvalidInput => {
                Err(self.failed(StateFault::Io(error.kind())))
            }
            _ => Ok(()),
        }
    }

    /// Add a line; it is on the disk when this returns.
    pub fn append(&mut self, line: &Line) -> Result<(), StateError> {
        if self.broken {
            return Err(self.failed(StateFault::Broken));
        }
        self.broken = true;
        let (text, hash) = line.write(&self.hash);
        self.file
            .write_all(text.as_bytes())
            .and_then(|()| self.file.sync_data())
            .map_err(|error| self.failed(StateFault::Io(error.kind())))?;
        (self.hash, self.broken) = (hash, false);
        Ok(())
    }

    /// Forget a monitor that was not paid for. Others may have opened the file meanwhile, but nobody has it locked.
    pub fn remove(self) {
        // What is left is a first line that was not paid for, which the next start takes up.
        let _ = fs::remove_file(&self.path);
    }

    pub fn failed(&self, fault: StateFault) -> StateError {
        StateError { path: self.path.clone(), fault }
    }
}

/// A state file that cannot be used. `Display` is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub fault: StateFault,
}

/// What is wrong with a state file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateFault {
    /// Another process has it.
    InUse,
    /// It is something else.
    NotAState,
    /// A line is not what was written.
    Damaged {
        /// Which, counted from one.
        line: usize,
    },
    /// It is not the file that was written, but a copy of it.
    Copied,
    /// It belongs to another monitor.
    Other {
        /// What differs.
        what: &'static str,
        /// As the file says.
        there: String,
        /// As was asked for.
        here: String,
    },
    /// The ledger does not know what paid for it.
    Unpaid {
        /// The receipt.
        receipt: String,
    },
    /// The rows are not those it began with.
    OtherRows,
    /// An earlier line could not be written.
    Broken,
    /// The disk failed.
    Io(ErrorKind),
}

impl StateError {
    /// The exit code of the command line: 2 where another file or other words help.
    pub fn exit_code(&self) -> u8 {
        match self.fault {
            StateFault::InUse
            | StateFault::NotAState
            | StateFault::Copied
            | StateFault::Other { .. }
            | StateFault::Unpaid { .. }
            | StateFault::OtherRows => 2,
            StateFault::Damaged { .. } | StateFault::Broken | StateFault::Io(_) => 1,
        }
    }
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "state file {}: ", wording::shown(&self.path.to_string_lossy()))?;
        match &self.fault {
            StateFault::InUse => f.write_str("another process watches with it; end that one first"),
            StateFault::NotAState => f.write_str("it is no monitor's; name another with `state`"),
            StateFault::Damaged { line } => write!(
                f,
                "line {line} is not what was written; restore the file, or begin a new monitor with another `state`"
            ),
            StateFault::Copied => f.write_str(
                "it was copied, brought back or moved to another disk, and what was paid for once may be asked elsewhere too; \
                 go on with the original, or begin a new monitor with another `state`",
            ),
            StateFault::Other { what, there, here } => write!(
                f,
                "it belongs to a monitor with {what} {}, not {}; ask as it was begun, or name another with `state`",
                wording::shown(there),
                wording::shown(here)
            ),
            StateFault::Unpaid { receipt } => write!(
                f,
                "the ledger has no receipt {} that counts; name the ledger that paid for it with `ledger`, or begin a new monitor where \
                 the data set began anew",
                wording::shown(receipt)
            ),
            StateFault::OtherRows => {
                f.write_str("the data have changed since it began; begin a new monitor with another `state`")
            }
            StateFault::Broken => f.write_str("an earlier line could not be written"),
            StateFault::Io(kind) => write!(f, "{kind}"),
        }
    }
}

impl std::error::Error for StateError {}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn head() -> Head {
        Head { id: "m".into(), ledger: "l".into(), data: "d".into(), request: json!({}), file: None }
    }

    /// One charge was spent twice: by the file and by its copy.
    #[test]
    fn a_copy_is_refused_and_left_as_it_is_and_a_moved_file_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let [path, copy, moved] = ["state", "copy", "moved"].map(|name| folder.path().join(name));
        let (mut state, _) = State::open(&path).unwrap();
        let id = state.id();
        state.begin(Head { file: Some(id), ..head() }).unwrap();
        drop(state);
        fs::copy(&path, &copy).unwrap();
        let torn = [&fs::read(&copy).unwrap()[..], b"torn"].concat();
        fs::write(&copy, &torn).unwrap();
        let error = State::open(&copy).unwrap_err();
        assert_eq!((&error.fault, error.exit_code()), (&StateFault::Copied, 2));
        assert!(error.to_string().contains("begin a new monitor with another `state`"), "{error}");
        assert_eq!(fs::read(&copy).unwrap(), torn);
        fs::rename(&path, &moved).unwrap();
        let (state, log) = State::open(&moved).unwrap();
        assert_eq!((log.unwrap().head.file, state.id()), (Some(id), id));
    }

    #[test]
    fn one_process_at_a_time_and_only_its_owner_reads() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let (mut state, log) = State::open(&path).unwrap();
        assert_eq!(log, None);
        state.begin(head()).unwrap();
        assert_eq!(State::open(&path).unwrap_err().fault, StateFault::InUse);
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        drop(state);
        let (state, log) = State::open(&path).unwrap();
        assert_eq!(log.unwrap().head, head());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        state.remove();
        assert!(!path.exists());
    }

    #[test]
    fn a_torn_line_is_cut_off_and_the_next_one_follows_what_was_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let (mut state, _) = State::open(&path).unwrap();
        state.begin(head()).unwrap();
        drop(state);
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"0123 {\"receipt\"").unwrap();
        drop(file);
        let (state, log) = State::open(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), log.unwrap().whole as u64);
        drop(state);
        for other in [&b"age,town\n"[..], b"x"] {
            fs::write(&path, other).unwrap();
            assert_eq!(State::open(&path).unwrap_err().fault, StateFault::NotAState);
            assert_eq!(fs::read(&path).unwrap(), other, "what is not ours is left alone");
        }
        assert_eq!(State::open(folder.path()).unwrap_err().fault, StateFault::NotAState);
    }
}
