//! Blocks of every size and any number of visitors give the records that the simple reference gives.

use super::{reference::records, *};
use crate::number;
use equipoise_session::source::{Batch, Cells, ColumnType};
use proptest::prelude::*;

/// One record as it was delivered: text, float (as bits) and integer of each column.
type Delivered = Vec<(Option<String>, u64, Option<i64>)>;

#[derive(Default)]
struct Collect {
    records: Vec<Delivered>,
    largest_batch: usize,
}

impl Visitor for Collect {
    fn batch(&mut self, batch: Batch<'_>) {
        self.largest_batch = self.largest_batch.max(batch.rows);
        for row in 0..batch.rows {
            let cell = |column: &[Cells<'_>]| match column {
                [Cells::Texts(texts), Cells::Floats(floats), Cells::Integers(integers)] => {
                    assert!([texts.len(), floats.len(), integers.len()] == [batch.rows; 3]);
                    let float = if floats[row].is_nan() { f64::NAN } else { floats[row] };
                    (texts[row].map(str::to_string), float.to_bits(), integers[row])
                }
                _ => panic!("the cells are in the order in which they were wanted"),
            };
            self.records.push(batch.cells.chunks(3).map(cell).collect());
        }
    }
}

/// All records of a file, sorted, as `visitors` threads saw them.
fn scan(csv: &Csv, columns: usize, visitors: usize) -> Vec<Delivered> {
    let kinds = [ColumnType::Text, ColumnType::Float, ColumnType::Integer];
    let wanted: Vec<ColumnRead> =
        (0..columns).flat_map(|column| kinds.map(|kind| ColumnRead { column, kind })).collect();
    let mut all: Vec<Collect> = (0..visitors).map(|_| Collect::default()).collect();
    let mut visitors: Vec<&mut dyn Visitor> = all.iter_mut().map(|one| one as &mut dyn Visitor).collect();
    csv.scan(&wanted, &mut visitors).expect("memory can be read");
    let mut records: Vec<Delivered> = all.into_iter().flat_map(|one| one.records).collect();
    records.sort();
    records
}

fn expected(body: &[u8], width: usize, numbered: bool, longest_line: usize) -> Vec<Delivered> {
    let cell = |text: Option<String>| {
        let bytes = text.as_deref().unwrap_or_default().as_bytes();
        let float = number::float(bytes);
        let float = if float.is_nan() { f64::NAN } else { float };
        (text.clone(), float.to_bits(), number::integer(bytes))
    };
    let delivered = |record: Option<Vec<Option<String>>>| {
        let mut record = record.unwrap_or_default();
        record.resize(width, None);
        record.into_iter().map(cell).collect()
    };
    let mut records: Vec<Delivered> =
        records(body, b',', (!numbered).then_some(width), longest_line).into_iter().map(delivered).collect();
    records.sort();
    records
}

fn options(block_bytes: usize, longest_line: usize) -> CsvOptions {
    CsvOptions { longest_line, block_bytes, ..CsvOptions::default() }
}

fn csv(text: &[u8], options: &CsvOptions) -> Csv {
    Csv::from_bytes(text.to_vec(), options).expect("a good header")
}

/// Pieces that lines are made of, the nasty ones among them.
fn any_body() -> impl Strategy<Value = Vec<u8>> {
    let pieces: Vec<&'static [u8]> = vec![
        b",",
        b",",
        b"\n",
        b"\n",
        b"\r\n",
        b"\r",
        b"\"",
        b"\"",
        b"\"\"",
        b"\"a,b\"",
        b"1",
        b"2.5",
        b"-3e2",
        b" ",
        b"x",
        b"\xff",
        "ü".as_bytes(),
        b"a,b\n",
        b"1,2\n",
        b"\"1\",2\n",
        b"long long long long long",
        b"\xef\xbb\xbf",
    ];
    prop::collection::vec(prop::sample::select(pieces), 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn every_block_size_and_any_number_of_visitors_give_the_same_records(
        body in any_body(),
        longest_line in prop::sample::select(vec![0, 1, 3, 7, 20, LONGEST_LINE]),
        numbered: bool,
    ) {
        let file = if numbered { body.clone() } else { [b"a,b\n", body.as_slice()].concat() };
        let marked = file.starts_with(b"\xef\xbb\xbf");
        let body = &body[if marked { 3 } else { 0 }..];
        let reference = expected(body, 2, numbered, longest_line.max(3));
        let mut options = options(1, longest_line.max(3));
        options.header = if numbered { Header::Numbered } else { Header::FirstLine };
        let mut csv = csv(&file, &options);
        for block_bytes in (1..=file.len().max(1)).chain([1 << 18]) {
            csv.block_bytes = block_bytes;
            let visitors = 1 + block_bytes % 3;
            prop_assert_eq!(&scan(&csv, 2, visitors), &reference, "blocks of {} bytes", block_bytes);
        }
    }
}

