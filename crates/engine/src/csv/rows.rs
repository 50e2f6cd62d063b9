//! From a block of whole lines to batches of cells.

use super::{
    index::Index,
    quoted::{self, Field},
};
use crate::{boolean::boolean, calendar, decimal::decimal, number};
use equipoise_session::source::{Batch, Cells, ColumnRead, ColumnType, Visitor};
use memchr::memchr;

/// Rows in a batch, at most.
pub const BATCH: usize = 4096;

/// What makes a line a record.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub delimiter: u8,
    /// How many fields each record has; without it, as many as it likes.
    pub width: Option<usize>,
    pub longest_line: usize,
}

/// One record of the batch under way.
#[derive(Clone, Copy)]
enum Row {
    /// All cells are null.
    Null,
    /// A line of the index without quotes.
    Plain { line: usize },
    /// A line whose fields were split one by one.
    Split { first_field: usize, fields: usize },
}

/// Reads blocks; all buffers are used again and again.
pub struct Rows<'w> {
    rules: Rules,
    wanted: &'w [ColumnRead],
    index: Index,
    gathered: Vec<Row>,
    fields: Vec<Field>,
    unescaped: Vec<u8>,
    /// For each wanted column its numbers, if numbers are wanted.
    floats: Vec<Vec<f64>>,
    integers: Vec<Vec<Option<i64>>>,
}

impl<'w> Rows<'w> {
    pub fn new(rules: Rules, wanted: &'w [ColumnRead]) -> Self {
        Self {
            rules,
            wanted,
            index: Index::default(),
            gathered: Vec::with_capacity(BATCH),
            fields: Vec::new(),
            unescaped: Vec::new(),
            floats: vec![Vec::new(); wanted.len()],
            integers: vec![Vec::new(); wanted.len()],
        }
    }

    /// Hand every line of the block to the visitor as one record.
    pub fn visit(&mut self, block: &[u8], visitor: &mut dyn Visitor) {
        self.index.fill(block, self.rules.delimiter);
        let block = Block { bytes: block, text: std::str::from_utf8(block).ok() };
        let mut next_quote = memchr(b'"', block.bytes);
        for number in 0..self.index.lines() {
            let row = self.row(&block, number, &mut next_quote);
            self.gathered.push(row);
            if self.gathered.len() == BATCH {
                self.flush(&block, visitor);
            }
        }
        self.flush(&block, visitor);
    }

    #[inline]
    fn row(&mut self, block: &Block<'_>, number: usize, next_quote: &mut Option<usize>) -> Row {
        let line = self.index.line(number);
        let (begin, end) = (line.begin, line.end());
        if end - begin > self.rules.longest_line {
            return Row::Null;
        }
        if block.text.is_none() && std::str::from_utf8(&block.bytes[begin..end]).is_err() {
            return Row::Null;
        }
        // Only the first quote at or after this line matters, so each stretch of the block is searched once.
        if next_quote.is_some_and(|quote| quote < begin) {
            *next_quote = memchr(b'"', &block.bytes[begin..]).map(|at| begin + at);
        }
        if next_quote.is_some_and(|quote| quote < end) {
            return self.split(block.bytes, begin, end);
        }
        match self.rules.width {
            Some(width) if width != line.ends.len() => Row::Null,
            _ => Row::Plain { line: number },
        }
    }

