//! Any bytes are a file of records, the same for every size of blocks as for the simple reference.
#![no_main]

use equipoise_engine::{
    csv::{Csv, CsvOptions, Header},
    number,
};
use equipoise_session::source::{Batch, Cells, ColumnType, Source, Visitor, ColumnRead};
use libfuzzer_sys::fuzz_target;

#[path = "../../crates/engine/src/csv/reference.rs"]
mod reference;

/// Text, float (as bits) and integer of a cell.
type Cell = (Option<String>, u64, Option<i64>);

#[derive(Default)]
struct Collect(Vec<Vec<Cell>>);

impl Visitor for Collect {
    fn batch(&mut self, batch: Batch<'_>) {
        for row in 0..batch.rows {
            let cell = |column: &[Cells<'_>]| match column {
                [Cells::Texts(texts), Cells::Floats(floats), Cells::Integers(integers)] => {
                    (texts[row].map(str::to_string), bits(floats[row]), integers[row])
                }
                _ => panic!("the cells are in the order in which they were wanted"),
            };
            self.0.push(batch.cells.chunks(3).map(cell).collect());
        }
    }
}

fn bits(value: f64) -> u64 {
    if value.is_nan() { u64::MAX } else { value.to_bits() }
}

fn expected(record: Option<Vec<Option<String>>>, width: usize) -> Vec<Cell> {
    let mut record = record.unwrap_or_default();
    record.resize(width, None);
    let cell = |text: Option<String>| {
        let bytes = text.as_deref().unwrap_or_default().as_bytes();
        let parsed = text.as_deref().and_then(|text| text.trim_matches([' ', '\t']).parse::<f64>().ok());
        // The standard library is correctly rounded; it also reads "nan".
        let float = bits(parsed.unwrap_or(f64::NAN));
        let integer = number::integer(bytes);
        (text, float, integer)
    };
    record.into_iter().map(cell).collect()
}

fuzz_target!(|input: (u8, u8, u8, &[u8])| {
    let (block_bytes, longest_line, shape, file) = input;
    let delimiter = [b',', b';', b'\t', b' '][usize::from(shape) % 4];
    let (header, width) = match shape / 4 % 16 {
        0 => (Header::Numbered, None), // rare: it is slow to name so many columns
        1..8 => (Header::FirstLine, None),
        _ => (Header::Declared(vec!["a".to_string(), "b".to_string()]), Some(2)),
    };
    let options = CsvOptions {
        delimiter: char::from(delimiter),
        header: header.clone(),
        longest_line: usize::from(longest_line),
        block_bytes: usize::from(block_bytes),
    };
    let csv = match Csv::from_bytes(file.to_vec(), &options) {
        Ok(csv) => csv,
        Err(error) => return assert!(!error.to_string().contains(char::is_control)),
    };
    let mut body = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
    let mut must_have = width;
    if header == Header::FirstLine {
        must_have = Some(csv.columns().len());
        let end = body.iter().position(|&byte| byte == b'\n').map_or(body.len(), |at| at + 1);
        body = &body[end..];
    }
    let shown = csv.columns().len().min(3);
    let records = reference::records(body, delimiter, must_have, usize::from(longest_line));
    let mut wanted_records: Vec<_> = records.into_iter().map(|record| expected(record, shown)).collect();
    wanted_records.sort();
    let kinds = [ColumnType::Text, ColumnType::Float, ColumnType::Integer];
    let wanted: Vec<ColumnRead> =
        (0..shown).flat_map(|column| kinds.map(|kind| ColumnRead { column, kind })).collect();
    let mut found = Collect::default();
    csv.scan(&wanted, &mut [&mut found]).expect("memory can be read");
    let Collect(mut found) = found;
    found.sort();
    assert_eq!(found, wanted_records);
});
