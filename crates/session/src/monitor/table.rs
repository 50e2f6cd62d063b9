//! The rows that a monitor watches: the columns that questions name, read when first named, and who each row belongs to.
//!
//! # Memory
//!
//! A column of numbers takes eight bytes a row, one of texts four and each different text once; who a row belongs to takes
//! four. At most [`MOST_COLUMNS`] columns are held; the one that was used longest ago makes room for the next. That number is
//! public, so which columns are read again tells nothing of the rows.

use super::query::Bound;
use crate::source::{Batch, Cells, ColumnRead, ColumnType, Lost, Source, Visitor};
use equipoise_core::monitor::threshold_monitor::Contributions;
use equipoise_expression::{Bitmap, Column, NULL_CODE};
use std::collections::HashMap;

/// How many columns are held at once.
pub(super) const MOST_COLUMNS: usize = 32;
/// The person of a row that has no id.
const NOBODY: u32 = u32::MAX;

/// Columns of one source, row by row in the order of the source.
pub(super) struct Table {
    rows: usize,
    people: Option<People>,
    held: Vec<Held>,
    clock: u64,
}

/// Who each row belongs to.
struct People {
    of_row: Vec<u32>,
    count: usize,
}

struct Held {
    wanted: ColumnRead,
    values: Values,
    used: u64,
}

enum Values {
    Floats(Vec<f64>),
    Integers { values: Vec<i64>, present: Vec<bool>, packed: Option<Bitmap> },
    Texts(Texts),
}

#[derive(Default)]
struct Texts {
    codes: Vec<u32>,
    words: Vec<Box<str>>,
    places: HashMap<Box<str>, u32>,
}

impl Texts {
    fn code(&mut self, text: Option<&str>) -> u32 {
        let Some(text) = text else { return NULL_CODE };
        if let Some(&code) = self.places.get(text) {
            return code;
        }
        // More texts than codes would need more memory than there is; they would be nulls.
        let code = u32::try_from(self.words.len()).unwrap_or(NULL_CODE);
        if code != NULL_CODE {
            self.places.insert(text.into(), code);
            self.words.push(text.into());
        }
        code
    }

    fn push_coded(&mut self, texts: &[&str], codes: &[Option<u32>]) {
        // The list may hold texts that no row has, so each is looked up when a row does.
        let mut known: Vec<Option<u32>> = vec![None; texts.len()];
        for code in codes {
            let place = code.map(|code| code as usize).filter(|&place| place < texts.len());
            let code = place.map_or(NULL_CODE, |place| {
                *known[place].get_or_insert_with(|| self.code(Some(texts[place])))
            });
            self.codes.push(code);
        }
    }
}

impl Values {
    fn new(kind: ColumnType) -> Self {
        match kind {
            ColumnType::Float => Self::Floats(Vec::new()),
            ColumnType::Text => Self::Texts(Texts::default()),
            _ => Self::Integers { values: Vec::new(), present: Vec::new(), packed: None },
        }
    }

    fn push(&mut self, cells: &Cells<'_>) {
        match (self, cells) {
            (Self::Floats(all), Cells::Floats(cells)) => all.extend_from_slice(cells),
            (Self::Integers { values, present, .. }, Cells::Integers(cells)) => {
                values.extend(cells.iter().map(|cell| cell.unwrap_or_default()));
                present.extend(cells.iter().map(Option::is_some));
            }
            (Self::Texts(all), Cells::Texts(cells)) => {
                for &cell in *cells {
                    let code = all.code(cell);
                    all.codes.push(code);
                }
            }
            (Self::Texts(all), Cells::Coded { texts, codes }) => all.push_coded(texts, codes),
            _ => panic!("a source hands over the kinds that were wanted"),
        }
    }

    /// Drop what only loading needed.
    fn settle(&mut self) {
        match self {
            Self::Floats(values) => values.shrink_to_fit(),
            Self::Integers { values, present, packed } => {
                values.shrink_to_fit();
                *packed = Some(Bitmap::from_test(&std::mem::take(present), |&there| there));
            }
            Self::Texts(texts) => {
                texts.places = HashMap::new();
                texts.codes.shrink_to_fit();
            }
        }
    }

    fn column(&self) -> Column<'_> {
        match self {
            Self::Floats(values) => Column::Real { values, present: None },
            Self::Integers { values, packed, .. } => Column::Whole { values, present: packed.as_ref() },
            Self::Texts(texts) => Column::Text { codes: &texts.codes, words: &texts.words },
        }
    }
}

/// What each unit adds to the value of a question.
pub(super) enum Parts {
    /// One bit for each unit.
    YesOrNo(Vec<u64>),
    /// Multiples of the contributions' grid.
    Units(Vec<i64>),
}

impl Table {
    /// Read who the rows belong to, or how many there are, and these columns in the same scan.
    pub fn open(source: &dyn Source, unit: Option<usize>, columns: &[ColumnRead]) -> Result<Self, Lost> {
        let mut table = Self { rows: 0, people: None, held: Vec::new(), clock: 0 };
        let ids = unit.map(|column| ColumnRead { column, kind: ColumnType::Text });
        let wanted = table.missing(columns);
        let mut loader = Loader::new(ids.into_iter().chain(wanted.iter().copied()));
        loader.read(source)?;
        table.rows = loader.rows;
        let mut values = loader.values.into_iter();
        if ids.is_some() {
            table.people = values.next().map(people);
        }
        table.hold(&wanted, values);
        Ok(table)
    }

    /// How many units there are. As private as the rows.
    pub fn units(&self) -> usize {
        self.people.as_ref().map_or(self.rows, |people| people.count)
    }

