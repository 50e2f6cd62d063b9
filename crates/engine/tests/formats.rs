//! The same data in every format is the same cells.

mod support;

use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Date64Array, Decimal128Array, Decimal256Array,
    DictionaryArray, FixedSizeBinaryArray, Float16Array, Float32Array, Float64Array, Int8Array, Int64Array,
    LargeStringArray, NullArray, RecordBatch, StringArray, StringViewArray, TimestampMicrosecondArray,
    TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray, UInt32Array, UInt64Array,
    types::{Int8Type, Int32Type},
};
use arrow_buffer::i256;
use arrow_ipc::{
    CompressionType, MessageHeader, root_as_message,
    writer::{FileWriter, IpcWriteOptions, StreamWriter},
};
use arrow_schema::{ArrowError, Field, Schema};
use equipoise_engine::{OpenOptions, open};
use equipoise_session::source::{ColumnType, Source};
use parquet::{
    arrow::ArrowWriter,
    basic::{Compression, Encoding, GzipLevel, ZstdLevel},
    file::properties::{WriterProperties, WriterVersion},
};
use std::{io::Write, path::Path, sync::Arc};
use support::{Cell, Collect, Folder, KINDS, read, texts};

/// A column: its name, its cells, the same as texts of CSV, and the kind that its schema declares.
type Column = (&'static str, ArrayRef, Vec<&'static str>, Option<ColumnType>);

