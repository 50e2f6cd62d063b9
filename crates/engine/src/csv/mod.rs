//! Comma-separated text, read in parallel and in bounded memory. One record is one line.
//!
//! # Rules
//!
//! Whether a line is a record, and what it holds, depends on that line and on what is public (header, delimiter,
//! longest line), never on other lines. So files that differ in one line give rows that differ in one record.
//!
//! 1. Every line after the header is one record, also an empty one. A line ends at `\n`; one `\r` before it belongs
//!    to the line end. The last line needs no line end, and a line end at the end of the file begins no record.
//! 2. Fields are separated by the delimiter, one ASCII character. A field in quotes may hold delimiters, and doubled
//!    quotes for quotes. No field runs over a line end.
//! 3. A record is *null*, all its cells are null, if its line has another number of fields than the header, a quote
//!    that does not stand around a whole field, bytes that are not UTF-8, or more bytes than the longest line.
//! 4. An empty field is null, in quotes or not. Nothing else is: `NA` is a text, and not a number.
//! 5. What is a number say [`number`](crate::number) and [`decimal`](crate::decimal), what is a day or a moment
//!    [`calendar`](crate::calendar), what is a yes or no [`boolean`](crate::boolean). A field that is none is null where
//!    one is wanted.
//! 6. A byte order mark at the very beginning is skipped.
//!
//! The header is the first line and is public. Without one, the columns are those that are declared, and rule 3 holds;
//! or they are numbered, and then a record may have any number of fields and lacks the later ones. The number of
//! columns is never taken from a record: one bad record would otherwise spoil all others.
//!
//! # Example
//!
//! ```
//! use equipoise_engine::csv::{Csv, CsvOptions};
//! use equipoise_session::source::{Batch, Cells, ColumnType, Source, Visitor, ColumnRead};
//!
//! struct Total(f64);
//! impl Visitor for Total {
//!     fn batch(&mut self, batch: Batch<'_>) {
//!         if let [Cells::Floats(values)] = batch.cells {
//!             self.0 += values.iter().filter(|value| !value.is_nan()).sum::<f64>();
//!         }
//!     }
//! }
//!
//! let file = b"city,salary\nBern,4000\n\"Basel, Stadt\",5000\nragged\nBiel,none\n";
//! let csv = Csv::from_bytes(file.to_vec(), &CsvOptions::default()).unwrap();
//! assert_eq!(csv.columns(), ["city", "salary"]);
//! let mut total = Total(0.0);
//! csv.scan(&[ColumnRead { column: 1, kind: ColumnType::Float }], &mut [&mut total]).unwrap();
//! assert_eq!(total.0, 9000.0);
//! ```

mod blocks;
pub(crate) mod header;
mod index;
mod quoted;
#[cfg(test)]
mod reference;
mod rows;
mod stream;
#[cfg(test)]
mod tests;

use crate::{
    bytes::Bytes,
    problem::{OpenError, Problem},
    threads,
};
use blocks::Blocks;
use equipoise_session::source::{ColumnRead, Lost, Source, Visitor};
use header::Head;
use rows::{Rows, Rules};
use std::path::Path;
pub(crate) use stream::CsvStream;

/// How a file is to be read. All of it is public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvOptions {
    /// What separates fields: an ASCII character, not a quote or a line end.
    pub delimiter: char,
    /// Where the names of the columns come from.
    pub header: Header,
    /// How many bytes a line may have, without its `\n`, to count as a record; at most [`LONGEST_LINE`].
    pub longest_line: usize,
    /// How many bytes a thread reads at a time. It changes the speed, never the records.
    pub block_bytes: usize,
}

/// The most that [`CsvOptions::longest_line`] may be, and what it is unless it is set.
pub const LONGEST_LINE: usize = 1 << 20;

/// How many columns [`Header::Numbered`] names.
pub const NUMBERED: usize = 4096;

impl Default for CsvOptions {
    fn default() -> Self {
        Self { delimiter: ',', header: Header::FirstLine, longest_line: LONGEST_LINE, block_bytes: 256 << 10 }
    }
}

/// Where the names of the columns come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Header {
    /// From the first line.
    FirstLine,
    /// There is no header line; these are the columns.
    Declared(Vec<String>),
    /// There is no header line; the columns are called 1, 2, 3 and so on, and a record has any number of them.
    Numbered,
}

/// A CSV file whose header has been read.
pub struct Csv {
    bytes: Bytes,
    columns: Vec<String>,
    /// The byte order mark and the header line, as they were read.
    head: Vec<u8>,
    rules: Rules,
    block_bytes: usize,
}

impl Csv {
    /// Open a file and read its header, nothing else.
    pub fn open(path: impl AsRef<Path>, options: &CsvOptions) -> Result<Self, OpenError> {
        let path = path.as_ref();
        Self::open_at(path, options).map_err(|problem| OpenError { path: Some(path.to_path_buf()), problem })
    }

    pub(crate) fn open_at(path: &Path, options: &CsvOptions) -> Result<Self, Problem> {
        Self::new(Bytes::open(path)?, options)
    }

    /// A file that is in memory.
    pub fn from_bytes(bytes: Vec<u8>, options: &CsvOptions) -> Result<Self, OpenError> {
        Self::new(Bytes::Memory(bytes), options).map_err(|problem| OpenError { path: None, problem })
    }

    fn new(bytes: Bytes, options: &CsvOptions) -> Result<Self, Problem> {
        let (head, rules) = begin(&bytes, options)?;
        let block_bytes = options.block_bytes.clamp(1, 1 << 28);
        Ok(Self { bytes, columns: head.columns, head: head.bytes, rules, block_bytes })
    }

    /// Whether the file still begins as it did when its columns were read.
    fn head_stands(&self) -> Result<(), Lost> {
        let mut now = vec![0; self.head.len()];
        self.bytes.fill_at(&mut now, 0)?;
        if now == self.head { Ok(()) } else { Err(Lost) }
    }
}

/// The header, and what makes a line a record.
fn begin(bytes: &Bytes, options: &CsvOptions) -> Result<(Head, Rules), Problem> {
    let delimiter = header::delimiter(options.delimiter)?;
    let longest_line = options.longest_line.min(LONGEST_LINE);
    let head = Head::read(bytes, &options.header, delimiter, longest_line)?;
    let width = (options.header != Header::Numbered).then_some(head.columns.len());
    Ok((head, Rules { delimiter, width, longest_line }))
}

impl Source for Csv {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The answer is lost if the file cannot be read, if it changes during the scan, or if a visitor panics.
    fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        let before = self.bytes.stamp().map_err(|_| Lost)?;
        self.head_stands()?;
        let begin = self.head.len() as u64;
        let blocks = Blocks::new(&self.bytes, begin, &before, self.block_bytes, self.rules.longest_line)?;
        let read = |visitor: &mut dyn Visitor| {
            let mut rows = Rows::new(self.rules, wanted);
            let mut buffer = Vec::new();
            while let Some(lines) = blocks.next(&mut buffer)? {
                rows.visit(&buffer[lines], visitor);
            }
            Ok(())
        };
        threads::each(visitors, read)?;
        let after = self.bytes.stamp().map_err(|_| Lost)?;
        if before == after { Ok(()) } else { Err(Lost) }
    }
}
