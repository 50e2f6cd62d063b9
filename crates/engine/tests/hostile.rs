//! Files that are broken, strange or made to hurt: one clear line before the charge, a lost answer after it, and never more.

mod support;

use arrow_array::{
    ArrayRef, Float64Array, Int64Array, ListArray, RecordBatch, RecordBatchOptions, StringArray,
    types::Int32Type,
};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{Field, Schema};
use equipoise_engine::{OpenOptions, csv::Header, open};
use equipoise_session::{
    quiet::quietly,
    source::{Lost, Source},
};
use parquet::{arrow::ArrowWriter, file::properties::WriterProperties};
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};
use support::{Cell, Folder, read, texts};

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let field = |(name, array): &(&str, ArrayRef)| Field::new(*name, array.data_type().clone(), true);
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    let rows = columns.first().map_or(7, |column| column.1.len());
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    RecordBatch::try_new_with_options(schema, arrays, &options).unwrap()
}

fn small() -> RecordBatch {
    let names = (0..40).map(|k| (k % 7 != 0).then(|| format!("name {}", k % 9)));
    batch(vec![
        ("x", Arc::new((0..40).map(|k| (k % 5 != 0).then_some(f64::from(k))).collect::<Float64Array>())),
        ("name", Arc::new(names.collect::<StringArray>())),
    ])
}

fn parquet(batches: &[RecordBatch]) -> Vec<u8> {
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(16)).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batches[0].schema(), Some(properties)).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.into_inner().unwrap()
}

