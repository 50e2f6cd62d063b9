//! Tables for DataFusion, read by our own engine: every cell is total, types come from the public schema, and nothing is said of how many
//! rows there are.
//!
//! The unit of a private table is a text in the one canonical form of ids, whatever its type: two units are equal where their texts are, in
//! joins as in the session's bounding. Records without one are nobody's and are never handed over.

use arrow::{
    array::{
        ArrayRef, BooleanBuilder, Date32Builder, Decimal128Builder, Float64Builder, Int64Builder,
        RecordBatch, RecordBatchOptions, StringBuilder, TimestampMicrosecondBuilder,
    },
    datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit},
};
use async_trait::async_trait;
use datafusion::{
    catalog::Session,
    common::DataFusionError,
    datasource::{TableProvider, TableType},
    error::Result as Fallible,
    execution::TaskContext,
    logical_expr::Expr,
    physical_plan::{
        ExecutionPlan, SendableRecordBatchStream,
        stream::RecordBatchReceiverStreamBuilder,
        streaming::{PartitionStream, StreamingTableExec},
    },
};
use equipoise_session::source::{Batch, Cells, ColumnRead, ColumnType, Lost, Visitor};
use std::{
    collections::BTreeSet,
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};
use tokio::sync::mpsc::{Sender, error::TrySendError};

/// Reads the rows of a table, as often as it is asked to.
pub(crate) trait Reader: Send + Sync {
    /// Hand every row to the visitors, as [`equipoise_session::source::Source::scan`] does.
    fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost>;
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    /// What it is called.
    pub name: String,
    /// Its place among those of the source.
    pub place: usize,
    /// How its cells are read.
    pub kind: ColumnType,
}

/// A table with its public schema.
pub(crate) struct Table {
    columns: Arc<Vec<Column>>,
    schema: SchemaRef,
    unit: Option<usize>,
    reader: Arc<dyn Reader>,
    /// The columns that plans scan, by their places here, and how many scans there are.
    planned: Mutex<(BTreeSet<usize>, usize)>,
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("columns", &self.columns)
            .field("unit", &self.unit)
            .finish_non_exhaustive()
    }
}

impl Table {
    /// A table with these columns, whose unit, where it is private, is at this place among them.
    pub fn new(mut columns: Vec<Column>, unit: Option<usize>, reader: Arc<dyn Reader>) -> Self {
        if let Some(unit) = unit {
            columns[unit].kind = ColumnType::Text;
        }
        let field = |column: &Column| Field::new(&column.name, arrow_type(column.kind), true);
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        Self { columns: Arc::new(columns), schema, unit, reader, planned: Mutex::default() }
    }

    /// All that scans of the plans so far want of the source, and how many scans those are.
    pub fn planned(&self) -> (Vec<ColumnRead>, usize) {
        let (columns, scans) = &*self.planned.lock().unwrap_or_else(PoisonError::into_inner);
        let read = |place: &usize| {
            let column = &self.columns[*place];
            ColumnRead { column: column.place, kind: column.kind }
        };
        (columns.iter().map(read).collect(), *scans)
    }

    /// Is there a column of this name?
    pub fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column.name == name)
    }

    /// The column that holds the unit, where the table is private.
    pub fn unit(&self) -> Option<usize> {
        self.unit
    }
}

/// The type that cells of a kind have.
pub(crate) fn arrow_type(kind: ColumnType) -> DataType {
    match kind {
        ColumnType::Float => DataType::Float64,
        ColumnType::Integer => DataType::Int64,
        // 64 bits have 19 digits at most.
        ColumnType::Decimal { digits } => {
            DataType::Decimal128(19, i8::try_from(digits).unwrap_or(19).min(19))
        }
        ColumnType::Date => DataType::Date32,
        ColumnType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
        ColumnType::Boolean => DataType::Boolean,
        ColumnType::Text => DataType::Utf8,
    }
}

