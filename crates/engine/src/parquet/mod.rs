//! Parquet files: wanted columns only, row group after row group, on all cores.
//!
//! Before the charge only the schema is used, and whether all that the footer speaks of lies in the file. The footer also tells
//! row counts, least and greatest values; they are private: nothing is left out, planned or shown by them. A page that cannot be
//! read loses the answer, and so does a row group that has other than its number of rows.
//!
//! No number of the file is handed to the `parquet` crate that was not held against the bytes that are there: it makes
//! room by such numbers and ends the process where they lie. It is given a schema that `footer` walked, pages that
//! `pages` unpacked and checked, and flat columns only.
//!
//! What cells are says [`columnar`](crate::columnar). Texts are read as bytes, so that one that is not UTF-8 is one null.

mod delta;
mod footer;
mod pages;
mod thrift;

use crate::{
    bytes::{Bytes, Stamp},
    columnar::{Columns, Described, Meaning, TOO_WIDE, declared},
    csv::header::all_different,
    limits::{self, MOST_ROWS, WIDEST},
    problem::Problem,
    threads,
};
use arrow_array::{ArrayRef, NullArray};
use arrow_schema::{DataType, Field, Fields, TimeUnit};
use equipoise_session::{
    quiet::quietly,
    source::{ColumnRead, ColumnType, Lost, Source, Visitor},
};
use footer::{Footer, Group, Refused};
use pages::{Column, Once, Pages, Unpackable};
use parquet::{
    arrow::{
        FieldLevels, ProjectionMask,
        arrow_reader::{ParquetRecordBatchReader, RowGroups},
        parquet_to_arrow_field_levels, parquet_to_arrow_schema,
    },
    basic::{LogicalType, Repetition, Type as Physical},
    column::page::PageIterator,
    errors::Result as ParquetResult,
    file::metadata::{FileMetaData, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData},
    schema::types::{SchemaDescPtr, SchemaDescriptor, Type, TypePtr},
};
use std::{
    cell::RefCell,
    iter,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Rows in a batch, at most.
const BATCH: usize = 8192;

/// How many bytes the cells of a batch may have that are stored once and stand in many rows.
const SHARED_BYTES: usize = 1 << 26;

/// The footer ends with its length and this word.
const MAGIC: &[u8; 4] = b"PAR1";

/// A Parquet file whose schema has been read.
pub(crate) struct Parquet {
    bytes: Arc<Bytes>,
    stamp: Stamp,
    described: Described,
    /// What the columns are as arrays, with bytes for texts.
    fields: Fields,
    /// What the `parquet` crate is told of the file: its schema, with bytes for texts.
    metadata: ParquetMetaData,
    groups: Vec<Group>,
    /// Of all groups, if it is not zero.
    rows: u64,
}

impl Parquet {
    /// Open a file and read its schema.
    pub fn open(path: &Path) -> Result<Self, Problem> {
        Self::new(Bytes::open(path)?)
    }

    fn new(bytes: Bytes) -> Result<Self, Problem> {
        let stamp = bytes.stamp().map_err(|error| Problem::of(error.kind()))?;
        // A footer that breaks its reader is a broken footer.
        let read = quietly(|| Ok(Self::read(bytes, stamp))).map_err(|_| Problem::NotParquet)??;
        all_different(&read.described.columns)?;
        Ok(read)
    }

    fn read(bytes: Bytes, stamp: Stamp) -> Result<Self, Problem> {
        let footer = footer(&bytes, stamp.length()).map_err(|refused| match refused {
            Refused::Broken => Problem::NotParquet,
            Refused::Deep => Problem::TooDeep,
            Refused::Large => Problem::TooManyColumns,
        })?;
        // How columns are packed is a setting of whoever wrote the file and depends on no row, so it is told before a charge.
        for chunk in footer.groups.iter().flat_map(|group| &group.chunks) {
            pages::codec(chunk.codec).map_err(|unpackable| match unpackable {
                Unpackable::Known(codec) => Problem::Codec(codec),
                Unpackable::Unknown => Problem::NotParquet,
            })?;
        }
        let schema = schema(&footer.schema).map_err(|_| Problem::NotParquet)?;
        let (types, leaves) = (schema.root_schema().get_fields(), schema.num_columns());
        let arrays = parquet_to_arrow_schema(&schema, None).map_err(|_| Problem::NotParquet)?;
        let fields: Vec<Field> =
            arrays.fields().iter().zip(types).map(|(field, kind)| wide(field, kind)).collect();
        if fields.len() != types.len() || footer.groups.iter().any(|group| group.chunks.len() != leaves) {
            return Err(Problem::NotParquet);
        }
        Ok(Self {
            described: Described {
                columns: fields.iter().map(|field| field.name().clone()).collect(),
                meanings: fields.iter().zip(types).map(|(field, kind)| meaning(field, kind)).collect(),
            },
            metadata: ParquetMetaData::new(FileMetaData::new(1, 0, None, None, schema, None), Vec::new()),
            fields: fields.into(),
            groups: footer.groups,
            rows: footer.rows,
            bytes: Arc::new(bytes),
            stamp,
        })
    }

    fn schema(&self) -> &SchemaDescriptor {
        self.metadata.file_metadata().schema_descr()
    }

    /// How columns are read: texts by the codes of the file's own dictionaries where there are any.
    fn levels(&self, columns: &[usize], wanted: &[ColumnRead]) -> ParquetResult<FieldLevels> {
        let field = |(place, field): (usize, &Arc<Field>)| {
            let text = ColumnRead { column: place, kind: ColumnType::Text };
            match field.data_type() {
                DataType::Binary if wanted.contains(&text) => {
                    let coded = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Binary));
                    Arc::new(Field::clone(field).with_data_type(coded))
                }
                _ => field.clone(),
            }
        };
        let fields: Fields = self.fields.iter().enumerate().map(field).collect();
        let mask = ProjectionMask::roots(self.schema(), columns.iter().copied());
        parquet_to_arrow_field_levels(self.schema(), mask, Some(&fields))
    }

    /// The leaf of the schema that a readable column is, and what the schema says of it.
    fn leaf(&self, column: usize) -> Option<(usize, Column)> {
        let schema = self.schema();
        let leaf = (0..schema.num_columns()).find(|&leaf| schema.get_column_root_idx(leaf) == column)?;
        let descriptor = schema.column(leaf);
        let width = match descriptor.physical_type() {
            Physical::FIXED_LEN_BYTE_ARRAY => usize::try_from(descriptor.type_length()).ok()?,
            _ => 0,
        };
        let (physical, optional) = (descriptor.physical_type(), descriptor.max_def_level() > 0);
        Some((leaf, Column { physical, width, optional }))
    }
}

