//! What a Parquet file says of itself is known before the charge, so what cannot be is refused for free.

mod support;

use arrow_array::{ArrayRef, FixedSizeBinaryArray, Int64Array, RecordBatch};
use parquet::arrow::ArrowWriter;
use std::sync::Arc;
use support::Folder;

/// A whole number and four bytes for each row.
fn file() -> Vec<u8> {
    let keys = (0..50_u8).map(|row| [row, 0x11, 0x22, 0x33]);
    let columns: [(&str, ArrayRef); 2] = [
        ("value", Arc::new(Int64Array::from_iter_values(0..50))),
        ("digest", Arc::new(FixedSizeBinaryArray::try_from_iter(keys).expect("bytes"))),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("columns");
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("written");
    writer.into_inner().expect("bytes")
}

/// They were charged as numbers of which there are none.
#[test]
fn bytes_of_a_fixed_length_are_no_numbers_and_saying_so_is_free() {
    let folder = Folder::with("data.parquet", file());
    for line in [
        "median data.parquet digest --epsilon 1",
        "sum data.parquet digest --range 0,1 --epsilon 1",
        "mean data.parquet digest --epsilon 1",
        "summary data.parquet digest --epsilon 1",
        "count data.parquet --where digest>0 --epsilon 1",
        "median data.parquet digest --type digest=integer --epsilon 1",
    ] {
        let said = folder.fails(line);
        let why = said.contains("bytes of a fixed length")
            || said.contains("that 'digest' holds text")
            || said.contains("column 'digest' holds texts");
        assert!(said.contains("exit 2: ") && why, "{said}");
    }
    assert_eq!(folder.charges(), 0);
    for line in [
        "count data.parquet digest --epsilon 1",
        "histogram data.parquet digest --epsilon 1 --delta 1e-6",
        "median data.parquet value --rows 50 --range 0,50 --resolution 1 --epsilon 50",
    ] {
        assert!(matches!(folder.code(line), 0 | 3), "{line}");
    }
    let words = ["count", "data.parquet", "--where", "digest = '00112233'", "--epsilon", "1"];
    assert_eq!(folder.run_words(&words).status.code(), Some(0));
}

/// The codec stands in the footer, where this changes it; the pages stay as they are, and are never reached.
#[test]
fn a_codec_that_cannot_be_read_is_refused_before_the_charge() {
    const FIELD_OF_A_WORD: u8 = 0x15; // the next field, an integer, in the compact protocol of Thrift
    let plain = file();
    let length = u32::from_le_bytes(plain[plain.len() - 8..plain.len() - 4].try_into().expect("four bytes"));
    let footer = plain.len() - 8 - usize::try_from(length).expect("a footer");
    // In zigzag: lzo is 3, brotli is 4.
    for (name, code) in [("lzo", 6), ("brotli", 8)] {
        let mut refused = 0;
        for place in footer + 1..plain.len() - 8 {
            if (plain[place - 1], plain[place]) != (FIELD_OF_A_WORD, 0) {
                continue;
            }
            let mut changed = plain.clone();
            changed[place] = code;
            let folder = Folder::with("data.parquet", changed);
            let output = folder.run("count data.parquet value --epsilon 1");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            if said.contains(name) {
                assert_eq!((output.status.code(), folder.charges()), (Some(2), 0), "{said}");
                refused += 1;
            }
        }
        assert_eq!(refused, 2, "the codec of each of two columns was found in the footer: {name}");
    }
}
