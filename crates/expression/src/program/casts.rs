//! The same value as another type; null where it is none.

use super::{
    times::DAY,
    vector::{Texts, Truth, Vector, Wholes},
};
use crate::{
    Bitmap, Type,
    field::{boolean::boolean, calendar, number},
};
use std::borrow::Cow;

/// Is there a cast from one type to another? Whether a value has one is another question.
pub(super) fn exists(from: Type, to: Type) -> bool {
    let plain = |kind: Type| kind.is_number() || kind == Type::Boolean;
    let time = |kind: Type| matches!(kind, Type::Date | Type::Timestamp);
    from == to
        || from == Type::Text
        || to == Type::Text
        || (plain(from) && plain(to))
        || (time(from) && time(to))
}

/// Values of one type as another. Where there is no such cast they are null.
pub(super) fn convert(vector: Vector<'_>, from: Type, to: Type) -> Vector<'_> {
    match (vector, from, to) {
        (vector, from, to) if from == to => vector,
        (vector, from, Type::Text) => Vector::Text(to_texts(vector, from)),
        (Vector::Text(texts), _, to) => from_texts(&texts, to),
        (Vector::Whole(wholes), Type::Integer, Type::Float) => Vector::Real(Cow::Owned(wholes.reals())),
        (Vector::Real(values), _, Type::Integer) => {
            Vector::Whole(Wholes::of(values.len(), |row| nearest(values[row])))
        }
        (Vector::Real(values), _, Type::Boolean) => Vector::Truth(Truth {
            yes: Bitmap::from_test(&values, |value| !value.is_nan() && *value != 0.0),
            no: Bitmap::from_test(&values, |value| *value == 0.0),
        }),
        (Vector::Whole(wholes), Type::Integer, Type::Boolean) => {
            let mut yes = Bitmap::from_test(&wholes.values, |value| *value != 0);
            yes.intersect(&wholes.present);
            let mut no = yes.opposite();
            no.intersect(&wholes.present);
            Vector::Truth(Truth { yes, no })
        }
        (Vector::Truth(truth), _, to) => {
            let wholes = Wholes {
                values: (0..truth.yes.len()).map(|row| i64::from(truth.yes.get(row))).collect(),
                present: Vector::Truth(truth).present(),
            };
            convert(Vector::Whole(wholes), Type::Integer, to)
        }
        (Vector::Whole(days), Type::Date, Type::Timestamp) => {
            Vector::Whole(days.map(|day| day.checked_mul(DAY)))
        }
        (Vector::Whole(moments), Type::Timestamp, Type::Date) => {
            Vector::Whole(moments.map(|moment| Some(moment.div_euclid(DAY))))
        }
        (vector, _, to) => Vector::null(to, vector.present().len()),
    }
}

/// The nearest whole number of 64 bits, ties away from zero.
fn nearest(value: f64) -> Option<i64> {
    const END: f64 = 9_223_372_036_854_775_808.0;
    let rounded = value.round();
    #[expect(clippy::cast_possible_truncation, reason = "whole and within 64 bits")]
    (-END..END).contains(&rounded).then_some(rounded as i64)
}

fn from_texts<'a>(texts: &Texts<'_>, to: Type) -> Vector<'a> {
    match to {
        Type::Float => Vector::Real(Cow::Owned(texts.each(f64::NAN, |text| number::float(text.as_bytes())))),
        Type::Boolean => {
            let found = texts.each(None, |text| boolean(text.as_bytes()));
            Vector::Truth(Truth {
                yes: Bitmap::from_test(&found, |found| *found == Some(1)),
                no: Bitmap::from_test(&found, |found| *found == Some(0)),
            })
        }
        Type::Integer => Vector::Whole(texts.wholes(|text| number::integer(text.as_bytes()))),
        Type::Date => Vector::Whole(texts.wholes(|text| calendar::date(text.as_bytes()))),
        Type::Timestamp | Type::Text => {
            Vector::Whole(texts.wholes(|text| calendar::timestamp(text.as_bytes())))
        }
    }
}

/// The one text of each value.
fn to_texts(vector: Vector<'_>, from: Type) -> Texts<'_> {
    let owned = |text: String| Some(Cow::Owned(text));
    match vector {
        Vector::Text(texts) => texts,
        Vector::Real(values) => {
            let text = |value: &f64| if value.is_nan() { None } else { owned(number::text(*value)) };
            Texts::Plain(values.iter().map(text).collect())
        }
        Vector::Truth(truth) => Texts::Coded {
            words: vec![Some(Cow::Borrowed("false")), Some(Cow::Borrowed("true"))],
            codes: (0..truth.yes.len())
                .map(|row| match (truth.yes.get(row), truth.no.get(row)) {
                    (true, _) => 1,
                    (_, true) => 0,
                    _ => u32::MAX,
                })
                .collect(),
        },
        Vector::Whole(wholes) => {
            let write = |value: i64| match from {
                Type::Date => calendar::date_text(value),
                Type::Timestamp => calendar::timestamp_text(value),
                _ => value.to_string(),
            };
            by_list(&wholes, write)
        }
    }
}

/// Numbers that lie close together are written once for all records that have them.
fn by_list<'a>(wholes: &Wholes, write: impl Fn(i64) -> String) -> Texts<'a> {
    const MOST: u64 = 4096;
    let there = || (0..wholes.values.len()).filter_map(|row| wholes.get(row));
    let (Some(least), Some(most)) = (there().min(), there().max()) else {
        return Texts::Coded { words: Vec::new(), codes: vec![u32::MAX; wholes.values.len()] };
    };
    if most.abs_diff(least) >= MOST {
        let text = |row: usize| wholes.get(row).map(|value| Cow::Owned(write(value)));
        return Texts::Plain((0..wholes.values.len()).map(text).collect());
    }
    let mut words: Vec<Option<Cow<'a, str>>> = Vec::new();
    let mut codes_of = vec![u32::MAX; usize::try_from(most.abs_diff(least)).unwrap_or(0) + 1];
    let code = |row: usize| {
        let Some(value) = wholes.get(row) else { return u32::MAX };
        let place = usize::try_from(value.abs_diff(least)).unwrap_or(0);
        if codes_of[place] == u32::MAX {
            codes_of[place] = u32::try_from(words.len()).unwrap_or(u32::MAX);
            words.push(Some(Cow::Owned(write(value))));
        }
        codes_of[place]
    };
    let codes = (0..wholes.values.len()).map(code).collect();
    Texts::Coded { words, codes }
}
