//! Folders that go away, and cells as they were delivered.

#[allow(dead_code, reason = "not every test starts a process")]
pub mod alone;
#[allow(dead_code, reason = "not every test breaks files")]
pub mod mutate;
#[allow(dead_code, reason = "not every test wants every format")]
pub mod originals;
#[allow(dead_code, reason = "not every test writes Parquet by hand")]
pub mod thrift;

use equipoise_session::source::{Batch, Cells, ColumnRead, ColumnType, Lost, Source, Visitor};
use std::{
    env, fs,
    path::PathBuf,
    sync::atomic::{AtomicUsize, Ordering},
};

/// A folder that goes away.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("equipoise-formats-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }

    pub fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a temporary folder");
        fs::write(&path, content).expect("a temporary file");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// One cell, comparable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    Float(Option<u64>),
    Whole(Option<i64>),
    Text(Option<String>),
}

#[derive(Default)]
pub struct Collect {
    pub rows: usize,
    pub cells: Vec<Vec<Cell>>,
    pub coded: bool,
}

impl Visitor for Collect {
    fn batch(&mut self, batch: Batch<'_>) {
        self.rows += batch.rows;
        for row in 0..batch.rows {
            let cell = |cells: &Cells<'_>| match cells {
                Cells::Floats(cells) => {
                    Cell::Float(Some(cells[row]).filter(|cell| !cell.is_nan()).map(f64::to_bits))
                }
                Cells::Integers(cells) => Cell::Whole(cells[row]),
                Cells::Texts(cells) => Cell::Text(cells[row].map(str::to_string)),
                Cells::Coded { texts, codes } => {
                    self.coded = true;
                    Cell::Text(codes[row].map(|code| texts[code as usize].to_string()))
                }
            };
            self.cells.push(batch.cells.iter().map(cell).collect());
        }
    }
}

pub const KINDS: [ColumnType; 7] = [
    ColumnType::Float,
    ColumnType::Integer,
    ColumnType::Decimal { digits: 2 },
    ColumnType::Date,
    ColumnType::Timestamp,
    ColumnType::Boolean,
    ColumnType::Text,
];

/// All cells of a column by all kinds, in the order of one visitor.
pub fn read(source: &dyn Source, column: usize) -> Result<Collect, Lost> {
    let wanted = KINDS.map(|kind| ColumnRead { column, kind });
    let mut all = Collect::default();
    source.scan(&wanted, &mut [&mut all])?;
    Ok(all)
}

/// All records as texts, sorted, as two visitors saw them.
#[allow(dead_code, reason = "not every test wants texts")]
pub fn texts(source: &dyn Source) -> Result<Vec<Vec<Cell>>, Lost> {
    let wanted: Vec<ColumnRead> =
        (0..source.columns().len()).map(|column| ColumnRead { column, kind: ColumnType::Text }).collect();
    let [mut one, mut two] = [Collect::default(), Collect::default()];
    source.scan(&wanted, &mut [&mut one, &mut two])?;
    let mut all = [one.cells, two.cells].concat();
    all.sort();
    Ok(all)
}
