//! Columns that hold one value for each person: all rows of a person, or of a person in a group, made one number.
//!
//! # Guarantee
//!
//! A value is a function of the *multiset* of the person's own rows in the group: not of their order, of other people, threads, parts or memory. Counts
//! and sums of whole numbers are exact, sums of floats are exact and rounded once ([`exact_sum`](super::exact_sum)), and a mean is such a
//! sum over such a count. So two files that differ in one person have the same values for everybody else, to the last bit.
//!
//! The value stands beside one of the rows that are kept of the person in the group, and the others have none. A question about such
//! a column therefore sees at most one value of a person in each group that is kept, and loses no more than about any other column of the
//! rows that are kept. One row more or less of a person takes one value away and brings another: two steps, which
//! [`Bound::changed_by_row`](super::bound::Bound::changed_by_row) counts. No question reads such a column and another one in the same row.
//!
//! Such columns lie behind those of the file and those that are computed ([`derived`](super::derived)); whoever plans or gathers sees columns and
//! nothing else.

use super::{
    encode::{Cell, take_cell},
    exact_sum::ExactSum,
};
use crate::{
    columns,
    facts::DataFacts,
    request::Request,
    source::{ColumnRead, ColumnType},
    statistic::Fold,
    types::Types,
};
use equipoise_core::adjacency::Unit;

impl Fold {
    /// The name of the column that holds it, which nobody can type.
    pub(crate) fn column_name(self, of: Option<&str>) -> String {
        let of = of.map_or(String::new(), |of| format!(" of {of}"));
        format!("{}{}{of} per unit", columns::UNNAMED, self.noun())
    }

    /// How the column is read that it is made of.
    fn reads(self, column: usize, types: &Types) -> ColumnRead {
        match self {
            Self::Count => types.key(column),
            Self::Sum | Self::Mean => {
                types.numbers(column).wanted().unwrap_or(ColumnRead { column, kind: ColumnType::Float })
            }
        }
    }

    /// What its values are.
    fn kind(self, of: Option<ColumnRead>) -> ColumnType {
        match (self, of.map(|of| of.kind)) {
            (Self::Count, _) | (Self::Sum, Some(ColumnType::Boolean)) => ColumnType::Integer,
            (Self::Sum, Some(kind)) if kind.is_whole() => kind,
            _ => ColumnType::Float,
        }
    }
}

/// A column of values of people.
#[derive(Clone, Debug, PartialEq, Eq)]
struct UnitColumn {
    name: String,
    fold: Fold,
    /// The cells that it is made of; none where rows are counted.
    of: Option<ColumnRead>,
}

/// All such columns of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PerUnit {
    /// How many columns stand before.
    before: usize,
    columns: Vec<UnitColumn>,
}

impl PerUnit {
    /// The columns that requests want, behind all others, which are added to what is public of them. What is wrong with a request is said
    /// by whoever reads it.
    pub fn plan<'a>(requests: impl IntoIterator<Item = &'a Request>, facts: &mut DataFacts) -> Self {
        let mut all = Self { before: facts.columns.len(), columns: Vec::new() };
        let known = facts.clone();
        for request in requests {
            let Some(fold) = request.fold() else { continue };
            let Ok(types) = Types::plan(request, &known) else { continue };
            let unit = known.unit(request.unit.as_deref());
            if !matches!(unit, Ok(Unit::Column(name)) if columns::place(&known.columns, &name).is_ok()) {
                continue;
            }
            let name = fold.column_name(request.column.as_deref());
            let of = match request.column.as_deref().map(|name| columns::named(&known.columns, name)) {
                None => None,
                Some(Ok(column)) => Some(fold.reads(column, &types)),
                Some(Err(_)) => continue,
            };
            if (fold == Fold::Count || of.is_some()) && all.columns.iter().all(|column| column.name != name) {
                facts.kinds.resize(facts.columns.len(), None);
                facts.columns.push(name.clone());
                facts.kinds.push(Some(fold.kind(of)));
                all.columns.push(UnitColumn { name, fold, of });
            }
        }
        all
    }

    /// The place of a column among all, where the plan has it.
    pub fn place(facts: &DataFacts, name: &str) -> Option<usize> {
        facts.columns.iter().rposition(|column| column == name)
    }

    /// Are there no such columns?
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    fn column(&self, wanted: ColumnRead) -> Option<&UnitColumn> {
        self.columns.get(wanted.column.checked_sub(self.before)?)
    }

    /// How a column of people is made, and of which cells.
    pub fn made_of(&self, wanted: ColumnRead) -> (Fold, Option<ColumnRead>) {
        let column = self.column(wanted).expect("a column of people");
        (column.fold, column.of)
    }

    /// The cells of rows that wanted cells are made of.
    pub fn of_rows(&self, wanted: ColumnRead) -> Option<ColumnRead> {
        match self.column(wanted) {
            Some(column) => column.of,
            None => Some(wanted),
        }
    }

    /// What is wanted of rows, and of people. Wanted columns come in rising order, so that those of people are the last.
    pub fn split<'w>(&self, wanted: &'w [ColumnRead]) -> (&'w [ColumnRead], &'w [ColumnRead]) {
        let rows = wanted.iter().take_while(|&&one| self.column(one).is_none()).count();
        let (rows, people) = wanted.split_at(rows);
        assert!(people.iter().all(|&one| self.column(one).is_some()), "columns of people are the last");
        (rows, people)
    }

    /// How what is wanted of people is made of cells that come in this order.
    pub(super) fn folding(&self, people: &[ColumnRead], cells: &[ColumnRead]) -> Folding {
        let made = |&wanted: &ColumnRead| {
            let column = self.column(wanted).expect("a column of people");
            let of = column.of.map(|of| cells.iter().position(|&one| one == of).expect("a cell of rows"));
            Made { fold: column.fold, of, kind: wanted.kind }
        };
        Folding {
            made: people.iter().map(made).collect(),
            kinds: cells.iter().map(|cell| cell.kind).collect(),
        }
    }

    /// The cells of rows that columns of people are made of, each once.
    pub fn cells(&self, people: &[ColumnRead]) -> Vec<ColumnRead> {
        let mut cells: Vec<ColumnRead> = people.iter().filter_map(|&one| self.column(one)?.of).collect();
        cells.sort_unstable();
        cells.dedup();
        cells
    }
}

