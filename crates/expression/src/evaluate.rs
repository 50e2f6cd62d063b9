//! Questions against columns: one pass over each column that is named, 64 records at a time.

use crate::{
    bind::{Question, Test, compare_exactly},
    bitmap::Bitmap,
};
use std::cmp::Ordering;

/// The code of a null in a text column.
pub const NULL_CODE: u32 = u32::MAX;

/// Values of one column.
#[derive(Clone, Copy, Debug)]
pub enum Column<'a> {
    /// Whole numbers.
    Whole {
        /// The values; those that are not present may be anything.
        values: &'a [i64],
        /// Which of them are there; all, where nothing is said.
        present: Option<&'a Bitmap>,
    },
    /// Floats; NaN is a null.
    Real {
        /// The values.
        values: &'a [f64],
        /// Which of them are there.
        present: Option<&'a Bitmap>,
    },
    /// Text, as places in a list of words. A code beyond the list is a null.
    Text {
        /// One code for each record.
        codes: &'a [u32],
        /// What the codes stand for, in any order; words may repeat.
        words: &'a [Box<str>],
    },
    /// Text as it stands.
    Words(&'a [Option<&'a str>]),
    /// Answers that were computed already: ones and zeros.
    Bits(&'a Bitmap),
}

/// One value of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// No value.
    Null,
    /// A whole number.
    Whole(i64),
    /// A float; NaN is a null.
    Real(f64),
    /// Text.
    Text(&'a str),
}

impl Value<'_> {
    fn is_null(self) -> bool {
        matches!(self, Self::Null) || matches!(self, Self::Real(value) if value.is_nan())
    }
}

impl<'a> Column<'a> {
    /// The value of one record; a null beyond the last.
    pub fn get(&self, row: usize) -> Value<'a> {
        let there = |present: Option<&Bitmap>| present.is_none_or(|present| present.get(row));
        let value = match self {
            Self::Whole { values, present } => {
                values.get(row).filter(|_| there(*present)).map(|&value| Value::Whole(value))
            }
            Self::Real { values, present } => {
                values.get(row).filter(|_| there(*present)).map(|&value| Value::Real(value))
            }
            Self::Text { codes, words } => {
                let word = codes.get(row).and_then(|&code| words.get(code as usize));
                word.map(|word| Value::Text(word))
            }
            Self::Words(words) => words.get(row).copied().flatten().map(Value::Text),
            Self::Bits(bits) => (row < bits.len()).then(|| Value::Whole(i64::from(bits.get(row)))),
        };
        value.unwrap_or(Value::Null)
    }
}

impl Question {
    /// The answer for one record, given the value of each column by place.
    pub fn holds<'a>(&self, value: &impl Fn(usize) -> Value<'a>) -> bool {
        match self {
            Self::And(parts) => parts.iter().all(|part| part.holds(value)),
            Self::Or(parts) => parts.iter().any(|part| part.holds(value)),
            Self::Always(answer) => *answer,
            Self::Null(column, wanted) => value(*column).is_null() == *wanted,
            Self::Test(column, test) => test.passes(value(*column)),
            Self::Computed(column) => value(*column) == Value::Whole(1),
            Self::Columns(left, comparison, right) => {
                order(value(*left), value(*right)).is_some_and(|order| comparison.holds(order))
            }
        }
    }

    /// The answers for all records of these columns: the columns by place, and how many records there are. A column
    /// that is missing or too short counts as null.
    pub fn evaluate(&self, columns: &[Column<'_>], rows: usize) -> Bitmap {
        let at = |place: usize, row: usize| columns.get(place).map_or(Value::Null, |column| column.get(row));
        match self {
            Self::And(parts) => {
                let mut all = Bitmap::filled(rows, true);
                for part in parts {
                    all.intersect(&part.evaluate(columns, rows));
                }
                all
            }
            Self::Or(parts) => {
                let mut any = Bitmap::filled(rows, false);
                for part in parts {
                    any.unite(&part.evaluate(columns, rows));
                }
                any
            }
            Self::Always(answer) => Bitmap::filled(rows, *answer),
            Self::Test(place, test) => {
                let fast = columns.get(*place).and_then(|column| test.evaluate(column, rows));
                fast.unwrap_or_else(|| by_row(rows, |row| test.passes(at(*place, row))))
            }
            Self::Computed(place) => match columns.get(*place) {
                Some(Column::Bits(bits)) if bits.len() == rows => (*bits).clone(),
                _ => Bitmap::filled(rows, false),
            },
            Self::Null(..) | Self::Columns(..) => by_row(rows, |row| self.holds(&|place| at(place, row))),
        }
    }
}

fn by_row(rows: usize, answer: impl Fn(usize) -> bool) -> Bitmap {
    let bit = |start: usize, row: usize| u64::from(answer(row)) << (row - start);
    Bitmap::from_blocks(rows, |range| range.clone().fold(0, |word, row| word | bit(range.start, row)))
}

