//! Columns of Python's as a source of rows: borrowed where they lie in memory as floats, else read once.
//!
//! Which types a column may have is decided before anything is charged and depends on its type alone, except for
//! lists, which have no type but that of their elements.

use crate::errors;
use arrow_array::{Array, ArrayRef, Float64Array, LargeStringArray, cast::AsArray, types};
use arrow_cast::cast;
use arrow_schema::DataType;
use equipoise_engine::{OpenOptions, csv::Header, memory};
use equipoise_session::source::{Batch, Cells, Kind, Lost, Source, Visitor, Wanted};
use numpy::{PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::{
    prelude::*,
    types::{PyList, PyTuple},
};
use pyo3_arrow::input::{AnyArray, AnyRecordBatch};
use std::{
    borrow::Cow,
    path::{Path, PathBuf},
    thread,
};

/// Files of rows: a path, a pattern or a folder, of which only headers and schemas have been read. They are opened again
/// for each question.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct File {
    path: PathBuf,
    options: OpenOptions,
    columns: Vec<String>,
    kinds: Vec<Option<Kind>>,
}

#[pymethods]
impl File {
    #[new]
    #[pyo3(signature = (path, delimiter=None, header=true))]
    fn new(py: Python<'_>, path: PathBuf, delimiter: Option<char>, header: bool) -> PyResult<Self> {
        let options = OpenOptions { delimiter, header: (!header).then_some(Header::Numbered) };
        let (columns, kinds) = py.detach(|| {
            let source = open(&path, &options)?;
            let columns = source.columns().to_vec();
            let kinds = (0..columns.len()).map(|column| source.declared(column)).collect();
            Ok::<_, PyErr>((columns, kinds))
        })?;
        Ok(Self { path, options, columns, kinds })
    }

    /// The names of its columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.columns.clone()
    }

    /// What its schema says of each column.
    #[getter]
    fn kinds(&self) -> Vec<Option<String>> {
        self.kinds.iter().map(|kind| kind.map(|kind| kind.to_string())).collect()
    }
}

impl File {
    /// Where it is: a file, a pattern or a folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The rows, which are not read yet.
    pub fn open(&self) -> PyResult<Box<dyn Source>> {
        open(&self.path, &self.options)
    }
}

fn open(path: &Path, options: &OpenOptions) -> PyResult<Box<dyn Source>> {
    equipoise_engine::open(&[path], options).map_err(errors::request)
}

fn chunks(column: &Bound<'_, PyAny>) -> PyResult<Vec<ArrayRef>> {
    // What an array that cannot be taken over says of itself may quote it.
    let taken = column.extract::<AnyArray>().and_then(|array| Ok(array.into_chunked_array()?));
    let array =
        taken.map_err(|_| errors::data("the column is of a type that cannot be read; give another"))?;
    Ok(array.into_inner().0)
}

/// A column of an Arrow table whose maker has no type of its own for it.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct Arrow {
    chunks: Vec<ArrayRef>,
}

#[pymethods]
impl Arrow {
    /// Take over a column that speaks Arrow.
    #[new]
    fn new(column: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { chunks: chunks(column)? })
    }

    /// What it holds by its type; nothing where that is only numbers or texts.
    #[getter]
    fn kind(&self) -> Option<String> {
        let kind = match self.chunks.first()?.data_type() {
            DataType::Boolean => Kind::Boolean,
            DataType::Date32 | DataType::Date64 => Kind::Date,
            DataType::Timestamp(..) => Kind::Timestamp,
            found if found.is_signed_integer() => Kind::Integer,
            _ => return None,
        };
        Some(kind.to_string())
    }

    fn __len__(&self) -> usize {
        self.chunks.iter().map(Array::len).sum()
    }

    /// The names and columns of a table that speaks Arrow; nothing for a single column.
    #[staticmethod]
    fn table(data: &Bound<'_, PyAny>) -> PyResult<Option<NamedColumns>> {
        let Ok(table) = data.extract::<AnyRecordBatch>() else { return Ok(None) };
        let (batches, schema) = table.into_table()?.into_inner();
        let column = |place: usize| Arrow {
            chunks: batches.iter().map(|batch| batch.column(place).clone()).collect(),
        };
        let names = schema.fields().iter().map(|field| field.name().clone()).collect();
        let rows = batches.iter().map(arrow_array::RecordBatch::num_rows).sum();
        Ok(Some((names, (0..schema.fields().len()).map(column).collect(), rows)))
    }
}

/// The names of columns, the columns, and how many rows they have.
type NamedColumns = (Vec<String>, Vec<Arrow>, usize);

/// A column held while a question reads it.
pub enum Held<'py> {
    /// Memory of numpy's, borrowed.
    Numpy(PyReadonlyArray1<'py, f64>),
    Floats(Vec<f64>),
    Arrow(Float64Array),
    Integers(Vec<Option<i64>>),
    Texts(LargeStringArray),
}

