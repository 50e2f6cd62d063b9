//! Parquet files: wanted columns only, row group after row group, on all cores.
//!
//! Before the charge only the schema is used. The footer also tells row counts, least and greatest values; they are private
//! and never looked at: nothing is left out, planned or shown by them. A page that cannot be read loses the answer.
//! What cells are says [`columnar`](crate::columnar). Texts are read as bytes, so that one that is not UTF-8 is one null.

use crate::{
    bytes::{Bytes, Reader, Stamp},
    columnar::{Columns, Meaning, declared, unreadable_line},
    csv::header::all_different,
    problem::Problem,
    threads,
};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use equipoise_session::{
    quiet::quietly,
    source::{Kind, Lost, Source, Visitor, Wanted},
};
use parquet::{
    arrow::{
        ProjectionMask,
        arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder},
    },
    basic::{Compression, LogicalType, Repetition, Type as Physical},
    errors::{ParquetError, Result as ParquetResult},
    file::{
        metadata::{
            ColumnChunkMetaData, PageIndexPolicy, ParquetMetaData, ParquetStatisticsPolicy, RowGroupMetaData,
        },
        reader::{ChunkReader, Length},
    },
    schema::types::{SchemaDescriptor, Type, TypePtr},
};
use std::{
    io::BufReader,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Rows in a batch, at most.
const BATCH: usize = 8192;

/// A Parquet file whose schema has been read.
pub(crate) struct Parquet {
    file: Pages,
    stamp: Stamp,
    columns: Vec<String>,
    meanings: Vec<Meaning>,
    metadata: Arc<ParquetMetaData>,
    /// What the columns are as arrays, with bytes for texts.
    fields: Vec<Field>,
}

impl Parquet {
    /// Open a file and read its schema.
    pub fn open(path: &Path) -> Result<Self, Problem> {
        Self::new(Bytes::open(path)?)
    }

    fn new(bytes: Bytes) -> Result<Self, Problem> {
        let stamp = bytes.stamp().map_err(|error| Problem::of(error.kind()))?;
        let file = Pages { bytes: Arc::new(bytes), length: stamp.length() };
        // A footer that breaks its reader is a broken footer.
        let read = quietly(|| Self::read(file, stamp).map_err(|_| Lost));
        let read = read.map_err(|_| Problem::NotParquet)?;
        if let Some(codec) = unreadable_codec(&read.metadata) {
            return Err(Problem::Codec(codec));
        }
        all_different(&read.columns)?;
        Ok(read)
    }

    fn read(file: Pages, stamp: Stamp) -> ParquetResult<Self> {
        let plain = ArrowReaderMetadata::load(&file, options())?;
        let descriptor = plain.metadata().file_metadata().schema_descr();
        let texts_as_bytes = without_text(descriptor.root_schema())?;
        let descriptor = Arc::new(SchemaDescriptor::new(Arc::new(texts_as_bytes)));
        let metadata = ArrowReaderMetadata::load(&file, options().with_parquet_schema(descriptor))?;
        let types = metadata.metadata().file_metadata().schema().get_fields();
        let fields: Vec<Field> =
            metadata.schema().fields().iter().zip(types).map(|(field, kind)| wide(field, kind)).collect();
        Ok(Self {
            columns: fields.iter().map(|field| field.name().clone()).collect(),
            meanings: fields.iter().zip(types).map(|(field, kind)| meaning(field, kind)).collect(),
            metadata: metadata.metadata().clone(),
            file,
            stamp,
            fields,
        })
    }

    /// How the wanted columns are read: texts by the codes of the file's own dictionaries where there are any.
    fn reading(&self, wanted: &[Wanted]) -> ParquetResult<ArrowReaderMetadata> {
        let field = |(place, field): (usize, &Field)| {
            let text = Wanted { column: place, kind: Kind::Text };
            match field.data_type() {
                DataType::Binary if wanted.contains(&text) => {
                    let coded = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Binary));
                    field.clone().with_data_type(coded)
                }
                _ => field.clone(),
            }
        };
        let fields: Vec<Field> = self.fields.iter().enumerate().map(field).collect();
        let schema = Arc::new(Schema::new(fields));
        ArrowReaderMetadata::try_new(self.metadata.clone(), options().with_schema(schema))
    }
}

/// Nothing but the schema and where the pages are.
fn options() -> ArrowReaderOptions {
    ArrowReaderOptions::new()
        .with_skip_arrow_metadata(true)
        .with_page_index_policy(PageIndexPolicy::Skip)
        .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_size_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_encoding_stats_policy(ParquetStatisticsPolicy::SkipAll)
}