#[expect(clippy::too_many_lines, reason = "a table of all types")]
fn columns() -> Vec<Column> {
    let wide = |text: &str| i256::from_string(text);
    let words: Vec<Option<&str>> = vec![Some("a"), None, Some("12"), Some("a"), Some("")];
    let written = vec!["a", "", "12", "a", ""];
    let decimals: Decimal128Array = vec![Some(1200), None, Some(-5), Some(99_999), Some(100)].into();
    let decimals = decimals.with_precision_and_scale(20, 2).unwrap();
    let wide_decimals: Decimal256Array = vec![
        wide("1234567890123456789012345678901234567890123"),
        None,
        wide("-5000"),
        wide("0"),
        wide("10000"),
    ]
    .into();
    let wide_decimals = wide_decimals.with_precision_and_scale(60, 4).unwrap();
    let fixed = [Some([0xab_u8, 1]), None, Some([0xc0, 0xde]), Some([0xf0, 0x0d]), Some([0xbe, 0xef])];
    let decimal = |digits| Some(ColumnType::Decimal { digits });
    let float16 =
        [Some(0.5), None, Some(-2.0), Some(1.0), Some(0.0)].map(|cell| cell.map(half::f16::from_f32));
    vec![
        (
            "boolean",
            Arc::new(BooleanArray::from(vec![Some(true), None, Some(false), Some(true), None])),
            vec!["true", "", "false", "true", ""],
            Some(ColumnType::Boolean),
        ),
        (
            "int8",
            Arc::new(Int8Array::from(vec![Some(1), None, Some(-128), Some(0), Some(127)])),
            vec!["1", "", "-128", "0", "127"],
            Some(ColumnType::Integer),
        ),
        (
            "int64",
            Arc::new(Int64Array::from(vec![Some(i64::MAX), None, Some(i64::MIN), Some(0), Some(1)])),
            vec!["9223372036854775807", "", "-9223372036854775808", "0", "1"],
            Some(ColumnType::Integer),
        ),
        (
            "uint32",
            Arc::new(UInt32Array::from(vec![Some(u32::MAX), None, Some(1), Some(0), Some(2)])),
            vec!["4294967295", "", "1", "0", "2"],
            Some(ColumnType::Integer),
        ),
        (
            "uint64",
            Arc::new(UInt64Array::from(vec![Some(u64::MAX), None, Some(1), Some(0), Some(2)])),
            vec!["18446744073709551615", "", "1", "0", "2"],
            Some(ColumnType::Float),
        ),
        (
            "float16",
            Arc::new(Float16Array::from(float16.to_vec())),
            vec!["0.5", "", "-2", "1", "0"],
            Some(ColumnType::Float),
        ),
        (
            "float32",
            Arc::new(Float32Array::from(vec![Some(0.25), None, Some(f32::NAN), Some(1.0), Some(-2.5)])),
            vec!["0.25", "", "", "1", "-2.5"],
            Some(ColumnType::Float),
        ),
        (
            "float64",
            Arc::new(Float64Array::from(vec![
                Some(0.1),
                None,
                Some(f64::INFINITY),
                Some(1e300),
                Some(-0.125),
            ])),
            vec!["0.1", "", "inf", "1e300", "-0.125"],
            Some(ColumnType::Float),
        ),
        (
            "full",
            Arc::new(Float64Array::from(vec![0.1, f64::NAN, 3.0, 0.0, 5.5])),
            vec!["0.1", "", "3", "0", "5.5"],
            Some(ColumnType::Float),
        ),
        ("decimal", Arc::new(decimals), vec!["12.00", "", "-0.05", "999.99", "1.00"], decimal(2)),
        (
            "wide",
            Arc::new(wide_decimals),
            vec!["123456789012345678901234567890123456789.0123", "", "-0.5000", "0.0000", "1.0000"],
            decimal(4),
        ),
        (
            "date",
            Arc::new(Date32Array::from(vec![Some(0), None, Some(20_512), Some(-1), Some(2_932_897)])),
            vec!["1970-01-01", "", "2026-02-28", "1969-12-31", "+10000-01-01"],
            Some(ColumnType::Date),
        ),
        (
            "millis",
            Arc::new(TimestampMillisecondArray::from(vec![
                Some(0),
                None,
                Some(1500),
                Some(-1),
                Some(i64::MAX),
            ])),
            vec!["1970-01-01T00:00:00Z", "", "1970-01-01T00:00:01.5Z", "1969-12-31T23:59:59.999Z", ""],
            Some(ColumnType::Timestamp),
        ),
        (
            "micros",
            Arc::new(
                TimestampMicrosecondArray::from(vec![Some(0), None, Some(1), Some(-1), Some(i64::MAX)])
                    .with_timezone("+02:00"),
            ),
            vec![
                "1970-01-01T00:00:00Z",
                "",
                "1970-01-01T00:00:00.000001Z",
                "1969-12-31T23:59:59.999999Z",
                "+294247-01-10T04:00:54.775807Z",
            ],
            Some(ColumnType::Timestamp),
        ),
        (
            "nanos",
            Arc::new(TimestampNanosecondArray::from(vec![Some(0), None, Some(1999), Some(-1), Some(2000)])),
            vec![
                "1970-01-01T00:00:00Z",
                "",
                "1970-01-01T00:00:00.000001999Z",
                "1969-12-31T23:59:59.999999999Z",
                "1970-01-01T00:00:00.000002Z",
            ],
            Some(ColumnType::Timestamp),
        ),
        ("text", Arc::new(StringArray::from(words.clone())), written.clone(), Some(ColumnType::Text)),
        ("large", Arc::new(LargeStringArray::from(words.clone())), written.clone(), Some(ColumnType::Text)),
        ("view", Arc::new(StringViewArray::from(words.clone())), written.clone(), Some(ColumnType::Text)),
        (
            "coded",
            Arc::new(words.iter().copied().collect::<DictionaryArray<Int32Type>>()),
            written,
            Some(ColumnType::Text),
        ),
        (
            "bytes",
            Arc::new(BinaryArray::from(vec![
                Some(&b"yes"[..]),
                None,
                Some(b"\xff\xfe"),
                Some("ü".as_bytes()),
                Some(b" 7 "),
            ])),
            vec!["yes", "", "", "ü", " 7 "],
            Some(ColumnType::Text),
        ),
        (
            "fixed",
            Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(fixed.into_iter(), 2).unwrap()),
            vec!["ab01", "", "c0de", "f00d", "beef"],
            Some(ColumnType::Text),
        ),
    ]
}

