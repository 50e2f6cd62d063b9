//! Numbers of numpy's of any type, borrowed where they lie, and read a part at a time by the rules of files.

use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Float32Array, Float64Array, Int8Array, Int16Array,
    Int32Array, Int64Array, TimestampMicrosecondArray, TimestampNanosecondArray, UInt8Array, UInt16Array,
    UInt32Array, UInt64Array,
};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::DataType;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use std::{ops::Range, sync::Arc};

macro_rules! of_each_type {
    ($($name:ident: $native:ty => $array:ty),* $(,)?) => {
        /// Memory of numpy's.
        enum HeldCells<'py> {
            $($name(PyReadonlyArray1<'py, $native>),)*
            Yes(PyReadonlyArray1<'py, bool>),
        }

        #[derive(Clone, Copy)]
        enum Slice<'a> {
            $($name(&'a [$native]),)*
            Yes(&'a [bool]),
        }

        impl<'py> HeldCells<'py> {
            fn new(cells: &Bound<'py, PyAny>) -> PyResult<Self> {
                $(if let Ok(cells) = cells.extract::<PyReadonlyArray1<'py, $native>>() {
                    return Ok(Self::$name(cells));
                })*
                Ok(Self::Yes(cells.extract()?))
            }

            fn slice(&self) -> PyResult<Slice<'_>> {
                Ok(match self {
                    $(Self::$name(cells) => Slice::$name(cells.as_slice()?),)*
                    Self::Yes(cells) => Slice::Yes(cells.as_slice()?),
                })
            }
        }

        impl Slice<'_> {
            fn len(self) -> usize {
                match self {
                    $(Self::$name(cells) => cells.len(),)*
                    Self::Yes(cells) => cells.len(),
                }
            }

            fn plain(self, rows: Range<usize>, nulls: Option<NullBuffer>) -> ArrayRef {
                match self {
                    $(Self::$name(cells) => {
                        Arc::new(<$array>::new(ScalarBuffer::from(cells[rows].to_vec()), nulls))
                    })*
                    Self::Yes(cells) => Arc::new(BooleanArray::new(cells[rows].iter().copied().collect(), nulls)),
                }
            }
        }
    };
}

of_each_type! {
    I64: i64 => Int64Array,
    F64: f64 => Float64Array,
    F32: f32 => Float32Array,
    U64: u64 => UInt64Array,
    I32: i32 => Int32Array,
    I16: i16 => Int16Array,
    I8: i8 => Int8Array,
    U32: u32 => UInt32Array,
    U16: u16 => UInt16Array,
    U8: u8 => UInt8Array,
}

/// What numbers stand for.
#[derive(Clone, Copy)]
enum Meaning {
    Numbers,
    Days,
    Moments,
    FineMoments,
}

/// Numbers of numpy's, and which of them are missing.
pub struct HeldNumbers<'py> {
    cells: HeldCells<'py>,
    missing: Option<PyReadonlyArray1<'py, bool>>,
    meaning: Meaning,
}

impl<'py> HeldNumbers<'py> {
    /// As the package prepares them: "date", "timestamp" or "nanoseconds" where they are days or moments.
    pub fn new(cells: &Bound<'py, PyAny>, missing: Option<&Bound<'py, PyAny>>, what: &str) -> PyResult<Self> {
        let meaning = match what {
            "date" => Meaning::Days,
            "timestamp" => Meaning::Moments,
            "nanoseconds" => Meaning::FineMoments,
            _ => Meaning::Numbers,
        };
        let missing = missing.map(PyAnyMethods::extract).transpose()?;
        Ok(Self { cells: HeldCells::new(cells)?, missing, meaning })
    }

    /// The same without the interpreter.
    pub fn numbers(&self) -> PyResult<Numbers<'_>> {
        let missing = self.missing.as_ref().map(|missing| missing.as_slice()).transpose()?;
        let cells = self.cells.slice()?;
        // Rows of both are counted from the start of the table.
        let fits = missing.is_none_or(|missing| missing.len() == cells.len());
        fits.then_some(Numbers { cells, missing, meaning: self.meaning })
            .ok_or_else(|| crate::errors::data("the numbers differ in length from what is missing"))
    }
}

/// Numbers that lie in memory, and which of them are missing.
#[derive(Clone, Copy)]
pub struct Numbers<'a> {
    cells: Slice<'a>,
    missing: Option<&'a [bool]>,
    meaning: Meaning,
}

impl Numbers<'_> {
    /// How many there are.
    pub fn len(self) -> usize {
        self.cells.len()
    }

    /// The type of Arrow's that they have.
    pub fn data_type(self) -> DataType {
        self.part(0..0).data_type().clone()
    }

    /// Some of them as an array of Arrow's of the same type.
    pub fn part(self, rows: Range<usize>) -> ArrayRef {
        let nulls =
            self.missing.map(|missing| missing[rows.clone()].iter().map(|missing| !missing).collect());
        match (self.meaning, self.cells) {
            (Meaning::Days, Slice::I32(cells)) => {
                Arc::new(Date32Array::new(cells[rows].to_vec().into(), nulls))
            }
            (Meaning::Moments, Slice::I64(cells)) => {
                Arc::new(TimestampMicrosecondArray::new(cells[rows].to_vec().into(), nulls))
            }
            (Meaning::FineMoments, Slice::I64(cells)) => {
                Arc::new(TimestampNanosecondArray::new(cells[rows].to_vec().into(), nulls))
            }
            (_, cells) => cells.plain(rows, nulls),
        }
    }
}
