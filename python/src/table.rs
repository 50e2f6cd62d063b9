//! Columns of Python's as a source of rows: borrowed where they lie in memory as floats, else read once.
//!
//! Which types a column may have is decided before anything is charged and depends on its type alone, except for
//! lists, which have no type but that of their elements.

use crate::{
    errors,
    numbers::{HeldNumbers, Numbers},
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, LargeStringArray, cast::AsArray, new_null_array, types,
};
use arrow_schema::DataType;
use arrow_select::nullif::nullif;
use equipoise_core::{stop, wording};
use equipoise_engine::{
    OpenOptions,
    csv::Header,
    memory::{self, Part, Parts},
};
use equipoise_session::{
    quiet::quietly,
    source::{Cells, ColumnRead, ColumnType, Lost, Source, Visitor},
};
use numpy::{PyArrayMethods, PyReadonlyArray1};
use pyo3::{exceptions::PyKeyboardInterrupt, prelude::*, types::PyList};
use pyo3_arrow::input::AnyArray;
use std::{
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

/// Files of rows: a path, a pattern or a folder, of which only headers and schemas have been read. They are opened again
/// for each question.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct File {
    path: PathBuf,
    options: OpenOptions,
    columns: Vec<String>,
    kinds: Vec<Option<ColumnType>>,
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

/// A column of Arrow's. What it is, is told by the type that its maker declares, never by its cells: there may be none.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct Arrow {
    data_type: DataType,
    /// Nothing where its maker failed to hand the cells over, as a query does that cannot be run to its end. That may depend
    /// on rows, so it comes to light after the charge.
    chunks: Option<Vec<ArrayRef>>,
}

#[pymethods]
impl Arrow {
    /// Take over a column that speaks Arrow.
    #[new]
    fn new(column: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (data_type, chunks) = taken(column)?;
        Ok(Self { data_type, chunks })
    }

    /// What it holds by its type.
    #[getter]
    fn kind(&self) -> Option<String> {
        memory::kind(&self.data_type).map(|kind| kind.to_string())
    }

    /// Can it be read as texts and as nothing else?
    #[getter]
    fn only_text(&self) -> bool {
        memory::is_only_text(&self.data_type)
    }

    /// What its cells are, in words, where they cannot be read.
    #[getter]
    fn unreadable(&self) -> Option<&'static str> {
        memory::unreadable(&self.data_type)
    }

    fn __len__(&self) -> usize {
        self.chunks.iter().flatten().map(Array::len).sum()
    }

    /// The columns of a table that speaks Arrow, their names, which a single column has none of, and how many rows there
    /// are. With `unread` only types and names are of use: the rows are taken as lost.
    #[staticmethod]
    #[pyo3(signature = (data, unread=false))]
    fn table(data: &Bound<'_, PyAny>, unread: bool) -> PyResult<(Vec<Self>, Option<Vec<String>>, usize)> {
        let (data_type, chunks) = taken(data)?;
        let chunks = chunks.filter(|_| !unread);
        let rows = chunks.iter().flatten().map(Array::len).sum();
        let DataType::Struct(fields) = &data_type else {
            return Ok((vec![Self { data_type, chunks }], None, rows));
        };
        let column = |place: usize| Self {
            data_type: fields[place].data_type().clone(),
            chunks: chunks.as_ref().map(|chunks| chunks.iter().map(|chunk| child(chunk, place)).collect()),
        };
        let names = fields.iter().map(|field| field.name().clone()).collect();
        Ok(((0..fields.len()).map(column).collect(), Some(names), rows))
    }
}

/// The declared type of something that speaks Arrow, and its chunks, none of which is looked at. What its maker says where
/// that fails may quote a cell, and is not passed on.
fn taken(data: &Bound<'_, PyAny>) -> PyResult<(DataType, Option<Vec<ArrayRef>>)> {
    let opened = quietly(|| {
        let array = data.extract::<AnyArray>().map_err(|_| Lost)?;
        let reader = array.into_reader().map_err(|_| Lost)?;
        Ok((reader.field().data_type().clone(), reader))
    });
    let Ok((data_type, reader)) = opened else {
        return Err(errors::data("the data is of a type that cannot be read; give another"));
    };
    let chunks = quietly(|| reader.collect::<Result<Vec<_>, _>>().map_err(|_| Lost));
    Ok((data_type, chunks.ok()))
}