/// Types that Parquet has no word for.
fn arrow_columns() -> Vec<Column> {
    let words: DictionaryArray<Int8Type> =
        vec![Some("b"), None, Some("b"), Some("a"), Some("c")].into_iter().collect();
    let numbers = DictionaryArray::<Int8Type>::new(
        Int8Array::from(vec![Some(1), None, Some(0), Some(1), Some(1)]),
        Arc::new(Int64Array::from(vec![70, 90])),
    );
    let dates = [Some(0), None, Some(86_400_000), Some(-1), Some(86_399_999)];
    vec![
        ("null", Arc::new(NullArray::new(5)), vec![""; 5], None),
        (
            "date64",
            Arc::new(Date64Array::from(dates.to_vec())),
            vec!["1970-01-01", "", "1970-01-02", "1969-12-31", "1970-01-01"],
            Some(ColumnType::Date),
        ),
        (
            "seconds",
            Arc::new(TimestampSecondArray::from(vec![Some(0), None, Some(60), Some(i64::MAX), Some(-1)])),
            vec!["1970-01-01T00:00:00Z", "", "1970-01-01T00:01:00Z", "", "1969-12-31T23:59:59Z"],
            Some(ColumnType::Timestamp),
        ),
        ("coded8", Arc::new(words), vec!["b", "", "b", "a", "c"], Some(ColumnType::Text)),
        ("numbers", Arc::new(numbers), vec!["90", "", "70", "90", "90"], Some(ColumnType::Integer)),
    ]
}

fn batch(columns: &[Column]) -> RecordBatch {
    let field = |column: &Column| Field::new(column.0, column.1.data_type().clone(), true);
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    RecordBatch::try_new(Arc::new(schema), columns.iter().map(|column| column.1.clone()).collect()).unwrap()
}

fn parquet_bytes(batch: &RecordBatch, properties: WriterProperties) -> Vec<u8> {
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn arrow_file(batches: &[RecordBatch], options: IpcWriteOptions) -> Result<Vec<u8>, ArrowError> {
    let mut writer = FileWriter::try_new_with_options(Vec::new(), &batches[0].schema(), options)?;
    batches.iter().try_for_each(|batch| writer.write(batch))?;
    writer.finish()?;
    writer.into_inner()
}

fn arrow_stream(batches: &[RecordBatch]) -> Result<Vec<u8>, ArrowError> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batches[0].schema())?;
    batches.iter().try_for_each(|batch| writer.write(batch))?;
    writer.finish()?;
    writer.into_inner()
}

fn csv(columns: &[Column]) -> String {
    let row = |row: usize| columns.iter().map(|column| column.2[row]).collect::<Vec<_>>().join(",");
    let names = columns.iter().map(|column| column.0).collect::<Vec<_>>().join(",");
    std::iter::once(names).chain((0..5).map(row)).map(|line| line + "\n").collect()
}