#[async_trait]
impl TableProvider for Table {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    // No statistics, no filters: what is known of a table beforehand is its schema.
    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Fallible<Arc<dyn ExecutionPlan>> {
        let chosen: Vec<usize> = match projection {
            Some(chosen) => chosen.clone(),
            None => (0..self.columns.len()).collect(),
        };
        let schema = Arc::new(self.schema.project(&chosen)?);
        let mut planned = self.planned.lock().unwrap_or_else(PoisonError::into_inner);
        // The unit is read also where nobody wants it.
        planned.0.extend(chosen.iter().copied().chain(self.unit));
        planned.1 += 1;
        drop(planned);
        let part = Part {
            schema: schema.clone(),
            columns: chosen.iter().map(|&column| self.columns[column].clone()).collect(),
            unit: self.unit.map(|unit| self.columns[unit].place),
            reader: self.reader.clone(),
        };
        Ok(Arc::new(StreamingTableExec::try_new(schema, vec![Arc::new(part)], None, [], false, None)?))
    }
}

/// A scan of some columns.
struct Part {
    schema: SchemaRef,
    columns: Vec<Column>,
    /// The place of the unit among the columns of the source.
    unit: Option<usize>,
    reader: Arc<dyn Reader>,
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part").field("columns", &self.columns).finish_non_exhaustive()
    }
}

/// Says that a plan has come to its end, well or not: what is still read is for nobody. Plans keep streams that nobody reads any more, so that a
/// reader would wait for ever.
#[derive(Debug, Default)]
pub(crate) struct Ended(AtomicBool);

impl Ended {
    /// From now on nobody reads, or somebody does again.
    pub fn set(&self, ended: bool) {
        self.0.store(ended, Ordering::Relaxed);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// So often a reader looks whether there is room, or nobody reads.
const LOOK: Duration = Duration::from_micros(500);

/// So many batches wait at most.
const WAITING: usize = 4;
/// So many rows a batch has at most, however many a file has in one: with [`LONGEST_TEXT`], no column of texts of a batch of the engine's, nor
/// what a function makes of one, is ever longer than 2 GiB, where one row more would take the values of all others away.
const ROWS: usize = 4096;
/// The longest text, in bytes; a longer one is null, and a record whose unit is longer is nobody's. One row that is joined to many public
/// ones stands in a batch often.
const LONGEST_TEXT: usize = 65_536;

impl PartitionStream for Part {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let ended = context.session_config().get_extension::<Ended>().unwrap_or_default();
        let mut stream = RecordBatchReceiverStreamBuilder::new(self.schema.clone(), WAITING);
        let to = stream.tx();
        let (schema, reader, unit) = (self.schema.clone(), self.reader.clone(), self.unit);
        let kinds: Vec<ColumnType> = self.columns.iter().map(|column| column.kind).collect();
        let mut wanted: Vec<ColumnRead> = self
            .columns
            .iter()
            .map(|column| ColumnRead { column: column.place, kind: column.kind })
            .collect();
        // The unit is read also where nobody wants it: records without one are left out.
        wanted.extend(unit.map(|column| ColumnRead { column, kind: ColumnType::Text }));
        let is_unit: Vec<bool> = self.columns.iter().map(|column| Some(column.place) == unit).collect();
        stream.spawn_blocking(move || {
            let maker = |_| Maker {
                schema: schema.clone(),
                kinds: kinds.clone(),
                is_unit: is_unit.clone(),
                has_unit: unit.is_some(),
                to: to.clone(),
                ended: ended.clone(),
                failed: false,
            };
            let threads = thread::available_parallelism().map_or(1, usize::from);
            let mut makers: Vec<Maker> = (0..threads).map(maker).collect();
            let mut visitors: Vec<&mut dyn Visitor> =
                makers.iter_mut().map(|maker| maker as &mut dyn Visitor).collect();
            let scanned = reader.scan(&wanted, &mut visitors);
            let failed = makers.iter().any(|maker| maker.failed);
            match scanned {
                Ok(()) if !failed => Ok(()),
                // One fixed line: what a disk says may depend on rows.
                _ => Err(DataFusionError::Execution("the data could not be read to the end".to_string())),
            }
        });
        stream.build()
    }
}

/// Makes batches of the cells that it is shown.
struct Maker {
    schema: SchemaRef,
    kinds: Vec<ColumnType>,
    is_unit: Vec<bool>,
    has_unit: bool,
    to: Sender<Fallible<RecordBatch>>,
    ended: Arc<Ended>,
    failed: bool,
}

impl Maker {
    /// Hand a batch over when there is room. Where nobody listens any more, the query has ended.
    fn hand(&self, batch: RecordBatch) {
        let mut next = Ok(batch);
        while let Err(TrySendError::Full(back)) = self.to.try_send(next) {
            if self.ended.is_set() {
                return;
            }
            next = back;
            thread::sleep(LOOK);
        }
    }
}

impl Visitor for Maker {
    fn batch(&mut self, batch: Batch<'_>) {
        let kept: Vec<usize> = match (self.has_unit, batch.cells.last()) {
            (true, Some(units)) => {
                (0..batch.rows).filter(|&row| text(units, row).and_then(canonical).is_some()).collect()
            }
            _ => (0..batch.rows).collect(),
        };
        for kept in kept.chunks(ROWS) {
            let cells = batch.cells.iter().zip(self.kinds.iter().zip(&self.is_unit));
            let arrays = cells.map(|(cells, (kind, is_unit))| array(cells, *kind, *is_unit, kept)).collect();
            let options = RecordBatchOptions::new().with_row_count(Some(kept.len()));
            match RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options) {
                Ok(batch) => self.hand(batch),
                Err(_) => self.failed = true,
            }
        }
    }
}