fn arrow(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = FileWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

fn stream(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

type Writer = fn(&[RecordBatch]) -> Vec<u8>;

fn try_open(path: &Path) -> Result<Box<dyn Source>, String> {
    open(&[path], &OpenOptions::default()).map_err(|error| error.to_string())
}

/// Open and read all: rows, or lost, or a line before anything was charged.
fn rows(path: &Path) -> Result<Result<usize, Lost>, String> {
    let source = try_open(path)?;
    let all = |column| quietly(|| read(&*source, column).map(|all| all.rows));
    Ok((0..source.columns().len()).map(all).try_fold(0, |most, rows| Ok(most.max(rows?))))
}

#[test]
fn a_file_cut_anywhere_is_one_line_or_a_lost_answer() {
    let folder = Folder::new();
    for (name, whole) in
        [("a.parquet", parquet(&[small()])), ("b.arrow", arrow(&[small()])), ("c.arrows", stream(&[small()]))]
    {
        assert_eq!(rows(&folder.file(name, &whole)), Ok(Ok(40)));
        for length in (0..whole.len()).step_by(13) {
            let path = folder.file(name, &whole[..length]);
            match rows(&path) {
                Err(line) => {
                    assert!(line.contains(name) && line.contains(';') && !line.contains('\n'), "{line}");
                }
                Ok(Err(Lost)) => assert!(name.ends_with("arrows"), "{name} {length}: told before the charge"),
                // A stream may end between batches.
                Ok(Ok(rows)) => {
                    assert!(name.ends_with("arrows") && (rows == 40 || rows == 0), "{name} {length}");
                }
            }
        }
    }
}

/// A byte can turn one value into another. It cannot add or take rows, and what is said of it is one line of ours.
#[test]
fn any_changed_byte_is_a_line_a_lost_answer_or_as_many_rows() {
    let folder = Folder::new();
    for (name, whole) in [("a.parquet", parquet(&[small()])), ("b.arrow", arrow(&[small()]))] {
        let mut seen = [0; 3];
        for place in (0..whole.len()).step_by(23) {
            for change in [0x01, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[place] ^= change;
                let outcome = match rows(&folder.file(name, &bytes)) {
                    Err(line) => {
                        assert!(line.contains(name) && line.contains(';') && !line.contains('\n'), "{line}");
                        0
                    }
                    Ok(Err(Lost)) => 1,
                    Ok(Ok(rows)) => {
                        assert_eq!(rows, 40, "{name}, byte {place}");
                        2
                    }
                };
                seen[outcome] += 1;
            }
        }
        assert!(seen.iter().all(|&count| count > 0), "{name}: {seen:?}");
    }
}

#[test]
fn what_is_not_what_its_name_says_is_one_clear_line() {
    let folder = Folder::new();
    let table: [(&str, &[u8], &str); 9] = [
        ("a.parquet", b"a,b\n1,2\n", "'F' is no whole Parquet file; check its name, or write it again"),
        ("b.parquet", b"", "'F' is no whole Parquet file; check its name, or write it again"),
        (
            "c.parquet",
            b"PAR1\xff\xff\xff\x7fPAR1",
            "'F' is no whole Parquet file; check its name, or write it again",
        ),
        ("d.arrow", b"ARROW1\0\0", "'F' is no whole Arrow file or stream; check its name, or write it again"),
        (
            "e.arrow",
            b"\xff\xff\xff\xff\xff\xff\xff\x7f",
            "'F' is no whole Arrow file or stream; check its name, or write it again",
        ),
        (
            "f.csv.gz",
            b"a,b\n1,2\n",
            "'F' cannot be unpacked as gzip; check that it is whole and rightly named",
        ),
        (
            "g.csv.zst",
            b"a,b\n1,2\n",
            "'F' cannot be unpacked as zstd; check that it is whole and rightly named",
        ),
        ("h.parquet.gz", b"", "'F' is no whole Parquet file; check its name, or write it again"),
        ("i.csv.gz", b"", "'F' cannot be unpacked as gzip; check that it is whole and rightly named"),
    ];
    for (name, content, line) in table {
        let path = folder.file(name, content);
        let error = try_open(&path).err().expect(name);
        assert_eq!(error.replace(&path.display().to_string(), "F"), line, "{name}");
    }
    let path = folder.file("good.parquet", &parquet(&[small()]));
    let options = OpenOptions { header: Some(Header::Numbered), ..OpenOptions::default() };
    let error = open(&[&path], &options).err().expect("a schema").to_string();
    assert!(error.ends_with("has a schema of its own; leave out `no_header` and `delimiter`"), "{error}");
}

#[test]
fn without_a_header_nothing_is_guessed_from_the_first_record() {
    let folder = Folder::new();
    let options = OpenOptions { header: Some(Header::Numbered), ..OpenOptions::default() };
    for first in [&b"PAR1,2\n"[..], b"\x1f\x8b\n", b"ARROW1\0\0\n", b"\xff\xff\xff\xff\n"] {
        let source = open(&[folder.file("people", first)], &options).expect("any first record");
        assert_eq!(read(&*source, 0).map(|all| all.rows), Ok(1));
    }
}

#[test]
fn no_rows_no_columns_and_nested_columns() {
    let folder = Folder::new();
    let empty = small().slice(0, 0);
    let nothing = batch(vec![]);
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1)]), None]);
    let nested = batch(vec![("tags", Arc::new(lists)), ("n", Arc::new(Int64Array::from(vec![1, 2])))]);
    let write: [(&str, Writer); 3] = [("a.parquet", parquet), ("b.arrow", arrow), ("c.arrows", stream)];
    for (name, write) in write {
        assert_eq!(rows(&folder.file(name, &write(std::slice::from_ref(&empty)))), Ok(Ok(0)), "{name}");
        let source = try_open(&folder.file(name, &write(std::slice::from_ref(&nothing)))).unwrap();
        assert!(source.columns().is_empty());
        let mut all = support::Collect::default();
        assert_eq!(source.scan(&[], &mut [&mut all]), Ok(()));
        let source = try_open(&folder.file(name, &write(std::slice::from_ref(&nested)))).unwrap();
        assert_eq!(
            source.unreadable(0).as_deref(),
            Some(
                "the column 'tags' holds lists, which cannot be asked about; store them as numbers or texts first"
            )
        );
        assert_eq!((source.declared(0), source.unreadable(1)), (None, None));
        assert_eq!(read(&*source, 1).unwrap().rows, 2);
        let nulls = read(&*source, 0).unwrap().cells;
        assert_eq!(nulls.len(), 2);
        assert!(nulls.iter().all(|row| row[6] == Cell::Text(None)));
    }
}