    fn split(&mut self, block: &[u8], begin: usize, end: usize) -> Row {
        let line = &block[begin..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let first_field = self.fields.len();
        let whole = quoted::split(line, begin, self.rules.delimiter, &mut self.fields, &mut self.unescaped);
        let fields = self.fields.len() - first_field;
        if !whole || self.rules.width.is_some_and(|width| width != fields) {
            self.fields.truncate(first_field);
            return Row::Null;
        }
        Row::Split { first_field, fields }
    }

    /// Hand over the rows gathered so far.
    fn flush(&mut self, block: &Block<'_>, visitor: &mut dyn Visitor) {
        if self.gathered.is_empty() {
            return;
        }
        let (rows, cells) = (&self.gathered, Fields { index: &self.index, fields: &self.fields });
        for (k, wanted) in self.wanted.iter().enumerate() {
            let column = wanted.column;
            let bytes =
                |row: &Row| cells.get(block, row, column).map(|field| field.bytes(block, &self.unescaped));
            match wanted.kind {
                ColumnType::Float => {
                    self.floats[k].clear();
                    self.floats[k].extend(rows.iter().map(|row| bytes(row).map_or(f64::NAN, number::float)));
                }
                ColumnType::Text => {}
                kind => {
                    let whole = whole_number(kind);
                    self.integers[k].clear();
                    self.integers[k].extend(rows.iter().map(|row| bytes(row).and_then(&whole)));
                }
            }
        }
        let texts: Vec<Vec<Option<&str>>> = self
            .wanted
            .iter()
            .map(|wanted| match wanted.kind {
                ColumnType::Text => rows
                    .iter()
                    .map(|row| {
                        let field = cells.get(block, row, wanted.column)?;
                        field.text(block, &self.unescaped).filter(|text| !text.is_empty())
                    })
                    .collect(),
                _ => Vec::new(),
            })
            .collect();
        let cells: Vec<Cells<'_>> = (0..self.wanted.len())
            .map(|k| match self.wanted[k].kind {
                ColumnType::Float => Cells::Floats(&self.floats[k]),
                ColumnType::Text => Cells::Texts(&texts[k]),
                _ => Cells::Integers(&self.integers[k]),
            })
            .collect();
        visitor.batch(Batch { rows: rows.len(), cells: &cells });
        self.gathered.clear();
        self.fields.clear();
        self.unescaped.clear();
    }
}

/// How a field is read as a whole number.
fn whole_number(kind: ColumnType) -> impl Fn(&[u8]) -> Option<i64> {
    move |field| match kind {
        ColumnType::Integer => number::integer(field),
        ColumnType::Decimal { digits } => decimal(field, digits),
        ColumnType::Date => calendar::date(field),
        ColumnType::Timestamp => calendar::timestamp(field),
        ColumnType::Boolean => boolean(field),
        ColumnType::Float | ColumnType::Text => None,
    }
}

/// A block, and the same as text if all of it is.
struct Block<'a> {
    bytes: &'a [u8],
    text: Option<&'a str>,
}

/// Finds the fields of rows.
struct Fields<'a> {
    index: &'a Index,
    fields: &'a [Field],
}

impl Fields<'_> {
    /// The field of a row in a column, if it has one.
    #[inline]
    fn get(&self, block: &Block<'_>, row: &Row, column: usize) -> Option<Field> {
        match *row {
            Row::Null => None,
            Row::Plain { line } => {
                let line = self.index.line(line);
                let mut end = *line.ends.get(column)? as usize;
                let begin = if column == 0 { line.begin } else { line.ends[column - 1] as usize + 1 };
                if column + 1 == line.ends.len() && end > begin && block.bytes[end - 1] == b'\r' {
                    end -= 1;
                }
                Some(Field::Plain { begin, end })
            }
            Row::Split { first_field, fields } => {
                (column < fields).then(|| self.fields[first_field + column])
            }
        }
    }
}

impl Field {
    #[inline]
    fn bytes<'a>(self, block: &Block<'a>, unescaped: &'a [u8]) -> &'a [u8] {
        match self {
            Self::Plain { begin, end } => &block.bytes[begin..end],
            Self::Unescaped { begin, end } => &unescaped[begin..end],
        }
    }

    /// The text of a field; its line is text, so it is too.
    #[inline]
    fn text<'a>(self, block: &Block<'a>, unescaped: &'a [u8]) -> Option<&'a str> {
        match (self, block.text) {
            (Self::Plain { begin, end }, Some(text)) => text.get(begin..end),
            _ => std::str::from_utf8(self.bytes(block, unescaped)).ok(),
        }
    }
}