/// A column of rows; in a row that is nothing as a whole, every cell is.
fn child(rows: &ArrayRef, place: usize) -> ArrayRef {
    let rows = rows.as_struct();
    let (column, nulls) = (rows.column(place), rows.nulls());
    match nulls {
        Some(nulls) if nulls.null_count() > 0 => {
            let absent = BooleanArray::new(!nulls.inner(), None);
            nullif(column, &absent).unwrap_or_else(|_| new_null_array(column.data_type(), column.len()))
        }
        _ => column.clone(),
    }
}

/// A column held while a question reads it.
pub enum Held<'py> {
    /// Memory of numpy's, borrowed.
    Numpy(PyReadonlyArray1<'py, f64>),
    /// The same where it holds other numbers, or some are missing.
    Numbers(HeldNumbers<'py>),
    /// Memory of Arrow's, without nulls.
    Arrow(Float64Array),
    /// Arrays of Arrow's, one behind the other, read as they are looked at.
    Arrays(Vec<ArrayRef>),
    Floats(Vec<f64>),
    Integers(Vec<Option<i64>>),
}

impl<'py> Held<'py> {
    /// Take hold of a column as the package prepares it: a numpy array of floats; a pair of numpy's numbers and of which are
    /// missing, with "date" or "timestamp" where they are days or moments; a list of what the kind wants; or [`Arrow`].
    /// Whether the type can be read as this kind was decided before. No cell makes it fail.
    pub fn new(column: &Bound<'py, PyAny>, kind: ColumnType) -> PyResult<Self> {
        if let Ok(kept) = column.cast::<Arrow>() {
            let chunks = kept.get().chunks.as_ref().ok_or_else(|| errors::unread(Lost))?;
            return Ok(Self::of_arrow(chunks, kind));
        }
        if let Ok((numbers, missing, what)) = column.extract::<NumpyCells>() {
            let held = HeldNumbers::new(&numbers, missing.as_ref(), &what)?;
            if kind == ColumnType::Float {
                let numbers = held.numbers()?;
                return Ok(Self::of_arrow(&[numbers.part(0..numbers.len())], kind));
            }
            return Ok(Self::Numbers(held));
        }
        if is_numpy(column) {
            return Ok(Self::Numpy(column.extract()?));
        }
        Ok(match kind {
            ColumnType::Float => {
                let numbers: Vec<Option<f64>> = column.extract()?;
                Self::Floats(numbers.into_iter().map(|number| number.unwrap_or(f64::NAN)).collect())
            }
            ColumnType::Text => {
                Self::Arrays(vec![Arc::new(LargeStringArray::from(column.extract::<Vec<Option<String>>>()?))])
            }
            _ => Self::Integers(column.extract()?),
        })
    }

    /// Chunk by chunk: chunks that are put together can fail, dictionaries with many values for one. Floats are put together, as
    /// they are read in several passes.
    fn of_arrow(chunks: &[ArrayRef], kind: ColumnType) -> Self {
        match (kind, chunks) {
            (ColumnType::Float, [one]) if is_plain(one) => {
                Self::Arrow(one.as_primitive::<types::Float64Type>().clone())
            }
            (ColumnType::Float, several) => Self::Floats(several.iter().flat_map(floats_of).collect()),
            (_, chunks) => Self::Arrays(chunks.to_vec()),
        }
    }

    /// The column without the interpreter.
    pub fn column(&self) -> PyResult<Column<'_>> {
        Ok(match self {
            Self::Numpy(array) => Column::Floats(array.as_slice()?),
            Self::Numbers(held) => Column::Numbers(held.numbers()?),
            Self::Arrow(array) => Column::Floats(array.values()),
            Self::Arrays(arrays) => Column::Arrays(Chunks::new(arrays)),
            Self::Floats(numbers) => Column::Floats(numbers),
            Self::Integers(integers) => Column::Integers(integers),
        })
    }
}

