//! A block that a program gets is made of its own rows and the public schema: whatever the other rows of a file are, and however
//! the file keeps them, equal rows are equal bytes.

#[expect(dead_code, reason = "other tests read cells")]
mod support;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float64Array, Int64Array, LargeStringArray,
    RecordBatch, StringArray, StringViewArray,
    types::{Int8Type, Int32Type},
};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{Field, Schema};
use equipoise_engine::{BlockFormat, OpenOptions, open};
use equipoise_session::{
    ledger::Ledger,
    session::{Paid, Session, facts},
    source::Source,
    votes::{VotePlan, VoteRequest},
};
use parquet::{arrow::ArrowWriter, file::properties::WriterProperties};
use std::{
    collections::{BTreeSet, HashMap},
    env,
    path::Path,
    sync::Arc,
};
use support::Folder;

/// Fixed words, so that a case can be tried again.
struct SplitMix(u64);

impl SplitMix {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        usize::try_from((mixed ^ (mixed >> 27)) % end as u64).unwrap()
    }
}

/// Whose row it is, and a cell of each other column.
#[derive(Clone, Debug)]
struct Row {
    who: Option<&'static str>,
    whole: Option<i64>,
    number: Option<f64>,
    text: Option<&'static str>,
    day: Option<i32>,
    yes: Option<bool>,
}

const TEXTS: [&str; 6] = ["Ayr", "a,b", "say \"x\"", "é", "7", "a rare diagnosis that only one person has"];
const NAMES: [&str; 6] = ["who", "whole", "number", "text", "day", "yes"];

fn row(who: Option<&'static str>, texts: usize, coins: &mut SplitMix) -> Row {
    let mut some = |end: usize| Some(coins.below(end)).filter(|_| coins.below(4) > 0);
    Row {
        who,
        whole: some(100).map(|cell| i64::try_from(cell).unwrap() - 50),
        number: some(100).map(|cell| cell as f64 / 8.0),
        text: some(texts).map(|cell| TEXTS[cell]),
        day: some(20_000).map(|cell| i32::try_from(cell).unwrap()),
        yes: some(2).map(|cell| cell == 1),
    }
}

/// The rows of one person among rows of nobody, which are in no block.
fn table(own: &[Row], coins: &mut SplitMix) -> Vec<Row> {
    let mut rows: Vec<Row> = (0..coins.below(30)).map(|_| row(None, TEXTS.len(), coins)).collect();
    // In their order, so that the same coins could give the same blocks.
    let mut place = 0;
    for one in own {
        place += coins.below(rows.len() - place + 1);
        rows.insert(place, one.clone());
        place += 1;
    }
    rows
}

fn csv(rows: &[Row], coins: &mut SplitMix) -> Vec<u8> {
    let mut lines = NAMES.join(",") + "\n";
    for row in rows {
        let text = |cell: Option<String>| cell.unwrap_or_default();
        let cells = [
            text(row.who.map(Into::into)),
            text(row.whole.map(|cell| cell.to_string())),
            text(row.number.map(|cell| cell.to_string())),
            text(row.text.map(Into::into)),
            text(row.day.map(|cell| cell.to_string())),
            text(row.yes.map(|cell| cell.to_string())),
        ];
        // Quotes where none are needed, too.
        let quoted: Vec<String> = cells
            .iter()
            .map(|cell| {
                if cell.contains([',', '"']) || coins.below(3) == 0 {
                    format!("\"{}\"", cell.replace('"', "\"\""))
                } else {
                    cell.clone()
                }
            })
            .collect();
        lines += &(quoted.join(",") + if coins.below(2) == 0 { "\n" } else { "\r\n" });
    }
    lines.into()
}

fn texts(cells: Vec<Option<&str>>, way: usize) -> ArrayRef {
    match way {
        0 => Arc::new(StringArray::from(cells)),
        1 => Arc::new(LargeStringArray::from(cells)),
        2 => Arc::new(StringViewArray::from(cells)),
        3 => Arc::new(cells.into_iter().collect::<DictionaryArray<Int8Type>>()),
        _ => Arc::new(cells.into_iter().collect::<DictionaryArray<Int32Type>>()),
    }
}

