//! A structure on disk: its state, and behind it the lines that were followed since, one process at a time.
//!
//! Lines are on the disk before the answer to a question is shown, so whoever stops the program in between finds a structure
//! that has forgotten nothing it answered to. The file holds keys; only its owner may read it.

use equipoise_robust::state::{self, Chain};
use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{Read, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

pub(super) struct StateFile {
    path: PathBuf,
    file: File,
    chain: Chain,
    waiting: Vec<u8>,
}

/// What a file held.
pub(super) struct Saved {
    pub state: Vec<u8>,
    pub lines: Vec<String>,
}

impl StateFile {
    /// Open and lock; what it holds, unless it is new.
    pub(super) fn open(path: &Path) -> Result<(Self, Option<Saved>), String> {
        let name = path.display();
        let failed = |error: std::io::Error| format!("cannot use the state '{name}': {error}");
        let mut options = OpenOptions::new();
        let mut file = options.read(true).append(true).create(true).mode(0o600).open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(format!("the state '{name}' is in use by another process; wait until it ends"));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let metadata = file.metadata().map_err(failed)?;
        if fs::metadata(path).map_err(failed)?.ino() != metadata.ino() {
            return Err(format!("the state '{name}' is in use by another process; wait until it ends"));
        }
        if metadata.mode() & 0o077 != 0 {
            return Err(format!("others can read the state '{name}', which holds keys; run chmod 600 on it"));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let damaged = |error: state::Damaged| format!("state '{name}': {error}");
        let saved = if bytes.is_empty() {
            None
        } else {
            let (state, log) = state::split(&bytes).map_err(damaged)?;
            let lines = state::lines(state, log).map_err(damaged)?;
            let lines = lines.into_iter().map(|line| String::from_utf8_lossy(line).into_owned());
            Some(Saved { state: state.to_vec(), lines: lines.collect() })
        };
        let chain = Chain::behind(&[]);
        Ok((Self { path: path.to_path_buf(), file, chain, waiting: Vec::new() }, saved))
    }

    /// A whole new state in the place of the old one and its lines, or nothing changes.
    pub(super) fn replace(&mut self, state: &[u8]) -> Result<(), String> {
        let write = || -> std::io::Result<File> {
            let mut new = self.path.clone().into_os_string();
            new.push(".new");
            // A file that a stopped process left behind is nobody's: this process has the lock.
            match fs::remove_file(&new) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut options = OpenOptions::new();
            let mut file = options.append(true).create_new(true).mode(0o600).open(&new)?;
            file.lock()?;
            file.write_all(state)?;
            file.sync_all()?;
            fs::rename(&new, &self.path)?;
            let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
            File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
            Ok(file)
        };
        self.file = write().map_err(|error| self.failed(&error))?;
        self.chain = Chain::behind(state);
        self.waiting.clear();
        Ok(())
    }

    /// Remember a line that was followed.
    pub(super) fn log(&mut self, line: &str) {
        self.waiting.extend(self.chain.link(line.as_bytes()));
    }

    /// Bring all remembered lines to the disk.
    pub(super) fn sync(&mut self) -> Result<(), String> {
        let write = self.file.write_all(&self.waiting).and_then(|()| self.file.sync_data());
        write.map_err(|error| self.failed(&error))?;
        self.waiting.clear();
        Ok(())
    }

    fn failed(&self, error: &std::io::Error) -> String {
        format!("the state '{}' cannot be written: {error}", self.path.display())
    }
}