/// The canonical id, as the session has it, where it is not too long.
fn canonical(id: &str) -> Option<&str> {
    Some(id.trim_ascii()).filter(|id| !id.is_empty() && id.len() <= LONGEST_TEXT)
}

fn text<'a>(cells: &Cells<'a>, row: usize) -> Option<&'a str> {
    match cells {
        Cells::Texts(texts) => texts[row],
        Cells::Coded { texts, codes } => codes[row].map(|code| texts[code as usize]),
        Cells::Floats(_) | Cells::Integers(_) => None,
    }
}

fn whole(cells: &Cells<'_>, row: usize) -> Option<i64> {
    match cells {
        Cells::Integers(integers) => integers[row],
        _ => None,
    }
}

/// The kept rows of one column. What does not fit its type is null.
fn array(cells: &Cells<'_>, kind: ColumnType, is_unit: bool, kept: &[usize]) -> ArrayRef {
    let rows = kept.iter().copied();
    match kind {
        ColumnType::Text => {
            let mut built = StringBuilder::with_capacity(kept.len(), 8 * kept.len());
            let short = |text: &&str| text.len() <= LONGEST_TEXT;
            let cell = |row| {
                text(cells, row)
                    .and_then(|text| if is_unit { canonical(text) } else { Some(text).filter(short) })
            };
            rows.for_each(|row| built.append_option(cell(row)));
            Arc::new(built.finish())
        }
        ColumnType::Float => {
            let mut built = Float64Builder::with_capacity(kept.len());
            // One zero, so that nobody's sign tells two keys apart.
            let cell = |row: usize| match cells {
                Cells::Floats(floats) => Some(floats[row] + 0.0).filter(|float| !float.is_nan()),
                _ => None,
            };
            rows.for_each(|row| built.append_option(cell(row)));
            Arc::new(built.finish())
        }
        ColumnType::Integer => {
            let mut built = Int64Builder::with_capacity(kept.len());
            rows.for_each(|row| built.append_option(whole(cells, row)));
            Arc::new(built.finish())
        }
        ColumnType::Decimal { .. } => {
            let mut built = Decimal128Builder::with_capacity(kept.len()).with_data_type(arrow_type(kind));
            rows.for_each(|row| built.append_option(whole(cells, row).map(i128::from)));
            Arc::new(built.finish())
        }
        ColumnType::Date => {
            let mut built = Date32Builder::with_capacity(kept.len());
            rows.for_each(|row| {
                built.append_option(whole(cells, row).and_then(|day| i32::try_from(day).ok()));
            });
            Arc::new(built.finish())
        }
        ColumnType::Timestamp => {
            let mut built = TimestampMicrosecondBuilder::with_capacity(kept.len());
            rows.for_each(|row| built.append_option(whole(cells, row)));
            Arc::new(built.finish())
        }
        ColumnType::Boolean => {
            let mut built = BooleanBuilder::with_capacity(kept.len());
            rows.for_each(|row| built.append_option(whole(cells, row).map(|yes| yes != 0)));
            Arc::new(built.finish())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::{
        array::{Array as _, AsArray as _},
        datatypes::Float64Type,
    };

    #[test]
    fn units_are_canonical_and_zero_has_one_sign() {
        let texts = [Some(" 7\t"), Some("07"), None, Some("  ")];
        let units = array(&Cells::Texts(&texts), ColumnType::Text, true, &[0, 1]);
        assert_eq!(units.as_string::<i32>().iter().collect::<Vec<_>>(), [Some("7"), Some("07")]);
        let kept: Vec<bool> = texts.iter().map(|text| text.and_then(canonical).is_some()).collect();
        assert_eq!(kept, [true, true, false, false]);
        let floats = array(&Cells::Floats(&[-0.0, f64::NAN]), ColumnType::Float, false, &[0, 1]);
        assert_eq!(floats.as_primitive::<Float64Type>().value(0).to_bits(), 0);
        assert!(floats.is_null(1));
    }

    /// What one row can add to a batch is bounded, and so is how many there are in it.
    #[test]
    fn batches_are_short_and_so_are_texts() {
        let long = "x".repeat(LONGEST_TEXT + 1);
        let texts = [Some(&long[1..]), Some(long.as_str())];
        for is_unit in [true, false] {
            let built = array(&Cells::Texts(&texts), ColumnType::Text, is_unit, &[0, 1]);
            assert!(built.is_valid(0) && built.is_null(1));
        }
        let (to, mut made) = tokio::sync::mpsc::channel(8);
        let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, true)]));
        let kinds = vec![ColumnType::Integer];
        let ended = Arc::default();
        let is_unit = vec![false];
        let mut maker = Maker { schema, kinds, is_unit, has_unit: true, to, ended, failed: false };
        let rows = 2 * ROWS + 3;
        let wholes: Vec<Option<i64>> = (0..rows).map(|row| i64::try_from(row).ok()).collect();
        let units: Vec<Option<&str>> = (0..rows).map(|row| (row > 0).then_some(&long[..row % 2])).collect();
        maker.batch(Batch { rows, cells: &[Cells::Integers(&wholes), Cells::Texts(&units)] });
        maker.batch(Batch {
            rows: 1,
            cells: &[Cells::Integers(&wholes), Cells::Texts(&[Some(long.as_str())])],
        });
        drop(maker);
        let mut lengths = Vec::new();
        while let Some(batch) = made.blocking_recv() {
            lengths.push(batch.unwrap().num_rows());
        }
        assert_eq!(lengths, [ROWS, 1]);
    }

    #[test]
    fn what_does_not_fit_its_type_is_null() {
        let wholes = [Some(i64::MAX), Some(i64::MIN), Some(0), None];
        for kind in
            [ColumnType::Date, ColumnType::Timestamp, ColumnType::Boolean, ColumnType::Decimal { digits: 18 }]
        {
            let built = array(&Cells::Integers(&wholes), kind, false, &[0, 1, 2, 3]);
            assert_eq!(*built.data_type(), arrow_type(kind));
            assert!(built.is_null(3) && built.is_valid(2), "{kind:?}");
        }
        let days = array(&Cells::Integers(&wholes), ColumnType::Date, false, &[0, 1, 2]);
        assert!(days.is_null(0) && days.is_null(1));
    }
}