#[test]
fn row_groups_of_any_size_and_texts_that_are_no_text() {
    let folder = Folder::new();
    let whole = small();
    let parts: Vec<RecordBatch> =
        [(0, 1), (1, 0), (1, 30), (31, 9)].map(|(at, rows)| whole.slice(at, rows)).to_vec();
    let expected = texts(&*try_open(&folder.file("a.parquet", &parquet(&[whole]))).unwrap()).unwrap();
    for (name, bytes) in
        [("b.parquet", parquet(&parts)), ("c.arrow", arrow(&parts)), ("d.arrows", stream(&parts))]
    {
        assert_eq!(texts(&*try_open(&folder.file(name, &bytes)).unwrap()).unwrap(), expected);
    }
    // A writer that did not check: one name becomes bytes that are no text.
    for (name, bytes) in [("e.parquet", parquet(&parts)), ("f.arrow", arrow(&parts))] {
        let at = bytes.windows(6).position(|bytes| bytes == b"name 3").expect("stored as it is");
        let mut spoilt = bytes.clone();
        spoilt[at] = 0xff;
        let found = texts(&*try_open(&folder.file(name, &spoilt)).unwrap()).expect(name);
        assert_eq!(found.len(), expected.len(), "{name}");
        let nulls =
            |records: &[Vec<Cell>]| records.iter().filter(|record| record[1] == Cell::Text(None)).count();
        assert!(nulls(&found) > nulls(&expected) && nulls(&found) < 30, "{name}: only this name is lost");
    }
}

