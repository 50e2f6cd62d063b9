//! Bytes of a file or in memory, read at any place by many threads.

use crate::problem::Problem;
use equipoise_session::source::Lost;
use std::{
    fs::{self, File},
    io::{self, Read},
    path::Path,
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

/// Bytes that can be read at any place, by several threads.
pub enum Bytes {
    /// A regular file.
    File(File),
    /// Bytes in memory.
    Memory(Vec<u8>),
}

/// What changes when a file does.
#[derive(Clone, PartialEq, Eq)]
pub struct Stamp {
    length: u64,
    /// Since 1970.
    changed: Option<Duration>,
}

impl Stamp {
    /// How many bytes there are.
    pub fn length(&self) -> u64 {
        self.length
    }
}

impl Bytes {
    /// Open a regular file.
    pub fn open(path: &Path) -> Result<Self, Problem> {
        // Looked at before it is opened: opening a pipe waits for a writer.
        let metadata = fs::metadata(path).map_err(|error| Problem::of(error.kind()))?;
        if metadata.is_dir() {
            return Err(Problem::Folder);
        }
        // A pipe or a device cannot be read at any place, nor twice.
        if !metadata.is_file() {
            return Err(Problem::NotAFile);
        }
        Ok(Self::File(File::open(path).map_err(|error| Problem::of(error.kind()))?))
    }

    /// How long the bytes are, and when they were last written to.
    pub fn stamp(&self) -> io::Result<Stamp> {
        Ok(match self {
            Self::File(file) => {
                let metadata = file.metadata()?;
                let changed = metadata.modified().ok();
                let changed = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
                Stamp { length: metadata.len(), changed }
            }
            Self::Memory(bytes) => Stamp { length: bytes.len() as u64, changed: None },
        })
    }

    /// Read some bytes, at most as many as the buffer holds; none at the end.
    pub fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        match self {
            Self::File(file) => read_file_at(file, buffer, at),
            Self::Memory(bytes) => {
                let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
                let count = rest.len().min(buffer.len());
                buffer[..count].copy_from_slice(&rest[..count]);
                Ok(count)
            }
        }
    }

    /// Fill the buffer. The end of the file is a loss: it was longer when the scan began.
    pub fn fill_at(&self, mut buffer: &mut [u8], mut at: u64) -> Result<(), Lost> {
        while !buffer.is_empty() {
            match self.read_at(buffer, at) {
                Ok(0) => return Err(Lost),
                Ok(count) => {
                    buffer = &mut buffer[count..];
                    at += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(Lost),
            }
        }
        Ok(())
    }
}

/// Reads bytes from a place on; many can read the same bytes at once.
pub struct Reader {
    bytes: Arc<Bytes>,
    at: u64,
}

impl Reader {
    /// From this place on.
    pub fn new(bytes: Arc<Bytes>, at: u64) -> Self {
        Self { bytes, at }
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read_at(buffer, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

#[cfg(unix)]
fn read_file_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, at)
}

#[cfg(windows)]
fn read_file_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, at)
}