/// The order of two values; nothing where either is null or they are unlike.
fn order(left: Value<'_>, right: Value<'_>) -> Option<Ordering> {
    match (left, right) {
        (Value::Whole(a), Value::Whole(b)) => Some(a.cmp(&b)),
        (Value::Real(a), Value::Real(b)) => a.partial_cmp(&b),
        (Value::Whole(a), Value::Real(b)) if !b.is_nan() => Some(compare_exactly(a, b)),
        (Value::Real(a), Value::Whole(b)) if !a.is_nan() => Some(compare_exactly(b, a).reverse()),
        (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

/// A list of so many is looked at as a whole.
const FEW: usize = 16;

/// Is a number in a sorted list? As many steps for every number: one that stops when it finds something tells how many rows
/// match to whoever has a clock.
fn among<T: PartialOrd>(list: &[T], value: &T) -> bool {
    // Of a few, a look at each is faster.
    if list.len() <= FEW {
        #[expect(clippy::needless_bitwise_bool, reason = "all are looked at, whichever it is")]
        return list.iter().fold(false, |found, listed| found | (listed == value));
    }
    let place = list.partition_point(|listed| listed < value);
    list.get(place).is_some_and(|listed| listed == value)
}

impl Test {
    /// What holds where this does not and there is a value.
    pub(crate) fn negated(&self) -> Self {
        match self {
            Self::Whole(first, last, inside) => Self::Whole(*first, *last, !inside),
            Self::Real(comparison, value) => Self::Real(comparison.negated(), *value),
            Self::Text(comparison, text) => Self::Text(comparison.negated(), text.clone()),
            Self::RealIn(list, inside) => Self::RealIn(list.clone(), !inside),
            Self::WholeIn(list, inside) => Self::WholeIn(list.clone(), !inside),
            Self::TextIn(list, inside) => Self::TextIn(list.clone(), !inside),
        }
    }

    pub(crate) fn passes(&self, value: Value<'_>) -> bool {
        match (self, value) {
            (Self::Whole(first, last, inside), Value::Whole(value)) => {
                (*first..=*last).contains(&value) == *inside
            }
            (Self::WholeIn(list, inside), Value::Whole(value)) => among(list, &value) == *inside,
            (Self::Real(comparison, constant), Value::Real(value)) => {
                value.partial_cmp(constant).is_some_and(|order| comparison.holds(order))
            }
            (Self::RealIn(list, inside), Value::Real(value)) if !value.is_nan() => {
                among(list, &value) == *inside
            }
            (Self::Text(comparison, text), Value::Text(value)) => comparison.holds(value.cmp(text.as_str())),
            (Self::TextIn(list, inside), Value::Text(value)) => {
                let place = list.partition_point(|text| text.as_str() < value);
                list.get(place).is_some_and(|text| text == value) == *inside
            }
            _ => false,
        }
    }

    /// A whole column at once; `None` where the column is too short or of another kind.
    fn evaluate(&self, column: &Column<'_>, rows: usize) -> Option<Bitmap> {
        let (mut answers, present) = match *column {
            Column::Whole { values, present } => (self.wholes(values.get(..rows)?)?, present),
            Column::Real { values, present } => (self.reals(values.get(..rows)?)?, present),
            Column::Text { codes, words } => {
                // Each word is looked at once, a null last.
                let mut passes: Vec<bool> = words.iter().map(|word| self.passes(Value::Text(word))).collect();
                passes.push(false);
                let codes = codes.get(..rows)?;
                let last = words.len();
                (Bitmap::from_test(codes, |&code| passes[(code as usize).min(last)]), None)
            }
            Column::Words(words) => {
                let words = words.get(..rows)?;
                (
                    Bitmap::from_test(words, |word| word.is_some_and(|text| self.passes(Value::Text(text)))),
                    None,
                )
            }
            Column::Bits(_) => return None,
        };
        if let Some(present) = present {
            answers.intersect(present);
        }
        Some(answers)
    }

    pub(crate) fn wholes(&self, values: &[i64]) -> Option<Bitmap> {
        match self {
            &Self::Whole(first, last, inside) => {
                Some(Bitmap::from_test(values, |&x| (first..=last).contains(&x) == inside))
            }
            Self::WholeIn(list, inside) => Some(Bitmap::from_test(values, |x| among(list, x) == *inside)),
            _ => None,
        }
    }

    pub(crate) fn reals(&self, values: &[f64]) -> Option<Bitmap> {
        use crate::predicate::Comparison::{Above, AtLeast, AtMost, Below, Equal, Unequal};
        match self {
            #[expect(clippy::float_cmp, reason = "the user asks for equality")]
            &Self::Real(comparison, c) => Some(match comparison {
                Equal => Bitmap::from_test(values, |&x| x == c),
                // NaN is a null, and unequal to nothing.
                Unequal => Bitmap::from_test(values, |&x| !x.is_nan() && x != c),
                Below => Bitmap::from_test(values, |&x| x < c),
                AtMost => Bitmap::from_test(values, |&x| x <= c),
                Above => Bitmap::from_test(values, |&x| x > c),
                AtLeast => Bitmap::from_test(values, |&x| x >= c),
            }),
            Self::RealIn(list, inside) => {
                Some(Bitmap::from_test(values, |x| !x.is_nan() && among(list, x) == *inside))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, Predicate};
    use proptest::prelude::*;

    const SCHEMA: [(&str, Kind); 4] =
        [("whole", Kind::Whole), ("real", Kind::Real), ("text", Kind::Text), ("other", Kind::Real)];

    fn bind(text: &str) -> Result<Question, crate::ExpressionError> {
        let place = |name: &str| SCHEMA.iter().position(|(known, _)| *known == name);
        Predicate::parse(text)?.bind(|name| place(name).map(|place| (place, SCHEMA[place].1)))
    }

    /// One row: the answer by columns, which must be the answer by row.
    fn answer(text: &str, row: [Value<'_>; 4]) -> bool {
        let question = bind(text).unwrap();
        let alone = question.holds(&|place| row[place]);
        let none = Bitmap::filled(1, false);
        let whole = [if let Value::Whole(x) = row[0] { x } else { 7 }];
        let real = [1, 3].map(|i| [if let Value::Real(x) = row[i] { x } else { f64::NAN }]);
        let words = [if let Value::Text(x) = row[2] { x } else { "" }.into()];
        let code = [if row[2] == Value::Null { NULL_CODE } else { 0 }];
        let columns = [
            Column::Whole { values: &whole, present: (row[0] == Value::Null).then_some(&none) },
            Column::Real { values: &real[0], present: None },
            Column::Text { codes: &code, words: &words },
            Column::Real { values: &real[1], present: None },
        ];
        let together = question.evaluate(&columns, 1).get(0);
        assert_eq!(alone, together, "{text} {row:?}");
        let plain = [if let Value::Text(x) = row[2] { Some(x) } else { None }];
        let spelt = [columns[0], columns[1], Column::Words(&plain), columns[3]];
        assert_eq!(alone, question.evaluate(&spelt, 1).get(0), "{text} {row:?}");
        together
    }

    const FULL: [Value<'_>; 4] = [Value::Whole(5), Value::Real(2.5), Value::Text("b"), Value::Real(5.0)];
    const EMPTY: [Value<'_>; 4] = [Value::Null, Value::Real(f64::NAN), Value::Null, Value::Null];

    #[test]
    fn conditions_by_hand() {
        for (text, expected) in [
            ("whole = 5", true),
            ("whole <> 5", false),
            ("5 <= whole", true),
            ("4.5 < whole and whole < 5.5", true),
            ("whole = 5.5", false),
            ("whole != 5.5", true),
            ("whole > 1e300", false),
            ("whole between 5 and 5", true),
            ("whole not between 6 and 9", true),
            ("whole in (1, 5.0, 7.5)", true),
            ("whole not in (1, 7.5)", true),
            ("real = 2.5", true),
            ("real >= 3", false),
            ("real in (2, 2.5)", true),
            ("real in (7, -1, 2.5, 2.25, 2.5)", true),
            ("real not in (7, -1, 2.25, 0)", true),
            ("text >= 'a' and text < 'c'", true),
            ("text in ('a', 'b')", true),
            ("text not in ('a', 'b')", false),
            ("whole = other", true),
            ("real < whole", true),
            ("text is null", false),
            ("1 < 2 or whole = 0", true),
            ("not (whole = 5 and real = 2.5)", false),
            ("not (whole = 4 or real = 2.5)", false),
        ] {
            assert_eq!(answer(text, FULL), expected, "{text}");
        }
    }

    #[test]
    fn a_null_is_neither_true_nor_false() {
        for condition in ["whole = 5", "real < 3", "text in ('a')", "whole between 1 and 2", "real = other"] {
            assert!(!answer(condition, EMPTY), "{condition}");
            assert!(!answer(&format!("not ({condition})"), EMPTY), "{condition}");
        }
        for column in ["whole", "real", "text", "other"] {
            assert!(answer(&format!("{column} is null"), EMPTY));
            assert!(!answer(&format!("{column} is not null"), EMPTY));
            assert!(answer(&format!("not {column} is null"), FULL));
        }
        // True whatever the null would be.
        assert!(answer("whole = 5 or real is null", EMPTY) && answer("not (whole = 5 and 1 > 2)", EMPTY));
    }

    #[test]
    fn whole_numbers_beyond_floats_are_compared_as_they_are() {
        let big = 9_007_199_254_740_993; // 2^53 + 1, which is no float
        let row = [Value::Whole(big), Value::Real(9_007_199_254_740_992.0), Value::Null, Value::Real(1e19)];
        for (text, expected) in [
            ("whole = 9007199254740993", true),
            ("whole = 9007199254740992", false),
            ("real = 9007199254740993", false),
            ("real < 9007199254740993", true),
            ("real >= 9007199254740993", false),
            ("whole = real", false),
            ("real < whole", true),
            ("whole < other", true),
            ("whole < 9223372036854775808", true),
            ("whole > -9223372036854775809", true),
        ] {
            assert_eq!(answer(text, row), expected, "{text}");
        }
        let least = [Value::Whole(i64::MIN), Value::Null, Value::Null, Value::Null];
        assert!(!answer("whole < -9223372036854775808", least) && answer("whole <= -9.3e17", least));
    }

    #[test]
    fn what_does_not_fit_is_said_in_one_line() {
        for (text, expected) in [
            ("age > 3", "no column is called 'age'"),
            ("text > 3", "column 'text' holds text; compare it with text between ' and '"),
            ("whole in (1, 'a')", "column 'whole' holds numbers; compare it with a number"),
            ("real between 'a' and 3", "column 'real' holds numbers; compare it with a number"),
            (
                "text = whole",
                "column 'text' holds text and column 'whole' holds numbers; compare like with like",
            ),
            ("1 = 'a'", "a number and a text are compared; compare like with like"),
        ] {
            assert_eq!(bind(text).unwrap_err().to_string(), expected);
        }
    }

    /// Short or missing columns are nulls, and no index is out of range.
    #[test]
    fn columns_that_are_too_short_are_null() {
        let question = bind("whole > 0 or text = 'a'").unwrap();
        let words: [Box<str>; 1] = ["a".into()];
        let whole = Column::Whole { values: &[1], present: None };
        let text = Column::Text { codes: &[7, 0], words: &words };
        let real = Column::Real { values: &[], present: None };
        assert_eq!(question.evaluate(&[whole, real, text], 3).words(), [0b011]);
        assert_eq!(question.evaluate(&[], 70).count(), 0);
    }

    fn any_condition() -> impl Strategy<Value = String> {
        let comparison = prop::sample::select(vec!["=", "<>", "<", "<=", ">", ">="]);
        let leaf = prop_oneof![
            (prop::sample::select(vec!["whole", "real", "other"]), comparison.clone(), -3i64..4)
                .prop_map(|(column, sign, x)| format!("{column} {sign} {x}")),
            (prop::sample::select(vec!["whole", "real"]), -3i64..4, 0i64..4)
                .prop_map(|(column, x, y)| format!("{column} between {x}.5 and {y}")),
            prop::sample::select(vec![
                "text = 'b'",
                "text > 'a'",
                "text in ('a', 'c')",
                "whole in (1, 2, 2.5)"
            ])
            .prop_map(str::to_string),
            prop::sample::select(vec!["text is null", "real is not null", "real < other", "whole >= real"])
                .prop_map(str::to_string),
        ];
        leaf.prop_recursive(4, 12, 3, |inner| {
            prop_oneof![
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}) and ({b})")),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}) or ({b})")),
                inner.prop_map(|a| format!("not ({a})")),
            ]
        })
    }

    proptest! {
        #[test]
        fn columns_and_rows_agree(
            text in any_condition(),
            rows in prop::collection::vec((prop::option::of(-3i64..4), -3i32..4, 0u32..5, any::<bool>()), 0..150),
        ) {
            let question = bind(&text).unwrap();
            let words: Vec<Box<str>> = ["b", "a", "c"].map(Into::into).to_vec();
            let wholes: Vec<i64> = rows.iter().map(|row| row.0.unwrap_or(2)).collect();
            let there: Vec<bool> = rows.iter().map(|row| row.0.is_some()).collect();
            let present = Bitmap::from_test(&there, |&there| there);
            let reals: Vec<f64> =
                rows.iter().map(|row| if row.3 { f64::NAN } else { f64::from(row.1) / 2.0 }).collect();
            let others: Vec<f64> = rows.iter().map(|row| f64::from(row.1)).collect();
            let codes: Vec<u32> = rows.iter().map(|row| row.2).collect();
            let columns = [
                Column::Whole { values: &wholes, present: Some(&present) },
                Column::Real { values: &reals, present: None },
                Column::Text { codes: &codes, words: &words },
                Column::Real { values: &others, present: None },
            ];
            let together = question.evaluate(&columns, rows.len());
            for row in 0..rows.len() {
                prop_assert_eq!(together.get(row), question.holds(&|place| columns[place].get(row)), "{}", &text);
            }
        }
    }
}
