//! Files that claim what is not there, or unpack to what no machine holds: each in a process of its own with little memory,
//! which ended before these claims were looked at.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "numbers of tests are small, or cut on purpose"
)]

mod support;

use arrow_array::{ArrayRef, Float64Array, NullArray, RecordBatch, StringArray};
use arrow_ipc::{
    CompressionType,
    writer::{FileWriter, IpcWriteOptions, StreamWriter},
};
use arrow_schema::{DataType, Field, Schema};
use equipoise_engine::{OpenOptions, open};
use equipoise_session::{
    quiet::quietly,
    source::{Batch, ColumnRead, ColumnType, Lost, Visitor},
};
use std::{io::Write, sync::Arc, thread};
use support::{
    Folder,
    alone::alone,
    read,
    thrift::{self, Thrift, cells, data_page, dictionary_page, group, lengths, row_group},
};

const DOUBLE: i64 = 5;
const TEXT: i64 = 6;
const FIXED: i64 = 7;

/// The rows of all columns, or a lost answer, or what is said before the charge, without the path.
fn rows(name: &str, bytes: &[u8]) -> Result<Result<usize, Lost>, String> {
    let folder = Folder::new();
    let path = folder.file(name, bytes);
    let source = open(&[&path], &OpenOptions::default())
        .map_err(|error| error.to_string().replace(&path.display().to_string(), "F"))?;
    let all = |column| quietly(|| read(&*source, column)).map(|all| all.rows);
    Ok((0..source.columns().len()).map(all).try_fold(0, |most: usize, rows| Ok(most.max(rows?))))
}