/// Numbers of numpy's, which of them are missing, and what they are where they are no plain numbers.
type NumpyCells<'py> = (Bound<'py, PyAny>, Option<Bound<'py, PyAny>>, String);

/// Floats that can be handed over as they lie?
fn is_plain(array: &ArrayRef) -> bool {
    *array.data_type() == DataType::Float64 && array.null_count() == 0
}

fn floats_of(array: &ArrayRef) -> Vec<f64> {
    if is_plain(array) {
        array.as_primitive::<types::Float64Type>().values().to_vec()
    } else {
        memory::floats(array)
    }
}

/// The columns that a plan wants, read after its charge, from something whose `read` gives them in this order. What fails then
/// is a lost answer, whatever it was: its words may quote a cell.
pub fn read_after_charge<'py>(
    reading: &Bound<'py, PyAny>,
    wanted: &[ColumnRead],
) -> PyResult<Vec<Held<'py>>> {
    held(reading, wanted).map_err(|error| {
        let interrupted = error.is_instance_of::<PyKeyboardInterrupt>(reading.py());
        if interrupted { error } else { errors::unread(Lost) }
    })
}

/// The same for rows that are public.
pub fn read_public<'py>(reading: &Bound<'py, PyAny>, wanted: &[ColumnRead]) -> PyResult<Vec<Held<'py>>> {
    held(reading, wanted).map_err(|_| errors::data("the data could not be read; give another"))
}

fn held<'py>(reading: &Bound<'py, PyAny>, wanted: &[ColumnRead]) -> PyResult<Vec<Held<'py>>> {
    let columns = reading.call_method0("read")?.cast_into::<PyList>()?;
    let held = quietly(|| {
        let each = wanted.iter().zip(columns.iter());
        Ok(each.map(|(wanted, column)| Held::new(&column, wanted.kind)).collect())
    });
    held.map_err(errors::unread)?
}

/// Something of numpy's? Only then may its arrays be asked for: where numpy is not installed, that ends in a panic.
pub fn is_numpy(value: &Bound<'_, PyAny>) -> bool {
    let module = value.get_type().module();
    module.is_ok_and(|name| name.to_str().is_ok_and(|name| name == "numpy" || name.starts_with("numpy.")))
}

/// Make now what arrays of numpy's are read with, where it is there. Not on import: numpy may come later, or never.
pub fn prepare(py: Python<'_>) -> PyResult<bool> {
    // Where another thread is importing it, the second import waits for that; nothing stands for a module that may not be imported.
    let known = py.import("sys")?.getattr("modules")?.contains("numpy")?;
    if !known || py.import("numpy").is_err() {
        return Ok(false);
    }
    let _ = numpy::PyArray1::<f64>::zeros(py, 1, false).readonly();
    let _ = numpy::PyArray1::<i64>::zeros(py, 1, false).readonly();
    let _ = numpy::PyArray1::<u64>::zeros(py, 1, false).readonly();
    let _ = numpy::PyArray1::<bool>::zeros(py, 1, false).readonly();
    Ok(true)
}