/// The rows with a schema that says as much of them as it may: notes, dictionaries, and which columns are never empty.
fn batch(rows: &[Row], ways: [usize; 2], coins: &mut SplitMix) -> RecordBatch {
    let columns: Vec<ArrayRef> = vec![
        texts(rows.iter().map(|row| row.who).collect(), ways[0]),
        Arc::new(rows.iter().map(|row| row.whole).collect::<Int64Array>()),
        Arc::new(rows.iter().map(|row| row.number).collect::<Float64Array>()),
        texts(rows.iter().map(|row| row.text).collect(), ways[1]),
        Arc::new(rows.iter().map(|row| row.day).collect::<Date32Array>()),
        Arc::new(rows.iter().map(|row| row.yes).collect::<BooleanArray>()),
    ];
    let mut note = || HashMap::from([("note".to_string(), coins.below(1000).to_string())]);
    let fields: Vec<Field> = NAMES
        .iter()
        .zip(&columns)
        .map(|(name, column)| {
            Field::new(*name, column.data_type().clone(), column.null_count() > 0).with_metadata(note())
        })
        .collect();
    let schema = Schema::new(fields).with_metadata(note());
    RecordBatch::try_new(Arc::new(schema), columns).unwrap()
}

fn parquet(rows: &[Row], ways: [usize; 2], coins: &mut SplitMix) -> Vec<u8> {
    let batch = batch(rows, ways, coins);
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(coins.below(2) == 0)
        .set_max_row_group_row_count(Some(1 + coins.below(9)))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

fn stream(rows: &[Row], ways: [usize; 2], coins: &mut SplitMix) -> Vec<u8> {
    let batch = batch(rows, ways, coins);
    let cut = coins.below(rows.len() + 1);
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new(&mut bytes, &batch.schema()).unwrap();
    // Dictionaries of two batches would be one that changes.
    let parts = if ways.iter().any(|&way| way > 2) {
        vec![batch.clone()]
    } else {
        vec![batch.slice(0, cut), batch.slice(cut, rows.len() - cut)]
    };
    for part in &parts {
        writer.write(part).unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    bytes
}

/// The block with rows in it, in every order that its two rows had: of so many deals all have one order with a chance of 2^-39.
const DEALS: usize = 40;

fn blocks_of(path: &Path, format: BlockFormat) -> BTreeSet<Vec<u8>> {
    let source: Box<dyn Source> = open(&[path], &OpenOptions::default()).unwrap();
    let mut session = Session::new(Ledger::in_memory().unwrap(), None).unwrap();
    let request = VoteRequest {
        statistic: "program".into(),
        programs: vec![vec!["true".into()]],
        output: "label".into(),
        epsilon: Some("1".into()),
        delta: Some("1e-6".into()),
        unit: Some("who".into()),
        blocks: Some("100".into()),
        typed: format == BlockFormat::Arrow,
        ..VoteRequest::default()
    };
    let mut found = BTreeSet::new();
    for _ in 0..DEALS {
        let facts = facts(Some(session.ledger()), "people", source.columns()).unwrap();
        let plan = VotePlan::new(&request, &facts).unwrap();
        let Paid::Charged(charged) = session.charge(plan, None).unwrap() else { panic!("new") };
        let release = session.run_program(*charged, &*source, |blocks, _| {
            let filled = (0..blocks.count()).filter(|&index| blocks.see(index, |batch| batch.rows) > 0);
            found.extend(filled.map(|index| format.block(blocks, index)));
            vec![None; blocks.count()]
        });
        release.unwrap();
    }
    found
}

/// `EQUIPOISE_BLOCK_CASES=1000` tries so many cases of each format.
#[test]
fn equal_rows_are_equal_bytes_whatever_the_other_rows_are() {
    let cases: u64 = env::var("EQUIPOISE_BLOCK_CASES").map_or(4, |text| text.parse().unwrap());
    let folder = Folder::new();
    for case in 0..cases {
        let coins = &mut SplitMix(case);
        let own = [row(Some("7"), 5, coins), row(Some("7"), 5, coins)];
        for (name, formats) in [
            ("a.csv", &[BlockFormat::Csv][..]),
            ("a.parquet", &[BlockFormat::Csv, BlockFormat::Arrow]),
            ("a.arrows", &[BlockFormat::Csv, BlockFormat::Arrow]),
        ] {
            let mut written = |number: usize| {
                let rows = table(&own, coins);
                let ways = [coins.below(5), coins.below(5)];
                let bytes = match name {
                    "a.csv" => csv(&rows, coins),
                    "a.parquet" => parquet(&rows, ways, coins),
                    _ => stream(&rows, ways, coins),
                };
                folder.file(&format!("{case}-{number}-{name}"), &bytes)
            };
            let (one, two) = (written(1), written(2));
            for &format in formats {
                let (first, second) = (blocks_of(&one, format), blocks_of(&two, format));
                assert!(!first.is_empty() && first.len() <= 2, "case {case}, {name}: {} orders", first.len());
                assert!(first == second, "case {case}, {name} as {format:?}: {own:?}");
            }
        }
    }
}
