//! What can be wrong with data before the charge: one line for each problem.

use crate::{
    limits::{DEEPEST, LONGEST_NAMES, MOST_FIELDS},
    remote::{self, ServerProblem},
};
use equipoise_core::wording;
use std::{fmt, io, path::PathBuf};

/// Why a file could not be opened. `Display` is one line with the next step. It depends on the path and the
/// header only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenError {
    /// The file, if it is one.
    pub path: Option<PathBuf>,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong with a file before its rows are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// There is no such file.
    Missing,
    /// It is a folder.
    Folder,
    /// It is a pipe or a device.
    NotAFile,
    /// The operating system refuses to open or read it.
    Unreadable(io::ErrorKind),
    /// The first line names no columns.
    Header(HeaderProblem),
    /// Two columns have one name.
    Twice {
        /// The name.
        name: String,
        /// The places of the first two, from 1 on.
        places: [usize; 2],
    },
    /// No columns were declared.
    NothingDeclared,
    /// This cannot separate fields.
    Delimiter(char),
    /// It is not packed as its name or its first bytes say.
    NotPacked(&'static str),
    /// It is not a Parquet file that can be read, or not a whole one.
    NotParquet,
    /// Its columns are packed in a way that cannot be read.
    Codec(&'static str),
    /// It is a SQLite file, which is named by its tables.
    IsSqlite,
    /// It is not a SQLite file that can be read.
    NotSqlite,
    /// Somebody writes to it and does not stop.
    Busy,
    /// It is a SQLite file that cannot be opened for reading.
    SqliteNotReadable,
    /// The database has no such table, or several where none was named.
    NoTable {
        /// What was typed.
        typed: Option<String>,
        /// The tables that there are.
        known: Vec<String>,
    },
    /// A table of a server.
    Server(ServerProblem),
    /// Queries are for databases.
    NoQueries,
    /// A steward's query, with what the database says of it.
    Query(String),
    /// It is not an Arrow file or stream that can be read.
    NotArrow,
    /// Its numbers have their bytes in the other order.
    OtherByteOrder,
    /// Its columns stand in each other too deep.
    TooDeep,
    /// It has too many columns, or their names are too long.
    TooManyColumns,
    /// A format with a schema takes no word on headers and delimiters.
    HasSchema,
    /// This format cannot be read from a pipe.
    NeedsAFile,
    /// A stream can be read once only.
    ReadBefore,
    /// No file fits a pattern.
    NothingFits,
    /// A pattern that cannot be understood.
    Pattern,
    /// A folder without files of data.
    NoData,
    /// Its columns are not those of the first file.
    OtherColumns {
        /// A column that only one of them has.
        column: String,
        /// Whether the first file has it.
        missing: bool,
        /// The first file.
        first: PathBuf,
    },
}

/// What is wrong with the first line of a CSV file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderProblem {
    /// There is none.
    Empty,
    /// It has no characters.
    Blank,
    /// It is not UTF-8.
    NotText,
    /// It is text of this other encoding.
    Encoding(&'static str),
    /// It has zero bytes in it.
    Zeros,
    /// A carriage return in it has no line feed behind it.
    BareReturn,
    /// It has more bytes than this.
    TooLong(usize),
    /// It has a quote that does not stand around a whole name.
    Quotes,
}

impl Problem {
    pub(crate) fn of(kind: io::ErrorKind) -> Self {
        match kind {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Missing,
            kind => Self::Unreadable(kind),
        }
    }
}

impl HeaderProblem {
    /// One line about a file.
    fn line(&self, file: &str) -> String {
        match self {
            Self::Empty => {
                format!("{file} is empty; its first line must name the columns, or say `no_header`")
            }
            Self::Blank => {
                format!("the first line of {file} is blank; it must name the columns, or say `no_header`")
            }
            Self::NotText => {
                format!("the header of {file} is not UTF-8 text; convert the file to UTF-8 CSV first")
            }
            Self::Encoding(encoding) => format!("{file} is {encoding} text; convert it to UTF-8 first"),
            Self::Zeros => format!(
                "the header of {file} has zero bytes, as UTF-16, UTF-32 and files that are no text have; convert it to UTF-8 CSV"
            ),
            Self::BareReturn => format!(
                "the first line of {file} has a carriage return (CR) without a line feed (LF) behind it; write the file again with LF or CRLF line ends"
            ),
            Self::TooLong(longest) => {
                format!("the header of {file} is longer than {longest} bytes; check that it is a CSV file")
            }
            Self::Quotes => {
                format!("the header of {file} has a stray quote; put quotes around whole names or nowhere")
            }
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = match &self.path {
            Some(path) => {
                format!("'{}'", remote::visible(path))
            }
            None => "the data".to_string(),
        };
        match &self.problem {
            Problem::Header(problem) => f.write_str(&problem.line(&file)),
            Problem::Missing => f.write_str(&not_there(&file)),
            Problem::Folder => write!(f, "{file} is a folder; name a file in it"),
            Problem::NotAFile => write!(f, "{file} is a pipe or a device; save its content to a file first"),
            Problem::Unreadable(kind) => {
                write!(f, "{file} cannot be read ({kind}); check its permissions and the disk")
            }
            Problem::Twice { name, places: [first, second] } => {
                let name = wording::shown(name);
                write!(f, "columns {first} and {second} of {file} are both called '{name}'; rename one")
            }
            Problem::NothingDeclared => write!(f, "no columns were declared for {file}; name at least one"),
            Problem::NotPacked(packing) => {
                write!(f, "{file} cannot be unpacked as {packing}; check that it is whole and rightly named")
            }
            Problem::NotParquet => {
                write!(f, "{file} is no whole Parquet file; check its name, or write it again")
            }
            Problem::Codec(codec) => {
                write!(
                    f,
                    "{file} is packed with {codec}, which cannot be read; write it again with zstd or snappy"
                )
            }
            Problem::NotArrow => {
                write!(f, "{file} is no whole Arrow file or stream; check its name, or write it again")
            }
            Problem::IsSqlite => {
                write!(f, "{file} is a SQLite database; name a table of it, as in sqlite:FILE?table=NAME")
            }
            Problem::NotSqlite => write!(f, "{file} is no whole SQLite database; check its name"),
            Problem::Busy => {
                write!(f, "{file} is written to by another program that does not stop; try again later")
            }
            Problem::SqliteNotReadable => write!(
                f,
                "{file} cannot be opened for reading; if its last writer crashed, somebody who may write has to open it once with sqlite3"
            ),
            Problem::Server(problem) => problem.line(f, &file),
            Problem::NoQueries => f.write_str(&no_queries(&file)),
            Problem::Query(said) => write!(f, "{file}: the query cannot be run: {}", wording::line(said)),
            Problem::NoTable { typed, known } => no_table(f, &file, typed.as_deref(), known),
            Problem::OtherByteOrder => {
                write!(
                    f,
                    "the numbers in {file} are big-endian, which cannot be read; write it again as little-endian"
                )
            }
            Problem::TooDeep => {
                write!(
                    f,
                    "columns of {file} stand in each other more than {DEEPEST} levels deep; write flatter ones"
                )
            }
            Problem::TooManyColumns => {
                write!(
                    f,
                    "{file} has more than {MOST_FIELDS} columns, or names of more than {LONGEST_NAMES} bytes in all; write fewer"
                )
            }
            Problem::HasSchema => {
                write!(f, "{file} has a schema of its own; leave out `no_header` and `delimiter`")
            }
            Problem::NeedsAFile => write!(f, "Parquet cannot be read from a pipe; save it to a file first"),
            Problem::ReadBefore => write!(f, "{file} was read before and cannot be read again"),
            Problem::NothingFits if file.contains("://") => f.write_str(&not_there(&file)),
            Problem::NothingFits => write!(f, "no file fits {file}; check the pattern"),
            Problem::Pattern => write!(f, "{file} is no pattern; use *, ? and [..] as in a shell"),
            Problem::NoData => write!(
                f,
                "{file} has no data in it; files end in .csv, .tsv (or these with .gz or .zst), .parquet or .arrow"
            ),
            Problem::OtherColumns { column, missing, first } => {
                f.write_str(&other_columns(&file, column, *missing, &remote::visible(first)))
            }
            Problem::Delimiter(delimiter) => {
                let delimiter = wording::shown(&delimiter.to_string());
                write!(
                    f,
                    "'{delimiter}' cannot separate fields; take one ASCII character, not a quote or a line end"
                )
            }
        }
    }
}

/// There is no such file, which is shown in quotes. Whoever wrote an address is told which ones there are; what follows its scheme may be
/// a password and is not repeated.
pub(crate) fn not_there(file: &str) -> String {
    match file.split_once("://") {
        Some((scheme, _)) => format!(
            "{scheme}://..' is no file; name one of this machine, or a table by sqlite:, postgres://, duckdb: or spark: (other engines are asked from Python)"
        ),
        None => format!("there is no file {file}; check the path"),
    }
}

fn other_columns(file: &str, column: &str, missing: bool, first: &str) -> String {
    let (verb, other) = if missing { ("lacks", "has") } else { ("has", "lacks") };
    let column = wording::shown(column);
    format!("{file} {verb} the column '{column}' that '{first}' {other}; all files must have the same")
}

fn no_queries(file: &str) -> String {
    format!("{file} takes no query; name a database, as in sqlite:FILE or postgres://HOST/DATABASE")
}

/// Which table was meant? Views are left out: one row can make a view fail for all others.
fn no_table(f: &mut fmt::Formatter<'_>, file: &str, typed: Option<&str>, known: &[String]) -> fmt::Result {
    const SHOWN: usize = 8;
    let mut names: Vec<String> = known.iter().take(SHOWN).map(|name| wording::shown(name)).collect();
    if known.len() > SHOWN {
        names.push(format!("{} more", known.len() - SHOWN));
    }
    match (typed, names.join(", ")) {
        (_, names) if names.is_empty() => write!(f, "{file} has no table that can be asked about"),
        (Some(typed), names) => {
            let typed = wording::shown(typed);
            write!(f, "{file}: there is no table '{typed}' that can be asked about; there are: {names}")
        }
        (None, names) => write!(f, "{file} has several tables; add ?table= with one of: {names}"),
    }
}

impl std::error::Error for OpenError {}
