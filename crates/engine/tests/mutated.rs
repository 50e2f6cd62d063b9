//! Thousands of broken files of every format: a line before the charge, a lost answer after it, or the rows that are there.
//! Nothing else: no end of the process, no panic that shows, no rows that nobody wrote.
//!
//! `EQUIPOISE_MUTATED_FILES=20000 cargo test -p equipoise-engine --test mutated -- --nocapture` takes as many of each format;
//! with `EQUIPOISE_MUTATED_FOLDER=..` they are broken copies of the files there.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "numbers of tests are small, or cut on purpose"
)]

#[expect(dead_code, reason = "other tests read cells")]
mod support;

use equipoise_engine::{OpenOptions, open};
use equipoise_session::source::{Batch, Cells, ColumnRead, Lost, Visitor};
use std::{collections::BTreeMap, env, fs, path::PathBuf};
use support::{
    Folder, KINDS,
    alone::alone,
    mutate::mutated,
    originals::{BATCH, Original, ROWS, originals},
};

/// What came of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Refused,
    Lost,
    Read,
}

/// Counts rows and looks at every cell. It keeps none: a few bytes can stand for millions of nulls.
struct Count(usize);

impl Visitor for Count {
    fn batch(&mut self, batch: Batch<'_>) {
        self.0 += batch.rows;
        for cells in batch.cells {
            let (length, seen) = match cells {
                Cells::Floats(cells) => (cells.len(), cells.iter().filter(|cell| cell.is_nan()).count()),
                Cells::Integers(cells) => (cells.len(), cells.iter().flatten().count()),
                Cells::Texts(cells) => {
                    (cells.len(), cells.iter().flatten().filter(|text| text.is_empty()).count())
                }
                Cells::Coded { texts, codes } => (
                    codes.len(),
                    codes.iter().flatten().filter(|&&code| texts[code as usize].is_empty()).count(),
                ),
            };
            assert!(length == batch.rows && seen <= length, "a cell for each row");
        }
    }
}

/// Open a file and read every column by every kind. Of files of our own we know which numbers of rows are possible.
fn outcome(folder: &Folder, name: &str, bytes: &[u8], ours: bool) -> Outcome {
    let path = folder.file(name, bytes);
    let source = match open(&[&path], &OpenOptions::default()) {
        Ok(source) => source,
        Err(error) => {
            let line = error.to_string();
            let plain = !line.contains(|character: char| character.is_control()) && line.len() < 2000;
            assert!(plain && line.contains(name) && line.contains(';'), "{line:?}");
            return Outcome::Refused;
        }
    };
    let mut rows = Vec::new();
    for column in 0..source.columns().len() {
        let wanted = KINDS.map(|kind| ColumnRead { column, kind });
        let mut count = Count(0);
        match source.scan(&wanted, &mut [&mut count]) {
            Ok(()) => rows.push(count.0),
            Err(Lost) => return Outcome::Lost,
        }
    }
    let possible = |rows: usize| match name.rsplit('.').next() {
        Some("parquet" | "arrow") => rows == ROWS,
        // A stream may end after any batch.
        Some("arrows") => rows == ROWS || rows.is_multiple_of(BATCH),
        Some("csv") => rows <= bytes.len(),
        // What was packed may have had any length.
        _ => true,
    };
    assert!(rows.windows(2).all(|pair| pair[0] == pair[1]), "columns of different lengths: {rows:?}");
    assert!(!ours || rows.first().is_none_or(|&rows| possible(rows)), "{rows:?} rows in {name}");
    Outcome::Read
}

/// The format that a name tells.
fn format(name: &str) -> &str {
    name.split_once('.').map_or(name, |(_, ending)| ending)
}

/// Small files that somebody else wrote, under names of one point.
fn files_in(folder: &str) -> Vec<Original> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let file = |path: PathBuf| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        let bytes = fs::read(&path).ok().filter(|bytes| (1..1 << 16).contains(&bytes.len()))?;
        Some(Original { name, bytes })
    };
    let mut files: Vec<Original> = entries.filter_map(file).collect();
    files.sort_by(|one, other| one.name.cmp(&other.name));
    files
}

#[test]
fn originals_are_read() {
    let folder = Folder::new();
    for Original { name, bytes } in originals() {
        assert_eq!(outcome(&folder, &name, &bytes, true), Outcome::Read, "{name}");
    }
}

#[test]
fn a_broken_file_is_a_line_or_lost_or_read_for_what_it_holds() {
    alone("a_broken_file_is_a_line_or_lost_or_read_for_what_it_holds", || {
        let each: u64 =
            env::var("EQUIPOISE_MUTATED_FILES").ok().and_then(|count| count.parse().ok()).unwrap_or(250);
        let found = env::var("EQUIPOISE_MUTATED_FOLDER").ok().map(|folder| files_in(&folder));
        let (folder, ours) = (Folder::new(), found.is_none());
        let all = found.unwrap_or_else(originals);
        let mut formats: BTreeMap<&str, Vec<&Original>> = BTreeMap::new();
        for original in &all {
            formats.entry(format(&original.name)).or_default().push(original);
        }
        for (format, files) in &formats {
            let mut outcomes: BTreeMap<Outcome, usize> = BTreeMap::new();
            for seed in 0..each {
                let original = files[seed as usize % files.len()];
                let other = &all[(seed as usize * 31 + 7) % all.len()];
                let bytes = mutated(&original.bytes, &other.bytes, seed);
                *outcomes.entry(outcome(&folder, &original.name, &bytes, ours)).or_default() += 1;
            }
            println!("{format}: {outcomes:?}");
            // Any text is a CSV file, more or less.
            assert!(!ours || *format == "csv" || outcomes.len() > 1, "all fared alike: {outcomes:?}");
        }
    });
}