/// The same schema with bytes for texts at its top.
fn without_text(root: &Type) -> ParquetResult<Type> {
    let plain = |field: &TypePtr| -> ParquetResult<TypePtr> {
        let info = field.get_basic_info();
        let single = field.is_primitive() && info.repetition() != Repetition::REPEATED;
        if !single || field.get_physical_type() != Physical::BYTE_ARRAY || is_decimal(field) {
            return Ok(field.clone());
        }
        let id = info.has_id().then(|| info.id());
        let bytes = Type::primitive_type_builder(field.name(), Physical::BYTE_ARRAY)
            .with_repetition(info.repetition())
            .with_id(id)
            .build()?;
        Ok(Arc::new(bytes))
    };
    let fields = root.get_fields().iter().map(plain).collect::<ParquetResult<Vec<_>>>()?;
    Type::group_type_builder(root.name()).with_fields(fields).build()
}

fn is_decimal(field: &Type) -> bool {
    use parquet::basic::ConvertedType;
    let info = field.get_basic_info();
    matches!(info.logical_type_ref(), Some(LogicalType::Decimal(..)))
        || info.converted_type() == ConvertedType::DECIMAL
}

/// What a column is. Decimals as bytes of any length could be too long for their reader, which fails then for all rows.
fn meaning(field: &Field, kind: &Type) -> Meaning {
    if kind.is_primitive() && kind.get_physical_type() == Physical::BYTE_ARRAY && is_decimal(kind) {
        return Meaning::Unreadable("decimals of varying length");
    }
    declared(field.data_type())
}

/// Old moments of 96 bits reach farther in microseconds than in nanoseconds.
fn wide(field: &Field, kind: &Type) -> Field {
    let old = kind.is_primitive() && kind.get_physical_type() == Physical::INT96;
    match field.data_type() {
        DataType::Timestamp(..) if old => {
            field.clone().with_data_type(DataType::Timestamp(TimeUnit::Microsecond, None))
        }
        _ => field.clone(),
    }
}

/// How columns are packed, where that cannot be read. It is a setting of whoever wrote the file and depends on no row, so it
/// is told before a charge.
fn unreadable_codec(metadata: &ParquetMetaData) -> Option<&'static str> {
    let chunks = metadata.row_groups().iter().flat_map(RowGroupMetaData::columns);
    chunks.map(ColumnChunkMetaData::compression).find_map(|codec| match codec {
        Compression::BROTLI(_) => Some("brotli"),
        Compression::LZO => Some("lzo"),
        _ => None,
    })
}

impl Source for Parquet {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn declared(&self, column: usize) -> Option<Kind> {
        self.meanings.get(column)?.kind()
    }

    fn is_only_text(&self, column: usize) -> bool {
        self.meanings.get(column) == Some(&Meaning::Texts)
    }

    fn unreadable(&self, column: usize) -> Option<String> {
        let what = self.meanings.get(column)?.unreadable()?;
        Some(unreadable_line(&self.columns[column], what))
    }

    /// The answer is lost if a page cannot be read, if the file changes, or if a visitor panics.
    fn scan(&self, wanted: &[Wanted], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        self.unchanged()?;
        let mut arrays: Vec<usize> = wanted.iter().map(|wanted| wanted.column).collect();
        arrays.sort_unstable();
        arrays.dedup();
        let reading = self.reading(wanted).map_err(|_| Lost)?;
        let mask = ProjectionMask::roots(reading.parquet_schema(), arrays.iter().copied());
        let (groups, claimed) = (self.metadata.num_row_groups(), AtomicUsize::new(0));
        threads::each(visitors, |visitor| {
            let mut columns = Columns::new(wanted, &arrays);
            loop {
                let group = claimed.fetch_add(1, Ordering::Relaxed);
                if group >= groups {
                    return Ok(());
                }
                let batches =
                    ParquetRecordBatchReaderBuilder::new_with_metadata(self.file.clone(), reading.clone())
                        .with_row_groups(vec![group])
                        .with_projection(mask.clone())
                        .with_batch_size(BATCH)
                        .build()
                        .map_err(|_| Lost)?;
                for batch in batches {
                    let batch = batch.map_err(|_| Lost)?;
                    columns.visit(batch.num_rows(), batch.columns(), visitor);
                }
            }
        })?;
        self.unchanged()
    }
}

impl Parquet {
    /// Whether the file is still the one whose footer was read.
    fn unchanged(&self) -> Result<(), Lost> {
        let now = self.file.bytes.stamp().map_err(|_| Lost)?;
        if now == self.stamp { Ok(()) } else { Err(Lost) }
    }
}

/// A file as the reader of pages wants it; threads read at places of their own.
#[derive(Clone)]
struct Pages {
    bytes: Arc<Bytes>,
    length: u64,
}

impl Length for Pages {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Pages {
    type T = BufReader<Reader>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(BufReader::with_capacity(1024, Reader::new(self.bytes.clone(), start)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<bytes::Bytes> {
        // Checked before there is room made for it.
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            return Err(ParquetError::EOF("the file ends before its page".to_string()));
        }
        let mut buffer = vec![0; length];
        let end = |_| ParquetError::EOF("the file ends before its page".to_string());
        self.bytes.fill_at(&mut buffer, start).map_err(end)?;
        Ok(buffer.into())
    }
}