/// How values of people are made.
pub(super) struct Folding {
    made: Vec<Made>,
    /// Of the cells of a row, in their order.
    kinds: Vec<ColumnType>,
}

struct Made {
    fold: Fold,
    /// Which of the cells.
    of: Option<usize>,
    kind: ColumnType,
}

impl Folding {
    /// Room for the rows of one person in one group.
    pub fn room(&self) -> Folded<'_> {
        let columns = self.kinds.iter().map(|&kind| Gathered { kind, ..Gathered::default() }).collect();
        Folded { folding: self, rows: 0, columns }
    }
}

/// The rows of one person in one group, added up.
pub(super) struct Folded<'f> {
    folding: &'f Folding,
    rows: u64,
    columns: Vec<Gathered>,
}

/// One column of them.
struct Gathered {
    kind: ColumnType,
    present: u64,
    whole: i128,
    real: ExactSum,
}

impl Default for Gathered {
    fn default() -> Self {
        Self { kind: ColumnType::Float, present: 0, whole: 0, real: ExactSum::default() }
    }
}

/// A value of a person.
enum Value {
    None,
    Whole(i128),
    Real(f64),
}

impl Folded<'_> {
    /// Is nothing to be made?
    pub fn is_empty(&self) -> bool {
        self.folding.made.is_empty()
    }

    /// Begin with another person or group.
    pub fn clear(&mut self) {
        self.rows = 0;
        for column in &mut self.columns {
            (column.present, column.whole) = (0, 0);
            column.real.clear();
        }
    }

    /// One row more, by its cells as they were written.
    pub fn add(&mut self, mut cells: &[u8]) {
        self.rows += 1;
        for column in &mut self.columns {
            match take_cell(column.kind, &mut cells) {
                Cell::Null => continue,
                Cell::Text => {}
                Cell::Whole(value) => column.whole += i128::from(value),
                Cell::Real(value) => column.real.add(value),
            }
            column.present += 1;
        }
    }

    /// Write the values as cells.
    pub fn put(&self, bytes: &mut Vec<u8>) {
        self.folding.made.iter().for_each(|made| put_as(made.kind, &self.value(made), bytes));
    }

    /// Write as many cells without a value.
    pub fn put_nothing(&self, bytes: &mut Vec<u8>) {
        self.folding.made.iter().for_each(|made| put_as(made.kind, &Value::None, bytes));
    }

    fn value(&self, made: &Made) -> Value {
        let Some(column) = made.of.map(|of| &self.columns[of]) else {
            return Value::Whole(self.rows.into());
        };
        match made.fold {
            Fold::Count => Value::Whole(column.present.into()),
            _ if column.present == 0 => Value::None,
            Fold::Sum if column.kind.is_whole() => Value::Whole(column.whole),
            Fold::Sum => Value::Real(column.real.sum()),
            Fold::Mean if column.kind.is_whole() => {
                Value::Real(column.whole as f64 / column.kind.units() as f64 / column.present as f64)
            }
            Fold::Mean => Value::Real(column.real.sum() / column.present as f64),
        }
    }
}

/// Write a value as a cell of a kind, as [`put`](super::encode::put) does; what 64 bits do not hold is the nearest that they do.
fn put_as(kind: ColumnType, value: &Value, bytes: &mut Vec<u8>) {
    let real = match value {
        Value::None => f64::NAN,
        Value::Whole(whole) => *whole as f64,
        Value::Real(real) => *real,
    };
    if !kind.is_whole() {
        return bytes.extend_from_slice(&if real.is_nan() { f64::NAN } else { real }.to_bits().to_le_bytes());
    }
    match value {
        Value::Whole(whole) => {
            let ends = i128::from(i64::MIN)..=i128::from(i64::MAX);
            let nearest = i64::try_from(*whole.clamp(ends.start(), ends.end())).expect("within the ends");
            bytes.push(1);
            bytes.extend_from_slice(&nearest.to_le_bytes());
        }
        Value::None | Value::Real(_) => bytes.push(0),
    }
}