/// A column in memory.
pub enum Column<'a> {
    Floats(&'a [f64]),
    Integers(&'a [Option<i64>]),
    Numbers(Numbers<'a>),
    Arrays(Chunks<'a>),
}

/// Arrays of Arrow's, one behind the other, and where each ends.
pub struct Chunks<'a> {
    arrays: &'a [ArrayRef],
    ends: Vec<usize>,
}

impl<'a> Chunks<'a> {
    fn new(arrays: &'a [ArrayRef]) -> Self {
        let mut end = 0;
        let ends = arrays.iter().map(|array| {
            end += array.len();
            end
        });
        Self { arrays, ends: ends.collect() }
    }

    fn len(&self) -> usize {
        self.ends.last().copied().unwrap_or_default()
    }

    /// The place of the array that has this row.
    fn with(&self, row: usize) -> usize {
        self.ends.partition_point(|&end| end <= row)
    }

    fn part(&self, rows: &Range<usize>) -> ArrayRef {
        let place = self.with(rows.start);
        let array = &self.arrays[place];
        array.slice(rows.start + array.len() - self.ends[place], rows.len())
    }
}

impl<'a> Column<'a> {
    fn len(&self) -> usize {
        match self {
            Self::Floats(numbers) => numbers.len(),
            Self::Integers(integers) => integers.len(),
            Self::Numbers(numbers) => numbers.len(),
            Self::Arrays(chunks) => chunks.len(),
        }
    }

    /// Are its texts whole numbers?
    fn texts_are_wholes(&self) -> bool {
        match self {
            Self::Numbers(numbers) => memory::texts_are_wholes(&numbers.data_type()),
            Self::Arrays(Chunks { arrays, .. }) => {
                !arrays.is_empty() && arrays.iter().all(|array| memory::texts_are_wholes(array.data_type()))
            }
            Self::Floats(_) | Self::Integers(_) => false,
        }
    }

    /// Up to which row a part can reach that begins at this one.
    fn reaches(&self, start: usize) -> usize {
        match self {
            Self::Arrays(chunks) => chunks.ends.get(chunks.with(start)).copied().unwrap_or(start),
            _ => self.len(),
        }
    }

    /// Some of its cells, no more than [`reaches`](Self::reaches) says.
    fn part(&self, rows: &Range<usize>) -> Part<'a> {
        match self {
            Self::Floats(numbers) => Part::Cells(Cells::Floats(&numbers[rows.clone()])),
            Self::Integers(integers) => Part::Cells(Cells::Integers(&integers[rows.clone()])),
            Self::Numbers(numbers) => Part::Array(numbers.part(rows.clone())),
            Self::Arrays(chunks) => Part::Array(chunks.part(rows)),
        }
    }

    /// Its cells, as what a list of this kind holds. A cell that breaks its reader is not quoted.
    fn listed(&self, kind: ColumnType) -> Result<Listed<'_>, Lost> {
        let arrays: Vec<ArrayRef> = match self {
            Self::Floats(floats) => return Ok(Listed::Floats(floats)),
            Self::Integers(integers) => return Ok(Listed::Integers(integers.to_vec())),
            Self::Numbers(numbers) => vec![numbers.part(0..numbers.len())],
            Self::Arrays(chunks) => chunks.arrays.to_vec(),
        };
        quietly(|| {
            Ok(match kind {
                ColumnType::Text => {
                    Listed::Texts(arrays.iter().flat_map(|array| memory::texts(array)).collect())
                }
                kind => {
                    Listed::Integers(arrays.iter().flat_map(|array| memory::wholes(array, kind)).collect())
                }
            })
        })
    }
}

/// The cells of a column, for a list.
enum Listed<'a> {
    Floats(&'a [f64]),
    Integers(Vec<Option<i64>>),
    Texts(Vec<Option<String>>),
}

/// The columns that a plan wants, as a source of rows.
pub struct Memory<'a> {
    names: Vec<String>,
    wanted: Vec<ColumnRead>,
    rows: usize,
    /// In the order of what is wanted; nothing where they were not read.
    columns: Option<Vec<Column<'a>>>,
}

impl<'a> Memory<'a> {
    /// Names and types alone: whoever asks for rows gets none, and the answer is lost.
    pub fn unread(names: Vec<String>, wanted: Vec<ColumnRead>) -> Self {
        Self { names, wanted, rows: 0, columns: None }
    }