/// The footer of a file of so many bytes.
fn footer(bytes: &Bytes, file_length: u64) -> Result<Footer, Refused> {
    let mut tail = [0; 8];
    let tail_at = file_length.checked_sub(tail.len() as u64).ok_or(Refused::Broken)?;
    bytes.fill_at(&mut tail, tail_at).map_err(|_| Refused::Broken)?;
    let (length, magic) = tail.split_at(4);
    let length = u32::from_le_bytes(length.try_into().map_err(|_| Refused::Broken)?);
    // The file begins with the same word.
    let at = tail_at.checked_sub(u64::from(length)).filter(|&at| at >= MAGIC.len() as u64);
    let at = at.filter(|_| magic == MAGIC).ok_or(Refused::Broken)?;
    let length = usize::try_from(length).map_err(|_| Refused::Broken)?;
    let mut footer = limits::reserved(length).map_err(|_| Refused::Large)?;
    footer.resize(length, 0);
    bytes.fill_at(&mut footer, at).map_err(|_| Refused::Broken)?;
    Footer::read(&footer, file_length)
}

/// A schema that was walked before, with bytes for texts.
fn schema(walked: &[u8]) -> ParquetResult<SchemaDescPtr> {
    let schema = ParquetMetaDataReader::decode_schema(walked)?;
    Ok(Arc::new(SchemaDescriptor::new(Arc::new(without_text(schema.root_schema())?))))
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
    let Type::PrimitiveType { physical_type, type_length, .. } = kind else {
        return declared(field.data_type());
    };
    let width = usize::try_from(*type_length).unwrap_or(0);
    match (physical_type, field.data_type()) {
        (Physical::BYTE_ARRAY, _) if is_decimal(kind) => Meaning::Unreadable("decimals of varying length"),
        (Physical::FIXED_LEN_BYTE_ARRAY, DataType::Decimal128(..)) if width > 16 => TOO_WIDE,
        (Physical::FIXED_LEN_BYTE_ARRAY, DataType::Decimal256(..)) if width > 32 => TOO_WIDE,
        (Physical::FIXED_LEN_BYTE_ARRAY, _) if !(1..=WIDEST).contains(&width) => TOO_WIDE,
        (_, data_type) => declared(data_type),
    }
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

impl Source for Parquet {
    fn columns(&self) -> &[String] {
        &self.described.columns
    }

    fn declared(&self, column: usize) -> Option<ColumnType> {
        self.described.kind(column)
    }

    fn is_only_text(&self, column: usize) -> bool {
        self.described.is_only_text(column)
    }

    fn texts_are_wholes(&self, column: usize) -> bool {
        self.described.texts_are_wholes(column)
    }

    fn unreadable(&self, column: usize) -> Option<String> {
        self.described.unreadable(column)
    }

    /// The answer is lost if a page cannot be read, if the file changes, or if a visitor panics.
    fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        self.unchanged()?;
        let rows = self.groups.iter().try_fold(0u64, |rows, group| rows.checked_add(group.rows));
        let counted = rows == Some(self.rows) || self.rows == 0;
        if !counted || self.groups.iter().any(|group| group.rows > MOST_ROWS) {
            return Err(Lost);
        }
        let reading = Reading::new(self, wanted)?;
        let claimed = AtomicUsize::new(0);
        threads::each(visitors, |visitor| {
            let mut columns = Columns::new(wanted, &reading.order);
            while let Some(group) = self.groups.get(claimed.fetch_add(1, Ordering::Relaxed)) {
                reading.group(group, &mut columns, visitor)?;
            }
            Ok(())
        })?;
        self.unchanged()
    }
}

