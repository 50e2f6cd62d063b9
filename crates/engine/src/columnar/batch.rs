//! From arrays to batches of cells, without copies where the arrays are what visitors want.

use super::{
    plain::{add_floats, add_wholes},
    value::{bytes, getter},
};
use arrow_array::{
    Array, ArrayRef, GenericByteArray,
    cast::AsArray,
    types::{ByteArrayType, Float64Type},
};
use arrow_buffer::{ArrowNativeType, NullBuffer};
use arrow_schema::DataType;
use equipoise_session::source::{Batch, Cells, ColumnRead, ColumnType, Visitor};
use std::{collections::HashMap, ops::Range};

/// Hands arrays to visitors; its buffers are used again and again.
pub(crate) struct Columns<'w> {
    wanted: &'w [ColumnRead],
    /// For each wanted column the place of its array.
    places: Vec<usize>,
    scratch: Vec<Scratch>,
}

/// What cells lie in where the array itself will not do.
#[derive(Default)]
struct Scratch {
    floats: Vec<f64>,
    integers: Vec<Option<i64>>,
    /// The places in a dictionary of its texts, each once, and for each row a place among these.
    list: Vec<usize>,
    codes: Vec<Option<u32>>,
    written: String,
    ranges: Vec<Option<Range<usize>>>,
}

/// How the texts of a column are handed over.
enum Texts<'a> {
    None,
    Rows(Vec<Option<&'a str>>),
    List(Vec<&'a str>),
}

impl<'w> Columns<'w> {
    /// For arrays of these columns of the source, in this order.
    pub fn new(wanted: &'w [ColumnRead], arrays: &[usize]) -> Self {
        let place = |wanted: &ColumnRead| arrays.iter().position(|&column| column == wanted.column);
        let places = wanted.iter().map(|wanted| place(wanted).expect("wanted columns are read")).collect();
        Self::at(wanted, places)
    }

    /// For arrays in the order in which columns are wanted.
    pub fn in_order(wanted: &'w [ColumnRead]) -> Self {
        Self::at(wanted, (0..wanted.len()).collect())
    }

    fn at(wanted: &'w [ColumnRead], places: Vec<usize>) -> Self {
        Self { wanted, places, scratch: wanted.iter().map(|_| Scratch::default()).collect() }
    }

    /// Hand over some rows.
    pub fn visit(&mut self, rows: usize, arrays: &[ArrayRef], visitor: &mut dyn Visitor) {
        self.visit_lying(rows, |place| Lying::Array(&*arrays[place]), visitor);
    }

    /// Hand over some rows, whose cells lie where this says.
    pub fn visit_lying<'a>(
        &mut self,
        rows: usize,
        lying: impl Fn(usize) -> Lying<'a>,
        visitor: &mut dyn Visitor,
    ) {
        let lying: Vec<Lying<'a>> = self.places.iter().map(|&place| lying(place)).collect();
        for ((wanted, lying), scratch) in self.wanted.iter().zip(&lying).zip(&mut self.scratch) {
            if let Lying::Array(array) = lying {
                scratch.fill(*array, wanted.kind);
            }
        }
        let texts: Vec<Texts<'_>> = (0..self.wanted.len())
            .map(|k| match (self.wanted[k].kind, &lying[k]) {
                (ColumnType::Text, Lying::Array(array)) => self.scratch[k].texts(*array),
                _ => Texts::None,
            })
            .collect();
        let cells: Vec<Cells<'_>> = (0..self.wanted.len())
            .map(|k| match (&texts[k], self.wanted[k].kind, &lying[k]) {
                (Texts::Rows(rows), ..) => Cells::Texts(rows),
                (Texts::List(texts), ..) => Cells::Coded { texts, codes: &self.scratch[k].codes },
                (Texts::None, _, Lying::Cells(cells)) => *cells,
                (Texts::None, ColumnType::Float, Lying::Array(array)) => {
                    Cells::Floats(plain_floats(*array).unwrap_or(&self.scratch[k].floats))
                }
                (Texts::None, ..) => Cells::Integers(&self.scratch[k].integers),
            })
            .collect();
        visitor.batch(Batch { rows, cells: &cells });
    }
}

/// Where the cells of a column lie.
pub enum Lying<'a> {
    /// In an array of Arrow's.
    Array(&'a dyn Array),
    /// As they are handed over.
    Cells(Cells<'a>),
}

/// Floats that can be handed over as they lie.
fn plain_floats(array: &dyn Array) -> Option<&[f64]> {
    let plain = *array.data_type() == DataType::Float64 && array.null_count() == 0;
    plain.then(|| &**array.as_primitive::<Float64Type>().values())
}

/// A dictionary of texts that is short beside its rows. A longer one is looked up row by row: to look at all of it for
/// every batch would take longer.
fn short_list(array: &dyn Array) -> Option<&dyn Array> {
    if !is_coded(array) {
        return None;
    }
    let values = &**array.as_any_dictionary().values();
    (bytes(values).is_some() && values.len() <= array.len() / 4).then_some(values)
}

fn is_coded(array: &dyn Array) -> bool {
    matches!(array.data_type(), DataType::Dictionary(..))
}

/// The texts of an array of bytes; what is empty or not UTF-8 is none.
fn texts<'a>(array: &'a dyn Array) -> impl Fn(usize) -> Option<&'a str> {
    let (cells, nulls) = (bytes(array), array.nulls());
    move |row| {
        let cell = cells.as_ref().filter(|_| nulls.is_none_or(|nulls| nulls.is_valid(row)))?(row);
        std::str::from_utf8(cell).ok().filter(|text| !text.is_empty())
    }
}

