//! A structure on disk: its state, and behind it the lines that were followed since, one process at a time.
//!
//! Lines are on the disk before the answer to a question is shown, so whoever stops the program in between finds a structure
//! that has forgotten nothing it answered to. The file holds keys; only its owner may read it.
//!
//! In front stands which file this is: its number on the disk and when it was made. Every state is a new file, so one that was
//! copied, or brought back by a backup, is recognised: its coins may have answered elsewhere. With it stands what was settled when the
//! state began, so that the same command line goes on after a crash.

use equipoise_core::wording;
use equipoise_robust::state::{self, Chain, Damaged, Kind, Reader, Stored};
use equipoise_session::file_id::FileId;
use std::{
    fs::{self, File, Metadata, OpenOptions, TryLockError},
    io::{Read, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

pub(super) struct StateFile {
    path: PathBuf,
    file: File,
    chain: Chain,
    waiting: Vec<u8>,
    /// Bytes of lines behind the state, and of the state.
    logged: usize,
    state: usize,
    /// Was it copied, now or before?
    pub(super) copied: bool,
    /// What was settled when it began, by flag; an older version wrote none of it.
    pub(super) settled: Option<Vec<(String, String)>>,
}

/// What a file held.
pub(super) struct Saved {
    pub state: Vec<u8>,
    pub lines: Vec<Vec<u8>>,
    /// Is this another file than the one that was written?
    pub is_new_copy: bool,
}

/// Lines that wait for the disk are written at this size, and a log is folded into a new state at sixteen times that.
const PIECE: usize = 1 << 20;

/// What stands in front: the first version, and the one with what was settled.
const FIRST_MARK: Kind = *b"mark\0\0\0\0";
const MARK: Kind = *b"mark2\0\0\0";

struct Mark {
    id: FileId,
    copied: bool,
    settled: Option<Vec<(String, String)>>,
}

impl Mark {
    fn seal(&self) -> Vec<u8> {
        let kind = if self.settled.is_some() { MARK } else { FIRST_MARK };
        state::seal(kind, |out| {
            out.words(self.id.words());
            self.copied.write(out);
            let Some(settled) = &self.settled else { return };
            out.word(settled.len() as u64);
            for text in settled.iter().flat_map(|(flag, value)| [flag, value]) {
                out.bytes(text.as_bytes());
            }
        })
    }

    fn read(bytes: &[u8]) -> Result<Self, Damaged> {
        let first = |from: &mut Reader<'_>| {
            let id = FileId::from_words([from.word()?, from.word()?, from.word()?]);
            Ok(Self { id, copied: bool::read(from)?, settled: None })
        };
        let text = |from: &mut Reader<'_>| {
            String::from_utf8(from.bytes()?.to_vec()).map_err(|_| Damaged::Content("a text is none"))
        };
        let with_settled = |from: &mut Reader<'_>| {
            let mark = first(from)?;
            let settled =
                (0..from.word()?).map(|_| Ok((text(from)?, text(from)?))).collect::<Result<_, Damaged>>()?;
            Ok(Self { settled: Some(settled), ..mark })
        };
        match state::unseal(MARK, bytes, with_settled) {
            Err(Damaged::Kind { .. }) => state::unseal(FIRST_MARK, bytes, first),
            read => read,
        }
    }
}

impl StateFile {
    /// Open and lock; what it holds, unless it is new.
    pub(super) fn open(path: &Path) -> Result<(Self, Option<Saved>), String> {
        let name = wording::visible(&path.to_string_lossy()).into_owned();
        let failed = |error: std::io::Error| format!("cannot use the state '{name}': {error}");
        // Through a link to the file itself, which is replaced in its own place.
        let path =
            &if path.is_symlink() { fs::canonicalize(path).map_err(failed)? } else { path.to_path_buf() };
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
        if metadata.nlink() > 1 {
            return Err(format!("the state '{name}' has more than one name; remove the others"));
        }
        if metadata.mode() & 0o077 != 0 {
            return Err(format!("others can read the state '{name}', which holds keys; run chmod 600 on it"));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let saved = if bytes.is_empty() {
            None
        } else {
            Some(saved(&bytes, &metadata).map_err(|error| format!("state '{name}': {error}"))?)
        };
        let (saved, mark) = saved.map_or((None, None), |(saved, mark)| (Some(saved), Some(mark)));
        let (copied, settled) = mark.map_or((false, None), |mark| (mark.copied, mark.settled));
        let (chain, path) = (Chain::behind(&[]), path.clone());
        Ok((Self { path, file, chain, waiting: Vec::new(), logged: 0, state: 0, copied, settled }, saved))
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
            let (id, settled) = (FileId::of(&file.metadata()?), self.settled.clone());
            file.write_all(&Mark { id, copied: self.copied, settled }.seal())?;
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
        (self.logged, self.state) = (0, state.len());
        Ok(())
    }

    /// Remember lines that were followed, all that are in the state but not in the log yet; long logs become part of the state.
    pub(super) fn log<'a>(
        &mut self,
        lines: impl IntoIterator<Item = &'a [u8]>,
        state: impl FnOnce() -> Vec<u8>,
    ) -> Result<(), String> {
        for line in lines {
            let link = self.chain.link(line);
            self.logged += link.len();
            self.waiting.extend(link);
        }
        if self.logged > 16 * PIECE + self.state {
            return self.replace(&state());
        }
        if self.waiting.len() > PIECE { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), String> {
        self.file.write_all(&self.waiting).map_err(|error| self.failed(&error))?;
        self.waiting.clear();
        Ok(())
    }

    /// Bring all remembered lines to the disk.
    pub(super) fn sync(&mut self) -> Result<(), String> {
        self.write()?;
        self.file.sync_data().map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &std::io::Error) -> String {
        format!("the state '{}' cannot be written: {error}", wording::visible(&self.path.to_string_lossy()))
    }
}

/// What the bytes of a file hold, and what stands in front; copied, where it ever was.
fn saved(bytes: &[u8], metadata: &Metadata) -> Result<(Saved, Mark), Damaged> {
    let (mark, rest) = state::split(bytes)?;
    let mark = Mark::read(mark)?;
    let (state, log) = state::split(rest)?;
    let lines = state::lines(state, log)?.into_iter().map(<[u8]>::to_vec).collect();
    let is_new_copy = !mark.id.is(&FileId::of(metadata));
    let mark = Mark { copied: mark.copied || is_new_copy, ..mark };
    Ok((Saved { state: state.to_vec(), lines, is_new_copy }, mark))
}
