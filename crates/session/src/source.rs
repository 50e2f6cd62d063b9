//! Where rows come from. Session says what it needs; the engine and the Python package implement it.
//!
//! The columns' names and declared types are public. Everything else about a source is private, its number
//! of rows too, and is only seen after a charge. Rows are total: a record that cannot be read is a record
//! of nulls, never an error. What can fail is the disk, and then the answer is lost ([`Lost`]).

pub use crate::unanswered::Lost;
use serde::{Deserialize, Serialize};

/// Rows that can be read once for each charge.
pub trait Source: Sync {
    /// The names of the columns, from the header or the declared schema.
    fn columns(&self) -> &[String];

    /// Hand every row to the visitors, batch by batch, each row once and all wanted cells of it together.
    /// Visitors work side by side, each on a thread of its own; which one sees a row is of no meaning. A visitor alone
    /// sees the rows in the same order in every scan.
    fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost>;

    /// The type that a schema declares for a column; `None` where there is no schema, as in CSV, or no kind fits. Counts
    /// and statistics that a file keeps beside its schema are private and never shown.
    fn declared(&self, column: usize) -> Option<ColumnType> {
        let _ = column;
        None
    }

    /// Whether the schema says that no cell of a column can be read as anything but text, such as bytes of a fixed length.
    fn is_only_text(&self, column: usize) -> bool {
        let _ = column;
        false
    }

    /// Why no cell of a column can be read, such as a list in each, as one line; `None` where they can. It depends on the
    /// schema alone, so a plan refuses such a column for free.
    fn unreadable(&self, column: usize) -> Option<String> {
        let _ = column;
        None
    }

    /// Whether every text of a column is a whole number, written as [`ColumnType::Integer`] writes it, so that its cells may be read as
    /// whole numbers where its texts are asked for. It depends on the schema alone.
    fn texts_are_wholes(&self, column: usize) -> bool {
        let _ = column;
        false
    }

    /// All cells of a column of floats where they lie in memory as such already, so that nobody copies them.
    fn resident(&self, wanted: ColumnRead) -> Option<&[f64]> {
        let _ = wanted;
        None
    }
}

impl<S: Source + ?Sized> Source for &S {
    fn columns(&self) -> &[String] {
        (**self).columns()
    }

    fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        (**self).scan(wanted, visitors)
    }

    fn declared(&self, column: usize) -> Option<ColumnType> {
        (**self).declared(column)
    }

    fn is_only_text(&self, column: usize) -> bool {
        (**self).is_only_text(column)
    }

    fn unreadable(&self, column: usize) -> Option<String> {
        (**self).unreadable(column)
    }

    fn texts_are_wholes(&self, column: usize) -> bool {
        (**self).texts_are_wholes(column)
    }

    fn resident(&self, wanted: ColumnRead) -> Option<&[f64]> {
        (**self).resident(wanted)
    }
}

/// A column that a question needs, and how its fields are read. The verb fixes the type, never the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ColumnRead {
    /// The place of the column among [`Source::columns`].
    pub column: usize,
    /// How its fields are read.
    pub kind: ColumnType,
}

/// How a field is read. A field that cannot be read so is null.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnType {
    /// A number, as the nearest 64-bit float; null is NaN.
    Float,
    /// A whole number of 64 bits.
    Integer,
    /// A number as a whole multiple of 10^-digits, in 64 bits. What lies between two multiples is rounded to the nearest,
    /// ties away from zero; what is out of range is null.
    Decimal {
        /// How many digits stand after the point.
        digits: u8,
    },
    /// A day of the Gregorian calendar, `2026-02-28`, as days since 1970-01-01.
    Date,
    /// A moment, `2026-02-28T12:30:00.5+01:00`, as microseconds since 1970 in UTC.
    Timestamp,
    /// Yes (1) or no (0): `true`, `yes`, `t`, `y`, `1` and `false`, `no`, `f`, `n`, `0` in any case.
    Boolean,
    /// Text, as it stands; an empty one is null.
    Text,
}

/// The cells of one column in a batch, one for each row.
#[derive(Clone, Copy, Debug)]
pub enum Cells<'a> {
    /// Floats; null is NaN.
    Floats(&'a [f64]),
    /// Whole numbers, decimals, dates, timestamps and booleans.
    Integers(&'a [Option<i64>]),
    /// Texts.
    Texts(&'a [Option<&'a str>]),
    /// Texts by their place in a list, so that each is looked up once for a batch and not once for a row. The list may
    /// hold texts that no row has.
    Coded {
        /// The list; no text is in it twice, and none is empty.
        texts: &'a [&'a str],
        /// The place of each row's text.
        codes: &'a [Option<u32>],
    },
}

/// Some rows.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// How many rows; there may be no cells when only rows are counted.
    pub rows: usize,
    /// The wanted cells, in the order in which they were wanted.
    pub cells: &'a [Cells<'a>],
}

/// Sees rows.
pub trait Visitor: Send {
    /// Take in some rows. Never panics and never stops early, whatever they hold.
    fn batch(&mut self, batch: Batch<'_>);
}
