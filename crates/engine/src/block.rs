//! Blocks of rows as programs get them: comma-separated text, or an Arrow stream with the types of the file.

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int64Array, RecordBatch,
    RecordBatchOptions, StringArray, TimestampMicrosecondArray,
};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, TimeUnit};
use equipoise_session::{
    program::{ProgramBlocks, header, kinds},
    source::{Batch, Cells, ColumnType, Source},
};
use std::sync::Arc;

/// What a program gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockFormat {
    /// Comma-separated text; every cell as it would stand in such a file.
    Csv,
    /// An Arrow stream of one batch; cells are what their columns are declared to be.
    Arrow,
}

impl BlockFormat {
    /// A block.
    pub fn block(self, blocks: &ProgramBlocks, index: usize) -> Vec<u8> {
        match self {
            Self::Csv => blocks.csv(index),
            Self::Arrow => blocks.see(index, |rows| arrow_stream(blocks.names(), blocks.kinds(), rows)),
        }
    }

    /// A block without rows.
    pub fn empty(self, source: &dyn Source) -> Vec<u8> {
        match self {
            Self::Csv => header(source.columns()),
            Self::Arrow => empty_arrow_stream(source.columns(), &kinds(source, true)),
        }
    }
}

/// A schema, one batch with these rows, and the end. Panics where cells are not of the kinds that are named.
fn arrow_stream(names: &[String], kinds: &[ColumnType], rows: Batch<'_>) -> Vec<u8> {
    written(names, kinds, rows).expect("memory takes whatever fits in it")
}

fn written(names: &[String], kinds: &[ColumnType], rows: Batch<'_>) -> Result<Vec<u8>, ArrowError> {
    let field = |(name, kind): (&String, &ColumnType)| Field::new(name, data_type(*kind), true);
    let schema = Arc::new(Schema::new(names.iter().zip(kinds).map(field).collect::<Vec<_>>()));
    let columns: Result<Vec<ArrayRef>, ArrowError> =
        kinds.iter().zip(rows.cells).map(|(kind, cells)| array(*kind, cells)).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows.rows));
    let batch = RecordBatch::try_new_with_options(schema.clone(), columns?, &options)?;
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new(&mut bytes, &schema)?;
    writer.write(&batch)?;
    writer.finish()?;
    drop(writer);
    Ok(bytes)
}

/// The same without rows.
fn empty_arrow_stream(names: &[String], kinds: &[ColumnType]) -> Vec<u8> {
    let cells: Vec<Cells> = kinds
        .iter()
        .map(|kind| match kind {
            ColumnType::Float => Cells::Floats(&[]),
            ColumnType::Text => Cells::Texts(&[]),
            _ => Cells::Integers(&[]),
        })
        .collect();
    arrow_stream(names, kinds, Batch { rows: 0, cells: &cells })
}

/// The digits of the largest decimals that there are.
const PRECISION: u8 = 38;

pub(crate) fn data_type(kind: ColumnType) -> DataType {
    match kind {
        ColumnType::Float => DataType::Float64,
        ColumnType::Integer => DataType::Int64,
        ColumnType::Decimal { digits } => {
            DataType::Decimal128(PRECISION, i8::try_from(digits).unwrap_or(i8::MAX))
        }
        ColumnType::Date => DataType::Date32,
        ColumnType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        ColumnType::Boolean => DataType::Boolean,
        ColumnType::Text => DataType::Utf8,
    }
}

pub(crate) fn array(kind: ColumnType, cells: &Cells<'_>) -> Result<ArrayRef, ArrowError> {
    Ok(match *cells {
        Cells::Floats(floats) => {
            Arc::new(floats.iter().map(|&float| (!float.is_nan()).then_some(float)).collect::<Float64Array>())
        }
        Cells::Texts(texts) => Arc::new(texts.iter().copied().collect::<StringArray>()),
        Cells::Coded { texts, codes } => {
            Arc::new(codes.iter().map(|code| code.map(|code| texts[code as usize])).collect::<StringArray>())
        }
        Cells::Integers(integers) => return of_integers(kind, integers),
    })
}

fn of_integers(kind: ColumnType, integers: &[Option<i64>]) -> Result<ArrayRef, ArrowError> {
    let integers = integers.iter().copied();
    Ok(match kind {
        ColumnType::Decimal { digits } => {
            let scale = i8::try_from(digits).unwrap_or(i8::MAX);
            let whole = integers.map(|integer| integer.map(i128::from)).collect::<Decimal128Array>();
            Arc::new(whole.with_precision_and_scale(PRECISION, scale)?)
        }
        ColumnType::Date => Arc::new(
            integers.map(|days| days.and_then(|days| i32::try_from(days).ok())).collect::<Date32Array>(),
        ),
        ColumnType::Timestamp => {
            Arc::new(integers.collect::<TimestampMicrosecondArray>().with_timezone("UTC"))
        }
        ColumnType::Boolean => {
            Arc::new(integers.map(|yes| yes.map(|yes| yes != 0)).collect::<BooleanArray>())
        }
        _ => Arc::new(integers.collect::<Int64Array>()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_ipc::reader::StreamReader;

    #[test]
    fn cells_of_every_kind_come_back_as_they_were() {
        let names: Vec<String> = ["f", "i", "d", "day", "at", "yes", "t"].map(String::from).into();
        let kinds = [
            ColumnType::Float,
            ColumnType::Integer,
            ColumnType::Decimal { digits: 2 },
            ColumnType::Date,
            ColumnType::Timestamp,
            ColumnType::Boolean,
            ColumnType::Text,
        ];
        let whole = [Some(1), None, Some(0)];
        let cells = [
            Cells::Floats(&[1.5, f64::NAN, -0.0]),
            Cells::Integers(&whole),
            Cells::Integers(&whole),
            Cells::Integers(&whole),
            Cells::Integers(&whole),
            Cells::Integers(&whole),
            Cells::Coded { texts: &["a,\"b", "é"], codes: &[Some(1), None, Some(0)] },
        ];
        let bytes = arrow_stream(&names, &kinds, Batch { rows: 3, cells: &cells });
        let batches: Vec<RecordBatch> =
            StreamReader::try_new(bytes.as_slice(), None).unwrap().map(Result::unwrap).collect();
        assert_eq!(batches.len(), 1);
        let shown: Vec<String> = batches[0].columns().iter().map(|column| format!("{column:?}")).collect();
        assert!(batches[0].columns().iter().all(|column| column.null_count() == 1), "{shown:?}");
        for (column, text) in [(2, "Decimal128(38, 2)"), (3, "1970-01-02"), (4, "UTC"), (5, "true"), (6, "é")]
        {
            assert!(shown[column].contains(text), "{}", shown[column]);
        }
        let empty = empty_arrow_stream(&names, &kinds);
        let mut reader = StreamReader::try_new(empty.as_slice(), None).unwrap();
        assert_eq!(reader.schema(), batches[0].schema());
        assert_eq!(reader.next().unwrap().unwrap().num_rows(), 0);
    }
}