impl<'py> Held<'py> {
    /// Take hold of a column: a numpy array of floats, an Arrow array of any maker, or a list.
    pub fn new(column: &Bound<'py, PyAny>, kind: Kind) -> PyResult<Self> {
        if kind == Kind::Float
            && is_numpy(column)
            && let Ok(array) = column.extract::<PyReadonlyArray1<'py, f64>>()
            && array.as_slice().is_ok()
        {
            return Ok(Self::Numpy(array));
        }
        if kind.is_whole()
            && is_numpy(column)
            && let Ok(array) = column.extract::<PyReadonlyArray1<'py, i64>>()
        {
            return Ok(Self::Integers(array.as_array().iter().map(|&whole| Some(whole)).collect()));
        }
        if column.is_instance_of::<PyList>() || column.is_instance_of::<PyTuple>() {
            return Self::of_list(column, kind);
        }
        if let Ok(kept) = column.cast::<Arrow>() {
            return Self::of_arrow(&kept.get().chunks, kind);
        }
        Self::of_arrow(&chunks(column)?, kind)
    }

    fn of_list(list: &Bound<'py, PyAny>, kind: Kind) -> PyResult<Self> {
        Ok(match kind {
            Kind::Float => {
                let numbers: Vec<Option<f64>> = list.extract()?;
                Self::Floats(numbers.into_iter().map(|number| number.unwrap_or(f64::NAN)).collect())
            }
            Kind::Text => Self::Texts(list.extract::<Vec<Option<String>>>()?.into()),
            _ => Self::Integers(list.extract()?),
        })
    }

    fn of_arrow(chunks: &[ArrayRef], kind: Kind) -> PyResult<Self> {
        let whole = match chunks {
            [one] => one.clone(),
            several => {
                let several: Vec<&dyn Array> = several.iter().map(AsRef::as_ref).collect();
                if several.is_empty() {
                    return Ok(Self::empty(kind));
                }
                arrow_select::concat::concat(&several)
                    .map_err(|_| errors::data("the parts of the column differ in type; give another"))?
            }
        };
        let found = whole.data_type();
        if kind.is_whole() && matches!(found, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) {
            let texts = cast(&whole, &DataType::LargeUtf8).map_err(errors::data)?;
            let read = texts.as_string::<i64>().iter().map(|text| kind.read(text?)).collect();
            return Ok(Self::Integers(read));
        }
        let fits = match kind {
            Kind::Float | Kind::Integer | Kind::Decimal { .. } | Kind::Boolean => is_number(found),
            Kind::Date | Kind::Timestamp => is_temporal(found),
            Kind::Text => memory::unreadable(found).is_none(),
        };
        if !fits && *found != DataType::Null {
            return Err(errors::data(format!(
                "the column holds {found}, not {}; give another column",
                word(kind)
            )));
        }
        // Numbers of all types are floats; a cell that is none of the kind is null: no value makes a column fail.
        Ok(match kind {
            Kind::Float => {
                let array = cast(&whole, &DataType::Float64)
                    .map_err(|_| errors::data("the column cannot be read as numbers; give another"))?;
                Self::Arrow(array.as_primitive::<types::Float64Type>().clone())
            }
            Kind::Text => Self::Texts(memory::texts(&whole).into()),
            kind => Self::Integers(memory::wholes(&whole, kind)),
        })
    }

    fn empty(kind: Kind) -> Self {
        match kind {
            Kind::Float => Self::Floats(Vec::new()),
            Kind::Text => Self::Texts(Vec::<Option<String>>::new().into()),
            _ => Self::Integers(Vec::new()),
        }
    }

    /// The column without the interpreter.
    pub fn column(&self) -> PyResult<Column<'_>> {
        Ok(match self {
            Self::Numpy(array) => Column::Floats(Cow::Borrowed(array.as_slice()?)),
            Self::Floats(numbers) => Column::Floats(Cow::Borrowed(numbers)),
            Self::Arrow(array) if array.null_count() == 0 => Column::Floats(Cow::Borrowed(array.values())),
            Self::Arrow(array) => {
                Column::Floats(array.iter().map(|number| number.unwrap_or(f64::NAN)).collect())
            }
            Self::Integers(integers) => Column::Integers(integers),
            Self::Texts(texts) => Column::Texts(texts),
        })
    }
}

/// Something of numpy's? Only then may its arrays be asked for: where numpy is not installed, that ends in a panic.
pub fn is_numpy(value: &Bound<'_, PyAny>) -> bool {
    let module = value.get_type().module();
    module.is_ok_and(|name| name.to_str().is_ok_and(|name| name == "numpy" || name.starts_with("numpy.")))
}

/// A type of numbers, or of what counts as one.
fn is_number(found: &DataType) -> bool {
    match found {
        DataType::Boolean => true,
        DataType::Dictionary(_, values) => is_number(values),
        other => other.is_numeric(),
    }
}

