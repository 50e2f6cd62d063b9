//! One door to every format: files by their names, patterns, folders, standard input.
//!
//! # Which format
//!
//! The ending of a name decides: `.parquet` and `.pq`; `.arrow`, `.arrows`, `.ipc` and `.feather` for Arrow files and streams; anything
//! else is CSV, with tabs for `.tsv`. `.gz` and `.zst` after it say how it is packed. Where a name says nothing, and for
//! standard input, the first bytes decide, but only where they are public: without a header line they belong to
//! somebody's record, so that nothing is guessed from them and the data is CSV.
//!
//! A SQLite file has tables, so it is named by an address: `sqlite:people.db?table=salaries`; a table of a server by
//! `postgres://host/db?table=hr.salaries`, where who reads such tables is at hand ([`crate::remote`]).
//!
//! # Several files
//!
//! A pattern such as `'2026-*.csv'`, a folder, or several paths are one data set: all files must have columns of the same
//! names. A folder stands for all files of data below it; names that begin with a point or an underscore are left out.

use crate::{
    bytes::{Bytes, Reader},
    csv::{Csv, CsvOptions, CsvStream, Header},
    ipc::{self, Ipc},
    many::Many,
    parquet::Parquet,
    problem::{OpenError, Problem},
    remote::{self, PostgresAddress},
    sqlite::{Sqlite, TableAddress, on_disk},
    stream::{Origin, Packing, Stream},
};
use equipoise_session::{file_id::FileId, source::Source};
use std::{
    fs,
    io::{self, Cursor, Read},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

/// What was said on how to read. All of it is public.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// What separates fields of CSV; a comma unless it is said, or a tab for `.tsv`.
    pub delimiter: Option<char>,
    /// Where the names of the columns of CSV come from; the first line unless it is said.
    pub header: Option<Header>,
}

/// The path that stands for standard input.
pub const STANDARD_INPUT: &str = "-";

/// Open data: a file, a pattern, a folder, several of these, or `-` for standard input. Reads headers and schemas only.
pub fn open(paths: &[impl AsRef<Path>], options: &OpenOptions) -> Result<Box<dyn Source>, OpenError> {
    if let [only] = paths
        && only.as_ref() == Path::new(STANDARD_INPUT)
    {
        let read = from_stream(Box::new(io::stdin()), options);
        return read.map_err(|problem| OpenError { path: None, problem });
    }
    let mut files = Vec::new();
    for path in paths {
        let path = path.as_ref();
        let found = expand(path).map_err(|problem| OpenError { path: Some(path.to_path_buf()), problem })?;
        files.extend(found);
    }
    match files.as_slice() {
        [] => Err(OpenError { path: None, problem: Problem::Missing }),
        [only] => open_file(only, options),
        _ => Ok(Box::new(Many::new(files, options)?)),
    }
}

/// All bytes of these files: each one's length and then its bytes, so that no two lists of files give the same.
pub fn content(files: &[PathBuf]) -> io::Result<Box<dyn Read>> {
    let mut all: Box<dyn Read> = Box::new(io::empty());
    for file in disk_files(files) {
        let file = fs::File::open(file)?;
        let length = io::Cursor::new(file.metadata()?.len().to_le_bytes());
        all = Box::new(all.chain(length).chain(io::BufReader::with_capacity(1 << 16, file)));
    }
    Ok(all)
}

/// The files on the disk behind these paths: of a table its database, and what was written to it last where that lies beside it.
fn disk_files(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in paths.iter().filter(|path| !PostgresAddress::is(path)) {
        files.push(on_disk(path).into_owned());
        if TableAddress::of(path).is_some() {
            // The log lies beside the file itself, not beside a link to it.
            let file = on_disk(path);
            let mut log = file.canonicalize().unwrap_or_else(|_| file.into_owned()).into_os_string();
            log.push("-wal");
            files.extend(Some(PathBuf::from(log)).filter(|log| log.exists()));
        }
    }
    files
}

/// The files on the disk that a path stands for.
pub fn files_of(path: &Path) -> Result<Vec<PathBuf>, Problem> {
    Ok(disk_files(&expand(path)?))
}