#[test]
fn records_by_hand() {
    let file = b"\xef\xbb\xbfa, b \r\n1,2\r\n\n\"x \"\"y\"\", z\",4\n7,\"\"\n5\nlast,6";
    let csv = csv(file, &CsvOptions::default());
    assert_eq!(csv.columns(), ["a", "b"]);
    let texts: Vec<[Option<String>; 2]> =
        scan(&csv, 2, 2).into_iter().map(|record| [record[0].0.clone(), record[1].0.clone()]).collect();
    let some = |text: &str| Some(text.to_string());
    let expected = [
        [None, None], // the blank line
        [None, None], // the ragged one
        [some("1"), some("2")],
        [some("7"), None],
        [some("last"), some("6")],
        [some("x \"y\", z"), some("4")],
    ];
    assert_eq!(texts, expected);
}

#[test]
fn one_bad_line_changes_one_record() {
    let good: Vec<Vec<u8>> = (0..200).map(|k| format!("{k},\"name {k}\",{}", k * 7).into_bytes()).collect();
    let bad: [&[u8]; 14] = [
        b"",
        b"1",
        b"1,2",
        b"1,2,3,4",
        b"\"1,2,3",
        b"1,2,3\"",
        b"1,\"2\"2,3",
        b"\"",
        b"\xff,2,3",
        b"1,\xc3,3",
        b"1,2,\r\r",
        b"not a number,,also none",
        b",,",
        &[b'9'; 300],
    ];
    let file = |lines: &[Vec<u8>]| {
        [b"a,b,c".to_vec()].iter().chain(lines).cloned().collect::<Vec<_>>().join(&b"\n"[..])
    };
    for block_bytes in [1, 7, 64, 4096] {
        let records = |lines: &[Vec<u8>]| scan(&csv(&file(lines), &options(block_bytes, 100)), 3, 2);
        let before = records(&good);
        assert_eq!(before.len(), good.len());
        for bad in bad {
            for place in [0, 1, 100, 199] {
                let mut lines = good.clone();
                lines[place] = bad.to_vec();
                // A file whose last line is empty ends with the line before it.
                let vanishes = bad.is_empty() && place == 199;
                let after = records(&lines);
                assert_eq!(after.len(), before.len() - usize::from(vanishes));
                let kept = before.iter().filter(|record| after.contains(record)).count();
                assert_eq!(kept, before.len() - 1, "{bad:?} in line {place}");
                lines.remove(place);
                let without = records(&lines);
                assert!(
                    without.len() == before.len() - 1 && without.iter().all(|record| after.contains(record))
                );
            }
        }
    }
}

#[test]
fn batches_are_bounded_and_rows_are_counted_without_cells() {
    let file = [b"a\n".to_vec(), b"1\n".repeat(10_000)].concat();
    let csv = csv(&file, &CsvOptions::default());
    let mut one = Collect::default();
    csv.scan(&[], &mut [&mut one]).expect("memory can be read");
    assert_eq!((one.records.len(), one.largest_batch), (10_000, rows::BATCH));
}

#[test]
fn a_visitor_that_panics_loses_the_answer() {
    struct Panics;
    impl Visitor for Panics {
        fn batch(&mut self, _: Batch<'_>) {
            std::panic::resume_unwind(Box::new("no text goes to the terminal"));
        }
    }
    let csv = csv(b"a\n1\n", &CsvOptions::default());
    assert_eq!(csv.scan(&[], &mut [&mut Panics]), Err(Lost));
    assert_eq!(csv.scan(&[], &mut [&mut Panics, &mut Panics]), Err(Lost));
}

#[test]
fn every_kind_is_read_by_its_rule_and_what_is_none_is_null() {
    #[derive(Default)]
    struct Whole(Vec<Vec<Option<i64>>>);
    impl Visitor for Whole {
        fn batch(&mut self, batch: Batch<'_>) {
            let column = |cells: &Cells<'_>| match cells {
                Cells::Integers(cells) => cells.to_vec(),
                other => panic!("{other:?} are no whole numbers"),
            };
            self.0 = batch.cells.iter().map(column).collect();
        }
    }
    let file = b"a\n1\n\"-2.345\"\n2026-02-28\n1970-01-01T00:00:01Z\nyes\n\nragged,1\n";
    let kinds = [
        ColumnType::Integer,
        ColumnType::Decimal { digits: 2 },
        ColumnType::Date,
        ColumnType::Timestamp,
        ColumnType::Boolean,
    ];
    let wanted = kinds.map(|kind| ColumnRead { column: 0, kind });
    let mut found = Whole::default();
    let csv = csv(file, &CsvOptions::default());
    csv.scan(&wanted, &mut [&mut found]).expect("memory can be read");
    let midnight = Some(20_512 * 86_400_000_000);
    let expected = [
        [Some(1), None, None, None, None, None, None],
        [Some(100), Some(-235), None, None, None, None, None],
        [None, None, Some(20_512), None, None, None, None],
        [None, None, midnight, Some(1_000_000), None, None, None],
        [Some(1), None, None, None, Some(1), None, None],
    ];
    assert_eq!(found.0, expected);
    assert!((0..2).all(|column| csv.declared(column).is_none() && csv.unreadable(column).is_none()));
}