/// The texts of an array whose bytes lie one behind the other, looked at together: a part of what is UTF-8 is UTF-8 where it begins and
/// ends between characters. Nothing where some of the bytes are none, or lie elsewhere.
fn texts_together(array: &dyn Array) -> Option<Vec<Option<&str>>> {
    match array.data_type() {
        DataType::Binary => in_one(array.as_binary::<i32>(), array.nulls()),
        DataType::LargeBinary => in_one(array.as_binary::<i64>(), array.nulls()),
        DataType::Utf8 => in_one(array.as_string::<i32>(), array.nulls()),
        DataType::LargeUtf8 => in_one(array.as_string::<i64>(), array.nulls()),
        _ => None,
    }
}

fn in_one<'a, T: ByteArrayType>(
    array: &'a GenericByteArray<T>,
    nulls: Option<&NullBuffer>,
) -> Option<Vec<Option<&'a str>>> {
    let offsets = array.value_offsets();
    let (first, last) = (offsets.first()?.as_usize(), offsets.last()?.as_usize());
    let all = std::str::from_utf8(array.value_data().get(first..last)?).ok()?;
    let text = |pair: &[T::Offset]| {
        all.get(pair[0].as_usize() - first..pair[1].as_usize() - first).filter(|text| !text.is_empty())
    };
    let texts = offsets.windows(2).map(text);
    Some(match nulls {
        None => texts.collect(),
        Some(nulls) => texts.zip(nulls).map(|(text, there)| text.filter(|_| there)).collect(),
    })
}

impl Scratch {
    fn fill(&mut self, array: &dyn Array, kind: ColumnType) {
        match kind {
            ColumnType::Float if plain_floats(array).is_some() => {}
            ColumnType::Float => {
                self.floats.clear();
                if !add_floats(array, &mut self.floats) {
                    let cell = getter(array);
                    self.floats.extend((0..array.len()).map(|row| cell(row).float()));
                }
            }
            ColumnType::Text => self.fill_texts(array),
            kind => {
                self.integers.clear();
                if !add_wholes(array, kind, &mut self.integers) {
                    let cell = getter(array);
                    self.integers.extend((0..array.len()).map(|row| cell(row).whole(kind)));
                }
            }
        }
    }

    /// Count out the codes of a short dictionary; write out what is not text already.
    fn fill_texts(&mut self, array: &dyn Array) {
        let values = if is_coded(array) { &**array.as_any_dictionary().values() } else { array };
        match (bytes(values), short_list(array)) {
            (Some(_), None) => {}
            (Some(_), Some(values)) => self.fill_codes(array, values),
            (None, _) => {
                self.written.clear();
                self.ranges.clear();
                let cell = getter(array);
                for row in 0..array.len() {
                    let begin = self.written.len();
                    let some = cell(row).write(&mut self.written);
                    self.ranges.push(some.then_some(begin..self.written.len()));
                }
            }
        }
    }

    /// A dictionary may hold a text twice, or none, or bytes that are no text.
    fn fill_codes(&mut self, array: &dyn Array, values: &dyn Array) {
        let value = texts(values);
        let mut seen: HashMap<&str, u32> = HashMap::new();
        self.list.clear();
        let mut code = |place: usize| {
            let text = value(place)?;
            Some(*seen.entry(text).or_insert_with(|| {
                self.list.push(place);
                u32::try_from(self.list.len() - 1).expect("a list is shorter than its rows")
            }))
        };
        let codes: Vec<Option<u32>> = (0..values.len()).map(&mut code).collect();
        self.codes.clear();
        if codes.is_empty() {
            return self.codes.resize(array.len(), None);
        }
        let keys = array.as_any_dictionary().normalized_keys();
        match array.nulls() {
            None => self.codes.extend(keys.iter().map(|&key| codes[key])),
            Some(nulls) => {
                self.codes.extend(keys.iter().zip(nulls).map(|(&key, valid)| codes[key].filter(|_| valid)));
            }
        }
    }

    /// The texts of an array, after [`Self::fill`].
    fn texts<'a>(&'a self, array: &'a dyn Array) -> Texts<'a> {
        if let Some(values) = short_list(array) {
            let value = texts(values);
            return Texts::List(self.list.iter().map(|&place| value(place).unwrap_or_default()).collect());
        }
        if let Some(rows) = texts_together(array) {
            return Texts::Rows(rows);
        }
        if bytes(array).is_some() {
            let cell = texts(array);
            return Texts::Rows((0..array.len()).map(cell).collect());
        }
        if is_coded(array) && !array.as_any_dictionary().values().is_empty() {
            let dictionary = array.as_any_dictionary();
            if bytes(dictionary.values()).is_some() {
                let (value, keys) = (texts(dictionary.values()), dictionary.normalized_keys());
                let row = |row: usize| if array.is_valid(row) { value(keys[row]) } else { None };
                return Texts::Rows((0..array.len()).map(row).collect());
            }
        }
        let row = |range: &Option<Range<usize>>| range.clone().map(|range| &self.written[range]);
        Texts::Rows(self.ranges.iter().map(row).collect())
    }
}
