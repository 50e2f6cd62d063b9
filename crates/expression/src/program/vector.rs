//! Values of many records: what goes in, what steps hand to each other, what comes out.

use super::{LONGEST_TEXT, What};
use crate::{Bitmap, Type};
use std::{borrow::Cow, collections::HashMap};

/// Values of one column.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// Floats; NaN is a null.
    Real(&'a [f64]),
    /// Whole numbers; days, moments and yes (1) or no (0) as such.
    Whole(&'a [Option<i64>]),
    /// Texts.
    Text(&'a [Option<&'a str>]),
    /// Texts by their place in a list.
    Coded {
        /// The list.
        texts: &'a [&'a str],
        /// The place of each record's text.
        codes: &'a [Option<u32>],
    },
}

/// Values of an expression.
#[derive(Clone, Debug)]
pub enum Output<'a> {
    /// Floats; NaN is a null.
    Real(Cow<'a, [f64]>),
    /// Whole numbers; days, moments and yes (1) or no (0) as such.
    Whole(Vec<Option<i64>>),
    /// Texts, none of them empty.
    Text(Vec<Option<Cow<'a, str>>>),
    /// Texts by their place in a list, in which none is empty and none twice.
    Coded {
        /// The list.
        texts: Vec<Cow<'a, str>>,
        /// The place of each record's text.
        codes: Vec<Option<u32>>,
    },
}

/// What steps hand to each other.
#[derive(Clone, Debug)]
pub(super) enum Vector<'a> {
    Real(Cow<'a, [f64]>),
    Whole(Wholes),
    Truth(Truth),
    Text(Texts<'a>),
}

/// Whole numbers, days or moments; what is not present may be anything.
#[derive(Clone, Debug)]
pub(super) struct Wholes {
    pub values: Vec<i64>,
    pub present: Bitmap,
}

/// Yes, no, or neither. Never both.
#[derive(Clone, Debug)]
pub(super) struct Truth {
    pub yes: Bitmap,
    pub no: Bitmap,
}

/// A text that is not too long; the others are null.
pub(super) fn kept(text: Cow<'_, str>) -> Option<Cow<'_, str>> {
    (text.len() <= LONGEST_TEXT).then_some(text)
}

/// A text as it leaves an expression: an empty one is null, as an empty field of a file is.
fn filled(text: Option<Cow<'_, str>>) -> Option<Cow<'_, str>> {
    text.filter(|text| !text.is_empty())
}

/// Texts, each record's own or by their place in a list.
#[derive(Clone, Debug)]
pub(super) enum Texts<'a> {
    Plain(Vec<Option<Cow<'a, str>>>),
    /// A code beyond the list is a null.
    Coded {
        words: Vec<Option<Cow<'a, str>>>,
        codes: Vec<u32>,
    },
}

/// The code of no text.
const NONE: u32 = u32::MAX;

impl Wholes {
    /// So many numbers, each made of the one that a record has; nothing where there is none.
    pub fn of(rows: usize, number: impl Fn(usize) -> Option<i64>) -> Self {
        let mut values = vec![0; rows];
        let present = Bitmap::from_blocks(rows, |range| {
            let start = range.start;
            range.fold(0, |word, row| match number(row) {
                Some(value) => {
                    values[row] = value;
                    word | 1 << (row - start)
                }
                None => word,
            })
        });
        Self { values, present }
    }

    pub fn get(&self, row: usize) -> Option<i64> {
        self.present.get(row).then(|| self.values[row])
    }

    /// Each number made into another one or none. Those that are not there are changed too, which nobody sees: without a look at each
    /// bit it is faster.
    #[inline]
    pub fn map(mut self, change: impl Fn(i64) -> Option<i64>) -> Self {
        let values = &mut self.values;
        let bit = |word: u64, (place, value): (usize, &mut i64)| {
            let changed = change(*value);
            *value = changed.unwrap_or_default();
            word | u64::from(changed.is_some()) << place
        };
        let good = Bitmap::from_blocks(values.len(), |range| {
            // As in `Bitmap::from_test`: blocks of a fixed length are changed several at a time.
            match <&mut [i64; 64]>::try_from(&mut values[range.clone()]) {
                Ok(block) => block.iter_mut().enumerate().fold(0, bit),
                Err(_) => values[range].iter_mut().enumerate().fold(0, bit),
            }
        });
        self.present.intersect(&good);
        self
    }

    pub fn options(&self) -> Vec<Option<i64>> {
        (0..self.values.len()).map(|row| self.get(row)).collect()
    }

    /// As floats, the nearest where they have more digits.
    pub fn reals(&self) -> Vec<f64> {
        let value =
            |(row, &value): (usize, &i64)| if self.present.get(row) { value as f64 } else { f64::NAN };
        self.values.iter().enumerate().map(value).collect()
    }
}

impl<'a> Texts<'a> {
    /// One text for all records.
    pub fn one(text: Cow<'a, str>, rows: usize) -> Self {
        Self::Coded { words: vec![kept(text)], codes: vec![0; rows] }
    }

    pub fn get(&self, row: usize) -> Option<&str> {
        match self {
            Self::Plain(texts) => texts.get(row)?.as_deref(),
            Self::Coded { words, codes } => words.get(*codes.get(row)? as usize)?.as_deref(),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Plain(texts) => texts.len(),
            Self::Coded { codes, .. } => codes.len(),
        }
    }

    /// Each text made into another; those in a list once for all records that have them.
    pub fn map(self, change: impl Fn(Cow<'a, str>) -> Option<Cow<'a, str>>) -> Self {
        let change = |text: Option<Cow<'a, str>>| text.and_then(&change).and_then(kept);
        match self {
            Self::Plain(texts) => Self::Plain(texts.into_iter().map(change).collect()),
            Self::Coded { words, codes } => {
                Self::Coded { words: words.into_iter().map(change).collect(), codes }
            }
        }
    }

    /// Something about each text, looked at once for all records that have it, as one value for each record.
    pub fn each<T: Clone>(&self, none: T, look: impl Fn(&str) -> T) -> Vec<T> {
        let look = |text: &Option<Cow<'a, str>>| text.as_deref().map_or_else(|| none.clone(), &look);
        match self {
            Self::Plain(texts) => texts.iter().map(look).collect(),
            Self::Coded { words, codes } => {
                let looked: Vec<T> = words.iter().map(look).collect();
                codes.iter().map(|&code| looked.get(code as usize).unwrap_or(&none).clone()).collect()
            }
        }
    }

    /// Whole numbers about each text.
    pub fn wholes(&self, look: impl Fn(&str) -> Option<i64>) -> Wholes {
        let found = self.each(None, look);
        Wholes::of(found.len(), |row| found[row])
    }

    /// Each record's own text, to be moved elsewhere.
    pub fn into_plain(self) -> Vec<Option<Cow<'a, str>>> {
        match self {
            Self::Plain(texts) => texts,
            Self::Coded { words, codes } => {
                codes.iter().map(|&code| words.get(code as usize).cloned().flatten()).collect()
            }
        }
    }
}

impl<'a> Vector<'a> {
    /// An input as its type has it; an input that is missing, too short or of another form is all nulls.
    pub fn read(input: Option<&Input<'a>>, kind: Type, rows: usize) -> Self {
        match (input, kind) {
            (Some(Input::Real(values)), Type::Float) if values.len() >= rows => {
                Self::Real(Cow::Borrowed(&values[..rows]))
            }
            (Some(Input::Whole(values)), Type::Boolean) if values.len() >= rows => Self::Truth(Truth {
                yes: Bitmap::from_test(&values[..rows], |value| value.is_some_and(|value| value != 0)),
                no: Bitmap::from_test(&values[..rows], |value| *value == Some(0)),
            }),
            (Some(Input::Whole(values)), Type::Integer | Type::Date | Type::Timestamp)
                if values.len() >= rows =>
            {
                let mut own = vec![0; rows];
                let present = Bitmap::from_blocks(rows, |range| {
                    let pairs = own[range.clone()].iter_mut().zip(&values[range]).enumerate();
                    pairs.fold(0, |word, (place, (own, value))| {
                        *own = value.unwrap_or_default();
                        word | u64::from(value.is_some()) << place
                    })
                });
                Self::Whole(Wholes { values: own, present })
            }
            (Some(Input::Text(texts)), Type::Text) if texts.len() >= rows => {
                let own = |text: Option<&'a str>| text.filter(|text| !text.is_empty()).map(Cow::Borrowed);
                Self::Text(Texts::Plain(texts[..rows].iter().copied().map(own).collect()))
            }
            (Some(Input::Coded { texts, codes }), Type::Text) if codes.len() >= rows => {
                let own = |text: &&'a str| Some(Cow::Borrowed(*text)).filter(|text| !text.is_empty());
                let code = |code: &Option<u32>| code.unwrap_or(NONE);
                Self::Text(Texts::Coded {
                    words: texts.iter().map(own).collect(),
                    codes: codes[..rows].iter().map(code).collect(),
                })
            }
            _ => Self::null(kind, rows),
        }
    }

    /// All nulls.
    pub fn null(kind: Type, rows: usize) -> Self {
        let none = || Bitmap::filled(rows, false);
        match kind {
            Type::Float => Self::Real(Cow::Owned(vec![f64::NAN; rows])),
            Type::Boolean => Self::Truth(Truth { yes: none(), no: none() }),
            Type::Text => Self::Text(Texts::Coded { words: Vec::new(), codes: vec![NONE; rows] }),
            _ => Self::Whole(Wholes { values: vec![0; rows], present: none() }),
        }
    }

    /// Which records have a value.
    pub fn present(&self) -> Bitmap {
        match self {
            Self::Real(values) => Bitmap::from_test(values, |value| !value.is_nan()),
            Self::Whole(wholes) => wholes.present.clone(),
            Self::Truth(truth) => {
                let mut known = truth.yes.clone();
                known.unite(&truth.no);
                known
            }
            Self::Text(texts) => Bitmap::from_test(&texts.each(false, |_| true), |&there| there),
        }
    }

    /// The value of the first record as a constant.
    pub fn first(&self) -> What {
        match self {
            Self::Real(values) => {
                values.first().filter(|value| !value.is_nan()).map_or(What::Null, |&value| What::Real(value))
            }
            Self::Whole(wholes) => wholes.get(0).map_or(What::Null, What::Whole),
            Self::Truth(truth) if truth.yes.get(0) => What::Truth(true),
            Self::Truth(truth) if truth.no.get(0) => What::Truth(false),
            Self::Truth(_) => What::Null,
            Self::Text(texts) => texts.get(0).map_or(What::Null, |text| What::Text(text.into())),
        }
    }

    /// The other's values for the records of which the bit is set.
    pub fn replace(self, taken: &Bitmap, other: Self) -> Self {
        match (self, other) {
            (Self::Real(values), Self::Real(others)) => {
                let mut values = values.into_owned();
                taken.choose(&mut values, &others);
                Self::Real(Cow::Owned(values))
            }
            (Self::Whole(mut wholes), Self::Whole(others)) => {
                taken.choose(&mut wholes.values, &others.values);
                wholes.present = wholes.present.replaced(taken, &others.present);
                Self::Whole(wholes)
            }
            (Self::Truth(truth), Self::Truth(others)) => Self::Truth(Truth {
                yes: truth.yes.replaced(taken, &others.yes),
                no: truth.no.replaced(taken, &others.no),
            }),
            (Self::Text(texts), Self::Text(others)) => {
                let mut texts = texts.into_plain();
                let places = texts.iter_mut().zip(others.into_plain()).enumerate();
                places.filter(|(row, _)| taken.get(*row)).for_each(|(_, (text, other))| *text = other);
                Self::Text(Texts::Plain(texts))
            }
            // Both sides of a step have its type.
            (vector, _) => vector,
        }
    }

    pub fn into_output(self, kind: Type) -> Output<'a> {
        match self {
            Self::Real(values) => Output::Real(values),
            Self::Whole(wholes) => Output::Whole(wholes.options()),
            Self::Truth(truth) => {
                let value = |row| match (truth.yes.get(row), truth.no.get(row)) {
                    (true, _) => Some(1),
                    (_, true) => Some(0),
                    _ => None,
                };
                Output::Whole((0..truth.yes.len()).map(value).collect())
            }
            Self::Text(Texts::Plain(texts)) => Output::Text(texts.into_iter().map(filled).collect()),
            Self::Text(texts @ Texts::Coded { .. }) => {
                debug_assert_eq!(kind, Type::Text);
                debug_assert!(texts.len() < NONE as usize);
                coded(texts)
            }
        }
    }
}

/// A list in which no text is twice and none is missing.
fn coded(texts: Texts<'_>) -> Output<'_> {
    let Texts::Coded { words, codes } = texts else { return Output::Text(texts.into_plain()) };
    let mut places: HashMap<Cow<'_, str>, u32> = HashMap::new();
    let mut list = Vec::new();
    let moved: Vec<Option<u32>> = words
        .into_iter()
        .map(|word| {
            let word = filled(word)?;
            Some(*places.entry(word).or_insert_with_key(|word| {
                list.push(word.clone());
                u32::try_from(list.len() - 1).unwrap_or(NONE)
            }))
        })
        .collect();
    let codes = codes.into_iter().map(|code| moved.get(code as usize).copied().flatten()).collect();
    Output::Coded { texts: list, codes }
}