fn opened(path: &Path) -> Box<dyn Source> {
    open(&[path], &OpenOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// Every column of a file by every kind, against the same columns as CSV.
fn same_cells(path: &Path, columns: &[Column], folder: &Folder) {
    let source = opened(path);
    let plain = opened(&folder.file("plain.csv", csv(columns).as_bytes()));
    assert_eq!(source.columns(), plain.columns());
    for (place, (name, _, _, kind)) in columns.iter().enumerate() {
        assert_eq!(source.declared(place), *kind, "{name} of {}", path.display());
        assert_eq!(source.unreadable(place), None);
        let (found, expected) = (read(&*source, place).unwrap(), read(&*plain, place).unwrap());
        assert_eq!(found.rows, 5);
        for (kind, row) in KINDS.iter().enumerate().flat_map(|kind| (0..5).map(move |row| (kind, row))) {
            // A yes is also a number here.
            if *name == "boolean" && kind.0 < 3 {
                continue;
            }
            assert_eq!(
                found.cells[row][kind.0],
                expected.cells[row][kind.0],
                "row {row} of {name} as {:?} of {}",
                kind.1,
                path.display()
            );
        }
    }
}

#[test]
fn parquet_is_its_csv_whatever_its_pages() {
    let folder = Folder::new();
    let columns = columns();
    let batch = batch(&columns);
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4_RAW,
    ];
    for (number, codec) in codecs.into_iter().enumerate() {
        let properties = WriterProperties::builder()
            .set_compression(codec)
            .set_dictionary_enabled(number % 2 == 0)
            .set_max_row_group_row_count(Some(1 + number))
            .set_data_page_row_count_limit(1 + number / 2)
            .set_write_batch_size(1)
            .set_writer_version(if number > 2 {
                WriterVersion::PARQUET_2_0
            } else {
                WriterVersion::PARQUET_1_0
            });
        let path = folder.file(&format!("{number}.parquet"), &parquet_bytes(&batch, properties.build()));
        same_cells(&path, &columns, &folder);
    }
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_column_encoding("text".into(), Encoding::DELTA_BYTE_ARRAY)
        .set_column_encoding("int64".into(), Encoding::DELTA_BINARY_PACKED);
    same_cells(&folder.file("delta.parquet", &parquet_bytes(&batch, properties.build())), &columns, &folder);
}

#[test]
fn arrow_files_and_streams_are_their_csv() {
    let folder = Folder::new();
    let columns: Vec<Column> = columns().into_iter().chain(arrow_columns()).collect();
    let whole = batch(&columns);
    same_cells(
        &folder.file("b.arrows", &arrow_stream(std::slice::from_ref(&whole)).unwrap()),
        &columns,
        &folder,
    );
    same_cells(
        &folder.file("a.arrow", &arrow_file(&[whole], IpcWriteOptions::default()).unwrap()),
        &columns,
        &folder,
    );
    for codec in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        let options = IpcWriteOptions::default().try_with_compression(Some(codec)).unwrap();
        same_cells(
            &folder.file("c.feather", &arrow_file(&[batch(&columns)], options).unwrap()),
            &columns,
            &folder,
        );
    }
    // Several batches, one of them empty, in a stream and packed.
    let plain: Vec<Column> = columns
        .into_iter()
        .filter(|column| !column.0.starts_with("coded") && column.0 != "numbers")
        .collect();
    let whole = batch(&plain);
    let parts = [whole.slice(0, 2), whole.slice(2, 0), whole.slice(2, 3)];
    let stream = arrow_stream(&parts).unwrap();
    same_cells(&folder.file("d.arrows", &stream), &plain, &folder);
    same_cells(&folder.file("e.arrows.gz", &gzip(&stream)), &plain, &folder);
    same_cells(&folder.file("f.arrow.zst", &zstd::encode_all(&*stream, 1).unwrap()), &plain, &folder);
    same_cells(&folder.file("no-ending", &stream), &plain, &folder);
}

/// A file as Polars writes it: without mark and length before the schema, because readers of files begin at the end, and with
/// dictionaries behind the batches that use them.
fn as_of_polars(file: &[u8]) -> Vec<u8> {
    let length = |place: usize| u32::from_le_bytes(file[place + 4..place + 8].try_into().unwrap()) as usize;
    let schema = file.windows(4).position(|word| word == [0xff; 4]).unwrap();
    let mut place = schema + 8 + length(schema);
    let (mut bytes, mut dictionaries) = (file[..schema].to_vec(), Vec::new());
    bytes.extend_from_slice(&file[schema + 8..place]);
    while length(place) > 0 {
        let head = root_as_message(&file[place + 8..place + 8 + length(place)]).unwrap();
        let end = place + 8 + length(place) + usize::try_from(head.bodyLength()).unwrap();
        let later = head.header_type() == MessageHeader::DictionaryBatch;
        (if later { &mut dictionaries } else { &mut bytes }).extend_from_slice(&file[place..end]);
        place = end;
    }
    [bytes, dictionaries, file[place..].to_vec()].concat()
}

