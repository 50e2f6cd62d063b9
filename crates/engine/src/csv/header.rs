//! What is read of a file before the charge: its first line, and only if that is the header.

use super::{
    Header, NUMBERED,
    blocks::Bytes,
    quoted::{self, Field},
};
use equipoise_core::wording;
use memchr::memchr;
use std::{collections::BTreeMap, fmt, io, path::PathBuf};

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
    /// There is no first line.
    Empty,
    /// The first line has no characters.
    BlankHeader,
    /// The header is not UTF-8.
    HeaderNotText,
    /// The header has more bytes than this.
    HeaderTooLong(usize),
    /// The header has a quote that does not stand around a whole name.
    HeaderQuotes,
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
}

impl Problem {
    pub(super) fn of(kind: io::ErrorKind) -> Self {
        match kind {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Missing,
            kind => Self::Unreadable(kind),
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = match &self.path {
            Some(path) => {
                let path = path.display().to_string();
                format!("'{}'", path.replace(char::is_control, "\u{fffd}"))
            }
            None => "the data".to_string(),
        };
        match &self.problem {
            Problem::Missing => write!(f, "there is no file {file}; check the path"),
            Problem::Folder => write!(f, "{file} is a folder; name a CSV file in it"),
            Problem::NotAFile => write!(f, "{file} is a pipe or a device; save its content to a file first"),
            Problem::Unreadable(kind) => {
                write!(f, "{file} cannot be read ({kind}); check its permissions and the disk")
            }
            Problem::Empty => {
                write!(f, "{file} is empty; its first line must name the columns, or say --no-header")
            }
            Problem::BlankHeader => {
                write!(f, "the first line of {file} is blank; it must name the columns, or say --no-header")
            }
            Problem::HeaderNotText => {
                write!(f, "the header of {file} is not UTF-8 text; convert the file to UTF-8 CSV first")
            }
            Problem::HeaderTooLong(longest) => {
                write!(f, "the header of {file} is longer than {longest} bytes; check that it is a CSV file")
            }
            Problem::HeaderQuotes => {
                write!(f, "the header of {file} has a stray quote; put quotes around whole names or nowhere")
            }
            Problem::Twice { name, places: [first, second] } => {
                let name = wording::shown(name);
                write!(f, "columns {first} and {second} of {file} are both called '{name}'; rename one")
            }
            Problem::NothingDeclared => write!(f, "no columns were declared for {file}; name at least one"),
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

impl std::error::Error for OpenError {}

/// A delimiter as a byte.
pub fn delimiter(character: char) -> Result<u8, Problem> {
    match u8::try_from(character) {
        Ok(byte) if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Ok(byte),
        _ => Err(Problem::Delimiter(character)),
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The public beginning of a file.
pub struct Head {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// All bytes before the first record.
    pub bytes: Vec<u8>,
}

impl Head {
    /// Read the header line if there is one, and the byte order mark.
    pub fn read(bytes: &Bytes, header: &Header, delimiter: u8, longest_line: usize) -> Result<Self, Problem> {
        let mut mark = vec![0; BYTE_ORDER_MARK.len()];
        let count = read_up_to(bytes, &mut mark, 0)?;
        mark.truncate(count);
        if mark != BYTE_ORDER_MARK {
            mark.clear();
        }
        let (columns, head) = match header {
            Header::Declared(columns) if columns.is_empty() => return Err(Problem::NothingDeclared),
            Header::Declared(columns) => (columns.clone(), mark),
            Header::Numbered => ((1..=NUMBERED).map(|number| number.to_string()).collect(), mark),
            Header::FirstLine => {
                let line = first_line(bytes, mark.len() as u64, longest_line)?;
                (names(&line, delimiter)?, [mark, line].concat())
            }
        };
        all_different(&columns)?;
        Ok(Self { columns, bytes: head })
    }
}

/// The first line with its line end.
fn first_line(bytes: &Bytes, begin: u64, longest_line: usize) -> Result<Vec<u8>, Problem> {
    const STEP: usize = 4096;
    let mut line = Vec::new();
    loop {
        let read = line.len();
        line.resize(read + STEP, 0);
        let count = read_up_to(bytes, &mut line[read..], begin + read as u64)?;
        line.truncate(read + count);
        let end = memchr(b'\n', &line[read..]).map(|at| read + at);
        if end.unwrap_or(line.len()) > longest_line {
            return Err(Problem::HeaderTooLong(longest_line));
        }
        if let Some(end) = end {
            line.truncate(end + 1);
            return Ok(line);
        }
        if count < STEP {
            return if line.is_empty() { Err(Problem::Empty) } else { Ok(line) };
        }
    }
}

/// Fill the buffer as far as the bytes go.
fn read_up_to(bytes: &Bytes, buffer: &mut [u8], at: u64) -> Result<usize, Problem> {
    let mut count = 0;
    while count < buffer.len() {
        match bytes.read_at(&mut buffer[count..], at + count as u64) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Problem::of(error.kind())),
        }
    }
    Ok(count)
}

/// The names in a header line. Spaces around a name mean nothing.
fn names(line: &[u8], delimiter: u8) -> Result<Vec<String>, Problem> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let text = std::str::from_utf8(line).map_err(|_| Problem::HeaderNotText)?;
    if text.is_empty() {
        return Err(Problem::BlankHeader);
    }
    let (mut fields, mut unescaped) = (Vec::new(), Vec::new());
    if !quoted::split(line, 0, delimiter, &mut fields, &mut unescaped) {
        return Err(Problem::HeaderQuotes);
    }
    let name = |field: &Field| {
        let bytes = match *field {
            Field::Plain { begin, end } => &line[begin..end],
            Field::Unescaped { begin, end } => &unescaped[begin..end],
        };
        std::str::from_utf8(bytes).map(|name| name.trim().to_string()).map_err(|_| Problem::HeaderNotText)
    };
    fields.iter().map(name).collect()
}

fn all_different(columns: &[String]) -> Result<(), Problem> {
    let mut places = BTreeMap::new();
    for (place, name) in columns.iter().enumerate() {
        if let Some(first) = places.insert(name, place) {
            return Err(Problem::Twice { name: name.clone(), places: [first + 1, place + 1] });
        }
    }
    Ok(())
}