fn is_temporal(found: &DataType) -> bool {
    match found {
        DataType::Dictionary(_, values) => is_temporal(values),
        other => matches!(other, DataType::Date32 | DataType::Date64 | DataType::Timestamp(..)),
    }
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Date | Kind::Timestamp => "dates",
        Kind::Text => "texts",
        _ => "numbers",
    }
}

/// A column in memory.
pub enum Column<'a> {
    Floats(Cow<'a, [f64]>),
    Integers(&'a [Option<i64>]),
    Texts(&'a LargeStringArray),
}

impl Column<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Floats(numbers) => numbers.len(),
            Self::Integers(integers) => integers.len(),
            Self::Texts(texts) => texts.len(),
        }
    }
}

/// The columns that a plan wants, as a source of rows.
pub struct Memory<'a> {
    names: Vec<String>,
    rows: usize,
    columns: Vec<(Wanted, Column<'a>)>,
}

impl<'a> Memory<'a> {
    /// Columns of the same length, in the order of what is wanted.
    pub fn new(names: Vec<String>, rows: usize, columns: Vec<(Wanted, Column<'a>)>) -> PyResult<Self> {
        if columns.iter().any(|(_, column)| column.len() != rows) {
            return Err(errors::data("the columns differ in length; give columns of one table"));
        }
        Ok(Self { names, rows, columns })
    }

    fn find(&self, wanted: Wanted) -> Option<&Column<'a>> {
        self.columns.iter().find(|(has, _)| *has == wanted).map(|(_, column)| column)
    }

    fn visit(
        &self,
        wanted: &[Wanted],
        part: std::ops::Range<usize>,
        visitor: &mut dyn Visitor,
    ) -> Result<(), Lost> {
        let columns: Vec<&Column> =
            wanted.iter().map(|&wanted| self.find(wanted).ok_or(Lost)).collect::<Result<_, _>>()?;
        let mut start = part.start;
        while start < part.end {
            let rows = start..part.end.min(start + BATCH);
            let texts: Vec<Vec<Option<&str>>> = columns.iter().map(|column| texts(column, &rows)).collect();
            let cells: Vec<Cells> = columns
                .iter()
                .zip(&texts)
                .map(|(column, texts)| match column {
                    Column::Floats(numbers) => Cells::Floats(&numbers[rows.clone()]),
                    Column::Integers(integers) => Cells::Integers(&integers[rows.clone()]),
                    Column::Texts(_) => Cells::Texts(texts),
                })
                .collect();
            visitor.batch(Batch { rows: rows.len(), cells: &cells });
            start = rows.end;
        }
        Ok(())
    }
}

/// Rows handed over at once.
const BATCH: usize = 8192;

fn texts<'a>(column: &Column<'a>, rows: &std::ops::Range<usize>) -> Vec<Option<&'a str>> {
    match column {
        Column::Texts(texts) => {
            let text = |row| (!texts.is_null(row)).then(|| texts.value(row));
            rows.clone().map(text).collect()
        }
        Column::Floats(_) | Column::Integers(_) => Vec::new(),
    }
}

impl Source for Memory<'_> {
    fn columns(&self) -> &[String] {
        &self.names
    }

    fn scan(&self, wanted: &[Wanted], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        let share = self.rows.div_ceil(visitors.len().max(1)).max(BATCH);
        thread::scope(|scope| {
            let mut running = Vec::new();
            for (place, visitor) in visitors.iter_mut().enumerate() {
                let part = (place * share).min(self.rows)..((place + 1) * share).min(self.rows);
                if !part.is_empty() {
                    running.push(scope.spawn(move || self.visit(wanted, part, &mut **visitor)));
                }
            }
            running.into_iter().try_for_each(|worker| worker.join().map_err(|_| Lost)?)
        })
    }

    fn declared(&self, column: usize) -> Option<Kind> {
        let typed = |(has, _): &&(Wanted, Column)| has.column == column && has.kind != Kind::Text;
        self.columns.iter().find(typed).map(|(has, _)| has.kind)
    }

    fn resident(&self, wanted: Wanted) -> Option<&[f64]> {
        match self.find(wanted) {
            Some(Column::Floats(numbers)) => Some(numbers),
            _ => None,
        }
    }
}

/// A text as the whole number that a value of a type has inside, by the rules of files; nothing if it is none.
#[pyfunction]
pub fn read(text: &str, kind: &str) -> Option<i64> {
    Kind::named(kind)?.read(text)
}

/// One column of floats, held for something other than a question.
pub fn floats<'py>(column: &Bound<'py, PyAny>) -> PyResult<Held<'py>> {
    if is_numpy(column)
        && let Ok(array) = column.cast::<PyUntypedArray>()
        && array.ndim() != 1
    {
        return Err(errors::data("the array has more than one dimension; give one column"));
    }
    Held::new(column, Kind::Float)
}
