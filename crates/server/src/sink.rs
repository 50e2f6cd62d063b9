//! Where the head of the ledger is written at every commit, so that a restored old copy shows: a file elsewhere, or the system's log.

use crate::log;
use equipoise_session::ledger::{Head, seconds_now, utc};
use std::{
    fs::{File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    os::unix::{fs::OpenOptionsExt as _, net::UnixDatagram},
    path::{Path, PathBuf},
    sync::Mutex,
};

/// A place for heads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sink {
    /// A file that only grows: a line for each commit.
    File(PathBuf),
    /// The system's log, by its socket.
    Syslog(PathBuf),
}

/// Writes a line.
type Write = Box<dyn FnMut(&str) -> io::Result<()> + Send>;

/// Where the system's log listens.
pub const SYSLOG: &str = "/dev/log";
/// The last lines of a file of heads are within so many bytes.
const TAIL: u64 = 4096;

impl Sink {
    /// The head that was written last; nothing where none can be read back.
    pub fn last(&self) -> Result<Option<Head>, String> {
        let Self::File(path) = self else { return Ok(None) };
        let text = match tail(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("the file of heads cannot be read: {error}")),
        };
        // What a crash cut off is none; the line before it counts.
        let head = |line: &str| line.split_once(' ').and_then(|(_, head)| head.parse().ok());
        match text.lines().rev().find_map(head) {
            None if !text.trim().is_empty() => {
                Err("the file of heads has none in its last lines; give another file".to_string())
            }
            head => Ok(head),
        }
    }

    /// Write this head, where there is one, and every one that follows. What cannot be written is told in the log, and the ledger goes on.
    pub fn follow(&self, first: Option<&Head>) -> Result<impl Fn(&Head) + Send + Sync + use<>, String> {
        let failed = |error: io::Error| format!("heads cannot be written there: {error}");
        let mut write: Write = match self {
            Self::File(path) => {
                let mut file =
                    OpenOptions::new().append(true).create(true).mode(0o600).open(path).map_err(failed)?;
                // What a crash cut off is no part of the next line.
                let is_whole =
                    tail(path).map_err(failed)?.chars().next_back().is_none_or(|last| last == '\n');
                if !is_whole {
                    file.write_all(b"\n").map_err(failed)?;
                }
                Box::new(move |line| {
                    file.write_all(format!("{line}\n").as_bytes())?;
                    file.sync_data()
                })
            }
            Self::Syslog(path) => {
                let socket = UnixDatagram::unbound().map_err(failed)?;
                socket.connect(path).map_err(failed)?;
                // Notices of a program of its own (facility local0).
                Box::new(move |line| {
                    socket.send(format!("<133>equipoise-server: head {line}").as_bytes()).map(drop)
                })
            }
        };
        let line = |head: &Head| format!("{} {head}", utc(seconds_now()));
        if let Some(head) = first {
            write(&line(head)).map_err(failed)?;
        }
        let write = Mutex::new(write);
        Ok(move |head: &Head| {
            let mut write = write.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if let Err(error) = write(&line(head)) {
                log::failure(&format!("a head could not be written: {}", error.kind()));
            }
        })
    }
}

fn tail(path: &Path) -> io::Result<String> {
    // What is no file, such as a device, has no end.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
