//! Small databases: three units, rows that are doubled, that have no unit, or that hold the least and the largest there is.

use crate::table::{Column, Reader, Table};
use equipoise_session::source::{Batch, Cells, ColumnRead, ColumnType, Lost, Visitor};
use std::sync::{Arc, Mutex};

/// The units that there are.
pub(super) const UNITS: [&str; 3] = ["1", "2", "3"];
/// How many databases a query is tried on.
pub(super) const DATABASES: usize = 6;

/// What a table is like. The first column of a private one is its unit.
pub(super) struct Kind {
    pub name: &'static str,
    private: bool,
    columns: &'static [(&'static str, ColumnType)],
    most_rows: u64,
}

const TEXT: ColumnType = ColumnType::Text;
const INTEGER: ColumnType = ColumnType::Integer;

/// Three private tables and two public ones, which hold what looks like units too.
pub(super) const TABLES: [Kind; 5] = [
    Kind {
        name: "p",
        private: true,
        columns: &[
            ("u", TEXT),
            ("k", INTEGER),
            ("a", INTEGER),
            ("f", ColumnType::Float),
            ("d", ColumnType::Date),
            ("s", TEXT),
        ],
        most_rows: 7,
    },
    Kind {
        name: "q",
        private: true,
        columns: &[("u", TEXT), ("k", INTEGER), ("b", INTEGER), ("s", TEXT)],
        most_rows: 6,
    },
    Kind {
        name: "r",
        private: true,
        columns: &[
            ("w", TEXT),
            ("a", INTEGER),
            ("m", ColumnType::Decimal { digits: 2 }),
            ("y", ColumnType::Boolean),
        ],
        most_rows: 5,
    },
    Kind { name: "g", private: false, columns: &[("k", INTEGER), ("x", INTEGER), ("t", TEXT)], most_rows: 4 },
    Kind { name: "h", private: false, columns: &[("k", INTEGER), ("z", ColumnType::Float)], most_rows: 4 },
];

type Row = Vec<Option<String>>;

/// All tables of the databases, and which of them is held.
pub(super) struct World {
    rows: Vec<Vec<Vec<Row>>>,
    held: Mutex<(usize, Option<&'static str>)>,
}

/// Numbers that look random and are the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> Option<&'a str> {
        let length = u64::try_from(list.len()).expect("lists are short");
        list.get(usize::try_from(self.below(length + 1)).expect("it is small")).copied()
    }
}

fn cell(numbers: &mut Numbers, column: &str, kind: ColumnType, is_unit: bool) -> Option<String> {
    let text = match (column, kind) {
        // Units have space around them at times.
        _ if is_unit => numbers.pick(&["1", "2", "3", " 1", "2 ", "1", "3", "2"]),
        ("k", _) => numbers.pick(&["1", "2", "3", "4"]),
        ("t" | "s", _) => numbers.pick(&["1", "2", "a", "B", "x%", "3"]),
        (_, ColumnType::Integer) => {
            numbers.pick(&["0", "1", "-1", "7", "9223372036854775807", "-9223372036854775808", "5"])
        }
        (_, ColumnType::Float) => numbers.pick(&["0.1", "-0.0", "0", "1e308", "1e16", "-1e16", "0.2", "3.5"]),
        (_, ColumnType::Date) => numbers.pick(&["2026-01-31", "1970-01-01", "9999-12-31", "2024-02-29"]),
        (_, ColumnType::Decimal { .. }) => numbers.pick(&["1.25", "92233720368547758.07", "-0.01", "3"]),
        (_, ColumnType::Boolean) => numbers.pick(&["yes", "no"]),
        _ => numbers.pick(&["a"]),
    };
    text.map(str::to_string)
}

impl World {
    pub fn new() -> Arc<Self> {
        let mut numbers = Numbers(20_260_101);
        let mut table = |kind: &Kind| {
            let rows = numbers.below(kind.most_rows) + 1;
            let mut row = |_| {
                let cells = kind.columns.iter().enumerate();
                cells
                    .map(|(place, (name, of))| cell(&mut numbers, name, *of, kind.private && place == 0))
                    .collect()
            };
            let mut rows: Vec<Row> = (0..rows).map(&mut row).collect();
            // One row twice, so that what counts copies shows.
            rows.extend(rows.first().cloned());
            rows
        };
        let rows = (0..DATABASES).map(|_| TABLES.iter().map(&mut table).collect()).collect();
        Arc::new(Self { rows, held: Mutex::new((0, None)) })
    }

    /// From now on tables have the rows of this database, without those of a unit.
    pub fn hold(&self, database: usize, without: Option<&'static str>) {
        *self.held.lock().expect("nobody panics over it") = (database, without);
    }

    /// A table that has whatever rows are held.
    pub fn table(self: &Arc<Self>, name: &str) -> Arc<Table> {
        let number =
            TABLES.iter().position(|kind| kind.name == name).unwrap_or_else(|| panic!("no table {name}"));
        let kind = &TABLES[number];
        let column = |(place, (name, kind)): (usize, &(&str, ColumnType))| Column {
            name: (*name).to_string(),
            place,
            kind: *kind,
        };
        let columns = kind.columns.iter().enumerate().map(column).collect();
        Arc::new(Table::new(
            columns,
            kind.private.then_some(0),
            Arc::new(Held { world: self.clone(), number }),
        ))
    }
}

struct Held {
    world: Arc<World>,
    number: usize,
}

impl Reader for Held {
    fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        let (database, without) = *self.world.held.lock().map_err(|_| Lost)?;
        let rows = &self.world.rows[database][self.number];
        let is_removed = |row: &&Row| {
            TABLES[self.number].private
                && without.is_some()
                && row[0].as_deref().map(str::trim_ascii) == without
        };
        let rows: Vec<&Row> = rows.iter().filter(|row| !is_removed(row)).collect();
        let text = |row: &Row, column: usize| row[column].clone();
        let texts: Vec<Vec<Option<String>>> =
            wanted.iter().map(|one| rows.iter().map(|row| text(row, one.column)).collect()).collect();
        let texts: Vec<Vec<Option<&str>>> =
            texts.iter().map(|column| column.iter().map(Option::as_deref).collect()).collect();
        let float = |text: Option<&str>| text.and_then(|text| text.parse().ok()).unwrap_or(f64::NAN);
        let floats: Vec<Vec<f64>> =
            texts.iter().map(|column| column.iter().copied().map(float).collect()).collect();
        let wholes: Vec<Vec<Option<i64>>> = texts
            .iter()
            .zip(wanted)
            .map(|(column, one)| {
                column.iter().map(|text| text.and_then(|text| one.kind.read(text))).collect()
            })
            .collect();
        let cells: Vec<Cells<'_>> = wanted
            .iter()
            .enumerate()
            .map(|(place, one)| match one.kind {
                ColumnType::Float => Cells::Floats(&floats[place]),
                ColumnType::Text => Cells::Texts(&texts[place]),
                _ => Cells::Integers(&wholes[place]),
            })
            .collect();
        visitors[0].batch(Batch { rows: rows.len(), cells: &cells });
        Ok(())
    }
}