/// What a Parquet file of one column comes to.
fn one_column(column: Thrift, codec: i64, pages: &[u8], claimed: i64) -> Result<Result<usize, Lost>, String> {
    let schema = [group("root", 1), column];
    let groups = [row_group(codec, pages, claimed)];
    rows("a.parquet", &thrift::file(pages, (2, &schema), (1, &groups), claimed))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

const BROKEN: &str = "'F' is no whole Parquet file; check its name, or write it again";

#[test]
fn columns_in_columns_do_not_end_the_process() {
    alone("columns_in_columns_do_not_end_the_process", || {
        let nested = |depth: usize| {
            let mut schema: Vec<Thrift> = (0..depth).map(|_| group("a", 1)).collect();
            schema.push(cells("x", DOUBLE, 0));
            thrift::file(&[], (depth as u64 + 1, &schema), (0, &[]), 0)
        };
        let deep = "columns of 'F' stand in each other more than 64 levels deep; write flatter ones";
        assert_eq!(rows("a.parquet", &nested(1)), Ok(Ok(0)));
        // Structs; no stack is too small for as many as are allowed.
        let allowed = thread::Builder::new().stack_size(1 << 21);
        let read = allowed.spawn(move || rows("a.parquet", &nested(64))).unwrap().join().unwrap();
        assert_eq!(read, Ok(Ok(0)));
        for depth in [65, 400, 100_000] {
            assert_eq!(rows("a.parquet", &nested(depth)), Err(deep.to_string()), "{depth}");
        }
    });
}

/// An empty stream with a schema of structs in structs.
fn nested_arrow(depth: usize) -> Vec<u8> {
    // Writing it needs more stack than reading it may take.
    let write = move || {
        let inner = (0..depth)
            .fold(DataType::Float64, |inner, _| DataType::Struct(vec![Field::new("a", inner, true)].into()));
        let schema = Schema::new(vec![Field::new("x", inner, true)]);
        StreamWriter::try_new(Vec::new(), &schema).and_then(StreamWriter::into_inner).unwrap()
    };
    thread::Builder::new().stack_size(1 << 29).spawn(write).unwrap().join().unwrap()
}

#[test]
fn arrow_columns_in_columns_do_not_end_the_process() {
    alone("arrow_columns_in_columns_do_not_end_the_process", || {
        let broken = "'F' is no whole Arrow file or stream; check its name, or write it again";
        assert_eq!(rows("a.arrows", &nested_arrow(20)), Ok(Ok(0)));
        for depth in [100, 400, 5000] {
            assert_eq!(rows("a.arrows", &nested_arrow(depth)), Err(broken.to_string()), "{depth}");
        }
    });
}

#[test]
fn counts_in_a_footer_are_not_believed() {
    alone("counts_in_a_footer_are_not_believed", || {
        let flat = [group("root", 1), cells("x", DOUBLE, 0)];
        let huge = i64::from(i32::MAX);
        let many = [group("root", huge), cells("x", DOUBLE, 0)];
        // So many groups, columns in a group, elements of a schema; a group of too many columns.
        let table = [
            thrift::file(&[], (2, &flat), (huge as u64, &[]), 0),
            thrift::file(&[], (2, &many), (0, &[]), 0),
            thrift::file(&[], (huge as u64, &flat), (0, &[]), 0),
            thrift::file(&[], (2, &flat), (1, &[Thrift::default().structures(1, huge as u64, &[])]), 0),
        ];
        for file in table {
            assert_eq!(rows("a.parquet", &file), Err(BROKEN.to_string()));
        }
        // One name of a megabyte, which a hundred thousand columns stand in.
        let mut schema = vec![group("root", 1), group(&"n".repeat(1 << 20), 100_000)];
        schema.extend((0..100_000).map(|k| cells(&k.to_string(), DOUBLE, 0)));
        let long = thrift::file(&[], (schema.len() as u64, &schema), (0, &[]), 0);
        let line = rows("a.parquet", &long).unwrap_err();
        assert!(line.contains("has more than 1048576 columns, or names of more than"), "{line}");
    });
}

#[test]
fn rows_that_no_page_holds_are_lost() {
    alone("rows_that_no_page_holds_are_lost", || {
        let cell = 1.5f64.to_le_bytes();
        let one = data_page(1, 0, 8, &cell);
        assert_eq!(one_column(cells("x", DOUBLE, 0), 0, &one, 1), Ok(Ok(1)));
        for claimed in [2, 1 << 31, 1 << 62, i64::MAX] {
            assert_eq!(one_column(cells("x", DOUBLE, 0), 0, &one, claimed), Ok(Err(Lost)), "{claimed}");
        }
        // The other way round: pages that say they have more, or less than nothing.
        for values in [-1, 2, i64::from(i32::MAX)] {
            let page = data_page(values, 0, 8, &cell);
            assert_eq!(one_column(cells("x", DOUBLE, 0), 0, &page, 1), Ok(Err(Lost)), "{values}");
        }
        // A page without cells is none, and what stands behind all rows is not read.
        let more = [data_page(0, 0, 0, &[]), one, b"and so on".to_vec()].concat();
        assert_eq!(one_column(cells("x", DOUBLE, 0), 0, &more, 1), Ok(Ok(1)));
    });
}

#[test]
fn dictionaries_and_lengths_take_no_more_room_than_their_bytes() {
    alone("dictionaries_and_lengths_take_no_more_room_than_their_bytes", || {
        let huge = i64::from(i32::MAX);
        let codes = data_page(1, 8, 3, &[1, 2, 0]);
        for (column, bytes) in [(cells("x", DOUBLE, 0), vec![0; 8]), (cells("x", TEXT, 0), vec![0; 4])] {
            let good = [dictionary_page(1, bytes.len() as i64, &bytes), codes.clone()].concat();
            assert_eq!(one_column(column.clone(), 0, &good, 1), Ok(Ok(1)));
            let bad = [dictionary_page(huge, bytes.len() as i64, &bytes), codes.clone()].concat();
            assert_eq!(one_column(column, 0, &bad, 1), Ok(Err(Lost)));
        }
        // Lengths as differences: 2^40 of them; one text of a megabyte in ten thousand rows.
        let page = data_page(1, 6, 0, &lengths_header(1 << 40));
        assert_eq!(one_column(cells("x", TEXT, 0), 0, &page, 1), Ok(Err(Lost)));
        let page = data_page(1, 7, 0, &lengths_header(1 << 40));
        assert_eq!(one_column(cells("x", TEXT, 0), 0, &page, 1), Ok(Err(Lost)));
        let (texts, long) = (10_000, 1 << 20);
        let all = [lengths(texts, 0, long), lengths(texts, long, 0), vec![b'a'; 1 << 20]].concat();
        let page = data_page(texts as i64, 7, all.len() as i64, &all);
        assert_eq!(one_column(cells("x", TEXT, 0), 0, &page, texts as i64), Ok(Err(Lost)));
        let all = [lengths(texts, 0, 8), lengths(texts, 8, 0), vec![b'a'; 8]].concat();
        let page = data_page(texts as i64, 7, all.len() as i64, &all);
        assert_eq!(one_column(cells("x", TEXT, 0), 0, &page, texts as i64), Ok(Ok(10_000)));
    });
}

/// The beginning of so many lengths.
fn lengths_header(count: u64) -> Vec<u8> {
    Thrift::default().number(128).number(4).number(count).number(0).0
}

#[test]
fn one_long_text_in_many_rows_is_read_a_few_rows_at_a_time() {
    alone("one_long_text_in_many_rows_is_read_a_few_rows_at_a_time", || {
        // 300 kB, 8,000 times by its code: 2.4 GB if all of them were copied.
        let long = [&300_000u32.to_le_bytes()[..], &vec![b'1'; 300_000]].concat();
        // One run of 8,000 zeros, in codes of one bit.
        let codes =
            data_page(8000, 8, 4, &[&[1][..], &Thrift::default().number(16_000).number(0).0].concat());
        let pages = [dictionary_page(1, long.len() as i64, &long), codes].concat();
        assert_eq!(one_column_counted(cells("x", TEXT, 0), &pages, 8000), Ok(8000));
        // Cells of a fixed length, of which the schema may say anything.
        let cell = data_page(1, 0, 4, &[0; 4]);
        let open_one = |length: i64| {
            let (schema, groups) = ([group("root", 1), cells("x", FIXED, length)], [row_group(0, &cell, 1)]);
            let file = thrift::file(&cell, (2, &schema), (1, &groups), 1);
            open(&[Folder::new().file("a.parquet", &file)], &OpenOptions::default())
                .map_err(|error| error.to_string())
        };
        for length in [0, 1 << 21, i64::from(i32::MAX)] {
            let line = open_one(length).unwrap().unreadable(0).unwrap();
            assert!(
                line.contains("holds cells of no bytes or of more than 2^20, which cannot be asked about"),
                "{line}"
            );
        }
        assert!(open_one(-1).is_err());
        assert_eq!(one_column(cells("x", FIXED, 4), 0, &cell, 1), Ok(Ok(1)));
    });
}

/// How many rows a Parquet file of one column has, where no cell is kept.
fn one_column_counted(column: Thrift, pages: &[u8], claimed: i64) -> Result<usize, Lost> {
    let schema = [group("root", 1), column];
    let file = thrift::file(pages, (2, &schema), (1, &[row_group(0, pages, claimed)]), claimed);
    counted("a.parquet", &file, &[ColumnRead { column: 0, kind: ColumnType::Boolean }])
}

/// How many rows a file has, where no cell is kept.
fn counted(name: &str, bytes: &[u8], wanted: &[ColumnRead]) -> Result<usize, Lost> {
    struct Count(usize);
    impl Visitor for Count {
        fn batch(&mut self, batch: Batch<'_>) {
            self.0 += batch.rows;
        }
    }
    let folder = Folder::new();
    let source = open(&[folder.file(name, bytes)], &OpenOptions::default()).unwrap();
    let mut count = Count(0);
    source.scan(wanted, &mut [&mut count])?;
    Ok(count.0)
}

#[test]
fn a_page_unpacks_to_what_it_says_and_no_more() {
    alone("a_page_unpacks_to_what_it_says_and_no_more", || {
        let (snappy, in_gzip, hadoop, in_zstd, lz4) = (1, 2, 5, 6, 7);
        let cell = 1.5f64.to_le_bytes();
        let good = data_page(1, 0, 8, &gzip(&cell));
        assert_eq!(one_column(cells("x", DOUBLE, 0), in_gzip, &good, 1), Ok(Ok(1)));
        // Four gigabytes of zeros, said to be eight bytes.
        let bomb = gzip(&vec![0; 1 << 26]).repeat(64);
        assert_eq!(one_column(cells("x", DOUBLE, 0), in_gzip, &data_page(1, 0, 8, &bomb), 1), Ok(Err(Lost)));
        // A few bytes, said to be two gigabytes.
        for codec in [snappy, in_gzip, hadoop, in_zstd, lz4] {
            let page = data_page(1, 0, i64::from(i32::MAX), &cell);
            assert_eq!(one_column(cells("x", DOUBLE, 0), codec, &page, 1), Ok(Err(Lost)), "{codec}");
        }
        let line = one_column(cells("x", DOUBLE, 0), 99, &good, 1).unwrap_err();
        assert_eq!(line, BROKEN);
    });
}

fn batch(rows: usize) -> RecordBatch {
    let numbers: ArrayRef = Arc::new((0..rows).map(|k| Some((k % 7) as f64)).collect::<Float64Array>());
    let texts: ArrayRef = Arc::new((0..rows).map(|k| Some(format!("text {k}"))).collect::<StringArray>());
    let nulls: ArrayRef = Arc::new(NullArray::new(rows));
    RecordBatch::try_from_iter([("x", numbers), ("text", texts), ("nothing", nulls)]).unwrap()
}

/// The same bytes with one number of 64 bits for another, at every place where it stands.
fn replaced(bytes: &[u8], number: i64, by: i64) -> Vec<Vec<u8>> {
    let places = (0..bytes.len() - 7).filter(|&at| bytes[at..at + 8] == number.to_le_bytes());
    let with = |at: usize| [&bytes[..at], &by.to_le_bytes(), &bytes[at + 8..]].concat();
    places.map(with).collect()
}

#[test]
fn a_changed_length_in_a_packed_arrow_file_is_lost() {
    alone("a_changed_length_in_a_packed_arrow_file_is_lost", || {
        for packing in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
            let options = IpcWriteOptions::default().try_with_compression(Some(packing)).unwrap();
            let rows_written = 5003;
            let batch = batch(rows_written);
            let mut writer = FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
            writer.write(&batch).unwrap();
            writer.finish().unwrap();
            let file = writer.into_inner().unwrap();
            assert_eq!(rows("a.arrow", &file), Ok(Ok(rows_written)));
            // The unpacked length of the numbers, eight bytes each.
            for claimed in
                [2_800_000_000_000_000_000, i64::MAX, 1 << 40, 1 << 31, 40_023, 40_025, -2, i64::MIN]
            {
                let changed = replaced(&file, 40_024, claimed);
                assert!(!changed.is_empty());
                for file in changed {
                    assert_eq!(rows("a.arrow", &file), Ok(Err(Lost)), "{packing:?} {claimed}");
                }
            }
        }
    });
}