/// Which files or tables a path stands for, whatever they are called; those that are not there are left out.
pub fn ids_of(path: &Path) -> Vec<FileId> {
    if let Some(found) = remote::look_up(path) {
        return found.map(|found| found.ids.into_iter().map(|(_, id)| id).collect()).unwrap_or_default();
    }
    let files = expand(path).unwrap_or_default();
    files.iter().filter_map(|file| FileId::at(&on_disk(file)).ok()).collect()
}

/// Whether a path is a pattern: it has the signs of one and is no file by that name.
pub fn is_pattern(path: &Path) -> bool {
    if TableAddress::of(path).is_some() || PostgresAddress::is(path) {
        return false;
    }
    path.to_str().is_some_and(|text| text.contains(['*', '?', '['])) && fs::symlink_metadata(path).is_err()
}

/// The files that a path stands for, in the order of their names; the address of a table stands for itself.
pub fn expand(path: &Path) -> Result<Vec<PathBuf>, Problem> {
    if is_pattern(path) {
        let pattern = path.to_str().ok_or(Problem::Pattern)?;
        let options = glob::MatchOptions { require_literal_leading_dot: true, ..glob::MatchOptions::new() };
        let found = glob::glob_with(pattern, options).map_err(|_| Problem::Pattern)?;
        let mut files = Vec::new();
        for path in found.filter_map(Result::ok) {
            if path.is_dir() { files_below(&path, &mut files)? } else { files.push(path) }
        }
        return if files.is_empty() { Err(Problem::NothingFits) } else { Ok(files) };
    }
    if TableAddress::of(path).is_none() && !PostgresAddress::is(path) && path.is_dir() {
        let mut files = Vec::new();
        files_below(path, &mut files)?;
        return if files.is_empty() { Err(Problem::NoData) } else { Ok(files) };
    }
    Ok(vec![path.to_path_buf()])
}

/// All files of data below a folder, by name. Links to folders are not followed: they can lead in circles.
fn files_below(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Problem> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let mut entries = entries.map_err(|error| Problem::of(error.kind()))?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let hidden = entry.file_name().as_encoded_bytes().first().is_some_and(|byte| b"._".contains(byte));
        let (path, is_folder) = (entry.path(), entry.file_type().is_ok_and(|kind| kind.is_dir()));
        match named(&path) {
            _ if hidden => {}
            _ if is_folder => files_below(&path, files)?,
            Some(_) => files.push(path),
            None => {}
        }
    }
    Ok(())
}

/// What kind of data bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Csv { tabs: bool },
    Parquet,
    Arrow,
}

/// What a name says of its file.
fn named(path: &Path) -> Option<(Format, Packing)> {
    let ending = |path: &Path| path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    let (packing, inner) = match ending(path).as_deref() {
        Some("gz" | "gzip") => (Packing::Gzip, path.with_extension("")),
        Some("zst" | "zstd") => (Packing::Zstd, path.with_extension("")),
        _ => (Packing::Plain, path.to_path_buf()),
    };
    let format = match ending(&inner).as_deref()? {
        "csv" | "txt" => Format::Csv { tabs: false },
        "tsv" | "tab" => Format::Csv { tabs: true },
        "parquet" | "pq" => Format::Parquet,
        "arrow" | "arrows" | "ipc" | "feather" => Format::Arrow,
        _ => return None,
    };
    Some((format, packing))
}

/// What the first bytes say.
fn of_magic(bytes: &[u8]) -> Format {
    if bytes.starts_with(b"PAR1") {
        Format::Parquet
    } else if bytes.starts_with(ipc::MAGIC) || bytes.starts_with(&ipc::CONTINUATION) {
        Format::Arrow
    } else {
        Format::Csv { tabs: false }
    }
}

/// What a SQLite file begins with, as far as it is looked at.
const SQLITE_MAGIC: &[u8] = b"SQLite f";

/// How many first bytes are looked at.
const MAGIC_BYTES: u64 = 8;

/// Open one file.
pub(crate) fn open_file(path: &Path, options: &OpenOptions) -> Result<Box<dyn Source>, OpenError> {
    file(path, options).map_err(|problem| OpenError { path: Some(path.to_path_buf()), problem })
}

