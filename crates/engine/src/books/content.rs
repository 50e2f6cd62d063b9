//! All bytes of data, one file after another: what a steward's ledger takes a fingerprint of.

use super::no_file;
use crate::{OpenError, STANDARD_INPUT, TableAddress, files_of, remote::PostgresAddress, sqlite};
use std::{
    fs::{self, File},
    io::{self, Cursor, Read},
    path::{Path, PathBuf},
};

/// All bytes of the data, or one line that says why there are none; standard input has none that could be read again, and a table of a
/// server is known by its number there.
pub fn content_of(data: &Path) -> Result<Option<impl Read>, String> {
    if data == Path::new(STANDARD_INPUT) || PostgresAddress::is(data) {
        return Ok(None);
    }
    let failed = |problem| OpenError { path: Some(data.to_path_buf()), problem }.to_string();
    let files = files_of(data).map_err(failed)?;
    for file in &files {
        // Before it is opened: a pipe waits for a writer, and a device may have no end.
        if !fs::metadata(file).map_err(|error| no_file(file, &error))?.is_file() {
            return Err("a pipe or a device has no budget; save its content to a file first".to_string());
        }
    }
    // Two tables of one database are not the same data.
    let table = TableAddress::of(data).map(|address| sqlite::spelled(&address).map(|(table, _)| table));
    let table = table.transpose().map_err(failed)?.unwrap_or_default();
    Ok(Some(
        OneAfterAnother { waiting: files.into_iter(), open: None }
            .chain(Cursor::new(table.to_ascii_lowercase())),
    ))
}

/// Files as one; thousands cannot be open at once.
struct OneAfterAnother {
    waiting: std::vec::IntoIter<PathBuf>,
    open: Option<File>,
}

impl Read for OneAfterAnother {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(file) = &mut self.open {
                let count = file.read(buffer)?;
                if count > 0 || buffer.is_empty() {
                    return Ok(count);
                }
            }
            match self.waiting.next() {
                Some(path) => self.open = Some(File::open(path)?),
                None => return Ok(0),
            }
        }
    }
}