#[test]
fn arrow_files_of_polars_are_their_csv() {
    let folder = Folder::new();
    let tens: Decimal128Array = vec![Some(12), None, Some(-5), Some(0), Some(1)].into();
    // The scale -1 is four bytes like those that a message begins with, inside of the schema.
    let tens = tens.with_precision_and_scale(10, -1).unwrap();
    let tens: Column = ("tens", Arc::new(tens), vec!["120", "", "-50", "0", "10"], Some(ColumnType::Integer));
    let columns: Vec<Column> = columns().into_iter().chain(arrow_columns()).chain([tens]).collect();
    for codec in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
        let options = IpcWriteOptions::default().try_with_compression(codec).unwrap();
        let bytes = as_of_polars(&arrow_file(&[batch(&columns)], options).unwrap());
        same_cells(&folder.file("polars.arrow", &bytes), &columns, &folder);
        // Broken off inside of the schema, it is no file.
        assert!(open(&[&folder.file("broken.arrow", &bytes[..200])], &OpenOptions::default()).is_err());
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

#[test]
fn packed_csv_is_plain_csv_and_one_bad_line_is_one_record() {
    let folder = Folder::new();
    let lines: Vec<String> = (0..20_000).map(|k| format!("{k},\"name {}\"\n", k % 7)).collect();
    let long = "9".repeat(3 << 20);
    let text = format!("\u{feff}a,b\n{}\n\"stray\n{long}\n{}1,last", "x\u{fffd}", lines.concat());
    let expected = texts(&*opened(&folder.file("plain.csv", text.as_bytes()))).unwrap();
    assert_eq!(expected.len(), 20_004);
    let packed = [
        folder.file("a.csv.gz", &gzip(text.as_bytes())),
        folder.file("b.csv.zst", &zstd::encode_all(text.as_bytes(), 1).unwrap()),
        folder
            .file("members.csv.gz", &[gzip(&text.as_bytes()[..100]), gzip(&text.as_bytes()[100..])].concat()),
        folder.file("no-ending", &gzip(text.as_bytes())),
    ];
    for path in &packed {
        let source = opened(path);
        assert!(texts(&*source).unwrap() == expected, "{}", path.display());
        assert!(texts(&*source).unwrap() == expected, "a packed file can be read again");
    }
    let tabs = opened(&folder.file("c.tsv", b"a\tb\n1\t2\n"));
    assert_eq!(tabs.columns(), ["a", "b"]);
}

#[test]
fn texts_of_a_short_dictionary_come_by_their_codes_each_once() {
    let folder = Folder::new();
    let words: Vec<Option<&str>> = (0..1000).map(|k| [Some("x"), None, Some("y"), Some("")][k % 4]).collect();
    let array: ArrayRef = Arc::new(StringArray::from(words.clone()));
    let values = Arc::new(BinaryArray::from(vec![&b"x"[..], b"y", b"x", b"", b"\xff"]));
    let twice =
        DictionaryArray::<Int32Type>::new((0..1000).map(|k| k % 5).collect::<Vec<i32>>().into(), values);
    let columns: Vec<Column> = vec![("plain", array, vec![], None), ("twice", Arc::new(twice), vec![], None)];
    let batch = batch(&columns);
    let parquet = folder.file("a.parquet", &parquet_bytes(&batch, WriterProperties::default()));
    let arrow = folder.file("a.arrow", &arrow_file(&[batch], IpcWriteOptions::default()).unwrap());
    let expected: Vec<Cell> = words
        .iter()
        .map(|word| Cell::Text(word.filter(|word| !word.is_empty()).map(str::to_string)))
        .collect();
    let source = opened(&parquet);
    let found = read(&*source, 0).unwrap();
    assert!(found.coded);
    assert!(found.cells.iter().map(|row| &row[6]).eq(&expected));
    let tens = ["x", "y", "x", "", ""];
    for path in [parquet, arrow] {
        let found: Collect = read(&*opened(&path), 1).unwrap();
        assert!(found.coded);
        for (row, cells) in found.cells.iter().enumerate() {
            let text = Some(tens[row % 5]).filter(|text| !text.is_empty()).map(str::to_string);
            assert_eq!(cells[6], Cell::Text(text));
        }
    }
}

#[test]
fn several_files_are_one_data_set_if_their_columns_agree() {
    let folder = Folder::new();
    let columns = vec![
        (
            "n",
            Arc::new(Int64Array::from(vec![7, 8, 9, 10, 11])) as ArrayRef,
            vec!["7", "8", "9", "10", "11"],
            None,
        ),
        (
            "t",
            Arc::new(StringArray::from(vec!["a", "b", "c", "d", "e"])) as ArrayRef,
            vec!["a", "b", "c", "d", "e"],
            None,
        ),
    ];
    folder.file("in/1.csv", b"t,n\nz,1\n");
    folder.file("in/year=2026/2.csv.gz", &gzip(b"n,t\n2,y\n"));
    folder.file("in/year=2026/3.parquet", &parquet_bytes(&batch(&columns), WriterProperties::default()));
    folder.file("in/_SUCCESS", b"");
    folder.file("in/.hidden.csv", b"other\n");
    folder.file("in/equipoise.ledger", b"no data");
    let source = opened(&folder.0.join("in"));
    assert_eq!(source.columns(), ["t", "n"]);
    let found = texts(&*source).unwrap();
    assert_eq!(found.len(), 7);
    let cell = |text: &str| Cell::Text(Some(text.to_string()));
    assert!(found.contains(&vec![cell("y"), cell("2")]) && found.contains(&vec![cell("e"), cell("11")]));
    assert_eq!(source.declared(1), None, "CSV declares nothing");
    let pattern = folder.0.join("in/*/*.parquet");
    let source = opened(&pattern);
    assert_eq!((texts(&*source).unwrap().len(), source.declared(0)), (5, Some(ColumnType::Integer)));

    let line = |path: &Path| {
        let error = open(&[path], &OpenOptions::default()).err().expect("no data set").to_string();
        error.replace(&folder.0.display().to_string(), "F")
    };
    folder.file("other/1.csv", b"a,b\n");
    folder.file("other/2.csv", b"a,c\n");
    assert_eq!(
        line(&folder.0.join("other")),
        "'F/other/2.csv' lacks the column 'b' that 'F/other/1.csv' has; all files must have the same"
    );
    folder.file("other/2.csv", b"a,b,c\n");
    assert_eq!(
        line(&folder.0.join("other/*")),
        "'F/other/2.csv' has the column 'c' that 'F/other/1.csv' lacks; all files must have the same"
    );
    assert_eq!(line(&folder.0.join("*.nothing")), "no file fits 'F/*.nothing'; check the pattern");
    for (scheme, rest) in
        [("s3", "bucket/*.parquet"), ("mysql", "ana:geheim@host/db?table=t"), ("https", "a.org/a.csv")]
    {
        let said = line(Path::new(&format!("{scheme}://{rest}")));
        assert!(said.starts_with(&format!("'{scheme}://..' is no file; name one of this machine")), "{said}");
    }
    assert_eq!(line(&folder.0.join("[")), "'F/[' is no pattern; use *, ? and [..] as in a shell");
    folder.file("none/readme.md", b"hello");
    assert_eq!(
        line(&folder.0.join("none")),
        "'F/none' has no data in it; files end in .csv, .tsv (or these with .gz or .zst), .parquet or .arrow"
    );
}