fn file(path: &Path, options: &OpenOptions) -> Result<Box<dyn Source>, Problem> {
    if PostgresAddress::is(path) {
        schema_only(options)?;
    }
    if let Some(opened) = remote::open(path) {
        return opened;
    }
    if let Some(address) = TableAddress::of(path) {
        schema_only(options)?;
        return Ok(Box::new(Sqlite::open(address)?));
    }
    let bytes = Arc::new(Bytes::open(path)?);
    let (format, packing) = match named(path) {
        Some(named) => named,
        None => guessed(&bytes, options)?,
    };
    match (format, packing) {
        (Format::Csv { tabs }, Packing::Plain) => {
            Ok(Box::new(Csv::open_at(path, &csv_options(options, tabs))?))
        }
        (Format::Parquet, Packing::Plain) => {
            schema_only(options)?;
            Ok(Box::new(Parquet::open(path)?))
        }
        (Format::Parquet, _) => Err(Problem::NotParquet),
        (format, packing) => streamed(Origin::File { bytes, packing }, format, options),
    }
}

/// What the first bytes of a file say, unpacked if they are packed.
fn guessed(bytes: &Arc<Bytes>, options: &OpenOptions) -> Result<(Format, Packing), Problem> {
    if !first_bytes_are_public(options) {
        return Ok((Format::Csv { tabs: false }, Packing::Plain));
    }
    let open = || -> Stream { Box::new(Reader::new(bytes.clone(), 0)) };
    let disk = |error: io::Error| Problem::of(error.kind());
    let (first, _) = peek(open()).map_err(disk)?;
    if first.starts_with(SQLITE_MAGIC) {
        return Err(Problem::IsSqlite);
    }
    let packing = Packing::of_magic(&first);
    if packing == Packing::Plain {
        return Ok((of_magic(&first), packing));
    }
    let origin = Origin::File { bytes: bytes.clone(), packing };
    let (first, _) = peek(origin.open()?).map_err(|error| origin.problem(error.kind()))?;
    Ok((of_magic(&first), packing))
}

/// Without a header line the first bytes are a record.
fn first_bytes_are_public(options: &OpenOptions) -> bool {
    matches!(options.header, None | Some(Header::FirstLine))
}

/// The first bytes of a stream, and the whole of it.
fn peek(mut stream: Stream) -> io::Result<(Vec<u8>, Stream)> {
    let mut first = Vec::new();
    stream.by_ref().take(MAGIC_BYTES).read_to_end(&mut first)?;
    Ok((first.clone(), Box::new(Cursor::new(first).chain(stream))))
}

/// Data out of a pipe, which can be read once.
fn from_stream(stream: Stream, options: &OpenOptions) -> Result<Box<dyn Source>, Problem> {
    let once = |stream| Origin::Once(Mutex::new(Some(stream)), Packing::Plain);
    if !first_bytes_are_public(options) {
        return streamed(once(stream), Format::Csv { tabs: false }, options);
    }
    let disk = |error: io::Error| Problem::of(error.kind());
    let (first, stream) = peek(stream).map_err(disk)?;
    let packed = Origin::Once(Mutex::new(Some(stream)), Packing::of_magic(&first));
    let (first, stream) = peek(packed.open()?).map_err(|error| packed.problem(error.kind()))?;
    streamed(once(stream), of_magic(&first), options)
}

fn streamed(origin: Origin, format: Format, options: &OpenOptions) -> Result<Box<dyn Source>, Problem> {
    match format {
        Format::Csv { tabs } => Ok(Box::new(CsvStream::new(origin, &csv_options(options, tabs))?)),
        Format::Arrow => {
            schema_only(options)?;
            Ok(Box::new(Ipc::new(origin)?))
        }
        Format::Parquet => Err(Problem::NeedsAFile),
    }
}

fn schema_only(options: &OpenOptions) -> Result<(), Problem> {
    if *options == OpenOptions::default() { Ok(()) } else { Err(Problem::HasSchema) }
}

fn csv_options(options: &OpenOptions, tabs: bool) -> CsvOptions {
    CsvOptions {
        delimiter: options.delimiter.unwrap_or(if tabs { '\t' } else { ',' }),
        header: options.header.clone().unwrap_or(Header::FirstLine),
        ..CsvOptions::default()
    }
}