impl Parquet {
    /// Whether the file is still the one whose footer was read.
    fn unchanged(&self) -> Result<(), Lost> {
        let now = self.bytes.stamp().map_err(|_| Lost)?;
        if now == self.stamp { Ok(()) } else { Err(Lost) }
    }
}

/// One scan.
struct Reading<'a> {
    file: &'a Parquet,
    levels: FieldLevels,
    /// The columns that are read, by their leaves.
    leaves: Vec<(usize, Column)>,
    /// The columns of arrays: those that are read in the order of the schema, and then those that cannot be and are null.
    order: Vec<usize>,
}

impl<'a> Reading<'a> {
    fn new(file: &'a Parquet, wanted: &[ColumnRead]) -> Result<Self, Lost> {
        let mut order: Vec<usize> = wanted.iter().map(|wanted| wanted.column).collect();
        order.sort_unstable();
        order.dedup();
        let unreadable = |column: &usize| file.described.meanings[*column].unreadable().is_some();
        order.sort_by_key(unreadable);
        let read: Vec<usize> = order.iter().copied().filter(|column| !unreadable(column)).collect();
        let leaves = read.iter().map(|&column| file.leaf(column).ok_or(Lost)).collect::<Result<_, _>>()?;
        let levels = file.levels(&read, wanted).map_err(|_| Lost)?;
        Ok(Self { file, levels, leaves, order })
    }

    /// Hand over the rows of a group, which must be as many as the footer says.
    fn group(&self, group: &Group, columns: &mut Columns<'_>, visitor: &mut dyn Visitor) -> Result<(), Lost> {
        let mut rows = 0;
        let mut visit = |count: usize, mut arrays: Vec<ArrayRef>| {
            let null = |_| Arc::new(NullArray::new(count)) as ArrayRef;
            arrays.extend((self.leaves.len()..self.order.len()).map(null));
            columns.visit(count, &arrays, visitor);
            rows += count as u64;
        };
        if self.leaves.is_empty() {
            limits::parts(group.rows).for_each(|count| visit(count, Vec::new()));
        } else {
            let (pages, batch) = self.pages(group)?;
            let batches =
                ParquetRecordBatchReader::try_new_with_row_groups(&self.levels, &pages, batch, None);
            for read in batches.map_err(|_| Lost)? {
                let read = read.map_err(|_| Lost)?;
                visit(read.num_rows(), read.columns().to_vec());
            }
        }
        if rows == group.rows { Ok(()) } else { Err(Lost) }
    }

    /// The pages of a group, and how many rows of it can be read at once.
    fn pages(&self, group: &Group) -> Result<(Opened<'a>, usize), Lost> {
        let mut opened = Vec::with_capacity(self.leaves.len());
        let mut longest = 1;
        for &(leaf, column) in &self.leaves {
            let chunk = *group.chunks.get(leaf).ok_or(Lost)?;
            let pages = Pages::new(self.file.bytes.clone(), chunk, column, group.rows)?;
            longest = longest.max(pages.longest_shared());
            opened.push((leaf, pages));
        }
        let rows = usize::try_from(group.rows).map_err(|_| Lost)?;
        let batch = (SHARED_BYTES / longest).clamp(1, BATCH);
        Ok((Opened { metadata: &self.file.metadata, rows, pages: RefCell::new(opened) }, batch))
    }
}

/// The pages of one row group, as the `parquet` crate asks for them: each column once.
struct Opened<'a> {
    metadata: &'a ParquetMetaData,
    rows: usize,
    pages: RefCell<Vec<(usize, Pages)>>,
}

impl RowGroups for Opened<'_> {
    fn num_rows(&self) -> usize {
        self.rows
    }

    fn column_chunks(&self, leaf: usize) -> ParquetResult<Box<dyn PageIterator>> {
        let mut pages = self.pages.borrow_mut();
        let place = pages.iter().position(|pages| pages.0 == leaf).ok_or_else(|| pages::lost(Lost))?;
        Ok(Box::new(Once::new(pages.swap_remove(place).1)))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(iter::empty())
    }

    fn metadata(&self) -> &ParquetMetaData {
        self.metadata
    }
}