    /// Columns of the same length, in the order of what is wanted.
    pub fn new(
        names: Vec<String>,
        wanted: Vec<ColumnRead>,
        rows: usize,
        held: &'a [Held<'_>],
    ) -> Result<Self, Lost> {
        let columns: Option<Vec<Column>> = held.iter().map(|held| held.column().ok()).collect();
        let fitting = |columns: &Vec<Column>| {
            columns.len() == wanted.len() && columns.iter().all(|column| column.len() == rows)
        };
        let columns = columns.filter(fitting).ok_or(Lost)?;
        Ok(Self { names, wanted, rows, columns: Some(columns) })
    }

    /// A column that is read as this. What lies as it is can be read as anything.
    fn find(&self, wanted: ColumnRead) -> Option<&Column<'a>> {
        let columns = self.columns.as_ref()?;
        let place = self.wanted.iter().position(|has| *has == wanted);
        let other = || {
            let of_column = |(has, column): (&ColumnRead, &Column)| {
                has.column == wanted.column && matches!(column, Column::Numbers(_) | Column::Arrays(_))
            };
            self.wanted.iter().zip(columns).position(of_column)
        };
        columns.get(place.or_else(other)?)
    }

    fn visit(
        &self,
        wanted: &[ColumnRead],
        part: Range<usize>,
        visitor: &mut dyn Visitor,
    ) -> Result<(), Lost> {
        let columns: Vec<&Column> =
            wanted.iter().map(|&wanted| self.find(wanted).ok_or(Lost)).collect::<Result<_, _>>()?;
        let mut parts = Parts::new(wanted);
        let mut start = part.start;
        while start < part.end {
            if stop::asked() {
                return Err(Lost);
            }
            let end = columns.iter().map(|column| column.reaches(start)).min().unwrap_or(part.end);
            let rows = start..part.end.min(start + BATCH).min(end);
            let cells: Vec<Part> = columns.iter().map(|column| column.part(&rows)).collect();
            parts.visit(rows.len(), &cells, visitor);
            start = rows.end;
        }
        Ok(())
    }
}

/// Rows handed over at once.
const BATCH: usize = 4096;

impl Source for Memory<'_> {
    fn columns(&self) -> &[String] {
        &self.names
    }

    fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        if self.columns.is_none() {
            return Err(Lost);
        }
        let share = self.rows.div_ceil(visitors.len().max(1)).max(BATCH);
        thread::scope(|scope| {
            let mut running = Vec::new();
            for (place, visitor) in visitors.iter_mut().enumerate() {
                let part = (place * share).min(self.rows)..((place + 1) * share).min(self.rows);
                if !part.is_empty() {
                    let visit = move || self.visit(wanted, part, &mut **visitor);
                    running.push(scope.spawn(stop::carried(visit)));
                }
            }
            running.into_iter().try_for_each(|worker| worker.join().map_err(|_| Lost)?)
        })
    }

    fn declared(&self, column: usize) -> Option<ColumnType> {
        let typed = |has: &&ColumnRead| has.column == column && has.kind != ColumnType::Text;
        self.wanted.iter().find(typed).map(|has| has.kind)
    }

    fn texts_are_wholes(&self, column: usize) -> bool {
        self.find(ColumnRead { column, kind: ColumnType::Text }).is_some_and(Column::texts_are_wholes)
    }

    fn resident(&self, wanted: ColumnRead) -> Option<&[f64]> {
        match self.find(wanted) {
            Some(Column::Floats(numbers)) => Some(numbers),
            _ => None,
        }
    }
}

/// A text as the whole number that a value of a type has inside, by the rules of files; nothing if it is none.
#[pyfunction]
pub fn read(text: &str, kind: &str) -> Option<i64> {
    ColumnType::named(kind)?.read(text)
}

/// The text that stands for the whole number inside, by the rules of files.
#[pyfunction]
pub fn write(whole: i64, kind: &str) -> Option<String> {
    Some(ColumnType::named(kind)?.write(whole))
}

/// A name, short and without characters that command a terminal, fit for an error.
#[pyfunction]
pub fn shown(name: &str) -> String {
    wording::shown(name)
}

/// The cells of a prepared column as a list of floats, whole numbers or texts, by the word for its kind.
#[pyfunction]
pub fn cells<'py>(column: &Bound<'py, PyAny>, kind: &str) -> PyResult<Bound<'py, PyList>> {
    let py = column.py();
    let kind = ColumnType::named(if kind == "float" { "number" } else { kind }).unwrap_or(ColumnType::Text);
    let held = quietly(|| Ok(Held::new(column, kind))).map_err(errors::unread)??;
    match held.column()?.listed(kind).map_err(errors::unread)? {
        Listed::Floats(floats) => PyList::new(py, floats),
        Listed::Integers(integers) => PyList::new(py, integers),
        Listed::Texts(texts) => PyList::new(py, texts),
    }
}

/// One column of floats, held for something other than a question.
pub fn floats<'py>(column: &Bound<'py, PyAny>) -> PyResult<Held<'py>> {
    Held::new(column, ColumnType::Float)
        .map_err(|_| errors::data("the numbers could not be read; give others"))
}
