//! One small table in every format, packing, encoding and version that is read.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "numbers of tests are small, or cut on purpose"
)]

use arrow_array::{
    ArrayRef, BinaryViewArray, BooleanArray, Date32Array, Decimal128Array, DictionaryArray,
    FixedSizeBinaryArray, Float64Array, Int32Array, Int64Array, LargeStringArray, ListArray, NullArray,
    RecordBatch, StringArray, StructArray, TimestampMillisecondArray,
    types::{Int8Type, Int32Type},
};
use arrow_ipc::{
    CompressionType,
    writer::{FileWriter, IpcWriteOptions, StreamWriter},
};
use arrow_schema::{DataType, Field, Schema};
use parquet::{
    arrow::ArrowWriter,
    basic::{Compression, Encoding, GzipLevel, ZstdLevel},
    file::properties::{WriterProperties, WriterVersion},
    schema::types::ColumnPath,
};
use std::{fmt::Write as _, io::Write as _, sync::Arc};

/// How many rows the table has; batches and row groups have at most [`BATCH`].
pub const ROWS: usize = 60;
pub const BATCH: usize = 25;

/// A file, named after what it is.
pub struct Original {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// Numbers, text and a category that every format can hold.
fn plain_columns() -> Vec<(&'static str, ArrayRef)> {
    let rows = || 0..ROWS as i64;
    let names: Vec<Option<String>> =
        rows().map(|k| (k % 7 != 0).then(|| format!("name {}", k * k))).collect();
    let kinds: Vec<&str> = rows().map(|k| ["red", "green", "blue"][k as usize % 3]).collect();
    vec![
        ("x", Arc::new(rows().map(|k| (k % 5 != 0).then_some(k as f64 * 1.5)).collect::<Float64Array>())),
        ("n", Arc::new(Int64Array::from_iter_values(rows().map(|k| k * 1_000_003 - 7)))),
        ("kind", Arc::new(StringArray::from(kinds))),
        ("name", Arc::new(names.into_iter().collect::<StringArray>())),
    ]
}

fn typed_columns() -> Vec<(&'static str, ArrayRef)> {
    let rows = || 0..ROWS as i32;
    let money = Decimal128Array::from_iter_values(rows().map(|k| i128::from(k) * 105));
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(
        rows().map(|k| (k % 4 != 0).then(|| vec![Some(k); k as usize % 3])),
    );
    let inner: ArrayRef = Arc::new(Int32Array::from_iter_values(rows()));
    let field = Arc::new(Field::new("inner", DataType::Int32, true));
    let digests = FixedSizeBinaryArray::try_from_iter(rows().map(|k| [k as u8; 5])).expect("equal lengths");
    let mut columns = plain_columns();
    columns.extend([
        (
            "small",
            Arc::new(rows().map(|k| (k % 9 != 0).then_some(k % 4)).collect::<Int32Array>()) as ArrayRef,
        ),
        ("yes", Arc::new(rows().map(|k| Some(k % 3 == 0)).collect::<BooleanArray>())),
        ("day", Arc::new(Date32Array::from_iter_values(rows()))),
        ("money", Arc::new(money.with_precision_and_scale(10, 2).expect("it fits"))),
        ("digest", Arc::new(digests)),
        ("at", Arc::new(TimestampMillisecondArray::from_iter_values(rows().map(i64::from)))),
        ("tags", Arc::new(lists)),
        ("record", Arc::new(StructArray::from(vec![(field, inner)]))),
    ]);
    columns
}

fn table(columns: Vec<(&'static str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .expect("a table")
}

/// The table in batches.
fn batches(table: &RecordBatch) -> Vec<RecordBatch> {
    (0..ROWS).step_by(BATCH).map(|at| table.slice(at, BATCH.min(ROWS - at))).collect()
}

/// Longer than the others, so that its header can be read where its end is broken.
fn csv() -> Vec<u8> {
    let mut text = String::from("x,n,kind,name\n");
    for k in 0..1000 {
        let x = if k % 5 == 0 { String::new() } else { format!("{}", k as f64 * 1.5) };
        let kind = ["red", "green", "blue"][k % 3];
        writeln!(text, "{x},{},{kind},\"name, {}\"", k * 1_000_003, k * k).expect("memory");
    }
    text.into_bytes()
}

fn parquet(settings: WriterProperties) -> Vec<u8> {
    let table = table(typed_columns());
    let mut writer = ArrowWriter::try_new(Vec::new(), table.schema(), Some(settings)).expect("a writer");
    writer.write(&table).expect("memory");
    writer.into_inner().expect("memory")
}

fn parquets() -> Vec<Original> {
    let codecs = [
        ("plain", Compression::UNCOMPRESSED),
        ("snappy", Compression::SNAPPY),
        ("gzip", Compression::GZIP(GzipLevel::default())),
        ("lz4", Compression::LZ4),
        ("lz4raw", Compression::LZ4_RAW),
        ("zstd", Compression::ZSTD(ZstdLevel::default())),
    ];
    let delta = [
        ("x", Encoding::BYTE_STREAM_SPLIT),
        ("n", Encoding::DELTA_BINARY_PACKED),
        ("small", Encoding::DELTA_BINARY_PACKED),
        ("name", Encoding::DELTA_BYTE_ARRAY),
        ("kind", Encoding::DELTA_LENGTH_BYTE_ARRAY),
        ("yes", Encoding::RLE),
        ("digest", Encoding::DELTA_BYTE_ARRAY),
    ];
    let mut files = Vec::new();
    for (codec_name, codec) in codecs {
        for (version_name, version) in
            [("v1", WriterVersion::PARQUET_1_0), ("v2", WriterVersion::PARQUET_2_0)]
        {
            for way in ["dictionary", "plain", "delta"] {
                let mut settings = WriterProperties::builder()
                    .set_writer_version(version)
                    .set_compression(codec)
                    .set_max_row_group_row_count(Some(BATCH))
                    .set_data_page_row_count_limit(10)
                    .set_write_batch_size(5)
                    .set_dictionary_enabled(way == "dictionary");
                if way == "delta" {
                    for (column, encoding) in delta {
                        settings = settings.set_column_encoding(ColumnPath::from(column), encoding);
                    }
                }
                let name = format!("{codec_name}-{version_name}-{way}.parquet");
                files.push(Original { name, bytes: parquet(settings.build()) });
            }
        }
    }
    files
}

fn arrows() -> Vec<Original> {
    let mut columns = typed_columns();
    let keys = (0..ROWS as i8).map(|k| (k % 8 != 0).then_some(k % 3));
    let values: ArrayRef = Arc::new(StringArray::from(vec!["north", "south", "east"]));
    let coded = DictionaryArray::<Int8Type>::new(keys.collect(), values);
    let views =
        (0..ROWS).map(|k| (k % 6 != 0).then(|| format!("a text that is too long to lie in its view {k}")));
    columns.extend([
        ("coded", Arc::new(coded) as ArrayRef),
        (
            "view",
            Arc::new(
                views
                    .collect::<Vec<_>>()
                    .iter()
                    .map(|text| text.as_ref().map(String::as_bytes))
                    .collect::<BinaryViewArray>(),
            ),
        ),
        ("large", Arc::new((0..ROWS).map(|k| Some(format!("{k}"))).collect::<LargeStringArray>())),
        ("nothing", Arc::new(NullArray::new(ROWS))),
    ]);
    let table = table(columns);
    let schema: &Schema = &table.schema();
    let mut files = Vec::new();
    for (packing_name, packing) in
        [("plain", None), ("lz4", Some(CompressionType::LZ4_FRAME)), ("zstd", Some(CompressionType::ZSTD))]
    {
        let options = IpcWriteOptions::default().try_with_compression(packing).expect("it is built in");
        let mut file =
            FileWriter::try_new_with_options(Vec::new(), schema, options.clone()).expect("a writer");
        let mut stream = StreamWriter::try_new_with_options(Vec::new(), schema, options).expect("a writer");
        for batch in batches(&table) {
            file.write(&batch).expect("memory");
            stream.write(&batch).expect("memory");
        }
        file.finish().expect("memory");
        stream.finish().expect("memory");
        let bytes = file.into_inner().expect("memory");
        files.push(Original { name: format!("{packing_name}.arrow"), bytes });
        let bytes = stream.into_inner().expect("memory");
        files.push(Original { name: format!("{packing_name}.arrows"), bytes });
    }
    files
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(bytes).expect("memory");
    packed.finish().expect("memory")
}

/// All of them.
pub fn originals() -> Vec<Original> {
    let text = csv();
    let named = |name: &str, bytes: Vec<u8>| Original { name: name.to_string(), bytes };
    let mut files = vec![
        named("a.csv.gz", gzip(&text)),
        named("a.csv.zst", zstd::encode_all(text.as_slice(), 3).expect("memory")),
        named("a.csv", text),
    ];
    files.extend(parquets());
    files.extend(arrows());
    files
}