#[test]
fn a_file_that_changed_since_its_schema_was_read_is_lost() {
    let folder = Folder::new();
    for (name, bytes) in [("a.parquet", parquet(&[small()])), ("b.csv.gz", gzip(b"a\n1\n"))] {
        let path = folder.file(name, &bytes);
        let source = try_open(&path).unwrap();
        assert!(read(&*source, 0).is_ok());
        fs::write(&path, [&bytes[..bytes.len() / 2], b"cut"].concat()).unwrap();
        assert_eq!(quietly(|| read(&*source, 0).map(|all| all.rows)), Err(Lost), "{name}");
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// Half a gigabyte in half a megabyte: two lines that are far too long, between good ones.
#[test]
fn a_bomb_is_unpacked_piece_by_piece() {
    let folder = Folder::new();
    let bomb = |packed: &mut dyn Write| -> std::io::Result<()> {
        let zeros = vec![0; 1 << 20];
        packed.write_all(b"a\n1\n")?;
        for _ in 0..2 {
            (0..64).try_for_each(|_| packed.write_all(&zeros))?;
            packed.write_all(b"\n2\n")?;
        }
        Ok(())
    };
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    bomb(&mut gz).unwrap();
    let mut zst = zstd::Encoder::new(Vec::new(), 1).unwrap();
    bomb(&mut zst).unwrap();
    let paths: [PathBuf; 2] =
        [folder.file("a.csv.gz", &gz.finish().unwrap()), folder.file("a.csv.zst", &zst.finish().unwrap())];
    for path in paths {
        assert_eq!(rows(&path), Ok(Ok(5)));
    }
    if let Ok(status) = fs::read_to_string("/proc/self/status") {
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
        let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
        assert!(kilobytes < 400_000, "{kilobytes} kB");
    }
}

#[test]
fn two_columns_of_one_name_are_refused() {
    let folder = Folder::new();
    let schema = Arc::new(Schema::new(vec![
        Field::new("a", arrow_schema::DataType::Int64, true),
        Field::new("a", arrow_schema::DataType::Int64, true),
    ]));
    let column: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let twice = RecordBatch::try_new(schema, vec![column.clone(), column]).unwrap();
    for (name, bytes) in [("a.parquet", parquet(std::slice::from_ref(&twice))), ("b.arrow", arrow(&[twice]))]
    {
        let line = try_open(&folder.file(name, &bytes)).err().expect("one name for two");
        assert!(line.contains("are both called 'a'; rename one"), "{line}");
    }
}

/// Read as one header, such a file showed its records as the names of columns.
#[test]
fn other_line_ends_and_encodings_are_refused_and_no_cell_is_shown() {
    let folder = Folder::new();
    let returns = "the first line of 'F' has a carriage return (CR) without a line feed (LF) behind it; write the file again with LF or CRLF line ends";
    let zeros = "the header of 'F' has zero bytes, as UTF-16, UTF-32 and files that are no text have; convert it to UTF-8 CSV";
    let utf_16 = "'F' is UTF-16 text; convert it to UTF-8 first";
    let utf_32 = "'F' is UTF-32 text; convert it to UTF-8 first";
    let old = b"name,x\rAnna Secret,5\rBert Hidden,6\r";
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let wider = |text: &str| text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect::<Vec<u8>>();
    let table: [(&str, Vec<u8>, &str); 17] = [
        ("a.csv", old.to_vec(), returns),
        ("b.csv.gz", gzip(old), returns),
        ("c.csv", b"\"name\",\"x\"\r\"Anna Secret\",5\r".to_vec(), returns),
        ("d.csv", b"name,x\rAnna Secret,5\nBert Hidden,6\n".to_vec(), returns),
        ("e.csv", b"name,x\r\r\nAnna Secret,5\r\r\n".to_vec(), returns),
        ("f.csv", b"name,x\r\"Anna Secret\r\n\",5\r".to_vec(), returns),
        // At the end of the first piece that is read, and where the whole is longer than any header.
        ("g.csv", [vec![b'a'; 4095], b"\rAnna Secret\r".to_vec()].concat(), returns),
        ("h.csv", [b"name\r".to_vec(), b"Anna Secret\r".repeat(200_000)].concat(), returns),
        ("i.csv", [vec![0xff, 0xfe], wide("name,x\r\nAnna Secret,5\r\n")].concat(), utf_16),
        ("j.csv", [vec![0xfe, 0xff], wide("name,x\nAnna Secret,5\n")].concat(), utf_16),
        ("k.csv", wide("name,x\r\nAnna Secret,5\r\n"), zeros),
        ("l.csv", wide("name,x\nAnna Secret,5\n"), zeros),
        ("m.csv", [vec![0xff, 0xfe, 0, 0], wider("name,x\nAnna Secret,5\n")].concat(), utf_32),
        ("n.csv", [vec![0, 0, 0xfe, 0xff], wider("name,x\nAnna Secret,5\n")].concat(), utf_32),
        ("o.csv", wider("name,x\r\nAnna Secret,5\r\n"), zeros),
        // Marks and nothing behind them.
        ("p.csv", vec![0xff, 0xfe, 0], utf_16),
        ("q.csv", vec![0xff, 0xfe, 0, 0], utf_32),
    ];
    for (name, content, line) in table {
        let path = folder.file(name, &content);
        let error = try_open(&path).err().expect(name);
        assert_eq!(error.replace(&path.display().to_string(), "F"), line, "{name}");
    }
    // Lines end with a line feed, a return before it or not; elsewhere a return is a character.
    for (content, rows_there) in [
        (b"name,x\r\nAnna,5\r\nBert,6".to_vec(), 2),
        (b"name,x\nAn\rna,5\nBert,6\r\n".to_vec(), 2),
        (b"name,x\r".to_vec(), 0),
        (b"\xef\xbb\xbfname,x\nAnna,5\n".to_vec(), 1),
        ([vec![b'a'; 4095], b"\r\nAnna\r\n".to_vec()].concat(), 1),
        ([vec![b'a'; 4096], b"\r\nAnna\r\n".to_vec()].concat(), 1),
    ] {
        assert_eq!(
            rows(&folder.file("z.csv", &content)),
            Ok(Ok(rows_there)),
            "{:?}",
            content.last_chunk::<8>()
        );
    }
}
