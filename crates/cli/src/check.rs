//! `equipoise check FILE`: the steward's own look at a bad file. It reads private rows and prints what it finds, free
//! and without noise, so it is for whoever may see the file anyway; it says so first.

use crate::{
    Exit,
    args::{CheckOptions, Types, by_column},
    ask::{open, unread, usage},
    progress,
    show::printable,
};
use comfy_table::{ContentArrangement, Table, presets::NOTHING};
use equipoise_core::wording;
use equipoise_session::{
    columns, kind,
    source::{Batch, Cells, ColumnRead, ColumnType, Source, Visitor},
};
use serde_json::{Value, json};

/// How many bad records are named.
const NAMED: usize = 5;
/// How every column is tried.
const KINDS: [(&str, ColumnType); 6] = [
    ("texts", ColumnType::Text),
    ("numbers", ColumnType::Float),
    ("integers", ColumnType::Integer),
    ("dates", ColumnType::Date),
    ("timestamps", ColumnType::Timestamp),
    ("booleans", ColumnType::Boolean),
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
    declared: Vec<Declared>,
}

/// What was found in a column whose type was declared.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Declared {
    column: usize,
    kind: ColumnType,
    /// How many fields hold something that is not of the type; questions take them for empty.
    unfit: u64,
    /// The places of the first of them.
    first_unfit: Vec<u64>,
}

impl Visitor for Findings {
    fn batch(&mut self, batch: Batch<'_>) {
        let (tried, declared) = batch.cells.split_at(self.columns.len() * KINDS.len());
        for (place, cells) in tried.iter().enumerate() {
            let column = &mut self.columns[place / KINDS.len()];
            let (readable, longest) = look(cells);
            column.readable[place % KINDS.len()] += readable;
            column.longest = column.longest.max(longest);
        }
        let texts: Vec<&Cells<'_>> = tried.iter().step_by(KINDS.len()).collect();
        for (declared, cells) in self.declared.iter_mut().zip(declared) {
            let texts = texts[declared.column];
            for row in (0..batch.rows).filter(|&row| text(texts, row).is_some() && !is_readable(cells, row)) {
                declared.unfit += 1;
                if declared.first_unfit.len() < NAMED {
                    declared.first_unfit.push(self.records + row as u64 + 1);
                }
            }
        }
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

fn is_readable(cells: &Cells<'_>, row: usize) -> bool {
    match cells {
        Cells::Floats(cells) => !cells[row].is_nan(),
        Cells::Integers(cells) => cells[row].is_some(),
        texts => text(texts, row).is_some(),
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
        Ok(source) => match declared(&options.types, source.columns()) {
            Ok(types) => progress::spinning("reading", || check(&*source, &types, options.json)),
            Err(error) => usage(error),
        },
        Err(exit) => exit,
    }
}

/// The columns whose types were declared.
pub(crate) fn declared(types: &Types, names: &[String]) -> Result<Vec<ColumnRead>, String> {
    let one = |(name, word): (String, String)| {
        let column = columns::place(names, &name).map_err(|error| format!("--type: {error}"))?;
        let kind = ColumnType::named(&word).ok_or_else(|| {
            let word = wording::shown(&word);
            format!("--type: no type is called '{word}'. There are: {}", kind::NAMES.join(", "))
        })?;
        Ok(ColumnRead { column, kind })
    };
    by_column(&types.types).into_iter().map(one).collect()
}

fn check(source: &dyn Source, types: &[ColumnRead], as_json: bool) -> Exit {
    let names = source.columns();
    let mut wanted: Vec<ColumnRead> =
        (0..names.len()).flat_map(|column| KINDS.map(|(_, kind)| ColumnRead { column, kind })).collect();
    wanted.extend(types);
    let declared = |&ColumnRead { column, kind }: &ColumnRead| Declared {
        column,
        kind,
        unfit: 0,
        first_unfit: Vec::new(),
    };
    let declared = types.iter().map(declared).collect();
    let mut findings =
        Findings { columns: vec![Column::default(); names.len()], declared, ..Findings::default() };
    // One visitor sees records in the order of the file, so that bad ones can be named.
    if let Err(lost) = source.scan(&wanted, &mut [&mut findings]) {
        return unread(lost);
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
    let declared: Vec<Value> = findings
        .declared
        .iter()
        .map(|declared| {
            json!({
                "column": names[declared.column], "type": declared.kind.to_string(),
                "unfit": declared.unfit, "first_unfit": declared.first_unfit,
            })
        })
        .collect();
    json!({
        "private": "these figures are exact and not private; do not pass them on",
        "records": findings.records, "unreadable": findings.void, "first_unreadable": findings.first_void,
        "columns": columns, "declared": declared,
    })
}

/// The first places of so many.
fn places(first: &[u64], all: u64) -> String {
    let shown: Vec<String> = first.iter().map(ToString::to_string).collect();
    shown.join(", ") + if all > first.len() as u64 { ", ..." } else { "" }
}

fn print(findings: &Findings, names: &[String]) {
    println!("These figures are exact and not private: for the holder of the data only.");
    println!("{} records, {} of which no field can be read", findings.records, findings.void);
    if !findings.first_void.is_empty() {
        let places = places(&findings.first_void, findings.void);
        println!("  records {places}: ragged, oversized, not UTF-8, or empty");
    }
    for Declared { column, kind, unfit, first_unfit } in &findings.declared {
        let name = printable(&names[*column]);
        match unfit {
            0 => println!("  {name} as {kind}: every field that is not empty"),
            _ => println!(
                "  {name} as {kind}: {unfit} fields are none and count as empty, in records {}",
                places(first_unfit, *unfit)
            ),
        }
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