    /// Have these columns in memory; says whether the source, always the same, was read.
    pub fn load(&mut self, source: &dyn Source, columns: &[ColumnRead]) -> Result<bool, Lost> {
        self.clock += 1;
        for held in &mut self.held {
            if columns.contains(&held.wanted) {
                held.used = self.clock;
            }
        }
        let wanted = self.missing(columns);
        if wanted.is_empty() {
            return Ok(false);
        }
        let mut loader = Loader::new(wanted.iter().copied());
        loader.read(source)?;
        // Rows are told apart by their place alone.
        if loader.rows != self.rows {
            return Err(Lost);
        }
        self.hold(&wanted, loader.values.into_iter());
        Ok(true)
    }

    /// Those that would have to be read.
    pub fn missing(&self, columns: &[ColumnRead]) -> Vec<ColumnRead> {
        let mut missing: Vec<ColumnRead> = Vec::new();
        for &wanted in columns {
            if !missing.contains(&wanted) && !self.held.iter().any(|held| held.wanted == wanted) {
                missing.push(wanted);
            }
        }
        missing
    }

    fn hold(&mut self, wanted: &[ColumnRead], values: impl Iterator<Item = Values>) {
        for (&wanted, mut values) in wanted.iter().zip(values) {
            values.settle();
            self.held.push(Held { wanted, values, used: self.clock });
        }
        while self.held.len() > MOST_COLUMNS {
            let oldest = (0..self.held.len()).min_by_key(|&place| self.held[place].used).unwrap_or(0);
            // What the present questions need stays, however much it is.
            if self.held[oldest].used == self.clock {
                break;
            }
            self.held.swap_remove(oldest);
        }
    }

    fn values(&self, wanted: ColumnRead) -> &Values {
        let held = self.held.iter().find(|held| held.wanted == wanted);
        &held.expect("columns are loaded before they are asked about").values
    }

    /// What each unit adds. A person says yes who has a row that does; their rows are summed, and cut to one later.
    pub fn parts(&self, bound: &Bound, contributions: Contributions) -> Parts {
        let columns: Vec<Column<'_>> =
            bound.wanted.iter().map(|&wanted| self.values(wanted).column()).collect();
        let yes = bound.question.evaluate(&columns, self.rows);
        let Some((place, most)) = bound.sum else {
            return Parts::YesOrNo(self.yes(&yes));
        };
        let Values::Floats(values) = self.values(bound.wanted[place]) else {
            unreachable!("a sum is of floats")
        };
        let part = |row: usize| contributions.units(values[row] / most) * i64::from(yes.get(row));
        Parts::Units(self.sums((0..self.rows).map(part)))
    }

    /// How many rows there are. As private as the rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// A bit for each unit, from one for each row.
    pub fn yes(&self, rows: &Bitmap) -> Vec<u64> {
        self.people.as_ref().map_or_else(|| rows.words().to_vec(), |people| people.any(rows))
    }

    /// A sum for each unit, from a part of each row.
    pub fn sums(&self, rows: impl Iterator<Item = i64>) -> Vec<i64> {
        match &self.people {
            None => rows.collect(),
            Some(people) => people.sums(rows),
        }
    }
}

impl People {
    /// A bit for each person who has a row with one. As many steps whatever the bits are.
    fn any(&self, rows: &Bitmap) -> Vec<u64> {
        // One place more, for rows of nobody.
        let mut words = vec![0u64; self.count / 64 + 1];
        for (block, &bits) in self.of_row.chunks(64).zip(rows.words()) {
            for (place, &person) in block.iter().enumerate() {
                let person = (person as usize).min(self.count);
                words[person / 64] |= (bits >> place & 1) << (person % 64);
            }
        }
        let nobody = self.count % 64;
        words[self.count / 64] &= !(1 << nobody);
        words
    }

    fn sums(&self, parts: impl Iterator<Item = i64>) -> Vec<i64> {
        let mut sums = vec![0i64; self.count + 1];
        for (part, &person) in parts.zip(&self.of_row) {
            let sum = &mut sums[(person as usize).min(self.count)];
            *sum = sum.saturating_add(part);
        }
        sums.truncate(self.count);
        sums
    }
}

/// One canonical form of an id: its text without ASCII whitespace around it; nothing is left of a row without one.
fn canonical(text: &str) -> Option<&str> {
    Some(text.trim_ascii()).filter(|id| !id.is_empty())
}

/// People from ids as they stand.
fn people(values: Values) -> People {
    let Values::Texts(mut texts) = values else { unreachable!("ids are read as text") };
    let mut people = Texts::default();
    let persons: Vec<u32> =
        texts.words.iter().map(|word| canonical(word).map_or(NOBODY, |id| people.code(Some(id)))).collect();
    for code in &mut texts.codes {
        *code = persons.get(*code as usize).copied().unwrap_or(NOBODY);
    }
    People { of_row: texts.codes, count: people.words.len() }
}

/// Sees all rows in their order: it is the only visitor.
struct Loader {
    wanted: Vec<ColumnRead>,
    values: Vec<Values>,
    rows: usize,
}

impl Loader {
    fn new(wanted: impl Iterator<Item = ColumnRead>) -> Self {
        let wanted: Vec<ColumnRead> = wanted.collect();
        Self { values: wanted.iter().map(|wanted| Values::new(wanted.kind)).collect(), wanted, rows: 0 }
    }

    fn read(&mut self, source: &dyn Source) -> Result<(), Lost> {
        let wanted = self.wanted.clone();
        source.scan(&wanted, &mut [self])
    }
}

impl Visitor for Loader {
    fn batch(&mut self, batch: Batch<'_>) {
        self.rows += batch.rows;
        for (values, cells) in self.values.iter_mut().zip(batch.cells) {
            values.push(cells);
        }
    }
}
