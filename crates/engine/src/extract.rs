//! Rows written to an Arrow file that only its owner reads, by whoever may see them all: before any charge, so that what is wrong with them can
//! be told.
//!
//! The new file takes the place of an older one at once, or not at all: a data set keeps its name and its budget when it is extracted anew.

use crate::{
    block::{array, data_type},
    problem::{OpenError, Problem},
    remote::{self, Queried},
    sqlite::{SqliteQuery, TableAddress},
};
use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use equipoise_session::source::{Batch, ColumnRead, ColumnType, Source, Visitor};
use std::{
    fmt,
    fs::{self, File},
    io::{self, BufWriter, Write},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The rows of a query to a database: a SQLite file (`sqlite:people.db`), or a server (`postgres://host/db`).
pub fn open_query(path: &Path, query: &str) -> Result<Box<dyn Queried>, OpenError> {
    let failed = |problem| OpenError { path: Some(path.to_path_buf()), problem };
    if let Some(opened) = remote::query(path, query) {
        return opened.map_err(failed);
    }
    match TableAddress::of(path) {
        Some(address) => Ok(Box::new(SqliteQuery::open(&address.file, query).map_err(failed)?)),
        None => Err(failed(Problem::NoQueries)),
    }
}

/// Why nothing was extracted.
#[derive(Debug)]
pub enum NotExtracted {
    /// The rows could not be read to their end.
    Rows,
    /// The file could not be written.
    File(io::ErrorKind),
}

impl fmt::Display for NotExtracted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows => f.write_str("the rows could not be read to their end; nothing was written"),
            Self::File(kind) => {
                write!(f, "the file could not be written ({kind}); check the folder and the disk")
            }
        }
    }
}

impl std::error::Error for NotExtracted {}

/// The columns that are written, as what was said of them or as their types say, texts where nothing is known; and those that cannot be read.
pub fn extracted(source: &dyn Source, said: &[ColumnRead]) -> (Vec<ColumnRead>, Vec<usize>) {
    let kind = |column: usize| {
        let said = said.iter().find(|read| read.column == column).map(|read| read.kind);
        said.or_else(|| source.declared(column)).unwrap_or(ColumnType::Text)
    };
    let (unread, read): (Vec<usize>, Vec<usize>) =
        (0..source.columns().len()).partition(|column| source.unreadable(*column).is_some());
    (read.into_iter().map(|column| ColumnRead { column, kind: kind(column) }).collect(), unread)
}

/// Write these columns of all rows to a file that only its owner may read; how many rows there were.
pub fn extract(source: &dyn Source, wanted: &[ColumnRead], into: &Path) -> Result<u64, NotExtracted> {
    let mut name = into.file_name().unwrap_or_default().to_os_string();
    name.push(".unfinished");
    let unfinished = Unfinished(into.with_file_name(name));
    let file = |error: io::Error| NotExtracted::File(error.kind());
    match fs::remove_file(&unfinished.0) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(file(error)),
        _ => {}
    }
    let made = File::options().write(true).create_new(true).mode(0o600).open(&unfinished.0).map_err(file)?;
    let kept = made.try_clone().map_err(file)?;
    let mut writing = Writing::new(source, wanted, BufWriter::new(made)).map_err(|error| arrow(&error))?;
    source.scan(wanted, &mut [&mut writing]).map_err(|_| NotExtracted::Rows)?;
    let rows = writing.finish().map_err(|error| arrow(&error))?;
    kept.sync_all().map_err(file)?;
    fs::rename(&unfinished.0, into).map_err(file)?;
    Ok(rows)
}

/// A file that is removed where it does not take its place.
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn arrow(error: &ArrowError) -> NotExtracted {
    match error {
        ArrowError::IoError(_, error) => NotExtracted::File(error.kind()),
        _ => NotExtracted::File(io::ErrorKind::Other),
    }
}

/// Rows on their way to the file.
struct Writing<'a> {
    schema: SchemaRef,
    wanted: &'a [ColumnRead],
    writer: FileWriter<BufWriter<File>>,
    rows: u64,
    failed: Option<ArrowError>,
}

impl<'a> Writing<'a> {
    fn new(source: &dyn Source, wanted: &'a [ColumnRead], file: BufWriter<File>) -> Result<Self, ArrowError> {
        let field =
            |read: &ColumnRead| Field::new(&source.columns()[read.column], data_type(read.kind), true);
        let schema = Arc::new(Schema::new(wanted.iter().map(field).collect::<Vec<_>>()));
        let writer = FileWriter::try_new(file, &schema)?;
        Ok(Self { schema, wanted, writer, rows: 0, failed: None })
    }

    fn write(&mut self, batch: &Batch<'_>) -> Result<(), ArrowError> {
        let columns = self.wanted.iter().zip(batch.cells).map(|(read, cells)| array(read.kind, cells));
        let options = RecordBatchOptions::new().with_row_count(Some(batch.rows));
        let columns = columns.collect::<Result<_, _>>()?;
        self.writer.write(&RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?)
    }

    fn finish(mut self) -> Result<u64, ArrowError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.writer.finish()?;
        self.writer.get_mut().flush()?;
        Ok(self.rows)
    }
}

impl Visitor for Writing<'_> {
    fn batch(&mut self, batch: Batch<'_>) {
        if self.failed.is_none() {
            self.rows += batch.rows as u64;
            self.failed = self.write(&batch).err();
        }
    }
}
