//! What is read of a file before the charge: its first line, and only if that is the header.

use super::{
    Header, NUMBERED,
    quoted::{self, Field},
};
use crate::{
    bytes::Bytes,
    problem::{HeaderProblem, Problem},
};
use memchr::{memchr, memchr2};
use std::{collections::BTreeMap, io};

/// A delimiter as a byte.
pub fn delimiter(character: char) -> Result<u8, Problem> {
    match u8::try_from(character) {
        Ok(byte) if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Ok(byte),
        _ => Err(Problem::Delimiter(character)),
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How text of other encodings begins; the longer marks come first, since one of them begins as a shorter one does.
const OTHER_MARKS: [(&[u8], &str); 4] = [
    (b"\xff\xfe\0\0", "UTF-32"),
    (b"\0\0\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
];
/// The length of the longest of these marks.
const LONGEST_MARK: usize = 4;

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
        let mut first = vec![0; LONGEST_MARK];
        let count = read_up_to(bytes, &mut first, 0)?;
        first.truncate(count);
        let mark = if first.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.to_vec() } else { Vec::new() };
        let (columns, head) = match header {
            Header::Declared(columns) if columns.is_empty() => return Err(Problem::NothingDeclared),
            Header::Declared(columns) => (columns.clone(), mark),
            Header::Numbered => ((1..=NUMBERED).map(|number| number.to_string()).collect(), mark),
            Header::FirstLine => {
                if let Some((_, encoding)) = OTHER_MARKS.iter().find(|(other, _)| first.starts_with(other)) {
                    return Err(Problem::Header(HeaderProblem::Encoding(encoding)));
                }
                let line = first_line(bytes, mark.len() as u64, longest_line)?;
                (names(&line, delimiter)?, [mark, line].concat())
            }
        };
        all_different(&columns)?;
        Ok(Self { columns, bytes: head })
    }
}

/// The first line with its line end. Of what stands behind the first sign of a line's end nothing is looked at: where that is
/// a carriage return alone, it is somebody's record.
fn first_line(bytes: &Bytes, begin: u64, longest_line: usize) -> Result<Vec<u8>, Problem> {
    const STEP: usize = 4096;
    let mut line = Vec::new();
    loop {
        let read = line.len();
        line.resize(read + STEP, 0);
        let count = read_up_to(bytes, &mut line[read..], begin + read as u64)?;
        line.truncate(read + count);
        // A return at the end of what was read before may have its line feed here.
        let searched = read.saturating_sub(1);
        let end = memchr2(b'\r', b'\n', &line[searched..]).map(|at| searched + at);
        let end = match end {
            Some(at) if line[at] == b'\r' => match line.get(at + 1) {
                Some(b'\n') => Some(at + 1),
                // Every second byte of UTF-16 is zero, and more of UTF-32.
                Some(_) if memchr(0, &line[..at]).is_some() => {
                    return Err(Problem::Header(HeaderProblem::Zeros));
                }
                Some(_) => return Err(Problem::Header(HeaderProblem::BareReturn)),
                // At the very end of a file nothing need follow.
                None if count < STEP => None,
                None => continue,
            },
            end => end,
        };
        if end.unwrap_or(line.len()) > longest_line {
            return Err(Problem::Header(HeaderProblem::TooLong(longest_line)));
        }
        if let Some(end) = end {
            line.truncate(end + 1);
            return Ok(line);
        }
        if count < STEP {
            return if line.is_empty() { Err(Problem::Header(HeaderProblem::Empty)) } else { Ok(line) };
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
    let text = std::str::from_utf8(line).map_err(|_| Problem::Header(HeaderProblem::NotText))?;
    if text.is_empty() {
        return Err(Problem::Header(HeaderProblem::Blank));
    }
    if memchr(0, line).is_some() {
        return Err(Problem::Header(HeaderProblem::Zeros));
    }
    let (mut fields, mut unescaped) = (Vec::new(), Vec::new());
    if !quoted::split(line, 0, delimiter, &mut fields, &mut unescaped) {
        return Err(Problem::Header(HeaderProblem::Quotes));
    }
    let name = |field: &Field| {
        let bytes = match *field {
            Field::Plain { begin, end } => &line[begin..end],
            Field::Unescaped { begin, end } => &unescaped[begin..end],
        };
        std::str::from_utf8(bytes)
            .map(|name| name.trim().to_string())
            .map_err(|_| Problem::Header(HeaderProblem::NotText))
    };
    fields.iter().map(name).collect()
}

/// Whether every column has a name of its own.
pub(crate) fn all_different(columns: &[String]) -> Result<(), Problem> {
    let mut places = BTreeMap::new();
    for (place, name) in columns.iter().enumerate() {
        if let Some(first) = places.insert(name, place) {
            return Err(Problem::Twice { name: name.clone(), places: [first + 1, place + 1] });
        }
    }
    Ok(())
}