#[test]
fn rows_that_no_buffer_holds_are_lost() {
    alone("rows_that_no_buffer_holds_are_lost", || {
        let rows_written = 7777;
        let whole = batch(rows_written);
        // A column that is not read must not speak of other rows than the rest.
        let mut stream = StreamWriter::try_new(Vec::new(), &whole.schema()).unwrap();
        stream.write(&whole).unwrap();
        for stream in replaced(&stream.into_inner().unwrap(), rows_written as i64, 134_217_745) {
            assert_eq!(counted("a.arrows", &stream, &[]), Err(Lost));
        }
        let nulls = whole.project(&[2]).unwrap();
        for (batch, all_null) in [(whole, false), (nulls, true)] {
            let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
            writer.write(&batch).unwrap();
            writer.finish().unwrap();
            let stream = writer.into_inner().unwrap();
            assert_eq!(rows("a.arrows", &stream), Ok(Ok(rows_written)));
            for claimed in [-1, i64::MIN, i64::MAX, 1 << 40, 1 << 62, 7778] {
                for stream in replaced(&stream, rows_written as i64, claimed) {
                    assert_eq!(rows("a.arrows", &stream), Ok(Err(Lost)), "{claimed} {all_null}");
                }
                // All of them at once: where every cell is null, there are no bytes to tell.
                let mut at_once = stream.clone();
                for at in 0..at_once.len() - 7 {
                    if at_once[at..at + 8] == (rows_written as i64).to_le_bytes() {
                        at_once[at..at + 8].copy_from_slice(&claimed.to_le_bytes());
                    }
                }
                if !(all_null && claimed == 7778) {
                    assert_eq!(rows("a.arrows", &at_once), Ok(Err(Lost)), "{claimed} {all_null}");
                }
            }
        }
    });
}

#[test]
fn a_window_of_gigabytes_is_refused_before_the_charge() {
    alone("a_window_of_gigabytes_is_refused_before_the_charge", || {
        // A frame that says its window has two gigabytes, and one block of a header and a row.
        let text = b"a\n1\n";
        let block = (u32::try_from(text.len()).unwrap() << 3 | 1).to_le_bytes();
        let frame = [&[0x28, 0xb5, 0x2f, 0xfd, 0x00, (31 - 10) << 3][..], &block[..3], text].concat();
        assert_eq!(
            rows("a.csv.zst", &frame),
            Err("'F' cannot be unpacked as zstd; check that it is whole and rightly named".to_string())
        );
        let mut small = frame.clone();
        small[5] = (20 - 10) << 3;
        assert_eq!(rows("a.csv.zst", &small), Ok(Ok(1)));
    });
}
