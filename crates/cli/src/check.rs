//! `equipoise check FILE`: the steward's own look at a bad file. It reads private rows and prints what it finds, free
//! and without noise, so it is for whoever may see the file anyway; it says so first.

use crate::{
    Exit,
    args::CheckOptions,
    ask::{internal, open, usage},
    progress,
    show::printable,
};
use comfy_table::{ContentArrangement, Table, presets::NOTHING};
use equipoise_session::source::{Batch, Cells, Kind, Source, Visitor, Wanted};
use serde_json::{Value, json};

/// How many bad records are named.
const NAMED: usize = 5;
/// How every column is tried.
const KINDS: [(&str, Kind); 6] = [
    ("texts", Kind::Text),
    ("numbers", Kind::Float),
    ("integers", Kind::Integer),
    ("dates", Kind::Date),
    ("timestamps", Kind::Timestamp),
    ("booleans", Kind::Boolean),
];

/// What was found in one column: how many fields can be read as each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Column {
    readable: [u64; KINDS.len()],
    longest: usize,
}

/// What was found in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Findings {
    records: u64,
    columns: Vec<Column>,
    /// Records of which no field can be read.
    void: u64,
    /// The places of the first of them, counted from one.
    first_void: Vec<u64>,
}

impl Visitor for Findings {
    fn batch(&mut self, batch: Batch<'_>) {
        for (place, cells) in batch.cells.iter().enumerate() {
            let column = &mut self.columns[place / KINDS.len()];
            let (readable, longest) = look(cells);
            column.readable[place % KINDS.len()] += readable;
            column.longest = column.longest.max(longest);
        }
        let texts: Vec<&Cells<'_>> = batch.cells.iter().step_by(KINDS.len()).collect();
        for row in 0..batch.rows {
            if !texts.is_empty() && texts.iter().all(|cells| text(cells, row).is_none()) {
                self.void += 1;
                if self.first_void.len() < NAMED {
                    self.first_void.push(self.records + row as u64 + 1);
                }
            }
        }
        self.records += batch.rows as u64;
    }
}

/// How many cells can be read, and the longest text.
fn look(cells: &Cells<'_>) -> (u64, usize) {
    let count = |many: usize| many as u64;
    match cells {
        Cells::Floats(cells) => (count(cells.iter().filter(|cell| !cell.is_nan()).count()), 0),
        Cells::Integers(cells) => (count(cells.iter().flatten().count()), 0),
        Cells::Texts(cells) => {
            let longest = cells.iter().flatten().map(|text| text.len()).max();
            (count(cells.iter().flatten().count()), longest.unwrap_or_default())
        }
        Cells::Coded { texts, codes } => {
            let known = codes.iter().flatten().filter_map(|&code| texts.get(code as usize));
            let longest = known.map(|text| text.len()).max();
            (count(codes.iter().flatten().count()), longest.unwrap_or_default())
        }
    }
}

fn text<'a>(cells: &Cells<'a>, row: usize) -> Option<&'a str> {
    match cells {
        Cells::Texts(cells) => cells.get(row).copied().flatten(),
        Cells::Coded { texts, codes } => texts.get(codes.get(row).copied().flatten()? as usize).copied(),
        Cells::Floats(_) | Cells::Integers(_) => None,
    }
}

pub(crate) fn run(options: &CheckOptions) -> Exit {
    let header = options.reading.no_header.then_some(false);
    match open(&options.file, options.reading.delimiter.as_deref(), header) {
        Ok(source) => progress::spinning("reading", || check(&*source, options.json)),
        Err(exit) => exit,
    }
}

fn check(source: &dyn Source, as_json: bool) -> Exit {
    let names = source.columns();
    let wanted: Vec<Wanted> =
        (0..names.len()).flat_map(|column| KINDS.map(|(_, kind)| Wanted { column, kind })).collect();
    let mut findings = Findings { columns: vec![Column::default(); names.len()], ..Findings::default() };
    // One visitor sees records in the order of the file, so that bad ones can be named.
    if let Err(lost) = source.scan(&wanted, &mut [&mut findings]) {
        return internal(lost);
    }
    if names.is_empty() {
        return usage("the file has no columns; is it empty?");
    }
    if as_json {
        println!("{:#}", document(&findings, names));
    } else {
        print(&findings, names);
    }
    Exit::Done
}

fn document(findings: &Findings, names: &[String]) -> Value {
    let columns: Vec<Value> = findings
        .columns
        .iter()
        .zip(names)
        .map(|(column, name)| {
            let mut entry = json!({ "column": name, "empty": findings.records - column.readable[0] });
            for ((kind, _), readable) in KINDS.iter().zip(column.readable) {
                entry[*kind] = readable.into();
            }
            entry["longest"] = column.longest.into();
            entry
        })
        .collect();
    json!({
        "private": "these figures are exact and not private; do not pass them on",
        "records": findings.records, "unreadable": findings.void, "first_unreadable": findings.first_void,
        "columns": columns,
    })
}

fn print(findings: &Findings, names: &[String]) {
    println!("These figures are exact and not private: for the holder of the data only.");
    println!("{} records, {} of which no field can be read", findings.records, findings.void);
    if !findings.first_void.is_empty() {
        let places: Vec<String> = findings.first_void.iter().map(ToString::to_string).collect();
        let more = if findings.void > findings.first_void.len() as u64 { ", ..." } else { "" };
        println!("  records {}{more}: ragged, oversized, not UTF-8, or empty", places.join(", "));
    }
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    let kinds = KINDS.iter().map(|(name, _)| *name);
    table.set_header(["column", "empty"].into_iter().chain(kinds).chain(["longest"]));
    for (column, name) in findings.columns.iter().zip(names) {
        let empty = findings.records - column.readable[0];
        let readable = column.readable.iter().map(ToString::to_string);
        let row = [printable(name), empty.to_string()].into_iter().chain(readable);
        table.add_row(row.chain([column.longest.to_string()]));
    }
    println!("{table}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cell_is_counted_as_what_it_can_be_read_as() {
        let mut findings = Findings { columns: vec![Column::default()], ..Findings::default() };
        let cells = [
            Cells::Coded { texts: &["12", "x"], codes: &[Some(0), None, Some(1)] },
            Cells::Floats(&[12.0, f64::NAN, f64::NAN]),
            Cells::Integers(&[Some(12), None, None]),
            Cells::Integers(&[None; 3]),
            Cells::Integers(&[None; 3]),
            Cells::Integers(&[None; 3]),
        ];
        findings.batch(Batch { rows: 3, cells: &cells });
        findings.batch(Batch { rows: 3, cells: &cells });
        assert_eq!(findings.columns[0], Column { readable: [4, 2, 2, 0, 0, 0], longest: 2 });
        assert_eq!((findings.records, findings.void, findings.first_void), (6, 2, vec![2, 5]));
    }
}
